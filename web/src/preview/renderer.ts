// Renders segments without Preact: a prompt may have thousands of them, and most stay the same when it changes.
import { type Segment, lineAt, rangeOfLine } from "./segments";

const HIGHLIGHT = "lines";

export class SegmentRenderer {
  private rendered: { segment: Segment; element: HTMLElement }[] = [];
  private readonly byElement = new Map<Element, Segment>();

  /** `descriptionId` is the id of the element that describes the segment with focus. */
  constructor(private readonly host: HTMLElement, private readonly descriptionId: string) {}

  render(segments: Segment[]): void {
    const old = this.rendered;
    const shared = Math.min(old.length, segments.length);
    let start = 0;
    while (start < shared && isSame(old[start]!.segment, segments[start]!)) start++;
    let end = 0;
    while (end < shared - start && isSame(old.at(-1 - end)!.segment, segments.at(-1 - end)!)) end++;
    for (const item of old.slice(start, old.length - end)) item.element.remove();
    const before = end ? old[old.length - end]!.element : null;
    const added = segments.slice(start, segments.length - end).map((segment) => ({ segment, element: createElement(segment, this.descriptionId) }));
    const nodes = document.createDocumentFragment();
    nodes.append(...added.map((item) => item.element));
    this.host.insertBefore(nodes, before);
    const kept = [...old.slice(0, start), ...added, ...old.slice(old.length - end)];
    this.rendered = kept.map(({ element }, index) => ({ element, segment: segments[index]! }));
    this.byElement.clear();
    for (const { segment, element } of this.rendered) this.byElement.set(element, segment);
    if (!this.host.querySelector("[tabindex='0']")) this.step(null, 0)?.setAttribute("tabindex", "0");
  }

  segmentOf(element: Element | null): Segment | undefined {
    return element ? this.byElement.get(element) : undefined;
  }

  /** The focusable element `by` steps away, but not beyond the first or last. */
  step(from: Element | null, by: number): HTMLElement | undefined {
    const all = this.rendered.filter((item) => isFocusable(item.segment));
    const index = from ? all.findIndex((item) => item.element === from) : 0;
    return all[Math.min(Math.max(index + by, 0), all.length - 1)]?.element;
  }

  /** Highlight what a template line produced and scroll to it. Returns whether it produced anything. */
  highlight(line: number | null): boolean {
    CSS.highlights?.delete(HIGHLIGHT);
    if (line === null) return false;
    const found = this.rendered.flatMap(({ segment, element }) => {
      const span = rangeOfLine(segment, line);
      return span && span[1] > span[0] ? [range(element, span)] : [];
    });
    if (!found.length) return false;
    CSS.highlights?.set(HIGHLIGHT, new Highlight(...found));
    scrollIntoView(this.host, found[0]!);
    return true;
  }

  /** The segment at a point, and the line of its origin at that point. */
  segmentAt(x: number, y: number, element: Element): { segment: Segment; line: number | null; offset: number } | null {
    const segment = this.segmentOf(element);
    if (!segment?.origin) return null;
    const caret = document.caretPositionFromPoint?.(x, y);
    const offset = caret && element.contains(caret.offsetNode) ? caret.offset : 0;
    return { segment, offset, line: lineAt(segment, offset) };
  }

  scrollTo(section: string): void {
    const first = this.rendered.find((item) => item.segment.section === section);
    if (first) scrollIntoView(this.host, range(first.element, [0, 1]), true);
  }
}

function isSame(a: Segment, b: Segment): boolean {
  return a.text === b.text && a.section === b.section && a.isFirst === b.isFirst
    && a.origin?.kind === b.origin?.kind && a.origin?.path === b.origin?.path;
}

/** The arrow keys skip segments of white space. */
function isFocusable(segment: Segment): boolean {
  return segment.origin !== null && segment.text.trim() !== "";
}

function createElement(segment: Segment, descriptionId: string): HTMLElement {
  const element = document.createElement("span");
  element.textContent = segment.text;
  if (!segment.origin) return element;
  element.className = `origin k-${segment.origin.kind}`;
  if (segment.isFirst) element.dataset["section"] = segment.section;
  if (!isFocusable(segment)) return element;
  element.tabIndex = -1;
  element.setAttribute("role", "button");
  element.setAttribute("aria-describedby", descriptionId);
  return element;
}

function range(element: HTMLElement, [from, to]: [number, number]): Range {
  const result = document.createRange();
  const node = element.firstChild!;
  const length = node.textContent!.length;
  result.setStart(node, Math.min(from, length));
  result.setEnd(node, Math.min(to, length));
  return result;
}

function scrollIntoView(host: HTMLElement, target: Range, toTop = false): void {
  const box = target.getBoundingClientRect();
  const frame = host.getBoundingClientRect();
  if (!toTop && box.top >= frame.top && box.bottom <= frame.bottom) return;
  host.scrollTop += box.top - frame.top - (toTop ? 8 : frame.height / 3);
}
