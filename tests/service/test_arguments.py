"""Invalid arguments are refused with the library's messages, and a base can be a reference."""

import pytest


@pytest.fixture(scope="module")
def greeting(service, top_folder):
    folder = top_folder / "planted-home" / ".config" / "foreword" / "prompts"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "greet.md").write_text("Greet the user.\n")
    return service


@pytest.mark.parametrize("layout", ["foreword", "builder", "pod"])
def test_a_base_can_be_a_reference(greeting, layout):
    id = f"reference-{layout}"
    turn = greeting.conversation(id, layout=layout, base="$user/greet").json
    assert turn["system"].startswith("Greet the user.")
    assert greeting.conversation(id, layout=layout, base="$user/greet").json["reused"]
    assert greeting.get(f"/conversations/{id}/drift").json["changed"] is False


def test_an_invalid_reference_is_a_problem(greeting):
    response = greeting.conversation("absent", base="$user/absent")
    assert response.status in (400, 404, 422)
    assert "the template '$user/absent' does not exist" in response.json["detail"]


def test_a_base_that_looks_like_a_file_name_is_reported(service):
    turn = service.conversation("file-name", base="prompts/base.md").json
    assert [finding["code"] for finding in turn["findings"]] == ["base-file-name"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"messages": [{"content": "x"}]}, "message 1 has no role; known roles: user, assistant"),
        ({"messages": [{"role": "usr", "content": "x"}]}, "message 1 has the unknown role 'usr'; did you mean 'user'?"),
        ({"messages": [{"role": "user"}]}, "message 1 (user) has no content"),
        ({"messages": [{"role": "user", "content": " "}]}, "message 1 (user) is blank, which providers refuse"),
        ({"tools": [{"name": "read file"}]}, "name"),
        ({"tools": [{"name": "read", "schema": {"json": {}}}]}, "wrapped in 'json'"),
        ({"tools": [{"name": "read", "schema": "{}"}]}, "schema"),
        ({"provider": "antropic"}, "unknown provider 'antropic'; did you mean 'anthropic'?"),
    ],
)
def test_invalid_arguments_are_refused(service, body, message):
    response = service.conversation("wrong", **body)
    assert response.status in (400, 422), response.body
    assert message in response.json["detail"]
