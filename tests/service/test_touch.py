"""`POST /conversations/{id}/touch`: what touched files bring, once, and requests that are refused."""

import pytest

FILES = {
    "AGENTS.md": "Be kind.\n",
    "api/AGENTS.md": "Use the planted client.\n",
    ".claude/rules/python.md": "---\npaths: '*.py'\n---\nAnnotate all planted types.\n",
}


@pytest.fixture(scope="module")
def service_with_rules(start, top_folder):
    """A service for a folder with nested instructions and a rule."""
    top = top_folder / "with-rules"
    for name, text in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    (top / ".git").mkdir()
    return start(root="with-rules")


def test_a_touch_sends_each_file_once(service_with_rules):
    service_with_rules.conversation("once", layout="foreword", message="hi")
    touched = service_with_rules.conversation("once", "touch", paths=["api/x.py"], how="edit").json
    assert touched.keys() == {"messages", "candidates", "findings"}
    [message] = touched["messages"]
    assert message["role"] == "user"
    assert message["content"].index("planted client") < message["content"].index("planted types")
    assert [candidate["fate"] for candidate in touched["candidates"]] == ["used", "used"]
    assert service_with_rules.conversation("once", "touch", paths=["api/y.py"]).json["messages"] == []


@pytest.mark.parametrize("path", ["../w/x.py", "/etc/passwd"])
def test_a_path_outside_brings_a_finding(service_with_rules, path):
    touched = service_with_rules.conversation("outside", "touch", layout="foreword", paths=[path]).json
    assert (touched["messages"], [finding["code"] for finding in touched["findings"]]) == ([], ["touch-outside"])


def test_a_touch_with_an_unknown_id_starts_the_conversation(service_with_rules):
    assert service_with_rules.get("/conversations/unknown").problem == "not-found"
    touched = service_with_rules.conversation("unknown", "touch", layout="foreword", paths=["api/x.txt"]).json
    assert "planted client" in touched["messages"][0]["content"]
    assert "Be kind." in service_with_rules.get("/conversations/unknown").json["system"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"paths": []},
        {"paths": "a.py"},
        {"paths": [1]},
        {"paths": ["a.py"] * 1001},
        {"paths": ["a.py"], "how": "write"},
        {"paths": ["a.py"], "path": "a.py"},
    ],
)
def test_a_wrong_body_is_refused(service_with_rules, body):
    assert service_with_rules.conversation("wrong", "touch", **body).problem == "invalid-body"
    assert service_with_rules.get("/conversations/wrong").problem == "not-found"
