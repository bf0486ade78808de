// Reloads data periodically while the page is visible.
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
