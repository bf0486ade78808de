"""Determines the values of template variables that require reading files or calling extensions."""

from __future__ import annotations

import os

from ..findings import finding, type_in_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..layout.model import Layout
    from ..sources.reader import Reader
    from ..sources.trail import Trail
    from ..vocabulary import Document, Finding, Scope, Workspace

    Variable = Callable[[str, Workspace], str | None]


def template_values(
    layout: Layout,
    bodies: Mapping[str, Document],
    workspace: Workspace,
    scope: Scope,
    reader: Reader,
    extension_types: Mapping[str, Variable],
    trail: Trail,
) -> dict[str, str | Document]:
    """Return the values of variables in bracket templates. `extension_types` contains the functions that extensions provide."""
    from ..sources.variables import read_values
    from ..template.languages import language_of

    variables: dict[tuple[str, str], None] = {}
    for section in layout.all_sections:
        body = bodies.get(section.name)
        if body is not None:
            module = language_of(body, section.language).module()
            variables.update(dict.fromkeys(module.referenced_variables(body, extension_types.keys())))
    for type_, name in variables:
        if type_ == "file":
            reader.stamp_up_to(os.path.normpath(os.path.join(workspace.cwd, name)), workspace.cwd)
    values, is_stamped = read_values(variables, workspace, scope, layout.settings, reader, trail)
    for type_, name in variables:
        if type_ in extension_types:
            is_stamped = False
            _add_value(extension_types[type_], type_, name, workspace, values, trail.findings)
    if not is_stamped:
        reader.mark_unstable(workspace.cwd)
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
