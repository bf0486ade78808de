"""The template languages: text in, pieces out. Pure: whatever they need from outside arrives as a function."""
