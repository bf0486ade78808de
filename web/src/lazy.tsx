// Loads the code of a view when the view is first shown.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let View: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const [isLoaded, setLoaded] = useState(View !== null);
    const [problem, setProblem] = useState("");
    useEffect(() => {
      if (View) return;
      load().then(
        (loaded) => {
          View = loaded;
          setLoaded(true);
        },
        () => setProblem("This part of the page could not be loaded. Reload the page to try again."),
      );
    }, []);
    if (problem) return <p class="note wrong" role="alert">{problem}</p>;
    return isLoaded && View ? <View {...props} /> : null;
  };
}
