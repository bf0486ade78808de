"""Parse a layout: its lookup rules, sections, and the step to take on each event.

`parse` turns a mapping (from TOML or its compiled form) into a `Layout`. It rejects any key or name that is not in the tables of
`keys.py` and suggests a similar one. The reference page of keys is generated from the same tables.
"""

from __future__ import annotations

from ..errors import LayoutError, suggestion
from ..shapes import LIST, SIZE, STRING, TABLE, check, check_table
from ..template import TEMPLATE_LIMIT
from ..template.addresses import is_address
from ..template.languages import LANGUAGES
from ..text.lines import content_bounds
from ..vocabulary import replace
from ..vocabulary.abilities import ABILITIES
from .config import parse_config
from .forms import FRONT, describe_imbalance, describe_unclosed, parse_condition, parse_form
from .keys import CONTENT_KEYS, FACTS, INHERITED_KEYS, KEY_SHAPES, LISTS, LOOKUP_FIELDS, ONLY_IN_MIRRORS, TOP_TABLES
from .lookups import parse_lookup
from .merging import flatten, resolve_likes, untrusted_copies
from .model import WORKSPACE_FACTS, Field, Guideline, Layout, Section, with_inner_sections
from .patterns import mark_folders
from .roots import parse_roots
from .touch import condition_facts, parse_touch, prompt_lookups, touch_section_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from .model import Form, Lookup


def parse(mapping: Mapping[str, Any], name: str, address: str = "", untrusted: frozenset[str] = frozenset()) -> Layout:
    """Parse a layout. `untrusted` contains the dotted keys that an untrusted file set (`find.skills.files`, `settings.dir`)."""
    try:
        return _parse_layout(mapping, name, address or name, untrusted)
    except LayoutError as error:
        raise LayoutError(f"layout {name}: {error}").at(error.key) from None


_MAX_DEPTH = 50


def _parse_layout(mapping: Mapping[str, Any], name: str, address: str, untrusted: frozenset[str]) -> Layout:
    top = {key: content for key, content in mapping.items() if key not in TOP_TABLES}
    _check(top, "layout", extra_keys=TOP_TABLES)
    tables = {table: _table(mapping, table) for table in TOP_TABLES if table != "guideline"}
    untrusted |= untrusted_copies(tables["find"], untrusted)
    tables.update({kind: resolve_likes(tables[kind], kind) for kind in ("find", "section")})
    _check_mirror(tables, top)
    settings = tables["settings"]
    wording = flatten(tables["wording"])
    _check_values(tables, wording)
    lookups: list[Lookup] = []
    lookup_names: list[str] = []
    for key in tables["find"]:
        table = _table(tables["find"], key, f"find.{key}")
        later_names = [name for name in tables["find"] if name != key and name not in lookup_names]
        shared = {**top, "env": tables["env"]}
        lookups.append(parse_lookup(key, table, settings, untrusted, shared, lookup_names, later_names))
        lookup_names.append(key)
    lookups = mark_folders(lookups)
    _check_once(tables["on"], top)
    rows = mapping.get("guideline", [])
    check(rows, ("a list of tables", LIST[1]), "guideline", LayoutError)
    parser = _SectionParser(tables, {lookup.name: lookup for lookup in lookups}, wording)
    if "sections" not in top:
        raise LayoutError(
            "the key 'sections' is missing; list the prompt's sections in order, such as sections = [\"base\"]"
        )
    sections = parser.parse_sections(top["sections"], "sections", {})
    touch_sections = parser.parse_sections(touch_section_names(tables["touch"]), "touch.sections", {"role": "user"})
    touch = parse_touch(tables["touch"], touch_sections, lookups)
    guidelines = tuple(_parse_guideline(row, number, settings, lookup_names) for number, row in enumerate(rows, 1))
    return Layout(
        name=name,
        address=address,
        about=top.get("about", ""),
        sections=sections,
        lookups=tuple(_mark_probes(prompt_lookups(lookups, touch, sections, guidelines), sections, guidelines)),
        join=_join(top, "\n\n", ""),
        budget=top.get("budget"),
        over=top.get("over", "cut"),
        tool_budget=top.get("tool_budget"),
        template_limit=top.get("template_limit", TEMPLATE_LIMIT),
        settings=settings,
        guidelines=guidelines,
        wording=wording,
        on=tables["on"],
        compaction=tables["compaction"],
        packs=tables["packs"],
        **_mirror_keys(top),
        config=parse_config(tables["from"], settings, untrusted, tables["env"]),
        touch=touch,
        program=tables["program"],
        align=tables["align"],
        all_sections=tuple(with_inner_sections(sections)),
        untrusted=untrusted,
    )


def _mirror_keys(top: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a layout says about the program that it mirrors, and the keys that reproduce how that program reads files."""
    return {
        "mirrors": top.get("mirrors", ""),
        "raw": top.get("raw", False),
        "encoding": top.get("encoding", "utf-8"),
        "line_ends": top.get("line_ends", "lf"),
        "differs": tuple(top.get("differs", ())),
        "detected_by": tuple(top.get("detected_by", ())),
    }


def _check_values(tables: Mapping[str, Any], wording: Mapping[str, Any]) -> None:
    """Raise a LayoutError for a value of the wrong type in a table that contains neither lookup rules nor sections."""
    _check(tables["on"], "on", "on")
    _check(tables["compaction"], "compaction", "compaction")
    _check(tables["program"], "program", "program")
    _check(tables["align"], "align", "align")
    _check_strings(wording, tables["env"])
    _check_packs(tables["packs"], tables["settings"].get("folder", ""))


def _check_strings(wording: Mapping[str, Any], env: Mapping[str, Any]) -> None:
    """Raise a LayoutError if wording is blank or not text, or if a folder in `[env]` is neither absolute nor empty."""
    for key, content in wording.items():
        check(content, STRING, f"wording.{key}", LayoutError)
        if not content.strip():
            raise LayoutError(f"wording.{key} must not be blank").at(f"wording.{key}")
    if wording.get("skill_message", "{text}").count("{text}") != 1:
        raise LayoutError("wording.skill_message needs '{text}' exactly once, for the skill's body").at(
            "wording.skill_message"
        )
    for key, content in env.items():
        check(content, STRING, f"env.{key}", LayoutError)
        if content and not content.startswith(("/", "~/")):
            raise LayoutError(f"env.{key}: {content!r} must start with '/' or '~/', or be empty").at(f"env.{key}")


def _join(table: Mapping[str, Any], default: str, where: str) -> str:
    """Return the text between sections or items. Raises a LayoutError if it would hide what follows."""
    text: str = table.get("join", default)
    if was_open := describe_unclosed(text):
        raise LayoutError(f"{where}join must close what it opens: it ends inside {was_open} (in {text!r})").at(
            f"{where}join"
        )
    return text


def _check_once(on: Mapping[str, str], top: Mapping[str, Any]) -> None:
    """Raise a LayoutError if a layout that builds its prompt once has a step that may build another one to save money."""
    for event, step in on.items():
        if top.get("once") and step == "append":
            raise LayoutError(
                f"on.{event}: this layout builds its prompt once, so it has no 'append'; use 'announce', which never builds another prompt"
            ).at(f"on.{event}")


def _check_packs(names: Mapping[str, Any], folder: Any) -> None:
    """Raise a LayoutError for a name that cannot be a prefix, and for a setting `folder` that is not below the root."""
    _check(names, "packs", "packs")
    for prefix, name in names.items():
        if not name.replace("-", "").replace("_", "").isalnum():
            problem = f"packs.{prefix}: {name!r} is not a prefix; it may have only letters, digits, '-' and '_'"
            raise LayoutError(problem).at(f"packs.{prefix}")
    check(folder, STRING, "folder", LayoutError, "settings.folder")
    if folder.startswith(("/", "~")) or "\\" in folder or ".." in folder.split("/"):
        raise LayoutError(f"folder: {folder!r} is not a folder below the workspace's root").at("settings.folder")


def _check_mirror(tables_by_kind: Mapping[str, Any], top: Mapping[str, Any]) -> None:
    """Raise a LayoutError for a path in `detected_by` outside the root, and for a value that only a mirror may have."""
    for path in top.get("detected_by", ()):
        if not path.strip("/.") or path.startswith(("/", "~")) or ".." in path.split("/"):
            raise LayoutError(f"detected_by: {path!r} is not a file or folder below the root").at("detected_by")
        if any(wildcard in path for wildcard in "*?{"):
            raise LayoutError(
                f"detected_by: {path!r} has a wildcard, which is not supported; list each file or folder"
            ).at("detected_by")
    if top.get("mirrors", "").strip():
        return
    for kind, key, values in ONLY_IN_MIRRORS:
        tables = {"": top} if kind == "layout" else tables_by_kind[kind]
        for name, table in tables.items():
            if isinstance(table, dict) and table.get(key) in values:
                where = f"{kind}.{name}.{key}" if name else key
                raise LayoutError(
                    f"{where}: {table[key]!r} is only for a layout that mirrors a program; add mirrors = 'PROGRAM VERSION', or remove it"
                ).at(where)


def _mark_probes(
    lookups: Iterable[Lookup], top: Iterable[Section], guidelines: Iterable[Guideline]
) -> Iterator[Lookup]:
    """Set `is_probe` on the lookup rules that only conditions refer to."""
    lookups, sections = tuple(lookups), tuple(with_inner_sections(top))
    facts = condition_facts((*lookups, *sections, *guidelines))
    listed_names = {name for section in sections for name in (section.list_name, *section.instead)}
    for lookup in lookups:
        is_probe = f"found:{lookup.name}" in facts and lookup.name not in listed_names
        yield replace(lookup, is_probe=True) if is_probe else lookup


def check_tables(mapping: Mapping[str, Any], name: str) -> None:
    """Raise a LayoutError if a key that must be a table is not one, so that layouts can be merged before they are parsed."""
    for table in TOP_TABLES:
        if table != "guideline":
            check(mapping.get(table, {}), TABLE, f"layout {name}: {table}", LayoutError, table)
        if table in ("find", "section"):
            for key, inner in mapping.get(table, {}).items():
                check(inner, TABLE, f"layout {name}: {table}.{key}", LayoutError, f"{table}.{key}")


def _table(mapping: Mapping[str, Any], key: str, name: str = "") -> dict[str, Any]:
    content = mapping.get(key, {})
    check(content, TABLE, name or key, LayoutError)
    return dict(content)


def _check(table: Mapping[str, Any], kind: str, name: str = "", extra_keys: Iterable[str] = ()) -> None:
    """Raise a LayoutError if a table has an unknown key or a value of the wrong type."""
    check_table(table, KEY_SHAPES[kind], name, LayoutError, extra_keys=extra_keys)


class _SectionParser:
    """Parses the `[section.NAME]` tables and fills in inherited values. Rejects a section that contains itself."""

    def __init__(
        self,
        tables: Mapping[str, Mapping[str, Any]],
        lookups: Mapping[str, Lookup],
        wording: Mapping[str, str],
    ) -> None:
        self.tables, self.settings, self.env = tables["section"], tables["settings"], tables["env"]
        self.lookups, self.wording = lookups, wording
        self.ancestors: list[str] = []
        self.seen: set[str] = set()

    def parse_sections(self, names: Sequence[str], where: str, inherited: Mapping[str, Any]) -> tuple[Section, ...]:
        return tuple(self.parse_section(name, where, inherited) for name in names)

    def parse_section(self, name: str, where: str, inherited: Mapping[str, Any]) -> Section:
        if name not in self.tables:
            raise LayoutError(
                f"{where} names {name!r}, but [section.{name}] does not exist" + suggestion(name, self.tables)
            ).at(where)
        if name in self.seen:
            raise LayoutError(
                f"section {name!r} is used twice in the layout"
                + (f" ({' > '.join([*self.ancestors, name])})" if self.ancestors else "")
            ).at(where)
        if len(self.ancestors) >= _MAX_DEPTH:
            raise LayoutError(f"sections nest deeper than {_MAX_DEPTH} ({' > '.join(self.ancestors[:3])} > …)").at(
                "sections"
            )
        self.seen.add(name)
        table = _table(self.tables, name, f"section.{name}")
        where = f"section.{name}."
        _check(table, "section", f"section.{name}")
        content_keys = [key for key in CONTENT_KEYS if key in table]
        if len(content_keys) != 1 and not (not content_keys and "instead" in table):
            raise LayoutError(
                f"[section.{name}] must have exactly one of text, list, sections; it has {', '.join(content_keys) or 'none'}"
            ).at(f"section.{name}")
        self.check_role(table, where, inherited)
        inheritable = {key: table[key] for key in INHERITED_KEYS if key in table}
        self.ancestors.append(name)
        inner = self.parse_sections(table.get("sections", ()), where + "sections", {**inherited, **inheritable})
        self.ancestors.pop()
        return self.assemble(name, where, {**inherited, **table}, inner, has_own_item="item" in table)

    def check_role(self, table: Mapping[str, Any], where: str, inherited: Mapping[str, Any]) -> None:
        """Raise a LayoutError for an inner section with a role, and for the role `tool` outside `[touch]`, whose sections inherit one."""
        if self.ancestors and "role" in table:
            raise LayoutError(
                f"{where}role: section {where.split('.')[1]!r} is inside {self.ancestors[-1]!r}; only a section that is not inside another has a role"
            ).at(f"{where}role")
        if table.get("role") == "tool" and "role" not in inherited:
            raise LayoutError(f"{where}role: 'tool' is only for the sections of [touch]").at(f"{where}role")

    def assemble(
        self, name: str, where: str, table: Mapping[str, Any], inner: tuple[Section, ...], has_own_item: bool
    ) -> Section:
        list_name = table.get("list")
        language = table.get("language", "")
        text = table.get("text")
        if text is not None and table.get("trim", True):
            start, end = content_bounds(text)
            text = text[start:end] if not is_address(text.lstrip()) else text.strip()
        is_plain = text is not None and language not in LANGUAGES and not is_address(text)
        return Section(
            name=name,
            lifetime=table.get("lifetime", "conversation"),
            text=text,
            list_name=list_name,
            sections=inner,
            form=parse_form(text, FACTS, where + "text") if is_plain and text else (),
            item=parse_form(table.get("item", "{text}"), self.item_fields(list_name, where), where + "item")
            if list_name is not None
            else (),
            short=parse_form(table["short"], self.item_fields(list_name, where), where + "short")
            if list_name is not None and "short" in table
            else (),
            folder=self.parse_folder(table.get("folder", ""), list_name, where + "folder"),
            roots=parse_roots(table.get("roots", ()), where, self.settings, self.env, "folder" in table),
            join=_join(table, "\n" if has_own_item else "\n\n", where),
            wrap=self.parse_wrap(table.get("wrap", ""), where + "wrap"),
            none=table.get("none", ""),
            when=tuple(
                parse_condition(term, self.settings, where + "when", self.lookups) for term in table.get("when", ())
            ),
            instead=tuple(self.check_replacement(replacement, where) for replacement in table.get("instead", ())),
            language=language,
            trim=table.get("trim", list_name is None and not inner),
            budget=table.get("budget"),
            file_budget=table.get("file_budget"),
            over=table.get("over", self.default_over(list_name)),
            bytes=self.resolve_byte_limit(table.get("bytes"), list_name, where + "bytes"),
            bytes_cut=table.get("bytes_cut", "first"),
            menu_limit=table.get("menu_limit"),
            menu_cut=table.get("menu_cut", "names"),
            mark=table.get("mark", True),
            role=table.get("role", "system"),
        )

    def item_fields(self, list_name: str, where: str) -> tuple[str, ...]:
        if list_name in self.lookups:
            lookup = self.lookups[list_name]
            fields = [field for field in LOOKUP_FIELDS[lookup.kind] if field != "label" or lookup.rules.label]
            touch_fields = ["changed"] if lookup.needs_touch else []
            return (*fields, *touch_fields, *WORKSPACE_FACTS, *([FRONT] if lookup.rules.front != "keep" else ()))
        if list_name in LISTS:
            return LISTS[list_name]
        raise LayoutError(
            f"{where}list: unknown lookup rule or list {list_name!r}" + suggestion(list_name, (*self.lookups, *LISTS))
        ).at(f"{where}list")

    def parse_folder(self, text: str, list_name: str | None, where: str) -> Form:
        if text and (list_name is None or list_name not in self.lookups or self.lookups[list_name].kind != "skill"):
            raise LayoutError(f"{where}: only a section that lists skills can name their folders").at(where)
        return parse_form(text, ("folder", "root"), where) if text else ()

    def default_over(self, list_name: str | None) -> str:
        """Return the default of `over`: files are cut, menus are shortened, and anything else is only reported."""
        kind = self.lookups[list_name].kind if list_name is not None and list_name in self.lookups else ""
        return "cut" if kind == "text" else "shorten" if kind else "warn"

    def resolve_byte_limit(self, limit: int | str | None, list_name: str | None, where: str) -> int | None:
        """Return a section's limit in bytes, looking it up if it is a setting."""
        if limit is None:
            return None
        if list_name is None or list_name not in self.lookups or self.lookups[list_name].kind != "text":
            raise LayoutError(f"{where}: only a section that lists the text of files can have a limit in bytes").at(
                where
            )
        if isinstance(limit, str):
            name = limit.strip("{}")
            if name not in self.settings:
                raise LayoutError(f"{where}: unknown setting {name!r}" + suggestion(name, self.settings)).at(where)
            check(self.settings[name], SIZE, f"{where}: the setting {name}", LayoutError, where)
            limit = int(self.settings[name])
        return limit

    def check_replacement(self, name: str, where: str) -> str:
        if name not in ("base", "template") and name not in self.lookups:
            raise LayoutError(
                f"{where}instead: unknown lookup rule {name!r}" + suggestion(name, ("base", "template", *self.lookups))
            ).at(f"{where}instead")
        return name

    def parse_wrap(self, text: str, where: str) -> Form:
        if text.startswith("@"):
            key = text[1:]
            if key not in self.wording:
                raise LayoutError(f"unknown wording {key!r}" + suggestion(key, self.wording)).at(where)
            where = f"wording.{key}"
            text = self.wording[key]
        if not text:
            return ()
        parsed = parse_form(text, ("", *FACTS), where)
        if sum(isinstance(part, Field) and not part.name for part in parsed) != 1:
            raise LayoutError(f"{where} needs '{{}}' exactly once, for the content").at(where)
        if problem := describe_imbalance(text):
            raise LayoutError(f"{where} must close what it opens: {problem} (in {text!r})").at(where)
        return parsed


def _parse_guideline(
    row: Mapping[str, Any], number: int, settings: Mapping[str, Any], lookups: Iterable[str]
) -> Guideline:
    where = f"guideline {number}"
    _check(row, "guideline", where)
    if ("say" in row) == ("from" in row):
        raise LayoutError(f"{where} needs either say or from").at(where)
    if row.get("from") == "inherited":
        raise LayoutError(
            f'{where}: from = "inherited" needs a layout that this one extends, and no other key in its row'
        ).at(where)
    return Guideline(
        tuple(parse_condition(term, settings, where + ".when", lookups) for term in row.get("when", ())),
        tuple(parse_form(sentence, ("any", *ABILITIES), where + ".say") for sentence in row.get("say", ())),
        row.get("from", ""),
    )
