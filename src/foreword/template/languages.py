"""The table of template languages. To add one, write its module, add its row here, and document it in docs/templates.md.

Directives are not in the table because they are for instruction files, not templates.
"""

from __future__ import annotations

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..vocabulary import Document
    from .contract import LanguageModule


@value
class Language:
    """One template language.

    `module` imports its module on first use, because a prompt rarely needs more than one language.
    `variable_form` is how callers write a variable's name: `type:name` or `name`.
    `is_sandboxed` is true if a template could crash the process, so that untrusted templates must run in the sandbox.
    `trims` is true if white space around the output is removed in sections with `trim`.
    `is_strict` is true if an undefined variable is an error.
    """

    name: str
    module: Callable[[], LanguageModule]
    variable_form: str
    is_sandboxed: bool
    trims: bool
    is_strict: bool = False


def _brackets() -> LanguageModule:
    from . import brackets

    return brackets


def _jinja() -> LanguageModule:
    from . import jinja

    return jinja


DEFAULT = "brackets"
LANGUAGES = {
    language.name: language
    for language in (
        Language(DEFAULT, _brackets, variable_form="type:name", is_sandboxed=False, trims=False),
        Language("jinja", _jinja, variable_form="name", is_sandboxed=True, trims=True, is_strict=True),
    )
}


def language_of(document: Document, default: str) -> Language:
    """Return the language that a template specifies, or `default`, which is its section's language."""
    return LANGUAGES[document.syntax or default]
