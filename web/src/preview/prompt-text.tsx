// The text of a prompt, every stretch marked by its origin. One stop for Tab; arrow keys go from origin to origin.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Origin } from "../forms";
import { Drawing } from "./drawing";
import { kindName, place } from "./origins";
import { type Segment, lineAt } from "./segments";

interface Props {
  label: string;
  segments: Segment[];
  /** A line of the template whose output is to be lit. */
  lit?: number | null;
  /** A section to go to; a new object each time it is asked for. */
  target?: { section: string } | null;
  /** Lines of the template were picked by picking what they made. */
  onPick?(lines: [number, number]): void;
}

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -1e9, End: 1e9 };

export function PromptText({ label, segments, lit = null, target = null, onPick }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | null>(null);
  const [told, setTold] = useState<{ origin: Origin; line: number | null } | null>(null);

  useLayoutEffect(() => {
    drawing.current ??= new Drawing(host.current!);
    drawing.current.draw(segments);
  }, [segments]);
  useEffect(() => void drawing.current?.light(lit), [lit, segments]);
  useEffect(() => () => void CSS.highlights?.delete("lit"), []);
  useEffect(() => void (target && drawing.current?.scrollTo(target.section)), [target]);

  function point(event: PointerEvent): void {
    const at = drawing.current!.at(event.clientX, event.clientY, event.target as Element);
    if (at) setTold({ origin: at.segment.origin!, line: at.line });
  }

  function pick(segment: Segment | undefined, offset: number): void {
    if (!segment?.lines || !onPick) return;
    const line = segment.origin?.kind === "template" ? lineAt(segment, offset) : null;
    onPick(line === null ? segment.lines : [line, line]);
  }

  function click(event: MouseEvent): void {
    const at = drawing.current!.at(event.clientX, event.clientY, event.target as Element);
    if (at) pick(at.segment, at.offset);
  }

  function focus(event: FocusEvent): void {
    const element = event.target as HTMLElement;
    const segment = drawing.current!.segmentOf(element);
    if (!segment?.origin) return;
    for (const other of host.current!.querySelectorAll("[tabindex='0']")) other.setAttribute("tabindex", "-1");
    element.tabIndex = 0;
    setTold({ origin: segment.origin, line: null });
  }

  function key(event: KeyboardEvent): void {
    const element = event.target as HTMLElement;
    const by = STEPS[event.key];
    if (by !== undefined) drawing.current!.step(element, by)?.focus();
    else if (event.key === "Enter" || event.key === " ") pick(drawing.current!.segmentOf(element), 0);
    else return;
    event.preventDefault();
  }

  const isMany = segments.filter((each) => each.isFirst).length > 1;
  return (
    <>
      <div class={isMany ? "prompt many" : "prompt"} ref={host} role="group" aria-label={label} onPointerMove={point} onClick={click} onFocusIn={focus} onKeyDown={key} />
      <p class="told" id="origin-told">
        {told ? (
          <>
            <span class={`swatch k-${told.origin.kind}`} aria-hidden="true" />
            <b>{kindName(told.origin.kind)}</b> <span class="path">{place(told.origin, told.line)}</span>
          </>
        ) : (
          <span class="quiet">Point at the text, or walk through it with the arrow keys, to see where it came from.</span>
        )}
      </p>
    </>
  );
}

/** What the marks mean, for the kinds that are there. */
export function Legend({ segments }: { segments: Segment[] }) {
  const kinds = [...new Set(segments.flatMap((each) => each.origin?.kind ?? []))];
  if (!kinds.length) return null;
  return (
    <ul class="legend" aria-label="Origins in this prompt">
      {kinds.map((kind) => (
        <li key={kind}>
          <span class={`swatch k-${kind}`} aria-hidden="true" />
          {kindName(kind)}
        </li>
      ))}
    </ul>
  );
}
