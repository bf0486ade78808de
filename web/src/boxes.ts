// Arranges the blocks of a chart side by side.

export interface Box {
  left: number;
  width: number;
}

/** The positions of the shares side by side, each at least `minimum` wide, in a strip that is `total` wide. */
export function boxes(weights: number[], total: number, gap: number, minimum: number): Box[] {
  const room = Math.max(0, total - gap * (weights.length - 1));
  const least = Math.min(minimum, room / Math.max(1, weights.length));
  const sum = weights.reduce((a, b) => a + b, 0) || 1;
  const spare = room - least * weights.length;
  let left = 0;
  return weights.map((weight) => {
    const width = least + (spare * weight) / sum;
    const box = { left, width };
    left += width + gap;
    return box;
  });
}
