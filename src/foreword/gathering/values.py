"""Finds the variables that bracket templates refer to, and calls the extensions that provide some of their values."""

from __future__ import annotations

from ..findings import finding, type_in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from ..layout.model import Layout
    from ..sources.reader import Reader
    from ..vocabulary import Document, Finding, Workspace

    Variable = Callable[[str, Workspace], str | None]


def referenced_variables(
    layout: Layout, bodies: Mapping[str, Document], extension_types: Collection[str]
) -> Collection[tuple[str, str]]:
    """Return the type and the name of each variable in the templates of a layout's sections, once."""
    from ..template.languages import language_of

    variables: dict[tuple[str, str], None] = {}
    for section in layout.all_sections:
        body = bodies.get(section.name)
        if body is not None:
            module = language_of(body, section.language).module()
            variables.update(dict.fromkeys(module.referenced_variables(body, extension_types)))
    return variables


def extension_values(
    variables: Collection[tuple[str, str]],
    extension_types: Mapping[str, Variable],
    workspace: Workspace,
    reader: Reader,
    findings: list[Finding],
) -> dict[str, str | Document]:
    """Return the values of the variables that extensions provide, by `type:name`. No stamp can show that they have changed."""
    values: dict[str, str | Document] = {}
    for type_, name in variables:
        if type_ in extension_types:
            reader.mark_unstable(workspace.cwd)
            _add_value(extension_types[type_], type_, name, workspace, values, findings)
    return values


def _add_value(
    variable: Variable,
    type_: str,
    name: str,
    workspace: Workspace,
    values: dict[str, str | Document],
    findings: list[Finding],
) -> None:
    """Add the value of an extension's variable. If its function raises an exception, the variable stays undefined, which is reported."""
    try:
        content: object = variable(name, workspace)
    except Exception as error:
        findings.append(
            finding("extension-failed", f"the variable [{type_}:{name}] raised {type(error).__name__} and was skipped")
        )
        return
    if isinstance(content, str):
        values[f"{type_}:{name}"] = content
    elif content is not None:
        message = f"the variable [{type_}:{name}] returned {type_in_words(content)}, not a string, and was skipped"
        findings.append(finding("extension-failed", message))
