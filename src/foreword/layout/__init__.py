"""A mapping becomes a `Layout`, strictly."""
