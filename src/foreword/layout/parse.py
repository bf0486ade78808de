"""Parse a layout: the files to find, the sections of the prompt, and the step for each event.

`parse` turns a mapping (from TOML or its compiled form) into a `Layout`. A key, name or word that is not in the tables of `keys.py` is
an error with a suggestion. The reference page of keys is generated from the same tables.
"""

from __future__ import annotations

from ..errors import LayoutError, suggestion
from ..shapes import LIST, SIZE, STRING, TABLE, check, check_table
from ..template import TEMPLATE_LIMIT
from ..template.addresses import is_address
from ..template.languages import LANGUAGES
from ..vocabulary import replace
from .forms import FRONT, condition, form, left_open_in
from .keys import BODIES, FACTS, FOUND, INHERITED, KINDS, LISTS, ONLY_IN_MIRRORS, TOP_TABLES
from .lookups import parse_config, parse_lookup
from .merging import flat, with_likes
from .model import PLACE_FACTS, Field, Guideline, Layout, Section, with_inner
from .touch import facts_of, lookups_of_prompt, names_of_sections, parse_touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from .model import Form, Lookup


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
    copied = frozenset(f"find.{key}.files" for key in tables["find"] if f"find.{key}.like" in untrusted)
    untrusted |= copied  # a workspace may not use the user's files in another way
    tables.update({kind: with_likes(tables[kind], kind) for kind in ("find", "section")})
    _check_mirror(tables, top)
    settings = tables["settings"]
    wording = flat(tables["wording"])
    _check_strings(wording, tables["env"])
    lookups: list[Lookup] = []
    for key in tables["find"]:
        table = _table(tables["find"], key, f"find.{key}")
        known = [lookup.name for lookup in lookups]
        lookups.append(parse_lookup(key, table, settings, untrusted, {**top, "env": tables["env"]}, known))
    _check(tables["on"], "on", "on")
    _check(tables["compaction"], "compaction", "compaction")
    rows = mapping.get("guideline", [])
    check(rows, ("a list of tables", LIST[1]), "guideline", LayoutError)
    reader = _Sections(tables["section"], {lookup.name: lookup for lookup in lookups}, settings, wording)
    if "sections" not in top:
        raise LayoutError(
            "the key 'sections' is missing; list the prompt's sections in order, such as sections = [\"base\"]"
        )
    sections = reader.sections(top["sections"], "sections", {})
    touch_sections = reader.sections(names_of_sections(tables["touch"]), "touch.sections", {"role": "user"})
    touch = parse_touch(tables["touch"], touch_sections, lookups)
    config = parse_config(tables["from"], settings, untrusted, tables["env"])
    guidelines = tuple(_guideline(row, number, settings, reader.lookups) for number, row in enumerate(rows, 1))
    return Layout(
        name=name,
        address=address,
        about=top.get("about", ""),
        sections=sections,
        lookups=tuple(_with_probes(lookups_of_prompt(lookups, touch, sections, guidelines), sections, guidelines)),
        join=top.get("join", "\n\n"),
        budget=top.get("budget"),
        over=top.get("over", "cut"),
        template_limit=top.get("template_limit", TEMPLATE_LIMIT),
        settings=settings,
        guidelines=guidelines,
        wording=wording,
        on=tables["on"],
        compaction=tables["compaction"],
        mirrors=top.get("mirrors", ""),
        raw=top.get("raw", False),
        differs=tuple(top.get("differs", ())),
        signs=tuple(top.get("signs", ())),
        config=config,
        touch=touch,
        every=tuple(with_inner(sections)),
        untrusted=untrusted,
    )


def _check_strings(wording: Mapping[str, Any], env: Mapping[str, Any]) -> None:
    """Raise an error if wording is not text, or if a folder of `[env]` is not absolute."""
    for key, content in wording.items():
        check(content, STRING, f"wording.{key}", LayoutError)
    for key, content in env.items():
        check(content, STRING, f"env.{key}", LayoutError)
        if not content.startswith(("/", "~/")):
            raise LayoutError(f"env.{key}: {content!r} must start with '/' or '~/'")


def _check_mirror(tables_of: Mapping[str, Any], top: Mapping[str, Any]) -> None:
    """Raise an error for a sign that is not inside the root, and for words of mirrors in a layout that mirrors nothing."""
    for sign in top.get("signs", ()):
        if not sign.strip("/.") or sign.startswith("/") or ".." in sign.split("/"):
            raise LayoutError(f"signs: {sign!r} is not a file or folder below the root")
    if top.get("mirrors", "").strip():
        return
    for kind, key, contents in ONLY_IN_MIRRORS:
        tables = {"": top} if kind == "layout" else tables_of[kind]
        for name, table in tables.items():
            if isinstance(table, dict) and table.get(key) in contents:
                where = f"{kind}.{name}.{key}" if name else key
                raise LayoutError(
                    f"{where}: {table[key]!r} is only for a layout that mirrors a program; add mirrors = 'PROGRAM VERSION', or remove it"
                )


def _with_probes(
    lookups: Iterable[Lookup], top: Iterable[Section], guidelines: Iterable[Guideline]
) -> Iterator[Lookup]:
    """The lookups; those that only conditions name are marked."""
    lookups, sections = tuple(lookups), tuple(with_inner(top))
    facts = facts_of((*lookups, *sections, *guidelines))
    listed = {name for section in sections for name in (section.of, *section.instead)}
    for lookup in lookups:
        is_probe = f"found:{lookup.name}" in facts and lookup.name not in listed
        yield replace(lookup, is_probe=True) if is_probe else lookup


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


class _Sections:
    """Parses the tables of sections, each with its inherited values. A section that contains itself is an error."""

    def __init__(
        self,
        tables: Mapping[str, Any],
        lookups: Mapping[str, Lookup],
        settings: Mapping[str, Any],
        wording: Mapping[str, str],
    ) -> None:
        self.tables, self.lookups, self.settings, self.wording = tables, lookups, settings, wording
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
        self.check_role(table, where, inherited)
        passed = {key: table[key] for key in INHERITED if key in table}
        self.above.append(name)
        inner = self.sections(table.get("sections", ()), where + "sections", {**inherited, **passed})
        self.above.pop()
        return self.assemble(name, where, {**inherited, **table}, inner, has_own_item="item" in table)

    def check_role(self, table: Mapping[str, Any], where: str, inherited: Mapping[str, Any]) -> None:
        """Raise an error for a role of an inner section, and for the role `tool` outside of `[touch]`, whose sections inherit a role."""
        if self.above and "role" in table:
            raise LayoutError(
                f"{where}role: section {where.split('.')[1]!r} is inside {self.above[-1]!r}; only a section that is not inside another has a role"
            )
        if table.get("role") == "tool" and "role" not in inherited:
            raise LayoutError(f"{where}role: 'tool' is only for the sections of [touch]")

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
            when=tuple(condition(term, self.settings, where + "when", self.lookups) for term in table.get("when", ())),
            instead=tuple(self.instead(each, where) for each in table.get("instead", ())),
            language=language,
            trim=table.get("trim", of is None and not inner),
            budget=table.get("budget"),
            file_budget=table.get("file_budget"),
            over=table.get("over", self.over(of)),
            bytes=self.bytes(table.get("bytes"), of, where + "bytes"),
            bytes_cut=table.get("bytes_cut", "first"),
            mark=table.get("mark", True),
            role=table.get("role", "system"),
        )

    def fields(self, of: str, where: str) -> tuple[str, ...]:
        if of in self.lookups:
            lookup = self.lookups[of]
            fields = [each for each in FOUND[lookup.kind] if each != "label" or lookup.rules.label]
            more = ["changed"] if lookup.needs_touch else []
            return (*fields, *more, *PLACE_FACTS, *([FRONT] if lookup.rules.front == "drop" else ()))
        if of in LISTS:
            return LISTS[of]
        raise LayoutError(f"{where}of: unknown lookup rule or list {of!r}" + suggestion(of, (*self.lookups, *LISTS)))

    def folder(self, text: str, of: str | None, where: str) -> Form:
        if text and (of is None or of not in self.lookups or self.lookups[of].kind != "skill"):
            raise LayoutError(f"{where}: only a section that lists skills can name their folders")
        return form(text, ("folder",), where) if text else ()

    def over(self, of: str | None) -> str:
        """What happens over the budget by default: files are cut, menus shortened, anything else only gets a finding."""
        kind = self.lookups[of].kind if of is not None and of in self.lookups else ""
        return "cut" if kind == "text" else "shorten" if kind else "warn"

    def bytes(self, most: int | str | None, of: str | None, where: str) -> int | None:
        """The limit of a section in bytes, which may be a setting."""
        if most is None:
            return None
        if of is None or of not in self.lookups or self.lookups[of].kind != "text":
            raise LayoutError(f"{where}: only a section that lists the text of files can have a limit in bytes")
        if isinstance(most, str):
            name = most.strip("{}")
            if name not in self.settings:
                raise LayoutError(f"{where}: unknown setting {name!r}" + suggestion(name, self.settings))
            check(self.settings[name], SIZE, f"{where}: the setting {name}", LayoutError)
            most = int(self.settings[name])
        return most

    def instead(self, name: str, where: str) -> str:
        if name not in ("base", "template") and name not in self.lookups:
            raise LayoutError(
                f"{where}instead: unknown lookup rule {name!r}" + suggestion(name, ("base", "template", *self.lookups))
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
        parsed = form(text, ("", *FACTS), where)
        if sum(isinstance(part, Field) and not part.name for part in parsed) != 1:
            raise LayoutError(f"{where} needs '{{}}' exactly once, for the content")
        if problem := left_open_in(text):
            raise LayoutError(f"{where} must close what it opens: {problem} (in {text!r})")
        return parsed


def _guideline(row: Mapping[str, Any], number: int, settings: Mapping[str, Any], lookups: Iterable[str]) -> Guideline:
    where = f"guideline {number}: "
    _check(row, "guideline", f"guideline {number}")
    if ("say" in row) == ("from" in row):
        raise LayoutError(f"{where}needs either say or from")
    return Guideline(
        tuple(condition(term, settings, where + "when", lookups) for term in row.get("when", ())),
        tuple(form(sentence, ("any",), where + "say") for sentence in row.get("say", ())),
        row.get("from", ""),
    )
