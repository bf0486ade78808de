// Draws segments by hand: thousands of them may stand in a prompt, and most stay as they were when it changes.
import { type Segment, lineAt, stretch } from "./segments";

const LIT = "lit";

export class Drawing {
  private drawn: { segment: Segment; element: HTMLElement }[] = [];
  private readonly byElement = new Map<Element, Segment>();

  constructor(private readonly host: HTMLElement) {}

  draw(segments: Segment[]): void {
    const old = this.drawn;
    const shared = Math.min(old.length, segments.length);
    let start = 0;
    while (start < shared && isSame(old[start]!.segment, segments[start]!)) start++;
    let end = 0;
    while (end < shared - start && isSame(old.at(-1 - end)!.segment, segments.at(-1 - end)!)) end++;
    for (const each of old.slice(start, old.length - end)) each.element.remove();
    const before = end ? old[old.length - end]!.element : null;
    const fresh = segments.slice(start, segments.length - end).map((segment) => ({ segment, element: made(segment) }));
    const nodes = document.createDocumentFragment();
    nodes.append(...fresh.map((each) => each.element));
    this.host.insertBefore(nodes, before);
    const kept = [...old.slice(0, start), ...fresh, ...old.slice(old.length - end)];
    this.drawn = kept.map(({ element }, at) => ({ element, segment: segments[at]! }));
    this.byElement.clear();
    for (const { segment, element } of this.drawn) this.byElement.set(element, segment);
    if (!this.host.querySelector("[tabindex='0']")) this.step(null, 0)?.setAttribute("tabindex", "0");
  }

  segmentOf(element: Element | null): Segment | undefined {
    return element ? this.byElement.get(element) : undefined;
  }

  /** The element with an origin that lies so many steps away from another; from the first or last if there is none. */
  step(from: Element | null, by: number): HTMLElement | undefined {
    const all = this.drawn.filter((each) => isRead(each.segment));
    const at = from ? all.findIndex((each) => each.element === from) : 0;
    return all[Math.min(Math.max(at + by, 0), all.length - 1)]?.element;
  }

  /** Light what a line of the template made, and bring it into view. Whether there is anything. */
  light(line: number | null): boolean {
    CSS.highlights?.delete(LIT);
    if (line === null) return false;
    const found = this.drawn.flatMap(({ segment, element }) => {
      const place = stretch(segment, line);
      return place && place[1] > place[0] ? [range(element, place)] : [];
    });
    if (!found.length) return false;
    CSS.highlights?.set(LIT, new Highlight(...found));
    bringIntoView(this.host, found[0]!);
    return true;
  }

  /** The segment under a point, and the line of its origin there. */
  at(x: number, y: number, element: Element): { segment: Segment; line: number | null; offset: number } | null {
    const segment = this.segmentOf(element);
    if (!segment?.origin) return null;
    const caret = document.caretPositionFromPoint?.(x, y);
    const offset = caret && element.contains(caret.offsetNode) ? caret.offset : 0;
    return { segment, offset, line: lineAt(segment, offset) };
  }

  scrollTo(section: string): void {
    const first = this.drawn.find((each) => each.segment.section === section);
    if (first) bringIntoView(this.host, range(first.element, [0, 1]), true);
  }
}

function isSame(a: Segment, b: Segment): boolean {
  return a.text === b.text && a.section === b.section && a.isFirst === b.isFirst
    && a.origin?.kind === b.origin?.kind && a.origin?.path === b.origin?.path;
}

/** White space alone is nothing to stop at. */
function isRead(segment: Segment): boolean {
  return segment.origin !== null && segment.text.trim() !== "";
}

function made(segment: Segment): HTMLElement {
  const element = document.createElement("span");
  element.textContent = segment.text;
  if (!segment.origin) return element;
  element.className = `origin k-${segment.origin.kind}`;
  if (segment.isFirst) element.dataset["section"] = segment.section;
  if (!isRead(segment)) return element;
  element.tabIndex = -1;
  element.setAttribute("role", "button");
  element.setAttribute("aria-describedby", "origin-told");
  return element;
}

function range(element: HTMLElement, [from, to]: [number, number]): Range {
  const made = document.createRange();
  const node = element.firstChild!;
  const length = node.textContent!.length;
  made.setStart(node, Math.min(from, length));
  made.setEnd(node, Math.min(to, length));
  return made;
}

function bringIntoView(host: HTMLElement, place: Range, toTop = false): void {
  const box = place.getBoundingClientRect();
  const frame = host.getBoundingClientRect();
  if (!toTop && box.top >= frame.top && box.bottom <= frame.bottom) return;
  host.scrollTop += box.top - frame.top - (toTop ? 8 : frame.height / 3);
}
