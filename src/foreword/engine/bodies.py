"""Load the templates of a layout's sections, with everything that they include."""

from __future__ import annotations

from ..packs.packs import find_template, load_template
from ..template.addresses import has_prefix, is_address
from ..template.languages import language_of
from ..vocabulary import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..layout.model import Layout, Section
    from ..sources.reader import Reader
    from ..vocabulary import Workspace

# Path prefixes of untrusted templates: those in the workspace, the global one, which anyone may have set, and those in requests.
_UNTRUSTED_PREFIXES = ("$workspace/", "template", "request")
# Ends the path of a template to which a request's text was added. Its folder stays the same, so its includes are still found.
WITH_REQUEST = " and request"
# An untrusted template with more characters or tags than this may be slow.
_MAX_LENGTH = 100_000
_MAX_TAGS = 200


def bodies_of(
    layout: Layout,
    base: str | Document,
    template: Document | None,
    workspace: Workspace,
    reader: Reader,
    packs: Mapping[str, str],
) -> dict[str, Document]:
    """Return the sections' templates: the caller's, the global one, the layout's own, or one that the layout refers to."""
    bodies: dict[str, Document] = {}
    for section in layout.all_sections:
        if not section.is_template:
            continue
        if "base" in section.instead and (base or isinstance(base, Document)):
            bodies[section.name] = base if isinstance(base, Document) else Document("base", base)
        elif "template" in section.instead and template is not None:
            bodies[section.name] = template
        elif section.text is not None and is_address(section.text):
            bodies[section.name] = load_template(section.text, workspace, reader, packs)
        elif section.text is not None:
            bodies[section.name] = Document(_path_of_text(layout, section), section.text)
    return bodies


def _path_of_text(layout: Layout, section: Section) -> str:
    """Return where a section's own text is from: the layout, or the setting that overrides it."""
    origin = layout.key_origins.get(f"section.{section.name}.text")
    return origin.path if origin is not None and origin.kind == "setting" else f"{layout.address}/{section.name}"


def templates_of(
    layout: Layout, bodies: Mapping[str, Document], workspace: Workspace, reader: Reader, packs: Mapping[str, str]
) -> tuple[dict[str, Document], list[tuple[str, dict[str, Document]]]]:
    """Return all templates that are used, by address, and the untrusted ones separately.

    Trusted templates are parsed immediately, so that invalid ones are reported before the first turn.
    """
    templates: dict[str, Document] = {}
    untrusted: list[tuple[str, dict[str, Document]]] = []
    for section in layout.all_sections:
        body = bodies.get(section.name)
        if body is None:
            continue
        language = language_of(body, section.language)
        are_trusted = (
            (lambda addresses: only_trusted(addresses, layout)) if is_trusted(layout, section.name, body) else _never
        )
        loaded = language.module().load_all(body, _loader(body, workspace, reader, packs), are_trusted)
        templates |= loaded
        if language.is_sandboxed and loaded and not are_trusted(loaded):
            untrusted.append((body.path, loaded))
    return templates, untrusted


def _loader(
    body: Document, workspace: Workspace, reader: Reader, packs: Mapping[str, str]
) -> Callable[[str], Document | None]:
    return lambda address: body if address == body.path else find_template(address, workspace, reader, packs)


def only_trusted(addresses: Iterable[str], layout: Layout) -> bool:
    """Whether none of these templates is in the workspace, whose pack may have another name in this layout."""
    prefixes = ("workspace", layout.packs.get("workspace", "workspace"))
    return not any(has_prefix(address, *prefixes) for address in addresses)


def _never(_: Iterable[str]) -> bool:
    return False


def is_trusted(layout: Layout, section: str, body: Document) -> bool:
    """Whether a template comes from the caller, the user or Foreword itself, not from the workspace or a request."""
    return not _has_untrusted_path(body) and f"section.{section}.text" not in layout.untrusted


def _has_untrusted_path(template: Document) -> bool:
    return template.path.startswith(_UNTRUSTED_PREFIXES) or template.path.endswith(WITH_REQUEST)


def announce(template: Document) -> None:
    """Announce an untrusted template that may be slow, so that a service can limit how many run at once.

    Templates that need the sandbox are announced there.
    """
    if not _has_untrusted_path(template):
        return
    if len(template.text) > _MAX_LENGTH or template.text.count("[") > _MAX_TAGS:
        from ..store import waits

        waits.announce("template")
