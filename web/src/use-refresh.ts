// Loads again from time to time, as long as somebody can see the page.
import { useEffect, useRef } from "preact/hooks";

export function useRefresh(reload: () => void, seconds: number): void {
  const current = useRef(reload);
  current.current = reload;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") current.current();
    }, seconds * 1000);
    return () => clearInterval(timer);
  }, [seconds]);
}
