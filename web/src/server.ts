// Loads data for a view, and loads it again when the server is back after an outage.
import { useEffect } from "preact/hooks";
import { isOffline } from "./client";

export function useServer(load: () => void, inputs: unknown[] = []): void {
  useEffect(() => {
    load();
    return isOffline.subscribe((offline) => {
      if (!offline) load();
    });
  }, inputs);
}
