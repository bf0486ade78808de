// Loads the code of a view when the view is first shown.
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isOffline, waitForServer } from "./client";

const MISSING = <main><p class="quiet">This view opens when the server is back.</p></main>;

/** `missing` is shown while the code cannot be loaded. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>, missing: ComponentChildren = MISSING): ComponentType<P> {
  let View: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const [isLoaded, setLoaded] = useState(View !== null);
    const [isMissing, setMissing] = useState(false);
    useEffect(() => {
      if (View) return;
      load().then(
        (loaded) => {
          View = loaded;
          setLoaded(true);
        },
        () => {
          setMissing(true);
          reloadWhenServerResponds();
        },
      );
    }, []);
    return isLoaded && View ? <View {...props} /> : <>{isMissing && missing}</>;
  };
}

/** Until the page is reloaded, browsers remember that a script could not be loaded. A view that is not loaded has no state to lose. */
function reloadWhenServerResponds(): void {
  if (!isOffline.value) waitForServer();
  isOffline.subscribe((offline) => {
    if (!offline) location.reload();
  });
}
