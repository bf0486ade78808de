// Loads the code of a view when the view is first shown.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isOffline, waitForServer } from "./client";

export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let View: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const [isLoaded, setLoaded] = useState(View !== null);
    useEffect(() => {
      if (View) return;
      load().then(
        (loaded) => {
          View = loaded;
          setLoaded(true);
        },
        reloadWhenServerResponds,
      );
    }, []);
    return isLoaded && View ? <View {...props} /> : null;
  };
}

/** Until the page is reloaded, browsers remember that a script could not be loaded. A view that is not loaded has no state to lose. */
function reloadWhenServerResponds(): void {
  if (!isOffline.value) waitForServer();
  isOffline.subscribe((offline) => {
    if (!offline) location.reload();
  });
}
