"""Packs: named folders of layouts, templates and wording."""
