"""Parse a layout: the files to find, the sections of the prompt, and the step for each event.

`parse` turns a mapping (from TOML or its compiled form) into a `Layout`. A key, name or word that is not in the tables of `keys.py` is
an error with a suggestion. The reference page of keys is generated from the same tables.
"""

from __future__ import annotations

import re

from ..errors import LayoutError, suggestion
from ..shapes import LIST, STRING, TABLE, check, check_table, is_list_of_strings
from ..template import TEMPLATE_LIMIT
from ..template.addresses import is_address
from ..template.languages import LANGUAGES
from .keys import BODIES, FACTS, FILTERS, FOUND, INHERITED, KINDS, LISTS, PLACES, TOP_TABLES
from .merging import flat
from .model import Condition, Field, Find, Guideline, Layout, Pattern, Section, with_inner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, Literal

    from .model import Form


def parse(mapping: Mapping[str, Any], name: str, address: str = "", untrusted: frozenset[str] = frozenset()) -> Layout:
    """The layout in a mapping. `untrusted` are the dotted keys from an untrusted file (`find.skills.files`, `settings.dir`)."""
    try:
        return _layout(mapping, name, address or name, untrusted)
    except LayoutError as error:
        raise LayoutError(f"layout {name}: {error}") from None


_MAX_DEPTH = 50


def _layout(mapping: Mapping[str, Any], name: str, address: str, untrusted: frozenset[str]) -> Layout:
    top = {key: content for key, content in mapping.items() if key not in TOP_TABLES}
    _check(top, "layout", also=TOP_TABLES)
    tables = {table: _table(mapping, table) for table in TOP_TABLES if table != "guideline"}
    settings = tables["settings"]
    wording = flat(tables["wording"])
    for key, content in wording.items():
        check(content, STRING, f"wording.{key}", LayoutError)
    finds = tuple(
        _find(key, _table(tables["find"], key, f"find.{key}"), settings, untrusted, top.get("links", "inside"))
        for key in tables["find"]
    )
    _check(tables["on"], "on", "on")
    _check(tables["compaction"], "compaction", "compaction")
    rows = mapping.get("guideline", [])
    check(rows, ("a list of tables", LIST[1]), "guideline", LayoutError)
    reader = _Sections(tables["section"], {find.name: find for find in finds}, settings, wording)
    sections = reader.sections(top.get("sections", ()), "sections", {})
    return Layout(
        name=name,
        address=address,
        about=top.get("about", ""),
        sections=sections,
        finds=finds,
        join=top.get("join", "\n\n"),
        budget=top.get("budget"),
        over=top.get("over", "cut"),
        template_limit=top.get("template_limit", TEMPLATE_LIMIT),
        settings=settings,
        guidelines=tuple(_guideline(row, number, settings) for number, row in enumerate(rows, 1)),
        wording=wording,
        on=tables["on"],
        compaction=tables["compaction"],
        every=tuple(with_inner(sections)),
        untrusted=untrusted,
    )


def check_tables(mapping: Mapping[str, Any], name: str) -> None:
    """Raise an error if a table of a layout is something else, so that layouts can be merged before they are parsed."""
    for table in TOP_TABLES:
        if table != "guideline":
            check(mapping.get(table, {}), TABLE, f"layout {name}: {table}", LayoutError)
        if table in ("find", "section"):
            for key, inner in mapping.get(table, {}).items():
                check(inner, TABLE, f"layout {name}: {table}.{key}", LayoutError)


def _table(mapping: Mapping[str, Any], key: str, name: str = "") -> dict[str, Any]:
    content = mapping.get(key, {})
    check(content, TABLE, name or key, LayoutError)
    return dict(content)


def _check(table: Mapping[str, Any], kind: str, name: str = "", also: Iterable[str] = ()) -> None:
    """Raise an error for an unknown key of a table, or for a value that its key does not take."""
    check_table(table, KINDS[kind], name, LayoutError, also=also)


def _find(
    name: str,
    table: Mapping[str, Any],
    settings: Mapping[str, Any],
    untrusted: frozenset[str],
    links: Literal["inside", "follow"],
) -> Find:
    where = f"find.{name}."
    _check(table, "find", f"find.{name}")
    walk = table.get("walk", "git")
    groups = tuple(_groups(table.get("files", ()), where, settings, untrusted))
    for group in groups:
        if len({pattern.place == "walk" for pattern in group}) > 1:
            raise LayoutError(f"{where}files: the place 'walk' and another cannot be alternatives of one group")
    return Find(
        name,
        groups,
        walk,
        table.get("take", "all"),
        table.get("as", "text"),
        table.get("validation", "lenient"),
        table.get("layer", ""),
        links,
    )


def _groups(
    files: Sequence[str | Sequence[str]], where: str, settings: Mapping[str, Any], untrusted: frozenset[str]
) -> Iterator[tuple[Pattern, ...]]:
    """Groups with their settings filled in. Adjacent groups that use the same list repeat together, once for each value."""
    together: list[str] = []
    shared = ""

    def repeated() -> Iterator[tuple[Pattern, ...]]:
        for each in settings[shared] if together else ():
            for text in together:
                yield (_pattern(text, where, {**settings, shared: each}, untrusted),)

    for group in files:
        lists = _list_settings(group, settings) if isinstance(group, str) else []
        if lists and lists[0] != shared:
            yield from repeated()
            together, shared = [], lists[0]
        if lists:
            together.append(str(group))
            continue
        yield from repeated()
        together, shared = [], ""
        texts = [group] if isinstance(group, str) else group
        yield tuple(pattern for text in texts for pattern in _alternatives(text, where, settings, untrusted))
    yield from repeated()


def _alternatives(text: str, where: str, settings: Mapping[str, Any], untrusted: frozenset[str]) -> Iterator[Pattern]:
    lists = _list_settings(text, settings)
    for each in settings[lists[0]] if lists else ("",):
        yield _pattern(text, where, {**settings, **({lists[0]: each} if lists else {})}, untrusted)


def _list_settings(text: str, settings: Mapping[str, Any]) -> list[str]:
    return [name for name in re.findall(r"\{(\w+)\}", text) if isinstance(settings.get(name), list | tuple)]


def _pattern(text: str, where: str, settings: Mapping[str, Any], untrusted: frozenset[str]) -> Pattern:
    place, colon, path = text.partition(":")
    if not colon or place not in PLACES:
        raise LayoutError(f"{where}files: {text!r} is not a pattern 'place:path'" + suggestion(place, PLACES))
    confined = where + "files" in untrusted or where + "walk" in untrusted
    for name in re.findall(r"\{(\w+)\}", path):
        if name not in settings:
            raise LayoutError(f"{where}files: unknown setting {name!r} (in {text!r})" + suggestion(name, settings))
        confined = confined or f"settings.{name}" in untrusted
    filled = re.sub(r"\{(\w+)\}", lambda match: str(settings[match[1]]), path)
    _check_path(place, filled, f"{where}files: {text!r}")
    return Pattern(place, filled, confined)


def _check_path(place: str, path: str, where: str) -> None:
    """Raise an error for a path that can never match or that leaves its place."""
    segments = path.split("/")
    if segments[-1] in ("", ".", "..") or not path.strip("/."):
        raise LayoutError(f"{where} does not name a file")
    if place != "path" and (path.startswith("/") or ".." in segments):
        raise LayoutError(f"{where} leaves its place; only 'path:' may begin with '/' or contain '..'")
    if any("**" in segment and segment != "**" for segment in segments):
        raise LayoutError(f"{where}: '**' must be a whole segment, as in 'rules/**/*.md'")
    if ".." in segments and "*" in path.rpartition("..")[0]:
        raise LayoutError(f"{where}: '..' cannot follow a wildcard")
    if "\0" in path:
        raise LayoutError(f"{where} contains a NUL character, which no path can have")


class _Sections:
    """Parses the tables of sections, each with its inherited values. A section that contains itself is an error."""

    def __init__(
        self,
        tables: Mapping[str, Any],
        finds: Mapping[str, Find],
        settings: Mapping[str, Any],
        wording: Mapping[str, str],
    ) -> None:
        self.tables, self.finds, self.settings, self.wording = tables, finds, settings, wording
        self.above: list[str] = []
        self.seen: set[str] = set()

    def sections(self, names: Sequence[str], where: str, inherited: Mapping[str, Any]) -> tuple[Section, ...]:
        return tuple(self.section(name, where, inherited) for name in names)

    def section(self, name: str, where: str, inherited: Mapping[str, Any]) -> Section:
        if name not in self.tables:
            raise LayoutError(
                f"{where} names {name!r}, but [section.{name}] does not exist" + suggestion(name, self.tables)
            )
        if name in self.seen:
            raise LayoutError(
                f"section {name!r} is used twice in the layout"
                + (f" ({' > '.join([*self.above, name])})" if self.above else "")
            )
        if len(self.above) >= _MAX_DEPTH:
            raise LayoutError(f"sections nest deeper than {_MAX_DEPTH} ({' > '.join(self.above[:3])} > …)")
        self.seen.add(name)
        table = _table(self.tables, name, f"section.{name}")
        where = f"section.{name}."
        _check(table, "section", f"section.{name}")
        bodies = [key for key in BODIES if key in table]
        if len(bodies) != 1 and not (not bodies and "instead" in table):
            raise LayoutError(
                f"[section.{name}] must have exactly one of text, of, sections; it has {', '.join(bodies) or 'none'}"
            )
        passed = {key: table[key] for key in INHERITED if key in table}
        self.above.append(name)
        inner = self.sections(table.get("sections", ()), where + "sections", {**inherited, **passed})
        self.above.pop()
        return self.assemble(name, where, {**inherited, **table}, inner, has_own_item="item" in table)

    def assemble(
        self, name: str, where: str, table: Mapping[str, Any], inner: tuple[Section, ...], has_own_item: bool
    ) -> Section:
        of = table.get("of")
        language = table.get("language", "")
        text = table.get("text")
        if text is not None and table.get("trim", True):
            text = text.strip()
        is_plain = text is not None and language not in LANGUAGES and not is_address(text)
        return Section(
            name=name,
            lifetime=table.get("lifetime", "conversation"),
            text=text,
            of=of,
            sections=inner,
            form=form(text, FACTS, where + "text") if is_plain and text else (),
            item=form(table.get("item", "{text}"), self.fields(of, where), where + "item") if of is not None else (),
            short=form(table["short"], self.fields(of, where), where + "short")
            if of is not None and "short" in table
            else (),
            folder=self.folder(table.get("folder", ""), of, where + "folder"),
            join=table.get("join", "\n" if has_own_item else "\n\n"),
            wrap=self.wrap(table.get("wrap", ""), where + "wrap"),
            none=table.get("none", ""),
            when=tuple(condition(term, self.settings, where + "when") for term in table.get("when", ())),
            instead=tuple(self.instead(each, where) for each in table.get("instead", ())),
            language=language,
            trim=table.get("trim", of is None and not inner),
            budget=table.get("budget"),
            file_budget=table.get("file_budget"),
            over=table.get("over", self.over(of)),
        )

    def fields(self, of: str, where: str) -> tuple[str, ...]:
        if of in self.finds:
            return FOUND[self.finds[of].kind]
        if of in LISTS:
            return LISTS[of]
        raise LayoutError(f"{where}of: unknown find or list {of!r}" + suggestion(of, (*self.finds, *LISTS)))

    def folder(self, text: str, of: str | None, where: str) -> Form:
        if text and (of is None or of not in self.finds or self.finds[of].kind != "skill"):
            raise LayoutError(f"{where}: only a section that lists skills can name their folders")
        return form(text, ("folder",), where) if text else ()

    def over(self, of: str | None) -> str:
        """What happens over the budget by default: files are cut, menus shortened, anything else only gets a finding."""
        kind = self.finds[of].kind if of is not None and of in self.finds else ""
        return "cut" if kind == "text" else "shorten" if kind else "warn"

    def instead(self, name: str, where: str) -> str:
        if name not in ("base", "template") and name not in self.finds:
            raise LayoutError(
                f"{where}instead: unknown find {name!r}" + suggestion(name, ("base", "template", *self.finds))
            )
        return name

    def wrap(self, text: str, where: str) -> Form:
        if text.startswith("@"):
            where, key = f"wording.{text[1:]}", text[1:]
            if key not in self.wording:
                raise LayoutError(f"unknown wording {key!r}" + suggestion(key, self.wording))
            text = self.wording[key]
        if not text:
            return ()
        parsed = form(text, ("",), where)
        if sum(isinstance(part, Field) for part in parsed) != 1:
            raise LayoutError(f"{where} needs '{{}}' exactly once, for the content")
        if problem := _imbalance(text):
            raise LayoutError(f"{where} must close what it opens: {problem} (in {text!r})")
        return parsed


_TAG = r"<(/?)([A-Za-z][\w.:-]*)([^<>]*)>"
_VOID = ("br", "hr", "img", "input", "link", "meta")


def _imbalance(text: str) -> str:
    """What a wrapper opens but does not close, or closes but never opened; empty if it is balanced. Tags in code spans are text."""
    open_tags: list[str] = []
    for is_end, name, rest in re.findall(_TAG, re.sub(r"(?<!`)`[^`\n]+`(?!`)", "", text)):
        if rest.endswith("/") or name.lower() in _VOID:
            continue
        if not is_end:
            open_tags.append(name)
        elif not open_tags or open_tags.pop() != name:
            return f"</{name}> closes a tag that is not open"
    if open_tags:
        return f"</{open_tags[-1]}> is missing"
    if text.count("<!--") != text.count("-->"):
        return "a comment is not closed"
    fences = re.findall(r"^[ ]{0,3}(`{3,}|~{3,})", text, re.MULTILINE)
    return "a code fence is not closed" if len(fences) % 2 else ""


_FIELD = r"\{\{|\}\}|\{([A-Za-z_.]*)((?:\|[a-z]+)*)\}|[{}]"


def form(text: str, fields: Sequence[str], where: str) -> Form:
    """Parse text with `{name|filter}` fields. `{{` and `}}` are literal braces."""
    if "{" not in text and "}" not in text:
        return (text,)
    parts: list[str | Field] = []
    literal, position = "", 0
    for match in re.finditer(_FIELD, text):
        literal += text[position : match.start()]
        position = match.end()
        if match[1] is None:
            if len(match[0]) == 1:
                raise LayoutError(f"{where}: unpaired {match[0]!r}; write {match[0] * 2!r} for a brace")
            literal += match[0][0]
            continue
        if match[1] not in fields:
            known = suggestion(match[1], fields) if any(fields) else "; the only one is '{}'"
            raise LayoutError(f"{where}: unknown field {match[0]!r}{known}")
        filters = tuple(match[2].split("|")[1:])
        for each in filters:
            if each not in FILTERS:
                raise LayoutError(f"{where}: unknown filter {each!r}" + suggestion(each, FILTERS))
        if literal:
            parts.append(literal)
        parts.append(Field(match[1], filters))
        literal = ""
    literal += text[position:]
    return (*parts, literal) if literal else tuple(parts)


def condition(term: str, settings: Mapping[str, Any], where: str) -> Condition:
    """One term of `when`: `x`, `!x`, `a|b`, `@setting`."""
    negated = term.startswith("!")
    words = term.removeprefix("!").split("|")
    facts: list[str] = []
    for word in words:
        if word.startswith("@"):
            named = settings.get(word[1:], "")
            if not is_list_of_strings(named):
                raise LayoutError(f"{where}: {word!r} is not a list in the settings" + suggestion(word[1:], settings))
            facts.extend(named)
        else:
            facts.append(word)
    for fact in facts:
        kind, colon, what = fact.partition(":")
        if colon and kind == "set" and what not in settings:
            raise LayoutError(f"{where}: unknown setting {what!r}" + suggestion(what, settings))
        if fact not in ("tools", "session", "main", "sub") and not (
            kind in ("tool", "set", "provider", "platform") and what
        ):
            raise LayoutError(
                f"{where}: unknown condition {fact!r}; conditions are tool:NAME, tools, set:NAME, session, main, sub, provider:NAME, platform:NAME"
            )
    return Condition(tuple(facts), negated, not negated and len(facts) > 1)


def _guideline(row: Mapping[str, Any], number: int, settings: Mapping[str, Any]) -> Guideline:
    where = f"guideline {number}: "
    _check(row, "guideline", f"guideline {number}")
    if ("say" in row) == ("from" in row):
        raise LayoutError(f"{where}needs either say or from")
    return Guideline(
        tuple(condition(term, settings, where + "when") for term in row.get("when", ())),
        tuple(form(sentence, ("any",), where + "say") for sentence in row.get("say", ())),
        row.get("from", ""),
    )
