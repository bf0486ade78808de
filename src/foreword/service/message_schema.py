"""The JSON schema of a message, for the OpenAPI document. It states the same rules as `check_messages`."""

from __future__ import annotations

from typing import Any

from ..errors import ROLES, ROLES_NOT_BLANK, ROLES_WITH_CONTENT, TEXT_KEYS

_BLOCKS = {"items": {"type": ["string", "object"]}}
_CONTENT = {"type": ["string", "array"], **_BLOCKS}
_ANY_CONTENT = {"type": ["string", "array", "null"], **_BLOCKS}
_WHITE_SPACE = {"type": "string", "not": {"pattern": r"\S"}}
_BLANK_BLOCK = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": _WHITE_SPACE},
    "propertyNames": {"enum": sorted(TEXT_KEYS)},
}
_BLANK = {"anyOf": [_WHITE_SPACE, {"type": "array", "items": {"anyOf": [_WHITE_SPACE, _BLANK_BLOCK]}}]}
# An item of OpenAI's Responses API has a type instead of a role.
MESSAGE_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {
            "required": ["role", "content"],
            "properties": {"role": {"enum": ROLES_NOT_BLANK}, "content": {**_CONTENT, "not": _BLANK}},
        },
        {
            "required": ["role", "parts"],
            "properties": {
                "role": {"enum": [role for role in ROLES_WITH_CONTENT if role in ROLES_NOT_BLANK]},
                "content": {"type": "null"},
                "parts": {"not": _BLANK},
            },
        },
        {"required": ["role", "content"], "properties": {"role": {"const": "tool"}, "content": _CONTENT}},
        {"required": ["role", "parts"], "properties": {"role": {"const": "tool"}, "content": _ANY_CONTENT}},
        {
            "required": ["role"],
            "properties": {
                "role": {"enum": [role for role in ROLES if role not in ROLES_WITH_CONTENT]},
                "content": _ANY_CONTENT,
            },
        },
        {
            "required": ["role", "command"],
            "properties": {
                "role": {"const": "execution"},
                "command": {"type": "string", "pattern": r"\S"},
                "output": {"type": ["string", "null"]},
                "content": _ANY_CONTENT,
            },
        },
        {"required": ["type"], "properties": {"type": {"type": "string"}, "role": {"type": "null"}}},
    ]
}
