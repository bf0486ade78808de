"""The JSON schema of every command's `--json` output, derived from the types of the answers."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

from ..encoding import forms as stored
from . import align_forms, conversation_forms, effect_forms, forms, git_forms, session_forms, store_forms
from .skills import SkillForm

ANSWERS: dict[str, Any] = {
    "show": forms.ShowForm,
    "why": list[stored.ExplainedForm],
    "blame": list[forms.LineForm] | git_forms.AuthorshipForm | git_forms.AuthorSumsForm | session_forms.PricedFileForm,
    "tokens": forms.CountedForm,
    "diff": forms.DifferenceForm,
    "cache": forms.CacheForm | forms.CacheReusesForm,
    "watch": forms.WatchForm,
    "lint": forms.LintForm,
    "agents": forms.AgentsForm,
    "review": git_forms.ReviewForm,
    "trust": git_forms.TrustForm,
    "lock": git_forms.LockForm,
    "align": align_forms.AlignForm,
    "layouts": list[forms.LayoutRowForm] | forms.LayoutForm,
    "skills": list[SkillForm] | forms.MessageForm,
    "conversation turn": forms.TurnForm,
    "conversation compact": forms.TurnForm,
    "conversation reload": forms.TurnForm,
    "conversation show": forms.EditionForm,
    "conversation list": list[conversation_forms.ConversationForm],
    "conversation drift": forms.DriftForm,
    "conversation touch": forms.TouchedForm,
    "touch": forms.TouchedForm,
    "store verify": store_forms.FaultsForm,
    "store stats": store_forms.StatsForm,
    "store migrate": store_forms.SchemaForm,
    "store forget": store_forms.ForgottenForm,
    "store prune": store_forms.PrunedForm,
    "template show": forms.TemplateForm,
    "template set": forms.VersionForm,
    "template check": forms.CheckForm,
    "template render": forms.ShowForm,
    "template history": list[forms.VersionForm],
    "template restore": forms.VersionForm,
    "template list": list[store_forms.TemplateNameForm],
    "template label": store_forms.MoveForm,
    "template delete": store_forms.DeletedTemplateForm,
    "template variables": forms.VariablesForm,
    "completion": forms.CompletionForm,
    "serve": forms.ListeningForm,
    "mcp": forms.ListeningForm,
    "proxy": forms.ListeningForm,
    "sessions": session_forms.SessionsForm
    | session_forms.SessionRowsForm
    | session_forms.SessionDetailForm
    | session_forms.InForceForm,
    "effect": effect_forms.ExperimentForm | effect_forms.PowerForm,
    "schema": dict[str, Any],
}
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def schema_of(command: str) -> dict[str, Any]:
    """Return the schema of a command's answer. `watch` prints one such answer per line."""
    definitions: dict[str, Any] = {}
    schema = _schema(ANSWERS[command], definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"foreword {command} --json",
        **schema,
        **({"$defs": dict(sorted(definitions.items()))} if definitions else {}),
    }


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a type's schema. The schemas of named types are added to `definitions`."""
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return {}
    if is_typeddict(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}  # a type may contain itself
            definitions[kind.__name__] = _object(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(each, definitions) for each in args]}
    if origin is list:
        return {"type": "array", "items": _schema(args[0], definitions)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(args[1], definitions)}
    return {"type": _TYPES[kind]}


def _object(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    properties, required = {}, []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        is_wrapped = get_origin(hint) in (NotRequired, Required)
        properties[name] = _schema(get_args(hint)[0] if is_wrapped else hint, definitions)
        if get_origin(hint) is not NotRequired:
            required.append(name)
    about = {"description": kind.__doc__.split("\n\n")[0]} if kind.__doc__ else {}
    return {
        **about,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
