// Values that several views watch.
import { useEffect, useState } from "preact/hooks";

export class Watched<T> {
  private readonly watchers = new Set<(now: T) => void>();

  constructor(public now: T) {}

  set(value: T): void {
    if (value === this.now) return;
    this.now = value;
    for (const watcher of [...this.watchers]) watcher(value);
  }

  watch(watcher: (now: T) => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }
}

export function useWatched<T>(watched: Watched<T>): T {
  const [now, setNow] = useState(watched.now);
  useEffect(() => {
    setNow(watched.now);
    return watched.watch(setNow);
  }, [watched]);
  return now;
}

/** The last thing worth saying, for the eye and for a screen reader. */
export const message = new Watched<{ text: string; isWrong: boolean }>({ text: "", isWrong: false });

const SHOWN_FOR = 8000;
let hiding: ReturnType<typeof setTimeout> | undefined;

function show(text: string, isWrong: boolean): void {
  clearTimeout(hiding);
  message.set({ text, isWrong });
}

/** Good news goes by itself after a while. */
export function say(text: string): void {
  show(text, false);
  hiding = setTimeout(() => show("", false), SHOWN_FOR);
}

export function complain(error: unknown): void {
  show(error instanceof Error ? error.message : String(error), true);
}
