// Keeps the focus in a list whose items may disappear, so that the keyboard does not start again at the top of the page.
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** If the focused element of the host disappears when the items change, focus its first button, or else the host. */
export function useKeptFocus(host: RefObject<HTMLElement | null>, items: unknown): void {
  const active = document.activeElement; // before the items change
  const focused = active && host.current?.contains(active) ? active : null;
  useLayoutEffect(() => {
    if (focused && !focused.isConnected) (host.current!.querySelector("button") ?? host.current!).focus();
  }, [items]);
}
