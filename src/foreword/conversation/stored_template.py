"""Which stored template a conversation uses: the one that was requested, else the one it has used so far, else the default."""

from __future__ import annotations

from ..encoding.edition import target_of
from ..engine.bodies import WITH_REQUEST
from ..errors import CallError, MissingError, show
from ..store.contents import DEFAULT_TEMPLATE
from ..store.rows import PRODUCTION, check_name
from ..vocabulary import Document, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..layout.model import Layout
    from ..store.contract import Store
    from ..store.rows import TemplateVersion
    from ..vocabulary import Edition, Inputs

_PREFIX = "template "


@value
class TemplateReference:
    """A stored template by name, and its version by label or number."""

    name: str = DEFAULT_TEMPLATE
    label: str = PRODUCTION

    def read(self, store: Store) -> TemplateVersion | None:
        """Return the version, or None if the default template has none. Raises a MissingError for other templates."""
        found = (
            store.template_version(self.name, int(self.label))
            if self.label.isdecimal()
            else store.template(self.name, self.label)
        )
        if found is None and self.label != PRODUCTION:
            raise MissingError(f"template {show(self.name)} has no version or label {show(self.label)}")
        return found


def parse_reference(text: str) -> TemplateReference:
    """Parse a name, optionally followed by @ and a label or number. Raises a CallError if it is invalid."""
    name, at, label = text.partition("@")
    check_name(name)
    if at:
        check_name(label, "a label")
        if label.isdecimal() and len(label) > 9:
            raise CallError(f"the version of a template must be a number below 1,000,000,000, not {label}")
    return TemplateReference(name, label or PRODUCTION)


class StoredTemplate:
    """Finds the stored template for a conversation. `default` is the template for conversations that do not name one."""

    def __init__(self, requested: str = "", default: str = DEFAULT_TEMPLATE) -> None:
        self._requested = parse_reference(requested) if requested else None
        self._used: TemplateReference | None = None
        self._is_layouts_own = False
        self._default = default

    @property
    def reference(self) -> TemplateReference:
        return self._requested or self._used or TemplateReference(self._default)

    def continue_with(self, current: Edition) -> None:
        """Use an edition's template, unless another one was requested."""
        target = target_of(current)
        self._is_layouts_own = target.template == 0
        if target.template_name:
            self._used = TemplateReference(target.template_name, target.template_label or PRODUCTION)

    def read(self, store: Store) -> Document | None:
        """Return the template as a document, or None if none is stored under that name."""
        reference = self.reference
        found = None
        try:
            found = reference.read(store)
        except MissingError:
            if store.templates(reference.name, texts=False):
                raise
        if (
            found is None
            and reference != TemplateReference(self._default)
            and not (self._requested is None and self._is_layouts_own)
        ):
            raise self._missing_error(reference.name)
        return None if found is None else Document(_path(found), found.template, syntax=found.syntax)

    def _missing_error(self, name: str) -> MissingError:
        if self._requested is None:
            return MissingError(
                f"the template {show(name)} that this conversation was built from no longer exists; save it again, or name another template"
            )
        return MissingError(f"no stored template {show(name)}").with_list("templates")


def _path(version: TemplateVersion) -> str:
    name = "" if version.name == DEFAULT_TEMPLATE else f"{version.name} "
    return f"{_PREFIX}{name}{version.version}"


def template_version(layout: Layout, inputs: Inputs) -> int | None:
    """Return the version of the stored template in these inputs: 0 for the layout's own, None if the layout does not use it."""
    for section in layout.all_sections:
        body = inputs.bodies.get(section.name) if "template" in section.instead else None
        if body is not None and body.path.startswith(_PREFIX):
            number = body.path.removesuffix(WITH_REQUEST).rpartition(" ")[2]
            return int(number) if number.isdecimal() else None
        if body is not None and body.path.startswith(layout.address):
            return 0
    return None
