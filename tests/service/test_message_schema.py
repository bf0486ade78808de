"""The JSON schema of a message accepts exactly what `check_messages` accepts."""

import itertools

import pytest
from jsonschema import Draft202012Validator

from foreword.errors import CONVERTED_ROLES, ROLES, CallError, check_messages
from foreword.service.message_schema import MESSAGE_SCHEMA

TEXTS = ["", " \n", "x"]
BLOCKS = [
    [],
    [""],
    ["x"],
    [{}],
    [{"text": " "}],
    [{"text": " "}, {"text": "x"}],
    [{"type": "text", "text": "", "citations": None}],
    [{"text": "", "signature": "x"}],
    [{"type": "image"}, {"type": "text", "text": ""}],
    [1],
]
ABSENT = object()


@pytest.mark.parametrize("role", [*ROLES, *CONVERTED_ROLES, "usr"])
def test_the_schema_and_the_check_agree(role):
    validator = Draft202012Validator(MESSAGE_SCHEMA)
    answers = set()
    for content, parts in itertools.product([ABSENT, None, 3, *TEXTS, *BLOCKS], [ABSENT, None, *TEXTS, *BLOCKS]):
        fields = {"role": role, "content": content, "parts": parts}
        message = {key: field for key, field in fields.items() if field is not ABSENT}
        try:
            check_messages([message])
        except CallError:
            answers.add(False)
            assert not validator.is_valid(message), message
        else:
            answers.add(True)
            assert validator.is_valid(message), message
    assert answers == ({False} if role in ("usr", "execution") else {False, True})
