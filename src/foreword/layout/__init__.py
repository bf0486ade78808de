"""Layouts: their keys, their parsed form, and the parser."""
