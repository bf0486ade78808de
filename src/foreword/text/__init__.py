"""Functions that only work on text: they do not know about sections, layouts or the disk."""
