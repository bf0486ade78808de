// Divides a prompt into blocks of whole lines, so that the browser lays out only the blocks on the screen.
import type { Segment } from "./segments";

/** A part of a segment: the whole segment, unless it is longer than a block. */
export interface Piece {
  segment: Segment;
  /** The number of the segment in the prompt. */
  index: number;
  /** Where the piece begins in its segment. */
  offset: number;
  text: string;
}

export interface Block {
  /** The section that begins here, or null inside a section. */
  section: string | null;
  pieces: Piece[];
  /** The text of all pieces. */
  text: string;
}

const MIN_SIZE = 3000;
const MAX_SIZE = 9000;
/** What an element costs the browser, in characters. */
const PIECE_SIZE = 40;
const COLUMNS = 90;

const known = new WeakMap<Segment[], Block[]>();

/**
 * The blocks of a prompt. A block ends with its section, or else with a line. The text of the lines decides with which one,
 * so that a change in one block leaves the blocks after it as they are. The blocks of the same list are found only once.
 */
export function blocks(segments: Segment[]): Block[] {
  const found = known.get(segments) ?? divide(segments);
  known.set(segments, found);
  return found;
}

function divide(segments: Segment[]): Block[] {
  const found: Block[] = [];
  let block: Block = { section: null, pieces: [], text: "" };
  let size = 0;
  function close(section: string | null): void {
    if (block.pieces.length) found.push(block);
    block = { section, pieces: [], text: "" };
    size = 0;
  }
  segments.forEach((segment, index) => {
    if (segment.isFirst) close(segment.section);
    let offset = 0;
    for (;;) {
      const end = blockEnd(segment.text, offset, size + PIECE_SIZE);
      const text = segment.text.slice(offset, end ?? undefined);
      if (text) {
        block.pieces.push({ segment, index, offset, text });
        block.text += text;
      }
      if (end === null) {
        size += PIECE_SIZE + text.length;
        return;
      }
      close(null);
      offset = end;
    }
  });
  close(null);
  return found;
}

/** The end of the block that has this size before the offset, or null if it continues after the text. */
function blockEnd(text: string, offset: number, size: number): number | null {
  let end = text.indexOf("\n", offset + Math.max(0, MIN_SIZE - size)) + 1;
  while (end > 0) {
    if (isBreak(text, end) || size + end - offset >= MAX_SIZE) return end;
    end = text.indexOf("\n", end) + 1;
  }
  return null;
}

/** Whether a block may end with the line that ends here: one line in sixteen, chosen by its last characters. */
function isBreak(text: string, end: number): boolean {
  let sum = 0;
  for (let at = Math.max(0, end - 12); at < end; at++) sum += text.charCodeAt(at);
  return sum % 16 === 0;
}

/** Whether two blocks look the same. */
export function isSame(a: Block, b: Block): boolean {
  if (a.section !== b.section || a.pieces.length !== b.pieces.length || a.text !== b.text) return false;
  return a.pieces.every((piece, index) => isSamePiece(piece, b.pieces[index]!));
}

function isSamePiece({ text, segment: { origin } }: Piece, other: Piece): boolean {
  return text.length === other.text.length && origin?.kind === other.segment.origin?.kind && origin?.path === other.segment.origin?.path;
}

/** About how many lines a block takes on the screen. */
export function estimatedLines({ text }: Block): number {
  const lines = text.split("\n");
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / COLUMNS)), 0);
}
