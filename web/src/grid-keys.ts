// Moves between the cells of a table that is one tab stop.

export interface Cell {
  row: number;
  column: number;
}

/** The cell that a key moves to, or null if the key does not move. The size is the number of rows and columns. */
export function cellAfter(key: string, isControl: boolean, { row, column }: Cell, { row: rows, column: columns }: Cell): Cell | null {
  const last = { row: rows - 1, column: columns - 1 };
  if (key === "ArrowRight") return { row, column: Math.min(column + 1, last.column) };
  if (key === "ArrowLeft") return { row, column: Math.max(column - 1, 0) };
  if (key === "ArrowDown") return { row: Math.min(row + 1, last.row), column };
  if (key === "ArrowUp") return { row: Math.max(row - 1, 0), column };
  if (key === "Home") return { row: isControl ? 0 : row, column: 0 };
  if (key === "End") return { row: isControl ? last.row : row, column: last.column };
  return null;
}
