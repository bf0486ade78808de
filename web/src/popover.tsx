// A box at the element that contains it, above everything else. It moves with that element, and stays in the window.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

const MARGIN = 8;

export function Popover({ children }: { children: ComponentChildren }) {
  const host = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const popover = host.current!;
    const place = () => {
      const at = popover.parentElement!.getBoundingClientRect();
      const { width, height } = popover.getBoundingClientRect();
      const below = at.bottom + height + MARGIN <= innerHeight;
      popover.style.left = `${Math.max(MARGIN, Math.min(at.left, document.documentElement.clientWidth - width - MARGIN))}px`;
      popover.style.top = `${below ? at.bottom : Math.max(MARGIN, at.top - height)}px`;
    };
    popover.showPopover();
    place();
    addEventListener("scroll", place, true);
    addEventListener("resize", place);
    return () => {
      removeEventListener("scroll", place, true);
      removeEventListener("resize", place);
    };
  }, []);
  return <div ref={host} class="popover" popover="manual">{children}</div>;
}
