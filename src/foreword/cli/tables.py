"""Format tables: columns that fit a terminal, with a header and colours, or plain rows when piped."""

from __future__ import annotations

import sys

from .columns import column_widths, is_too_wide, record_lines, table_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence


class Table:
    """Rows of cells, and the format of their columns. `paint` colours text."""

    def __init__(
        self,
        paint: Callable[[str, str], str],
        rows: Sequence[Sequence[str]],
        header: Sequence[str] = (),
        colours: Sequence[str] = (),
        right: Collection[int] = (),
        paths: Collection[int] = (),
        row_colours: Sequence[Mapping[int, str]] = (),
    ) -> None:
        self.paint, self.rows, self.header, self.colours = paint, rows, header, colours
        self.right, self.paths, self.row_colours = right, paths, row_colours

    def is_wider_than(self, width: int) -> bool:
        return is_too_wide([*([self.header] if self.header else []), *self.rows], width)

    def without_columns(self, columns: Collection[int]) -> Table:
        """Return a copy of the table without these columns."""
        remaining = [column for column in range(len(self.rows[0])) if column not in columns]
        new_numbers = {column: index for index, column in enumerate(remaining)}

        def cells(row: Sequence[str]) -> list[str]:
            return [row[column] for column in remaining if column < len(row)]

        def renumber(columns: Collection[int]) -> list[int]:
            return [new_numbers[column] for column in columns if column in new_numbers]

        row_colours = [
            {new_numbers[column]: row[column] for column in row if column in new_numbers} for row in self.row_colours
        ]
        return Table(
            self.paint,
            [cells(row) for row in self.rows],
            cells(self.header),
            cells(self.colours),
            renumber(self.right),
            renumber(self.paths),
            row_colours,
        )

    def plain_lines(self) -> list[str]:
        """Return the rows without a header, at their natural width."""
        widths = column_widths((), self.rows, sys.maxsize, self.paths) or []
        return [line for index, row in enumerate(self.rows) for line in self._row_lines(index, row, widths)]

    def fitted_lines(self, width: int) -> list[str]:
        """Return the header and rows in this width. If columns would break words, each row becomes several lines."""
        widths = column_widths(self.header, self.rows, width, self.paths)
        if widths is None:
            return [
                line
                for index, row in enumerate(self.rows)
                for line in record_lines(self.header, row, width, self._painter(index), self.paths)
            ]
        lines = (
            table_lines(self.header, widths, lambda _, text: self.paint(text, "bold"), self.right)
            if self.header
            else []
        )
        return [
            *lines,
            *(line for index, row in enumerate(self.rows) for line in self._row_lines(index, row, widths)),
        ]

    def _row_lines(self, number: int, row: Sequence[str], widths: Sequence[int]) -> list[str]:
        return table_lines(row, widths, self._painter(number), self.right, self.paths)

    def _painter(self, number: int) -> Callable[[int, str], str]:
        """Return a function that paints a cell of this row: in the row's colour for that column, otherwise in the column's."""
        row_colours = self.row_colours[number] if self.row_colours else {}
        column_colours = dict(enumerate(self.colours))
        return lambda column, text: self.paint(text, row_colours.get(column) or column_colours.get(column, ""))
