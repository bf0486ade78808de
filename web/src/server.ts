// What a view asks of the server, it asks again when a server that was gone is back.
import { useEffect } from "preact/hooks";
import { isGone } from "./api";

export function useServer(ask: () => void, inputs: unknown[] = []): void {
  useEffect(() => {
    ask();
    return isGone.watch((gone) => {
      if (!gone) ask();
    });
  }, inputs);
}
