// Scrolls a list so that its current entry is visible.
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** Scroll only the list, not the page, whenever the current entry is another one. */
export function useCurrentVisible(list: RefObject<HTMLElement | null>, current: unknown): void {
  useLayoutEffect(() => {
    const entry = list.current?.querySelector<HTMLElement>("[aria-current]");
    if (!entry) return;
    const [box, area] = [entry.getBoundingClientRect(), list.current!.getBoundingClientRect()];
    if (box.top < area.top || box.bottom > area.bottom) list.current!.scrollTop += box.top - area.top - (area.height - box.height) / 2;
  }, [current]);
}
