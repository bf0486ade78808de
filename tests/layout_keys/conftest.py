"""A layout with one lookup rule and one section, for tests of single keys."""

import pytest


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class NotesLayout:
    """Builds prompts with a layout whose lookup rule `notes` and section `notes` have the keys that a test passes."""

    def __init__(self, tree):
        self.tree = tree

    def layout(self, find, section=(), user=(), **top):
        find = {"files": ["walk:N.md"], **find}
        section = {"list": "notes", "item": "{text}", "join": "\n", **dict(section)}
        tables = {"find.notes": find, "section.notes": section}
        names = ["notes"]
        if user:
            tables["find.user"] = {"files": ["home:N.md"], **dict(user)}
            tables["section.user"] = {**section, "list": "user"}
            names = ["user", "notes"]
        lines = [f"{key} = {toml(value)}" for key, value in {"sections": names, **top}.items()]
        for table, keys in tables.items():
            lines += [f"[{table}]", *(f"{toml(key)} = {toml(value)}" for key, value in keys.items())]
        self.tree({"layout.toml": "\n".join(lines)})
        return self.tree.path("layout.toml")

    def prompt(self, files, find=(), section=(), cwd="w", user=(), options=(), **top):
        self.tree({"w/.git": None, **files})
        return self.tree.prompt(self.layout(dict(find), section, user, **top), cwd, **dict(options))

    def text(self, *args, **kwargs):
        return self.tree.short(self.prompt(*args, **kwargs).text)


@pytest.fixture
def notes(tree):
    return NotesLayout(tree)
