"""Which stored template a conversation uses."""

import pytest

from foreword import Conversations
from foreword.errors import CallError, MissingError
from foreword.store.rows import LabelMove, TemplateVersion


@pytest.fixture
def text_of(tree, url):
    """`text_of("support@3", id="t", layout="builder")` is the prompt of a conversation's turn, in a new process.

    The templates `default` and `support` have the versions 1 and 2. For the second one, the label `staging` is at version 2.
    """
    tree({"w/.git": None})
    with Conversations(url) as conversations:
        for name in ("default", "support"):
            for number in (1, 2):
                version = TemplateVersion(0, f"{name} {number}", name=name)
                conversations.store.add_template(version, label="production" if number == 1 else "staging")

    def text_of(template, id="t", layout="builder", **options):
        with Conversations(url) as conversations:
            conversation = conversations.open(
                id, tree.workspace(), layout=layout, template=template, assignments=[("on.turn", "gather")], **options
            )
            return conversation.turn("Hi.").system

    return text_of


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("", "default 1"),
        ("default", "default 1"),
        ("default@2", "default 2"),
        ("support", "support 1"),
        ("support@production", "support 1"),
        ("support@staging", "support 2"),
        ("support@1", "support 1"),
        ("support@2", "support 2"),
    ],
)
def test_a_conversation_uses_the_version_that_it_names_and_keeps_it(text_of, template, text):
    assert text_of(template) == text
    assert text_of("") == text


def test_a_conversation_follows_the_label_that_it_named(text_of, url):
    assert [text_of("support@staging"), text_of("support", "other")] == ["support 2", "support 1"]
    with Conversations(url) as conversations:
        conversations.store.move_label(LabelMove("support", "staging", 2, 1, "", "", ""))
    assert [text_of(""), text_of("", "other")] == ["support 1", "support 1"]


def test_the_caller_chooses_the_default_for_conversations_that_name_none(text_of):
    assert [text_of("", default_template="support"), text_of("default@2", "other", default_template="support")] == [
        "support 1",
        "default 2",
    ]
    assert text_of("support@2", "third") == text_of("", "third", default_template="default") == "support 2"


def test_a_request_for_another_template_replaces_the_one_in_use(text_of):
    assert [text_of(name) for name in ("support", "default", "", "support@2", "")] == [
        "support 1",
        "default 1",
        "default 1",
        "support 2",
        "support 2",
    ]


@pytest.mark.parametrize(
    ("template", "error", "message"),
    [
        ("nope", MissingError, "no stored template 'nope'"),
        ("nope@2", MissingError, "no stored template 'nope'"),
        ("support@beta", MissingError, "template 'support' has no version or label 'beta'"),
        ("support@3", MissingError, "template 'support' has no version or label '3'"),
        ("support@999999999", MissingError, "template 'support' has no version or label '999999999'"),
        ("support@1000000000", CallError, "the version of a template must be a number below 1,000,000,000, not 1000000000"),
        ("support@", CallError, "a label must have 1 to 200 characters"),
        ("@staging", CallError, "the name of a template must have 1 to 200 characters"),
        ("support@staging@2", CallError, "a label must not contain @, which comes before a label: 'staging@2'"),
    ],
)  # fmt: skip
def test_a_template_that_does_not_exist_is_an_error(text_of, template, error, message):
    with pytest.raises(error, match=message):
        text_of(template)


def test_the_default_template_need_not_exist(tree, url):
    with Conversations(url) as conversations:
        opened = conversations.open("t", tree.workspace(), layout="builder")
        assert opened.turn("Hi.").system.startswith("You are")


def test_a_template_that_was_deleted_is_named(text_of, url):
    assert text_of("support") == "support 1"
    with Conversations(url) as conversations:
        conversations.store.delete_template("support")
    with pytest.raises(
        MissingError, match="the template 'support' that this conversation was built from no longer exists"
    ):
        text_of("")
    assert text_of("default") == "default 1"
