// A prompt's text, coloured by origin. It is one tab stop, and the left and right arrow keys move between origins.
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { copyExactly } from "../copy";
import { go } from "../route";
import type { Target } from "../target";
import { OriginInfo, type Place, spokenOrigin } from "./origin-info";
import type { SourceOf } from "./sources";
import { type Mark, PromptRenderer } from "./renderer";
import type { Segment } from "./segments";

interface Props {
  label: string;
  segments: Segment[];
  /** The level of the sections' headings. */
  level?: 3 | 4;
  /** The template line whose output is highlighted. */
  highlightedLine?: number | null;
  /** What to scroll to; a new object for each request. */
  target?: Target | null;
  /** Called with the template lines that produced the text that was clicked. */
  onPick?(lines: [number, number]): void;
  /** What is shown in the margin of lines. */
  marks?: Mark[];
  /** Who wrote a line of a file, or all its lines. */
  authorAt?: (path: string, line: number | null) => string;
  /** The view that shows where a segment came from. */
  sourceOf?: SourceOf | undefined;
  /** The folder that paths are relative to. */
  root?: string;
}

const NO_MARKS: Mark[] = [];

export function PromptText({ label, segments, level = 4, highlightedLine = null, target = null, marks = NO_MARKS, authorAt, onPick, sourceOf, root = "" }: Props) {
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const renderer = useRef<PromptRenderer | null>(null);
  const frame = useRef(0);
  const pressed = useRef([0, 0] as [number, number]);
  const [hovered, setHovered] = useState<Place | null>(null);
  const [selected, setSelected] = useState<Place | null>(null);
  const [spoken, setSpoken] = useState("");

  useLayoutEffect(() => {
    renderer.current ??= new PromptRenderer(host.current!, level);
    renderer.current.render(segments);
    const segment = renderer.current.selected();
    setHovered(null);
    setSelected(segment ? { segment, line: null } : null);
  }, [segments]);
  useLayoutEffect(() => renderer.current!.mark(marks), [marks, segments]);
  useEffect(() => void renderer.current?.highlight(highlightedLine), [highlightedLine, segments]);
  useEffect(() => () => void CSS.highlights?.delete("lines"), []);
  useEffect(() => {
    const print = () => renderer.current?.colourAll();
    addEventListener("beforeprint", print);
    return () => removeEventListener("beforeprint", print);
  }, []);
  useEffect(() => {
    if (!target) return;
    const segment = renderer.current?.scrollTo(target);
    if (segment) setSelected({ segment, line: null });
    host.current!.scrollIntoView({ block: "nearest" }); // the text may be below the chart that was clicked
  }, [target]);

  function point(event: PointerEvent): void {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const hit = renderer.current!.hitAt(event.clientX, event.clientY, event.target as Element);
      if (hit) setHovered((place) => (place?.segment === hit.segment && place.line === hit.line ? place : hit));
    });
  }

  function leave(): void {
    cancelAnimationFrame(frame.current);
    setHovered(null);
  }

  function pick({ segment, line }: Place): void {
    if (segment.lines) onPick?.(line !== null && segment.origin?.kind === "template" ? [line, line] : segment.lines);
  }

  function click(event: MouseEvent): void {
    const hit = renderer.current!.hitAt(event.clientX, event.clientY, event.target as Element);
    const [x, y] = pressed.current;
    const isDrag = event.shiftKey || Math.hypot(event.clientX - x, event.clientY - y) > 4; // which selects text
    if (!hit || isDrag) return;
    renderer.current!.select(hit.index);
    setSelected(hit);
    pick(hit);
  }

  function select(segment: Segment | undefined): void {
    if (!segment) return;
    setHovered(null);
    setSelected({ segment, line: null });
    setSpoken(spokenOrigin(segment));
  }

  function focus(): void {
    if (!renderer.current!.selected() && host.current!.matches(":focus-visible")) select(renderer.current!.step("first"));
  }

  function open(): void {
    const segment = renderer.current!.selected();
    const source = segment?.origin && sourceOf?.(segment.origin);
    if (segment) pick({ segment, line: segment.lines?.[0] ?? null });
    if (source) go(source.address);
  }

  function key(event: KeyboardEvent): void {
    const isCommand = event.ctrlKey || event.metaKey;
    if (isCommand && event.key === "a") getSelection()!.selectAllChildren(host.current!);
    else if (isCommand || event.altKey || event.shiftKey) return;
    else if (event.key === "ArrowRight") select(renderer.current!.step("next"));
    else if (event.key === "ArrowLeft") select(renderer.current!.step("previous"));
    else if (event.key === "Home") select(renderer.current!.step("first"));
    else if (event.key === "End") select(renderer.current!.step("last"));
    else if (event.key === "Enter") open();
    else return;
    event.preventDefault();
  }

  const hasSections = segments.filter((segment) => segment.isFirst).length > 1;
  return (
    <>
      <div class={hasSections ? "prompt many" : "prompt"} ref={host} role="group" aria-label={label} aria-describedby={`${id}-keys`} tabIndex={0}
        onPointerMove={point} onPointerLeave={leave} onPointerDown={(event) => void (pressed.current = [event.clientX, event.clientY])} onClick={click} onFocus={focus} onKeyDown={key} onCopy={copyExactly} />
      <OriginInfo place={hovered ?? selected} sourceOf={sourceOf} marks={marks} authorAt={authorAt} root={root} />
      <p class="visually-hidden" id={`${id}-keys`}>The left and right arrow keys move between origins, and Enter opens where the text came from.</p>
      <p class="visually-hidden" role="status">{spoken}</p>
    </>
  );
}
