// A prompt's text, coloured by origin. It is a single tab stop; the arrow keys move between origins.
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Origin } from "../forms";
import { SegmentRenderer } from "./renderer";
import { kindName, location } from "./origins";
import { type Segment, lineAt } from "./segments";

interface Props {
  label: string;
  segments: Segment[];
  /** The template line whose output is highlighted. */
  highlightedLine?: number | null;
  /** A section to scroll to; a new object for each request. */
  target?: { section: string } | null;
  /** Called with the template lines that produced the text that was clicked. */
  onPick?(lines: [number, number]): void;
}

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -1e9, End: 1e9 };

export function PromptText({ label, segments, highlightedLine = null, target = null, onPick }: Props) {
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const renderer = useRef<SegmentRenderer | null>(null);
  const [info, setInfo] = useState<{ origin: Origin; line: number | null } | null>(null);

  useLayoutEffect(() => {
    renderer.current ??= new SegmentRenderer(host.current!, id);
    renderer.current.render(segments);
  }, [segments]);
  useEffect(() => void renderer.current?.highlight(highlightedLine), [highlightedLine, segments]);
  useEffect(() => () => void CSS.highlights?.delete("lines"), []);
  useEffect(() => void (target && renderer.current?.scrollTo(target.section)), [target]);

  function point(event: PointerEvent): void {
    const hit = renderer.current!.segmentAt(event.clientX, event.clientY, event.target as Element);
    if (hit) setInfo({ origin: hit.segment.origin!, line: hit.line });
  }

  function pick(segment: Segment | undefined, offset: number): void {
    if (!segment?.lines || !onPick) return;
    const line = segment.origin?.kind === "template" ? lineAt(segment, offset) : null;
    onPick(line === null ? segment.lines : [line, line]);
  }

  function click(event: MouseEvent): void {
    const hit = renderer.current!.segmentAt(event.clientX, event.clientY, event.target as Element);
    if (hit) pick(hit.segment, hit.offset);
  }

  function focus(event: FocusEvent): void {
    const element = event.target as HTMLElement;
    const segment = renderer.current!.segmentOf(element);
    if (!segment?.origin) return;
    for (const other of host.current!.querySelectorAll("[tabindex='0']")) other.setAttribute("tabindex", "-1");
    element.tabIndex = 0;
    setInfo({ origin: segment.origin, line: null });
  }

  function key(event: KeyboardEvent): void {
    const element = event.target as HTMLElement;
    const step = STEPS[event.key];
    if (step !== undefined) renderer.current!.step(element, step)?.focus();
    else if (event.key === "Enter" || event.key === " ") pick(renderer.current!.segmentOf(element), 0);
    else return;
    event.preventDefault();
  }

  const hasSections = segments.filter((segment) => segment.isFirst).length > 1;
  return (
    <>
      <div class={hasSections ? "prompt many" : "prompt"} ref={host} role="group" aria-label={label} onPointerMove={point} onClick={click} onFocusIn={focus} onKeyDown={key} />
      <p class="origin-info" id={id}>
        {info ? (
          <>
            <span class={`swatch k-${info.origin.kind}`} aria-hidden="true" />
            <b>{kindName(info.origin.kind)}</b> <span class="path">{location(info.origin, info.line)}</span>
          </>
        ) : (
          <span class="quiet">Hover over the text or use the arrow keys to see where it came from.</span>
        )}
      </p>
    </>
  );
}

/** The colours of the kinds of origins in this prompt. */
export function Legend({ segments }: { segments: Segment[] }) {
  const kinds = [...new Set(segments.flatMap((segment) => segment.origin?.kind ?? []))];
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
