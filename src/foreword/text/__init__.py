"""Functions of text alone: they know no sections, no layouts and no disk."""
