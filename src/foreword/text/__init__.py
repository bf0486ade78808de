"""Facts about text: no section, no layout, no disk."""
