// Chooses the rows of a long table that are drawn in the next frame.

/** The first row, and the one after the last. */
export type Range = readonly [number, number];

/** How many rows are added in a frame. More would make it late on a slow machine. */
const MAX_ADDED = 10;

/** The rows to draw: of those that are wanted, the ones that are there already, and a few more, from `top` on if none is there. */
export function nextRows(before: Range, wanted: Range, top: number): Range {
  let first = Math.max(before[0], wanted[0]);
  let last = Math.min(before[1], wanted[1]);
  if (first >= last) first = last = Math.max(wanted[0], Math.min(top, wanted[1]));
  const below = Math.min(wanted[1] - last, MAX_ADDED);
  const above = Math.min(first - wanted[0], MAX_ADDED - below);
  return below || above || before[0] !== first || before[1] !== last ? [first - above, last + below] : before;
}
