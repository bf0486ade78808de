"""Tables without some of their columns."""

from foreword.cli.tables import Table


def test_the_format_of_a_column_stays_with_it():
    rows = [["1", "a", "x", "/p"], ["2", "b"]]
    header, colours = ["size", "name", "mark", "path"], ["", "dim", "red", ""]
    table = Table(lambda text, colour: text, rows, header, colours, (0, 2), (3, 1), [{0: "red", 3: "dim"}, {1: "dim"}])
    shown = table.without_columns({1})
    assert (shown.header, shown.rows, shown.colours) == (
        ["size", "mark", "path"],
        [["1", "x", "/p"], ["2"]],
        ["", "red", ""],
    )
    assert (shown.right, shown.paths, shown.row_colours) == ([0, 1], [2], [{0: "red", 2: "dim"}, {}])
