// The heading of a column that a table can be sorted by.

export type Direction = "ascending" | "descending";

export interface Sorting<K extends string> {
  by: K;
  direction: Direction;
}

interface Props<K extends string> {
  name: string;
  by: K;
  sorting: Sorting<K> | null;
  isFigure?: boolean;
  onSort(sorting: Sorting<K>): void;
}

/** Figures are sorted from the largest at first, and names from A. */
export function SortHeading<K extends string>({ name, by, sorting, isFigure = false, onSort }: Props<K>) {
  const current = sorting?.by === by ? sorting.direction : undefined;
  const first: Direction = isFigure ? "descending" : "ascending";
  const other: Direction = isFigure ? "ascending" : "descending";
  return (
    <th scope="col" class={isFigure ? "figure" : undefined} aria-sort={current ?? "none"}>
      <button type="button" class="plain" onClick={() => onSort({ by, direction: current === first ? other : first })}>
        {name}<span class="sort-sign" aria-hidden="true">{current === "ascending" ? "↑" : current === "descending" ? "↓" : "↕"}</span>
      </button>
    </th>
  );
}

/** The rows in this order. Rows with equal keys keep theirs. */
export function sorted<T>(rows: T[], direction: Direction, key: (row: T) => number | string): T[] {
  const sign = direction === "ascending" ? 1 : -1;
  const compare = (a: number | string, b: number | string) => (typeof a === "string" ? a.localeCompare(String(b)) : a - Number(b));
  return [...rows].sort((a, b) => sign * compare(key(a), key(b)));
}
