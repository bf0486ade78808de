// Draws a prompt without Preact: it may have thousands of origins, and most of it stays the same when it changes.
import { type TextRun, textRuns } from "../hidden-characters";
import type { Target } from "../target";
import { type Block, type Piece, blocks, estimatedLines, isSame } from "./blocks";
import { type Segment, lineAt, offsetOfLine, rangeOfLine, sourcesOf } from "./segments";

const HIGHLIGHT = "lines";
const LINE_HEIGHT = 1.7; // as in prompt.css
/** Prompts with at most this many blocks are laid out whole, for example for a screenshot. The first ones are always coloured. */
const ALWAYS_LAID_OUT = 8;
/** How far from the screen a block is when it gets its colours, in heights of the prompt. */
const MARGIN = "200%";

export type Step = "next" | "previous" | "first" | "last";

interface Drawn {
  block: Block;
  element: HTMLElement;
  /** One for each piece. Null if the block is far from the screen: then its text is a single node, because elements take time. */
  spans: HTMLElement[] | null;
}

/** Something about a line of a source, which is shown in the margin of the text. */
export interface Mark {
  path: string;
  line: number;
  severity: string;
  message: string;
}

/** A segment at a point, and the offset and the origin's line at that point. */
export interface Hit {
  segment: Segment;
  index: number;
  offset: number;
  line: number | null;
}

export class PromptRenderer {
  private segments: Segment[] = [];
  private drawn: Drawn[] = [];
  private readonly byElement = new Map<Element, Drawn>();
  private current: number | null = null;
  private selectedSpans: HTMLElement[] = [];
  private readonly observer: IntersectionObserver;

  /** `level` is the level of the sections' headings. */
  constructor(private readonly host: HTMLElement, private readonly level: number) {
    this.observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) this.colour(this.byElement.get(target));
    }, { root: host, rootMargin: MARGIN });
  }

  render(segments: Segment[]): void {
    const old = this.drawn;
    const wanted = blocks(segments);
    const shared = Math.min(old.length, wanted.length);
    let start = 0;
    while (start < shared && isSame(old[start]!.block, wanted[start]!)) start++;
    let end = 0;
    while (end < shared - start && isSame(old.at(-1 - end)!.block, wanted.at(-1 - end)!)) end++;
    for (const { element } of old.slice(start, old.length - end)) {
      element.remove();
      this.byElement.delete(element);
      this.observer.unobserve(element);
    }
    const before = end ? old[old.length - end]!.element : null;
    const added = wanted.slice(start, wanted.length - end).map((block) => draw(block, segments, this.level));
    for (const each of added) this.byElement.set(each.element, each);
    for (const each of added.slice(0, ALWAYS_LAID_OUT)) this.colour(each);
    this.drawn = [...old.slice(0, start), ...added, ...old.slice(old.length - end)];
    this.drawn.forEach((each, index) => (each.block = wanted[index]!));
    this.host.classList.toggle("long", wanted.length > ALWAYS_LAID_OUT);
    const nodes = document.createDocumentFragment();
    nodes.append(...added.map(({ element }) => element));
    this.host.insertBefore(nodes, before);
    for (const { element } of added.slice(ALWAYS_LAID_OUT)) this.observer.observe(element);
    const selected = this.selected();
    this.segments = segments;
    const isKept = selected && this.current !== null && isSameOrigin(selected, segments[this.current]);
    this.select(isKept ? this.current : null);
  }

  /** Colour the whole prompt, for example before it is printed. */
  colourAll(): void {
    for (const each of this.drawn) this.colour(each);
  }

  /** Divide the text of a block by origin. Returns the element of each piece. */
  private colour(drawn: Drawn | undefined): HTMLElement[] {
    if (!drawn) return [];
    if (!drawn.spans) {
      this.observer.unobserve(drawn.element);
      drawn.spans = drawn.block.pieces.map(spanFor);
      drawn.element.lastChild!.replaceWith(...drawn.spans);
    }
    return drawn.spans;
  }

  /** The segment that is selected for the keyboard, if any. */
  selected(): Segment | undefined {
    return this.current === null ? undefined : this.segments[this.current];
  }

  /** Mark a segment as selected, instead of the one before. */
  select(index: number | null): void {
    for (const span of this.selectedSpans) span.classList.remove("selected");
    this.current = index;
    this.selectedSpans = index === null ? [] : this.spansOf(index);
    for (const span of this.selectedSpans) span.classList.add("selected");
  }

  /** Select another segment with an origin and scroll to it. Returns the selected segment. */
  step(to: Step): Segment | undefined {
    const by = to === "next" || to === "first" ? 1 : -1;
    const last = this.segments.length;
    const from = { next: this.current ?? -1, previous: this.current ?? 0, first: -1, last }[to];
    let index = from + by;
    while (this.segments[index] && !isReachable(this.segments[index]!)) index += by;
    if (!this.segments[index]) return this.selected();
    this.select(index);
    const [span] = this.spansOf(index);
    if (span) scrollIntoView(this.host, range(span, 0, 1));
    return this.segments[index];
  }

  /** Show marks in the margin, instead of those before. */
  mark(marks: Mark[]): void {
    for (const old of this.host.querySelectorAll(".margin-mark")) old.remove();
    for (const [index, segment] of this.segments.entries()) {
      for (const { line, severity, message } of marks.filter(({ path }) => path === segment.origin?.path)) {
        const offset = offsetOfLine(segment, line);
        const place = offset === null ? null : this.placeOf(index, offset);
        if (!place) continue;
        const element = document.createElement("i");
        element.className = `margin-mark ${severity}`;
        element.title = message;
        place.insertNode(element);
      }
    }
  }

  /** A character in the text of a segment. An empty range would have no place on the screen after a line break. */
  private placeOf(index: number, offset: number): Range | null {
    for (const drawn of this.drawn) {
      const number = drawn.block.pieces.findIndex((piece) => piece.index === index && piece.offset <= offset && offset < piece.offset + piece.text.length);
      if (number < 0) continue;
      const start = offset - drawn.block.pieces[number]!.offset;
      return range(this.colour(drawn)[number]!, start, start + 1);
    }
    return null;
  }

  /** Highlight what a template line produced and scroll to it. Returns whether it produced anything. */
  highlight(line: number | null): boolean {
    CSS.highlights?.delete(HIGHLIGHT);
    if (line === null) return false;
    const found: Range[] = [];
    for (const drawn of this.drawn) {
      drawn.block.pieces.forEach((piece, index) => {
        const lines = rangeOfLine(piece.segment, line);
        if (!lines) return;
        const [start, end] = [Math.max(0, lines[0] - piece.offset), Math.min(piece.text.length, lines[1] - piece.offset)];
        if (end > start) found.push(range(this.colour(drawn)[index]!, start, end));
      });
    }
    if (!found.length) return false;
    CSS.highlights?.set(HIGHLIGHT, new Highlight(...found));
    scrollIntoView(this.host, found[0]!);
    return true;
  }

  /** What is at a point of the screen, where this element is. */
  hitAt(x: number, y: number, element: Element): Hit | null {
    let span: Element | null = element;
    while (span && span !== this.host && !this.byElement.has(span.parentElement!)) span = span.parentElement; // a hidden character is inside it
    const drawn = span?.parentElement && this.byElement.get(span.parentElement);
    const piece = drawn?.spans && drawn.block.pieces[drawn.spans.indexOf(span as HTMLElement)];
    if (!piece?.segment.origin) return null;
    const caret = document.caretPositionFromPoint?.(x, y);
    const offset = piece.offset + (caret && span!.contains(caret.offsetNode) ? offsetIn(span!, caret.offsetNode, caret.offset) : 0);
    return { segment: piece.segment, index: piece.index, offset, line: lineAt(piece.segment, offset) };
  }

  /** Scroll to a section, or to what a source or one of its lines contributes, which is then selected. Returns the selected segment. */
  scrollTo({ section, kind, path, line }: Target): Segment | undefined {
    const isSource = ({ origin, ...segment }: Segment) => segment.section === section && origin?.kind === kind && origin?.path === path;
    const isThere = line ? (segment: Segment) => segment.origin?.path === path && offsetOfLine(segment, line) !== null : isSource;
    const index = kind || line ? this.segments.findIndex((segment) => isThere(segment) && isReachable(segment)) : -1;
    const element = index < 0 ? this.drawn.find(({ block }) => block.pieces[0]!.segment.section === section)?.element : this.spansOf(index)[0];
    if (!element) return undefined;
    if (index >= 0) this.select(index);
    const place = line && index >= 0 ? this.placeOf(index, offsetOfLine(this.segments[index]!, line)!) : null;
    const scroll = () => scrollIntoView(this.host, place ?? element, true);
    scroll();
    requestAnimationFrame(scroll); // now the blocks that were not laid out before have their real height
    return this.segments[index];
  }

  private spansOf(index: number): HTMLElement[] {
    return this.drawn
      .filter(({ block: { pieces } }) => pieces[0]!.index <= index && pieces.at(-1)!.index >= index)
      .flatMap((drawn) => this.colour(drawn).filter((_, number) => drawn.block.pieces[number]!.index === index));
  }
}

function isSameOrigin({ origin }: Segment, other: Segment | undefined): boolean {
  return origin?.kind === other?.origin?.kind && origin?.path === other?.origin?.path;
}

/** The arrow keys skip white space. */
function isReachable(segment: Segment): boolean {
  return segment.origin !== null && segment.text.trim() !== "";
}

function draw(block: Block, segments: Segment[], level: number): Drawn {
  const element = document.createElement("div");
  element.className = "block";
  element.style.setProperty("contain-intrinsic-block-size", `auto ${(estimatedLines(block) * LINE_HEIGHT).toFixed(1)}em`);
  if (block.section !== null) element.append(heading(block.section, sourcesOf(segments, block.pieces[0]!.index), level));
  element.append(block.text);
  return { block, element, spans: null };
}

function spanFor({ text, segment: { origin } }: Piece): HTMLElement {
  const span = document.createElement("span");
  span.append(...textRuns(text).map(nodeFor));
  if (origin) span.className = `origin k-${origin.kind}`;
  return span;
}

/** A text node, or for hidden characters an element in which they cannot act on the text around them. */
function nodeFor({ text, mark }: TextRun): Node {
  if (!mark) return document.createTextNode(text);
  const element = document.createElement("i");
  element.className = "hidden-character";
  element.dataset["mark"] = mark;
  element.textContent = text;
  return element;
}

/** A heading without text of its own, because the text of this element is the prompt and nothing else. */
function heading(section: string, sources: string[], level: number): HTMLElement {
  const element = document.createElement(`h${level}`);
  element.dataset["section"] = section;
  element.dataset["sources"] = sources.join(", ");
  element.setAttribute("aria-label", section);
  return element;
}

/** A range of the text in an element; empty if `to` is not after `from`. */
function range(element: HTMLElement, from: number, to: number): Range {
  const result = document.createRange();
  result.setStart(...pointAt(element, from));
  if (to > from) result.setEnd(...pointAt(element, to));
  return result;
}

/** The text node at an offset in an element, and the offset in that node. */
function pointAt(element: HTMLElement, offset: number): [Node, number] {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let node = walker.nextNode() as Text;
  for (let rest = offset; ; rest -= node.length, node = walker.nextNode() as Text) {
    if (rest <= node.length || node === element.lastChild) return [node, Math.min(rest, node.length)];
  }
}

/** The offset in an element of a point in one of its text nodes. */
function offsetIn(element: Element, node: Node, offset: number): number {
  const before = document.createRange();
  before.setStart(element, 0);
  before.setEnd(node, offset);
  return before.toString().length;
}

function scrollIntoView(host: HTMLElement, target: Range | Element, toTop = false): void {
  const box = target.getBoundingClientRect();
  const frame = host.getBoundingClientRect();
  if (!toTop && box.top >= frame.top && box.bottom <= frame.bottom) return;
  host.scrollTop += box.top - frame.top - (toTop ? 0 : frame.height / 3);
}
