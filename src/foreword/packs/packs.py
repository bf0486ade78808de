"""Packs: folders of layouts, templates and wording, addressed by prefix.

    $std/opal           shipped with Foreword
    $agents/codex       shipped with Foreword: layouts that mirror released programs
    $user/review        ~/.config/foreword/prompts/review
    $workspace/intro    <workspace>/.foreword/prompts/intro, untrusted; a layout's setting `folder` replaces `.foreword`

The context decides whether an address means a layout (`.toml`) or a template (`.md`). Packs never fall back to one another.
"""

from __future__ import annotations

import os

from ..errors import CallError, LayoutError, MissingError, show, suggestion
from ..sources.environment import absolute
from ..sources.links import Reach, inside_for
from ..sources.paths import config_folder
from ..template.addresses import has_prefix, is_address, is_file_path, is_shipped, split
from ..template.languages import LANGUAGES
from ..text.lines import printable
from ..vocabulary import Document, Origin, replace, value
from .agents import NAMES as MIRRORS
from .shipped import pack_of
from .std import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from ..sources.reader import Reader
    from ..vocabulary import Workspace

_HERE = os.path.dirname(os.path.abspath(__file__))
STD = os.path.join(_HERE, "std")
SHIPPED_PACKS = {"std": NAMES, "agents": MIRRORS}
RESERVED_PACKS = (*SHIPPED_PACKS, "user", "workspace")
WORKSPACE_FOLDER = ".foreword"
_MAX_EXTENDED = 10
_REQUEST = "request"
_MAX_FILES_LISTED = 1000


@value
class Source:
    """A layout before parsing, merged with everything it extends.

    `untrusted` contains the keys that an untrusted file set, and `origins` says where each key that the layout itself did not set comes from.
    """

    name: str
    address: str
    mapping: Mapping[str, Any]
    untrusted: frozenset[str] = frozenset()
    origins: Mapping[str, Origin] = {}


def with_texts(source: Source, workspace: Workspace, reader: Reader, packs: Mapping[str, str] | None = None) -> Source:
    """Return the layout with the template's text in place of each section's template address.

    Templates in a template language are not loaded until they are rendered.
    """
    from ..layout.merging import merge

    texts: dict[str, Any] = {}
    origins = dict(source.origins)
    sections = source.mapping.get("section")
    for name, section in sections.items() if isinstance(sections, dict) else ():
        text = section.get("text") if isinstance(section, dict) else None
        if isinstance(text, str) and is_address(text) and section.get("language") not in LANGUAGES:
            loaded = load_template(text, workspace, reader, packs)
            texts[name] = {"text": loaded.text.replace("{", "{{").replace("}", "}}")}
            origins[f"section.{name}.text"] = Origin(_kind(text, "template"), text)
    return replace(source, mapping=merge(source.mapping, {"section": texts}), origins=origins) if texts else source


def load_template(
    address: str, workspace: Workspace, reader: Reader, packs: Mapping[str, str] | None = None
) -> Document:
    """Return the template at an address. Raises a MissingError if there is none."""
    document = find_template(address, workspace, reader, packs)
    if document is None:
        prefix, path = split(canonical(address, packs))
        file = f"{folder_of(prefix, workspace, packs)}/{path}.md"
        raise MissingError(f"the template {address!r} does not exist ({printable(file)})")
    return document


def find_template(
    address: str, workspace: Workspace, reader: Reader, packs: Mapping[str, str] | None = None
) -> Document | None:
    """Return the template at an address, or None if there is none.

    Raises a CallError if the file cannot be read or is a link that points outside its pack.
    """
    address = canonical(address, packs)
    prefix, path = split(address)
    folder = folder_of(prefix, workspace, packs)
    file = os.path.join(folder, *path.split("/")) + ".md"
    if not reader.is_folder(folder):
        raise MissingError(f"the pack {prefix!r} has no folder (in {address!r}): {printable(folder)} does not exist")
    if _leaves_pack(file, prefix, folder, workspace, reader):
        raise CallError(f"the template {address!r} is a link that points outside its pack")
    reading = reader.read(file, _reach(prefix, folder, workspace, reader), trim=False)
    if reading.fate in ("blank", "absent"):
        return Document(address, "") if reading.fate == "blank" else None
    if reading.fate != "used":
        raise CallError(f"the template {address!r} cannot be read: {reading.reason} ({printable(file)})")
    return Document(address, reading.text, reading.hash)


def _leaves_pack(file: str, prefix: str, folder: str, workspace: Workspace, reader: Reader) -> bool:
    """Whether a file is outside its pack because of a link. The user's folder may itself be a link, but the workspace's may not."""
    bounds = (workspace.root or workspace.cwd, folder) if prefix == "workspace" else (folder,)
    return any(reader.leads_out(file, bound) for bound in bounds)


def _reach(prefix: str, folder: str, workspace: Workspace, reader: Reader) -> Reach:
    """Return how far links in a pack may lead: never out of its folder and, for the workspace's pack, never out of the workspace."""
    root = workspace.root or workspace.cwd
    inside = inside_for(root, workspace) or (reader.real(root),)
    return Reach(folder, folder, inside if prefix == "workspace" else (), can_be_allowed=False)


def layout_names() -> tuple[str, ...]:
    """Return the names of the shipped layouts, except those that mirror released programs."""
    return NAMES


def mirror_names() -> tuple[str, ...]:
    """Return the names of the shipped layouts that mirror released programs."""
    return MIRRORS


def custom_layouts(
    workspace: Workspace, packs: Mapping[str, str] | None = None, skipped_prefixes: Collection[str] = ()
) -> list[str]:
    """Return the addresses of all layouts that are not shipped: the user's, the workspace's and the caller's."""
    from ..sources.tree import files_below

    addresses = []
    for prefix in _custom_prefixes(workspace, packs):
        if prefix in skipped_prefixes:
            continue
        folder = folder_of(prefix, workspace, packs)
        files = [path for path in files_below(folder, "", _MAX_FILES_LISTED) if path.endswith(".toml")]
        names = [os.path.relpath(path, folder).removesuffix(".toml") for path in files]
        wording = "prompts" if prefix in (packs or {}) else ""
        addresses += [f"${prefix}/{name.replace(os.sep, '/')}" for name in names if name != wording]
    return addresses


def _custom_prefixes(workspace: Workspace, packs: Mapping[str, str] | None) -> list[str]:
    """Return the prefixes of the packs that are not shipped. Without a home directory, the user has none."""
    user = ["user"] if config_folder(workspace) is not None else []
    return [*user, "workspace", *sorted(packs or {})]


def shipped_layout(name: str, pack: str = "") -> dict[str, Any]:
    """Return the mapping of a shipped layout, from the named pack or from any."""
    names = SHIPPED_PACKS[pack] if pack else (*NAMES, *MIRRORS)
    if name not in names:
        raise MissingError(
            f"unknown layout {show(name)}"
            + suggestion(name, names)
            + " (for a file, pass its path, such as ./own.toml)"
        )
    if pack_of(name) == "agents":
        from .shipped import module_of

        mapping: dict[str, Any] = module_of(name).mapping()
        return mapping
    from .std import compiled

    mapping = getattr(compiled, name)()
    return mapping


def find_layout(reference: str, workspace: Workspace, reader: Reader, packs: Mapping[str, str] | None = None) -> Source:
    """Return the layout with this name, address or file, merged with everything it extends."""
    return _Loader(workspace, reader, packs or {}).load(reference, "", ())


def layout_from_text(text: str, workspace: Workspace, reader: Reader, packs: Mapping[str, str] | None = None) -> Source:
    """Return the layout in a request's TOML, merged with everything it extends. It is untrusted, like a workspace's."""
    mapping = parse_toml(text, "the layout")
    return _Loader(workspace, reader, packs or {}).merge_extended(_REQUEST, _REQUEST, mapping, "", ())


def check_packs(packs: Iterable[str]) -> None:
    """Raise a CallError for a caller's pack whose name is reserved or cannot be part of an address."""
    for prefix in packs:
        if prefix in RESERVED_PACKS:
            raise CallError(f"the pack name {prefix!r} is reserved; choose another name")
        if not prefix or "/" in prefix:
            raise CallError(f"{prefix!r} is not a valid pack name; it must not be empty or contain a slash")


def template_packs(packs: Mapping[str, str], mapping: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the caller's packs together with a layout's own names for the others (`[packs]`) and its setting `folder`.

    Another name for a pack has that pack's prefix in place of a folder: `{"insomnia": "$std"}`.
    """
    names, folder = mapping.get("packs") or {}, (mapping.get("settings") or {}).get("folder", "")
    if not names and folder in ("", WORKSPACE_FOLDER):
        return packs
    result = dict(packs)
    for prefix, name in names.items():
        if name == prefix:
            continue
        if name in RESERVED_PACKS or name in result:
            raise LayoutError(f"packs.{prefix}: the prefix {name!r} is taken; choose another one").at(f"packs.{prefix}")
        result[name] = f"${prefix}"
    if folder:
        result["workspace"] = folder
    return result


def canonical(address: str, packs: Mapping[str, str] | None) -> str:
    """Return an address with the pack's own prefix, if it has one of the layout's other names for it."""
    prefix, slash, path = address.partition("/")
    target = (packs or {}).get(prefix[1:], "")
    return f"{target}{slash}{path}" if is_address(target) else address


def folder_of(prefix: str, workspace: Workspace, packs: Mapping[str, str] | None = None) -> str:
    """Return a pack's folder. Raises a MissingError if the pack is unknown."""
    if prefix in SHIPPED_PACKS:
        return os.path.join(_HERE, prefix)
    if prefix == "user":
        config = config_folder(workspace)
        if config is None:
            raise CallError("the pack 'user' has no folder: the home directory is unknown (set HOME or pass --home)")
        return os.path.join(config, "foreword", "prompts")
    if prefix == "workspace":
        folder = (packs or {}).get("workspace", WORKSPACE_FOLDER)
        return os.path.join(workspace.root or workspace.cwd, folder, "prompts")
    if packs and prefix in packs:
        return absolute(packs[prefix], workspace.environment or {})
    raise MissingError(f"unknown pack {prefix!r}; known packs: {', '.join(sorted({*RESERVED_PACKS, *(packs or {})}))}")


def _key_origins(source: Source) -> dict[str, Origin]:
    """Return the origins of a layout's section keys, for the layout that extends it."""
    from ..layout.merging import flatten

    kind = _kind(source.address, "layout")
    keys = [key for key in flatten({"section": source.mapping.get("section", {})}) if key.count(".") > 1]
    return {key: Origin(kind, f"{source.address}/{key.split('.')[1]}") for key in keys}


def _kind(address: str, otherwise: str) -> str:
    return "builtin" if is_shipped(address) else otherwise


def _check_extends(name: str, extended: Any, is_untrusted: bool) -> None:
    """Raise a LayoutError unless a layout may extend this one. An untrusted layout may not name a file."""
    if not isinstance(extended, str):
        raise LayoutError(f"layout {name}: extends must be an address or a file, not {extended!r}").at("extends")
    if is_untrusted and not is_address(extended):
        raise LayoutError(
            f"layout {name}: extends must be an address ($std/…, $workspace/…) in an untrusted layout, not the file {extended!r}"
        ).at("extends")


class _Loader:
    def __init__(self, workspace: Workspace, reader: Reader, packs: Mapping[str, str]) -> None:
        self.workspace, self.reader, self.packs = workspace, reader, packs

    def load(self, reference: str, referrer_folder: str, chain: tuple[str, ...]) -> Source:
        """Load a layout, merged with those it extends. `referrer_folder` is the folder of the file that refers to it."""
        return self.merge_extended(*self.read(reference, referrer_folder), referrer_folder, chain)

    def merge_extended(
        self, name: str, address: str, mapping: dict[str, Any], referrer_folder: str, chain: tuple[str, ...]
    ) -> Source:
        """Return the layout in a mapping, merged with those it extends."""
        from ..layout.merging import check_settings, flatten, merge
        from ..layout.parse import check_tables

        check_tables(mapping, name)
        if address in chain or len(chain) >= _MAX_EXTENDED:
            raise LayoutError(f"circular or too deep 'extends': {' > '.join((*chain, address))}").at("extends")
        own_mapping = {key: content for key, content in mapping.items() if key != "extends"}
        is_untrusted = has_prefix(address, "workspace") or address == _REQUEST
        untrusted = frozenset(flatten(own_mapping)) if is_untrusted else frozenset()
        extended = mapping.get("extends")
        if extended is None:
            return Source(name, address, own_mapping, untrusted)
        _check_extends(name, extended, is_untrusted)
        folder = referrer_folder if is_address(address) else os.path.dirname(address)
        try:
            base = self.load(extended, folder, (*chain, address))
        except MissingError as error:
            raise MissingError(f"{printable(address)}: extends: {error}") from None
        check_settings(own_mapping, base.mapping, f"layout {name}: settings.")
        own_keys = frozenset(flatten(own_mapping))
        base_origins = {**_key_origins(base), **base.origins}
        origins = {key: origin for key, origin in base_origins.items() if key not in own_keys}
        inherited_untrusted = base.untrusted - own_keys
        return Source(name, address, merge(base.mapping, own_mapping), inherited_untrusted | untrusted, origins)

    def read(self, reference: str, referrer_folder: str) -> tuple[str, str, dict[str, Any]]:
        if is_address(reference):
            prefix, path = split(reference)
            if prefix in SHIPPED_PACKS:
                return path, reference, shipped_layout(path, prefix)
            folder = folder_of(prefix, self.workspace, self.packs)
            file = os.path.join(folder, *path.split("/")) + ".toml"
            if _leaves_pack(file, prefix, folder, self.workspace, self.reader):
                raise CallError(f"the layout {reference!r} is a link that points outside its pack ({printable(file)})")
            return path, reference, self.read_file(file, reference, _reach(prefix, folder, self.workspace, self.reader))
        if is_file_path(reference):
            if reference.startswith("~/") and self.workspace.home:
                reference = os.path.join(self.workspace.home, reference[2:])
            path = (
                os.path.normpath(os.path.join(referrer_folder, reference))
                if referrer_folder
                else absolute(reference, self.workspace.environment or {})
            )
            return os.path.basename(path).removesuffix(".toml"), path, self.read_file(path, reference)
        if custom_address := self.custom_address(reference):
            raise MissingError(f"unknown layout {show(reference)}; did you mean {custom_address!r}?")
        if reference not in (*NAMES, *MIRRORS) and not referrer_folder and os.path.isfile(f"{reference}.toml"):
            raise MissingError(f"unknown layout {show(reference)}; did you mean './{reference}.toml'?")
        return reference, f"${pack_of(reference)}/{reference}", shipped_layout(reference)

    def custom_address(self, name: str) -> str:
        """Return the address of a layout that is not shipped, if a caller forgot its prefix, otherwise an empty string."""
        if name in NAMES or name in MIRRORS:
            return ""
        for prefix in _custom_prefixes(self.workspace, self.packs):
            if os.path.lexists(os.path.join(folder_of(prefix, self.workspace, self.packs), name + ".toml")):
                return f"${prefix}/{name}"
        return ""

    def read_file(self, path: str, reference: str, reach: Reach | None = None) -> dict[str, Any]:
        reading = self.reader.read(path, reach)
        if not reading.has_text:
            why = reading.reason or ("it is empty" if reading.fate == "blank" else "the file does not exist")
            raise MissingError(f"the layout {reference!r} cannot be read: {why} ({printable(path)})")
        return parse_toml(reading.text, printable(path))


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Parse TOML. Raises a LayoutError that names the line if the text is invalid."""
    import re

    from ..text.toml import load_toml

    try:
        return load_toml(text)
    except (ValueError, RecursionError) as error:
        position = re.search(r"\(at line (\d+), column (\d+)\)$", str(error))
        if position:
            line, column = int(position[1]), int(position[2])
        else:  # at the end of the document
            line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
        raise LayoutError(f"{where} is not valid TOML: {error}", line, column) from None
