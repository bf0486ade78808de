"""The OpenAPI document is valid and complete, and real responses match it."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from tests.sessions.session_logs import ClaudeLog

from foreword.errors import CallError
from foreword.service.responses import PROBLEMS
from foreword.service.routes import ROUTES
from foreword.store.rows import check_name

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def document(service):
    return service.get("/openapi.json").json


def test_the_document_is_valid(document):
    assert document["openapi"].startswith("3.1")
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []


def test_every_route_is_documented(document):
    documented = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    page = {("GET", "/"), ("GET", "/static/{name}")}
    assert documented == {(route.method, route.path) for route in ROUTES} - page
    for methods in document["paths"].values():
        for operation in methods.values():
            assert operation["summary"] and operation["operationId"]
            assert {"401", "403", "431", "500", "504"} <= operation["responses"].keys()
    ids = [operation["operationId"] for methods in document["paths"].values() for operation in methods.values()]
    assert len(set(ids)) == len(ids)


def test_every_problem_is_documented_for_some_route(document):
    statuses = {
        int(status)
        for methods in document["paths"].values()
        for method in methods.values()
        for status in method["responses"]
    }
    assert {status for status, _ in PROBLEMS.values()} - {405, 499} <= statuses


@pytest.mark.parametrize(
    ("path", "body", "is_valid"),
    [
        ("/conversations/{id}/sub-agents", {}, False),
        ("/conversations/{id}/sub-agents", {"task": "Look."}, True),
        ("/conversations/{id}/sub-agents", {"task": "Look.", "definition": "explorer"}, False),
        ("/conversations/{id}/sub-agents", {"task": "Look.", "form": "anthropic"}, False),
        ("/conversations/{id}/turn", {"cwd": "", "form": "anthropic"}, False),
        ("/conversations/{id}/turn", {"cwd": "", "form": "anthropic", "message": "", "messages": []}, False),
        ("/conversations/{id}/turn", {"cwd": "", "form": "anthropic", "message": "Hi"}, True),
        ("/conversations/{id}/turn", {"cwd": "", "form": None, "message": ""}, True),
        ("/conversations/{id}/turn", {"cwd": "", "message": " \n"}, False),
        (
            "/conversations/{id}/compact",
            {"cwd": "", "message": "\t", "messages": [{"role": "user", "content": "x"}]},
            False,
        ),
        ("/conversations/{id}/messages", {"message": " "}, False),
        ("/show", {"cwd": "", "form": "anthropic"}, True),
        ("/show", {"cwd": "", "layout": "opal", "layout_text": "sections = []"}, False),
        ("/why", {"cwd": "", "for": "a.py"}, False),
        ("/why", {"cwd": "", "layout": "claude", "for": "a.py", "path": "rule.md"}, True),
        ("/cache", {"cwd": "", "new": "conversation:42"}, False),
        ("/review", {"cwd": "", "base": "main..topic"}, False),
    ],
)
def test_a_body_that_breaks_a_rule_between_fields_is_invalid(service, document, path, body, is_valid):
    schema = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert Draft202012Validator({**schema, "components": document["components"]}).is_valid(body) == is_valid
    service.conversation("ruled")
    assert (service.post(path.replace("{id}", "ruled"), body).status == 400) == (not is_valid)


@pytest.mark.parametrize(
    ("path", "body", "status", "problem"),
    [
        ("/lint", {"cwd": "", "disable": ["nope"]}, 404, "not-found"),
        ("/show", {"cwd": "", "base": "$x/../y"}, 404, "not-found"),
        ("/diff", {"old": {"cwd": "", "settings": {"nope": 1}}, "new": {"cwd": ""}}, 422, "invalid-layout"),
        ("/diff", {"old": "conversation:" + "x" * 600, "new": {"cwd": ""}}, 404, "not-found"),
        ("/diff", {"old": "conversation:" + "x" * 600 + "@1", "new": {"cwd": ""}}, 404, "not-found"),
        ("/why", {"cwd": "", "path": "rule.md", "for": "a.py"}, 404, "not-found"),
        ("/conversations/{id}/turn", {"cwd": "", "layout": "codex"}, 422, "invalid-layout"),
        ("/conversations/{id}/turn", {"cwd": "", "message": "x", "form": "openai-chat", "tools": [{"name": "a", "type": "b"}]}, 422, "unsupported-tool"),
        ("/show", {"cwd": "", "messages": [{"type": "", "role": {}}]}, 400, "invalid-request"),
        ("/show", {"cwd": "", "template_name": "x" * 201}, 400, "invalid-body"),
        ("/conversations/{id}/usage", {"usage": {"input_tokens": None}}, 400, "invalid-request"),
    ],
)  # fmt: skip
def test_what_the_schema_allows_is_not_malformed(service, document, path, body, status, problem):
    """A 400 means that the schema forbids the body. What it cannot express has another status."""
    service.conversation("ruled")
    response = service.post(path.replace("{id}", "ruled" if path.endswith("/usage") else "unruled"), body)
    assert (response.status, response.problem) == (status, problem)
    described = document["paths"][path]["post"]
    assert str(status) in described["responses"]
    schema = described["requestBody"]["content"]["application/json"]["schema"]
    validator = Draft202012Validator({**schema, "components": document["components"]})
    assert validator.is_valid(body) == (status != 400)


@pytest.mark.parametrize(
    "name", ["a", "a b", "ä.b", "x" * 200, "x" * 201, "", " a", "a ", "\u2003a", "a\x80", "a@b", "a\nb"]
)
def test_the_pattern_of_a_template_name_is_the_rule_of_the_store(document, name):
    schema = document["paths"]["/templates/{name}"]["get"]["parameters"][0]["schema"]
    reference = document["components"]["schemas"]["TurnBody"]["properties"]["template_name"]
    try:
        check_name(name)
        is_valid = True
    except CallError:
        is_valid = False
    assert Draft202012Validator(schema).is_valid(name) == is_valid
    for text in (f"{name}@staging", f"{name}@3"):
        assert Draft202012Validator(reference).is_valid(text) == is_valid


def test_a_task_can_be_appended_to_a_stored_template(service):
    service.request("PUT", "/templates/appended", {"template": "Hello."})
    service.conversation("appending", template_name="appended")
    turn = service.post("/conversations/appending/sub-agents", {"task": "Look.", "append": True}).json
    assert turn["system"] == "Hello.\n\nLook."


CALLS = [
    ("GET", "/system-prompt", "/system-prompt", None),
    ("PUT", "/system-prompt", "/system-prompt?author=a", {"template": "[file:notes.md]"}),
    ("PUT", "/system-prompt", "/system-prompt", {}),
    ("GET", "/system-prompt/variables", "/system-prompt/variables", None),
    ("GET", "/system-prompt/versions", "/system-prompt/versions", None),
    ("POST", "/system-prompt/versions/{version}/restore", "/system-prompt/versions/0/restore", None),
    ("POST", "/system-prompt/versions/{version}/restore", "/system-prompt/versions/99999/restore", None),
    *(("POST", f"/conversations/{{id}}/{action}", f"/conversations/document/{action}", {"cwd": "", "layout": "opal", "tools": [{"name": "a"}], "message": "hi"}) for action in ("turn", "compact")),
    *(("POST", f"/conversations/{{id}}/{action}", f"/conversations/document/{action}", {"cwd": "", "layout": "opal"}) for action in ("construct", "reload")),
    ("POST", "/conversations/{id}/turn", "/conversations/document/turn", {"cwd": "/"}),
    ("POST", "/conversations/{id}/skills/{name}", "/conversations/document/skills/tidy", {"cwd": "", "layout": "opal"}),
    ("POST", "/conversations/{id}/skills/{name}", "/conversations/document/skills/ghost", {"cwd": "", "layout": "opal"}),
    *(("POST", "/conversations/{id}/tools/{name}", f"/conversations/document/tools/{name}", {"cwd": ""}) for name in ("read_plan", "write_plan", "read_file")),
    ("POST", "/conversations/{id}/touch", "/conversations/document/touch", {"cwd": "", "paths": ["a.py"]}),
    ("POST", "/conversations/{id}/sub-agents", "/conversations/document/sub-agents", {"task": "Look.", "message": "Begin.", "form": "anthropic"}),
    ("POST", "/conversations/{id}/messages", "/conversations/document/messages", {"message": "Hi."}),
    ("POST", "/conversations/{id}/resources", "/conversations/document/resources", {"skills": ["sub"]}),
    ("POST", "/conversations/{id}/registry", "/conversations/document/registry", {"tools": [{"name": "a"}]}),
    ("POST", "/conversations/{id}/usage", "/conversations/document/usage", {"usage": {"input_tokens": 1}}),
    ("POST", "/conversations/{id}/usage", "/conversations/ghost/usage", {"usage": {"input_tokens": 1}}),
    *(("POST", f"/{command}", f"/{command}", {"cwd": "", "layout": "opal"}) for command in ("show", "why", "blame", "tokens", "cache", "agents", "lint")),
    ("POST", "/touch", "/touch", {"cwd": "", "layout": "opal", "paths": ["a.py"]}),
    ("POST", "/cache", "/cache", {"cwd": "", "layout": "opal", "old": "conversation:document", "turns": 5.0}),
    ("POST", "/lock", "/lock", {"cwd": "committed", "layouts": ["opal"]}),
    ("POST", "/align", "/align", {"cwd": "committed", "agents": ["claude"]}),
    ("POST", "/align", "/align", {"cwd": "committed", "agents": ["ghost"]}),
    ("POST", "/review", "/review", {"cwd": "committed", "base": "HEAD", "layouts": ["opal"]}),
    *(("POST", "/blame", "/blame", {"cwd": "committed", "layout": "opal", **options}) for options in ({"git": True}, {"by": "file"})),
    ("POST", "/blame", "/blame", {"cwd": "sub", "git": True}),
    ("POST", "/diff", "/diff", {"old": {"cwd": "", "layout": "opal"}, "new": "conversation:document"}),
    ("POST", "/show", "/show", {"cwd": "", "layout_text": "sections = 1"}),
    ("GET", "/events", "/events?layout=opal&limit=1", None),
    ("GET", "/skills", "/skills?layout=opal", None),
    ("POST", "/skills/{name}", "/skills/tidy", {"cwd": "", "layout": "opal"}),
    ("GET", "/sessions", "/sessions?by=file", None),
    ("GET", "/sessions/{id}", "/sessions/1111", None),
    ("GET", "/layouts/keys", "/layouts/keys", None),
    ("GET", "/token", "/token", None),
    ("GET", "/system-prompt/usage", "/system-prompt/usage", None),
    ("POST", "/system-prompt/preview", "/system-prompt/preview", {"layout": "opal", "tools": [{"name": "a"}]}),
    ("POST", "/system-prompt/preview", "/system-prompt/preview", {"layout": "pod", "template": "{{ ghost }}"}),
    ("POST", "/system-prompt/check", "/system-prompt/check", {"template": "[if x:y]"}),
    ("POST", "/system-prompt/values", "/system-prompt/values", {}),
    ("PUT", "/templates/{name}", "/templates/document", {"template": "Hello."}),
    ("POST", "/templates/{name}/versions", "/templates/document/versions", {"template": "Hello again."}),
    ("GET", "/templates", "/templates?limit=5", None),
    ("GET", "/templates/{name}", "/templates/document", None),
    ("GET", "/templates/{name}", "/templates/ghost", None),
    ("GET", "/templates/{name}/versions", "/templates/document/versions", None),
    ("GET", "/templates/{name}/versions/{version}", "/templates/document/versions/1", None),
    ("PUT", "/templates/{name}/labels/{label}", "/templates/document/labels/staging", {"version": 2.0}),
    ("GET", "/templates/{name}/labels/{label}", "/templates/document/labels/staging", None),
    ("DELETE", "/templates/{name}/labels/{label}", "/templates/document/labels/production", None),
    ("DELETE", "/templates/{name}/labels/{label}", "/templates/document/labels/staging", None),
    ("DELETE", "/templates/{name}", "/templates/default", None),
    ("DELETE", "/templates/{name}", "/templates/document", None),
    ("GET", "/files", "/files", None),
    ("GET", "/layouts", "/layouts", None),
    ("GET", "/tools", "/tools", None),
    ("GET", "/roots", "/roots", None),
    ("GET", "/conversations", "/conversations?limit=5", None),
    ("GET", "/usage", "/usage", None),
    ("GET", "/conversations", "/conversations?limit=x", None),
    ("GET", "/conversations/{id}", "/conversations/document", None),
    ("GET", "/conversations/{id}", "/conversations/ghost", None),
    ("GET", "/conversations/{id}/editions", "/conversations/document/editions", None),
    ("GET", "/conversations/{id}/editions/{number}", "/conversations/document/editions/1", None),
    ("GET", "/conversations/{id}/drift", "/conversations/document/drift?tool=other", None),
    ("GET", "/prompts/{id}", "/prompts/PROMPT", None),
    ("DELETE", "/conversations/{id}", "/conversations/document", None),
    ("GET", "/healthz", "/healthz", None),
    ("GET", "/readyz", "/readyz", None),
    ("GET", "/metrics", "/metrics", None),
    ("GET", "/openapi.json", "/openapi.json", None),
]  # fmt: skip


@pytest.fixture
def committed(top_folder):
    """A repository with a commit, in a folder of the service."""
    folder = top_folder / "w" / "committed"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("Use tabs.\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "change"]):
        subprocess.run(["git", "-c", "user.name=Ada", "-c", "user.email=a@b.c", *arguments], cwd=folder, check=True)
    yield
    shutil.rmtree(folder)


@pytest.fixture
def logged(top_folder):
    """A log of a session in the served folder."""
    log = ClaudeLog(top_folder / "planted-home", top_folder / "w")
    log.snapshot().user().answer(written=5000).user().answer(read=5000).write()
    yield
    log.path.unlink()


@pytest.mark.usefixtures("committed", "logged")
def test_real_responses_match_the_schemas(service, document):
    service.conversation("document", layout="opal")
    prompt = service.get("/conversations/document").json["id"]
    tested = set()
    for method, path, address, body in CALLS:
        response = service.request(method, address.replace("PROMPT", prompt), body)
        content = document["paths"][path][method.lower()]["responses"][str(response.status)]["content"]
        (kind,) = content
        assert response.headers["content-type"].partition(";")[0] == kind
        schema = {**content[kind]["schema"], "components": document["components"]}
        form = _form(response, kind)
        errors = [error.message for error in Draft202012Validator(_forbid_other_fields(schema)).iter_errors(form)]
        assert errors == [], (method, address)
        tested |= {(method, path)} if response.status == 200 else set()
    assert tested == {(route.method, route.path) for route in ROUTES if route.response is not None}


def _form(response, kind):
    """Return the content of a response: text, JSON, or the first event of a stream."""
    if kind == "text/event-stream":
        return {"data": response.body.decode().removeprefix("data: ").partition("\n\n")[0]}
    return response.body.decode() if kind == "text/plain" else response.json


def _forbid_other_fields(schema):
    """Return the schema with unlisted fields forbidden."""
    if isinstance(schema, list):
        return [_forbid_other_fields(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {name: _forbid_other_fields(value) for name, value in schema.items()}
    return {"additionalProperties": False, **strict} if isinstance(schema.get("properties"), dict) else strict


def test_the_document_matches_the_reference_page(document):
    page = (HERE.parents[1] / "docs" / "reference" / "http.md").read_text()
    for path, methods in document["paths"].items():
        for method in methods:
            assert re.search(rf"`?{method.upper()} {re.escape(path)}`?", page), f"{method.upper()} {path}"


def test_schemathesis_finds_nothing():
    """A short run without the phase that tries every limit with long strings; `make schemathesis` is the long one."""
    command = [sys.executable, str(HERE / "schemathesis_run.py"), "--examples", "2", "--phases", "fuzzing,stateful"]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout[-20_000:] + ended.stderr[-5000:]
    assert json.loads(ended.stdout.splitlines()[-1])["cases"] > 75
