// Reports changes to files and to the template, from the service's stream of events.
import { useEffect, useRef } from "preact/hooks";
import { quietClient } from "./client";

const RETRY_DELAY = 5000;

/** What to watch: the prompt for a folder and layout, and the template too if it is set. */
export interface Watched {
  cwd?: string;
  layout?: string;
  template?: string;
}

/** Call a function whenever what is watched has changed. Without a stream, for example while the server is down, it is not called. */
export function useChanges(watched: Watched, onChange: () => void): void {
  const callback = useRef(onChange);
  callback.current = onChange;
  const query = JSON.stringify(watched);
  useEffect(() => {
    const controller = new AbortController();
    void follow(JSON.parse(query) as Watched, controller.signal, () => callback.current());
    return () => controller.abort();
  }, [query]);
}

async function follow(watched: Watched, signal: AbortSignal, onChange: () => void): Promise<void> {
  while (!signal.aborted) {
    try {
      let isFirst = true; // the first event is the present state
      for await (const _ of quietClient.watch(watched, { signal })) {
        if (!isFirst) onChange();
        isFirst = false;
      }
    } catch {
      // The next attempt may succeed; each view reports the errors of its requests.
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY));
  }
}
