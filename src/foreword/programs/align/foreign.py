"""Sources of other programs: the folders of rulesync (`.rulesync`) and ruler (`.ruler`), or any file, become AGENTS.md, rules and skills. Pure.

The folder stays the source. What is made from it is marked as generated, is written again when the folder changes, and is removed when
its part of the folder is gone.
"""

from __future__ import annotations

from posixpath import basename, dirname

from ...errors import CallError
from ...findings import finding
from ...sources.front_matter import parse_front_matter, split
from ...sources.path_globs import MATCH_ALL, split_globs
from ...text.lines import printable
from ...vocabulary import value
from .copies import copy_text, rule_text
from .model import Instruction, Proposal
from .notes import listed
from .sources import INSTRUCTIONS, RULES, SKILLS, content_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from ...vocabulary import Finding
    from .copies import GeneratedFile

    TextOf = Callable[[str], str | None]

RULESYNC, RULER = ".rulesync", ".ruler"
_ALL_TARGETS = "*"
_FIRST = ("AGENTS.md", "instructions.md")  # in this order, before other files of ruler
_NOT_RULES = ("skills/", "agents/")


@value
class ForeignSource:
    """What a folder or file of another program becomes: texts by their paths, and what could not be taken over."""

    origin: str
    texts: dict[str, str]
    findings: Sequence[Finding] = ()


def find_origin(named: str, generated: Sequence[GeneratedFile]) -> str:
    """Return the folder or file to read: the one that was named, or the one from which there are generated files already."""
    if named:
        return named.removeprefix("./").rstrip("/")
    for row in (row for row in generated if is_standard(row.path)):
        folder = next((part for part in row.source.split("/") if part in (RULESYNC, RULER)), "")
        return folder or row.source
    return ""


def read_foreign(origin: str, names: Sequence[str], text_of: TextOf, *, is_required: bool = True) -> ForeignSource:
    """Return what a folder or file becomes. Raises a CallError if it is required, and neither a known folder nor a file with text."""
    if origin in (RULESYNC, RULER) and any(name.startswith(f"{origin}/") for name in names):
        return _read_rulesync(names, text_of) if origin == RULESYNC else _read_ruler(names, text_of)
    text = text_of(origin) if origin in names else None
    if not text and not is_required:
        return ForeignSource(origin, {})
    if not text or basename(origin) == INSTRUCTIONS:
        raise CallError(
            f"--from {printable(origin)}: it must be {RULESYNC}, {RULER} or a file with text in the repository"
        )
    return ForeignSource(origin, {INSTRUCTIONS: copy_text(_instruction(origin, "file", text))})


def propose_foreign(
    source: ForeignSource, generated: Sequence[GeneratedFile], text_of: TextOf
) -> tuple[list[Proposal], list[Finding]]:
    """Return the changes after which the repository has the texts of a foreign source. What a person wrote is not replaced."""
    known = {row.path: row for row in generated}
    changes: list[Proposal] = []
    kept: list[str] = []
    for path, text in source.texts.items():
        old = text_of(path)
        if old is not None and old.replace("\r\n", "\n") == text:
            continue
        if path in known and known[path].is_edited:
            continue
        if old is not None and path not in known and not set(content_lines(old)) <= set(content_lines(text)):
            kept.append(path)
            continue
        changes.append(Proposal(path, text, "merge", (), (), f"it is made from {source.origin}", old is None))
    for row in generated:
        if is_standard(row.path) and row.path not in source.texts and not row.is_edited:
            reason = f"it was generated from {row.source}, which is gone"
            changes.append(Proposal(row.path, None, "remove", (), (), reason, is_new=False))
    findings = list(source.findings)
    if kept:
        message = f"{listed(kept)} has lines that {source.origin} does not have, so align does not replace it; move them there, or delete it"
        findings.append(finding("align-from", message, printable(kept[0])))
    return changes, findings


def is_standard(path: str) -> bool:
    """Whether a path is one where align looks for sources."""
    return basename(path) == INSTRUCTIONS or path.startswith((RULES, SKILLS))


# rulesync


def _read_rulesync(names: Sequence[str], text_of: TextOf) -> ForeignSource:
    texts: dict[str, str] = {}
    roots: list[str] = []
    left_out: list[str] = []
    folder = f"{RULESYNC}/rules/"
    for path in sorted(name for name in names if name.startswith(folder) and name.endswith(".md")):
        text = _clean(text_of(path))
        fields = _fields(text)
        if fields.get("localRoot") is True or _ALL_TARGETS not in _strings(fields.get("targets", _ALL_TARGETS)):
            left_out.append(path)
        elif fields.get("root") is True:
            roots.append(_body(text))
        elif nested := _nested_folder(fields):
            texts[f"{nested}/{INSTRUCTIONS}"] = copy_text(_instruction(path, "file", _body(text)))
        else:
            globs = [glob for glob in _strings(fields.get("globs", ())) if glob not in MATCH_ALL]
            name = path[len(folder) :].removesuffix(".md").replace("/", "-")
            texts[f"{RULES}{name}.md"] = rule_text(_instruction(path, "rule", _body(text), name, globs), "paths")
    if roots:
        texts[INSTRUCTIONS] = copy_text(_instruction(f"{RULESYNC}/rules", "file", "\n".join(roots)))
    texts |= dict(_skills(RULESYNC, names, text_of))
    findings = []
    if left_out:
        message = (
            f"{listed(left_out)} is only for some agents, or only for you, which align cannot express; it is left out"
        )
        findings.append(finding("align-from", message, printable(left_out[0])))
    return ForeignSource(RULESYNC, texts, findings)


def _nested_folder(fields: dict[str, Any]) -> str:
    """Return the folder for which rulesync would write an AGENTS.md, if the rule says so."""
    table = fields.get("agentsmd")
    folder = table.get("subprojectPath") if isinstance(table, dict) else None
    names = folder.replace("\\", "/").strip("/").split("/") if isinstance(folder, str) else [""]
    is_folder = not any(not name or name.startswith(".") or ":" in name for name in names)
    return "/".join(names) if is_folder and folder != "auto" else ""


# ruler


def _read_ruler(names: Sequence[str], text_of: TextOf) -> ForeignSource:
    texts: dict[str, str] = {}
    folders = {name.partition(f"{RULER}/")[0] for name in names if f"/{RULER}/" in f"/{name}"}
    for folder in sorted(folders if _is_nested(text_of(f"{RULER}/ruler.toml") or "") else {""}):
        top = f"{folder}{RULER}/"
        paths = [
            name
            for name in names
            if name.startswith(top) and name.endswith(".md") and not name[len(top) :].startswith(_NOT_RULES)
        ]
        first = next((name for name in _FIRST if f"{top}{name}" in paths), "")
        paths.sort(key=lambda path: (path != f"{top}{first}", path))
        parts = [text for path in paths if content_lines(text := _clean(text_of(path)))]
        if parts:
            texts[f"{folder}{INSTRUCTIONS}"] = copy_text(_instruction(top.rstrip("/"), "file", "\n".join(parts)))
    return ForeignSource(RULER, texts | dict(_skills(RULER, names, text_of)))


def _is_nested(text: str) -> bool:
    """Whether ruler's settings say that folders below the root have rules of their own."""
    import tomllib

    try:
        return tomllib.loads(text).get("nested") is True
    except ValueError:
        return False


# Both


def _skills(origin: str, names: Sequence[str], text_of: TextOf) -> Iterator[tuple[str, str]]:
    folder = f"{origin}/skills/"
    for path in sorted(names):
        if path.startswith(folder) and basename(path) == "SKILL.md" and path.count("/") == 3:
            text, own = _clean(text_of(path)), f"{dirname(path)}/"
            if content_lines(text):
                has_others = any(name.startswith(own) and name != path for name in names)
                skill = _instruction(path, "skill", text, basename(dirname(path)), has_other_files=has_others)
                yield f"{SKILLS}{skill.name}/SKILL.md", copy_text(skill)


def _instruction(
    path: str, kind: Any, text: str, name: str = "", globs: Sequence[str] = (), has_other_files: bool = False
) -> Instruction:
    return Instruction(path, kind, "", text, content_lines(text), name, tuple(globs), has_other_files)


def _clean(text: str | None) -> str:
    """Return a text with line feeds only and one at its end."""
    plain = (text or "").removeprefix("\ufeff").replace("\r\n", "\n")
    return plain if plain.endswith("\n") or not plain else plain + "\n"


def _body(text: str) -> str:
    return split(text)[1].lstrip("\n")


def _fields(text: str) -> dict[str, Any]:
    fields = parse_front_matter(text)
    return fields if isinstance(fields, dict) else {}


def _strings(content: Any) -> list[str]:
    rows = split_globs(content) if isinstance(content, str) else content
    return [row for row in rows if isinstance(row, str)] if isinstance(rows, list | tuple) else []
