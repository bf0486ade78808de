"""The global template over HTTP: its three routes, versions and previews."""

import json
import re
from pathlib import Path

import pytest

from foreword.packs.packs import layout_names
from foreword.store import open_store
from foreword.template.catalog import CATALOG

DEFAULT = """\
You are a helpful coding assistant.

[if file:AGENTS.md]
[file:AGENTS.md]
[endif]

The current working directory is [prompt:cwd].
"""


def stats(server):
    """Return the number of rows in the store of a server."""
    store = open_store(f"sqlite:///{server.folder}/store.db")
    try:
        return store.stats()
    finally:
        store.close()


# The three routes


@pytest.mark.parametrize("template", ["[if file:x] a", "a [endif]", "a [else] b"])
def test_a_template_with_errors_is_saved_only_by_force(fresh_service, template):
    body = {"template": template}
    for path in ("/system-prompt", "/templates/other"):
        response = fresh_service.request("PUT", path, body)
        assert (response.status, response.json["type"]) == (422, "urn:foreword:problem:invalid-template")
        assert [finding["code"] for finding in response.json["findings"]] == ["template-unmatched"]
    assert fresh_service.get("/system-prompt").json == {"template": DEFAULT}
    response = fresh_service.request("PUT", "/system-prompt?force=true", body)
    assert (response.status, response.json) == (200, body)
    assert fresh_service.post("/templates/other/versions", body).status == 200
    assert fresh_service.post("/templates/other/versions?label=staging", body).status == 422
    assert fresh_service.request("PUT", "/templates/other/labels/staging", {"version": 1}).status == 422
    assert fresh_service.request("PUT", "/templates/other/labels/staging", {"version": 1, "force": True}).status == 200
    assert fresh_service.request("POST", "/system-prompt/versions/1/restore").status == 422
    assert fresh_service.request("POST", "/system-prompt/versions/1/restore?force=true").status == 200


def test_a_template_in_the_other_language_is_checked_in_that_language(fresh_service):
    assert fresh_service.request("PUT", "/system-prompt?syntax=jinja", {"template": "{% if x %}"}).status == 422
    assert (
        fresh_service.request("PUT", "/system-prompt?syntax=jinja", {"template": "[if file:x] is text"}).status == 200
    )


def test_the_default_template_has_version_zero(fresh_service):
    response = fresh_service.get("/system-prompt")
    assert (response.status, response.json, response.headers["etag"]) == (200, {"template": DEFAULT}, '"0"')
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "template",
    ["", " \n", "planted [prompt:cwd]\n", "a\r\nb\0c\u2028", "ünï 🐍 \U0010ffff", "[if file:x", "x" * 500_000],
)
def test_a_saved_template_is_read_back(service, template):
    response = service.request("PUT", "/system-prompt", {"template": template})
    assert (response.status, response.json) == (200, {"template": template})
    reread = service.get("/system-prompt")
    assert (reread.json, reread.headers["etag"]) == ({"template": template}, response.headers["etag"])


def test_variables_match_the_catalog(service):
    rows = service.get("/system-prompt/variables").json
    assert rows == {
        "variables": [
            {"type": row.type, "name": row.name, "description": row.description}
            | ({"dynamic": True} if row.dynamic else {})
            for row in CATALOG
        ]
    }
    assert [row["name"] for row in rows["variables"] if row.get("dynamic")] == ["<path>"]


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        (b"", "not-json", "the body is empty"),
        (b"{", "not-json", "truncated"),
        (b"template=x", "not-json", "JSON is malformed: "),
        (b'{"template": "x"} {}', "not-json", "trailing characters"),
        (b'\xef\xbb\xbf{"template": "x"}', "not-json", "malformed"),
        (b'{"template": "\xff"}', "not-json", "not valid UTF-8"),
        (b'{"template": "\\ud800"}', "not-json", "the body contains the lone surrogate \\ud800"),
        (b'{"template": "\\ud83d\\ud83d\\ude00"}', "not-json", "the body contains the lone surrogate \\ud83d"),
        (b'{"template": NaN}', "not-json", "malformed"),
        (b'{"template": ' * 100_000, "invalid-body", "template: expected 'str', got 'object'"),
        (b"[" * 100_000, "invalid-body", "expected 'object', got 'array'"),
        (b"null", "invalid-body", "expected 'object', got 'null'"),
        (b'"planted"', "invalid-body", "expected 'object', got 'str'"),
        (b"{}", "invalid-body", "missing required field 'template'"),
        (b'{"template": null}', "invalid-body", "template: expected 'str', got 'null'"),
        (b'{"template": 1}', "invalid-body", "template: expected 'str', got 'int'"),
        (b'{"template": ["planted"]}', "invalid-body", "template: expected 'str', got 'array'"),
        (b'{"template": "planted", "version": 1}', "invalid-body", "unknown field 'version'"),
        (b'{"Template": "planted"}', "invalid-body", "did you mean 'template'?"),
    ],
)
def test_invalid_bodies_are_refused_with_a_reason(service, body, kind, expected):
    before = service.get("/system-prompt").headers["etag"]
    response = service.request("PUT", "/system-prompt", body)
    assert (response.status, response.problem) == (400, kind)
    assert expected in response.json["detail"]
    assert "planted" not in response.json["detail"]
    assert service.get("/system-prompt").headers["etag"] == before


@pytest.mark.parametrize(("method", "path"), [("PUT", ""), ("POST", "/preview"), ("POST", "/check")])
def test_a_template_that_is_too_large_is_refused(service, method, path):
    response = service.request(method, f"/system-prompt{path}", {"template": "x" * 500_001})
    assert (response.status, response.problem) == (413, "too-large")
    assert "500,000" in response.json["detail"]


# Versions


def set_template(server, template, tag=None, query=""):
    headers = {} if tag is None else {"If-Match": tag}
    return server.request("PUT", f"/system-prompt{query}", {"template": template}, headers=headers)


def test_if_match_prevents_lost_updates(fresh_service):
    assert set_template(fresh_service, "one", '"0"').headers["etag"] == '"1"'
    for stale in ('"0"', '"2"', '"abc"', "1", '"-1"', 'W/"0"', 'W/"1"', '"0", "2"', '"99999999999"', "\xff"):
        response = set_template(fresh_service, "lost", stale)
        assert (response.status, response.problem) == (412, "template-changed")
        assert 'the current version, whose ETag is "1"' in response.json["detail"]
    assert set_template(fresh_service, "two", '"1"').headers["etag"] == '"2"'
    assert set_template(fresh_service, "three", "*").headers["etag"] == '"3"'
    assert set_template(fresh_service, "four").headers["etag"] == '"4"'
    assert fresh_service.get("/system-prompt").json == {"template": "four"}
    assert set_template(fresh_service, "five", '"0", "4"').headers["etag"] == '"5"'
    assert set_template(fresh_service, "six", 'W/"1","5"').headers["etag"] == '"6"'


@pytest.mark.parametrize(
    ("tag", "status"),
    [('"1"', 304), ('W/"1"', 304), ('"0", "1"', 304), ("*", 304), ('"0"', 200), ("1", 200), ('"11"', 200)],
)
def test_if_none_match_avoids_sending_the_same_version(service_with_version, tag, status):
    response = service_with_version.get("/system-prompt", headers={"If-None-Match": tag})
    assert (response.status, response.headers["etag"], len(response.body) > 0) == (status, '"1"', status == 200)


@pytest.fixture(scope="module")
def service_with_version(start):
    """A service with one version of the template."""
    server = start()
    set_template(server, "one")
    return server


def test_every_version_is_listed_and_can_be_restored(fresh_service):
    set_template(fresh_service, "one", query="?author=Ada%20L.&note=first%20%C3%BC")
    set_template(fresh_service, "two", query="?author=&note=")
    restored = fresh_service.post("/system-prompt/versions/1/restore?author=Bob")
    assert (restored.json, restored.headers["etag"]) == ({"template": "one"}, '"3"')
    assert fresh_service.post("/system-prompt/versions/0/restore?note=anew").json == {"template": DEFAULT}
    rows = fresh_service.get("/system-prompt/versions").json["versions"]
    without_texts = [{key: row[key] for key in row if key != "template"} for row in rows]
    assert fresh_service.get("/system-prompt/versions?texts=false").json["versions"] == without_texts
    assert fresh_service.get("/templates/default/versions?texts=false").json["versions"] == without_texts
    assert [(row["version"], row["author"], row["note"], row["template"]) for row in rows] == [
        (4, "", "anew", DEFAULT),
        (3, "Bob", "Restored version 1", "one"),
        (2, "", "", "two"),
        (1, "Ada L.", "first ü", "one"),
    ]
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]", row["time"]) for row in rows)


@pytest.mark.parametrize(
    ("version", "status", "kind"),
    [("999999", 404, "not-found"), ("-1", 400, "invalid-request"), ("x", 400, "invalid-request"), ("1.0", 400, "invalid-request"), ("٣", 400, "invalid-request"), ("1" * 40, 400, "invalid-request")],
)  # fmt: skip
def test_invalid_versions_are_refused(service, version, status, kind):
    from urllib.parse import quote

    response = service.post(f"/system-prompt/versions/{quote(version)}/restore")
    assert (response.status, response.problem) == (status, kind)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("?author=a&author=b", "is repeated 2 times"),
        ("?autor=a", "did you mean 'author'?"),
        ("?author=%ff", "utf-8"),
        ("?author=" + "a" * 201, "author"),
        ("?" + "&".join(["author=a"] * 2000), ""),
        ("?author", ""),
        ("?&&", ""),
    ],
)
def test_invalid_queries_are_refused(service, query, expected):
    response = set_template(service, "x", query=query)
    assert (response.status, response.problem) == (400, "invalid-query")
    assert expected in response.json["detail"]


def test_usage_counts_conversations_until_they_are_compacted(fresh_service):
    def uses():
        return {
            row["version"]: row["conversations"] for row in fresh_service.get("/system-prompt/usage").json["versions"]
        }

    assert uses() == {}
    fresh_service.conversation("a")
    fresh_service.conversation("b")
    assert uses() == {0: 2}
    set_template(fresh_service, "planted one")
    fresh_service.conversation("a")
    fresh_service.conversation("c")
    assert uses() == {0: 2, 1: 1}
    fresh_service.conversation("a", "compact")
    fresh_service.conversation("b", "construct")
    assert uses() == {1: 3}
    fresh_service.conversation("d", layout="ion")  # has no global template
    assert uses() == {1: 3}


# Previews


def text_with_origin(prompt):
    """Return the characters of the text that have an origin, joined."""
    return "".join(
        prompt["text"][origin["start"] : origin["end"]]
        for passage in prompt["passages"]
        for origin in passage["origins"]
    )


def test_a_preview_has_origins(service, top_folder):
    template = "Hello\n[file:notes.md]\nin [prompt:cwd] 🐍\n"
    preview = service.post("/system-prompt/preview", {"template": template}).json
    assert preview["text"] == f"Hello\nNotes.\nin {top_folder}/w 🐍\n"
    assert text_with_origin(preview) == preview["text"]
    origins = [(origin["kind"], origin["path"], origin["lines"]) for origin in preview["passages"][0]["origins"]]
    assert origins == [
        ("template", "template", [1, 1]),
        ("file", f"{top_folder}/w/notes.md", [1, 1]),
        ("template", "template", [2, 3]),
        ("variable", "prompt:cwd", None),
        ("template", "template", [3, 3]),
    ]
    assert preview["tokens"]["count"] == sum(passage["tokens"] for passage in preview["passages"]) > 0


@pytest.mark.parametrize("layout", layout_names())
def test_origins_cover_the_preview_in_every_layout(service, layout):
    preview = service.post("/system-prompt/preview", {"layout": layout, "tools": [{"name": "read"}]}).json
    assert (preview["layout"], preview["id"][:7]) == (layout, "sha256:")
    separators = preview["text"]
    for passage in preview["passages"]:
        text = preview["text"][passage["start"] : passage["end"]]
        assert "".join(preview["text"][o["start"] : o["end"]] for o in passage["origins"]) == text
        separators = separators.replace(text, "", 1)
    assert separators.strip() == ""


def test_a_session_of_a_preview_may_have_control_characters(service):
    response = service.post("/system-prompt/preview", {"template": "[prompt:conversation_id]", "session": "a\x9fb"})
    assert (response.status, "a" in response.json["text"]) == (200, True)


def test_a_preview_stores_nothing(fresh_service):
    set_template(fresh_service, "planted")
    before = stats(fresh_service)
    for body in (
        {},
        {"template": "x"},
        {"template": "[file:no]", "session": "s"},
        {"layout": "pod", "template": "{{ cwd }}"},
    ):
        assert fresh_service.post("/system-prompt/preview", body).status == 200
    fresh_service.post("/system-prompt/check", {"template": "x"})
    fresh_service.post("/system-prompt/values", {"conversation_id": "s"})
    assert stats(fresh_service) == before
    assert fresh_service.get("/conversations").json["conversations"] == []
    assert fresh_service.get("/conversations/preview").status == 404


def test_a_preview_defaults_to_the_global_template(fresh_service):
    set_template(fresh_service, "GLOBAL")
    assert fresh_service.post("/system-prompt/preview").json["text"] == "GLOBAL"
    assert fresh_service.post("/system-prompt/preview", {"template": ""}).json["text"] == ""


LOOP = (
    "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}"
)
GREEDY = "{% set x = 'xxxxxxxxxxxxxxxx' %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}"


@pytest.mark.parametrize(
    ("template", "line", "problem"),
    [
        ("a\n{{ ghost }}", 2, "template-not-rendered"),
        ("a\n\n{% if %}", 3, "invalid-template"),
        ("{% include '/etc/passwd' %}", 1, "invalid-template"),
        ("{% include '../../../etc/passwd' %}", 1, "invalid-template"),
        ("{% include '$user/../../x' %}", 1, "invalid-template"),
        (LOOP, 1, "template-not-rendered"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", 1, "template-not-rendered"),
        (GREEDY, None, "template-not-rendered"),
        ("{% if cwd %}" * 20_000, None, "invalid-template"),
    ],
)
def test_a_jinja_template_that_cannot_be_rendered_is_refused(service, template, line, problem):
    """Each is rendered in the worker, so the service survives."""
    for route in ({"template": template}, {"base": template}):
        response = service.post("/system-prompt/preview", {"layout": "pod", **route})
        assert (response.status, response.problem) == (422, problem)
        (error,) = response.json["errors"]
        assert error["message"] and error["line"] == line
        assert "root:" not in response.body.decode()
    assert service.conversation("jinja", layout="pod", base=template).problem == problem
    assert service.get("/healthz").json == {"status": "ok"}
    assert service.post("/system-prompt/preview", {"layout": "pod", "template": "{{ cwd }}!"}).status == 200


def test_templates_from_requests_are_rendered_in_the_worker(service):
    """A worker is a child process of the server."""
    service.post("/system-prompt/preview", {"layout": "pod", "template": "{{ cwd }}"})
    children = Path(f"/proc/{service.process.pid}/task/{service.process.pid}/children").read_text().split()
    commands = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children] or [
        path.read_bytes()
        for path in Path(f"/proc/{service.process.pid}/task").glob("*/children")
        for pid in path.read_text().split()
        for path in [Path(f"/proc/{pid}/cmdline")]
    ]
    assert any(b"foreword.engine.sandbox" in command for command in commands)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"template": "fine"}, []),
        ({"template": ""}, []),
        ({"template": "a\n[if file:x]"}, [("template-unmatched", 2)]),
        ({"template": "[ghost:x]"}, [("template-unknown-type", 1)]),
        ({"template": "[file:.env]"}, [("variable-refused", None)]),
        ({"template": "[file:/etc/passwd]"}, [("variable-refused", None)]),
        ({"template": "[file:link-file]"}, [("variable-refused", None)]),
        ({"template": "{{ cwd }}", "syntax": "jinja"}, []),
        ({"template": "a\n{{ ghost }}", "syntax": "jinja"}, [("template-error", 2)]),
    ],
)
def test_check_reports_findings_with_their_lines(service, body, expected):
    response = service.post("/system-prompt/check", body)
    assert [(finding["code"], finding["line"]) for finding in response.json["findings"]] == expected


def test_variables_have_current_values(service, top_folder):
    body = {"model": "m-1", "conversation_id": "c-1", "cwd": "sub"}
    rows = service.post("/system-prompt/values", body).json["values"]
    values = {f"{row['type']}:{row['name']}": row["value"] for row in rows}
    assert values.keys() == {f"{row.type}:{row.name}" for row in CATALOG if not row.dynamic}
    assert (values["prompt:model"], values["prompt:conversation_id"]) == ("m-1", "c-1")
    assert values["prompt:cwd"] == f"{top_folder}/w/sub"
    assert values["git:branch"] == "main"
    unnamed = {
        f"{row['type']}:{row['name']}": row["value"] for row in service.post("/system-prompt/values").json["values"]
    }
    assert (unnamed["prompt:model"], unnamed["prompt:conversation_id"], unnamed["git:branch"]) == (None, None, None)


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("", ["AGENTS.md", "link-in/", "notes.md", "sub/", "ünï code/"]),
        ("?prefix=no", ["notes.md"]),
        ("?prefix=sub/", ["sub/inner.md"]),
        ("?cwd=sub&prefix=", ["inner.md"]),
        ("?prefix=%C3%BCn%C3%AF%20code/", ["ünï code/a.md"]),
        ("?prefix=.e", []),
        ("?prefix=id", []),
        ("?prefix=../", []),
        ("?prefix=../outside/", []),
        ("?prefix=link-out/", []),
        ("?prefix=sub/../../", []),
        ("?prefix=/etc/pass", []),
        ("?prefix=/", []),
        ("?prefix=~/", []),
        ("?prefix=loop/", []),
        ("?prefix=" + "x" * 4000, []),
        ("?prefix=ghost/x", []),
    ],
)
def test_only_files_that_a_template_can_read_are_listed(service, query, paths):
    entries = service.get("/files" + query).json["entries"]
    assert [entry["path"] for entry in entries if not entry["path"].startswith(".agents")] == paths
    assert all((entry["kind"] == "folder") == entry["path"].endswith("/") for entry in entries)


def test_at_most_200_files_are_listed(fresh_service, top_folder):
    folder = top_folder / "w" / "many"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number:03}").touch()
    try:
        entries = fresh_service.get("/files?prefix=many/").json["entries"]
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    assert [entry["path"] for entry in entries] == [f"many/{number:03}" for number in range(200)]


def test_layouts_and_roots_are_listed(service, top_folder):
    response = service.get("/layouts").json
    assert response["languages"] == ["brackets", "jinja"]
    layouts = response["layouts"]
    layouts = layouts[: len(layout_names())]  # those of the user follow
    assert [layout["name"] for layout in layouts] == list(layout_names())
    assert all(layout["about"] and layout["sections"] for layout in layouts)
    assert {layout["name"]: layout["language"] for layout in layouts}["builder"] == "brackets"
    assert service.get("/roots").json == {"roots": [f"{top_folder}/w"]}


def test_an_unexpected_query_or_body_is_ignored(service):
    assert service.request("GET", "/roots?x=1", b"not json").status == 200
    assert json.loads(service.get("/healthz?%ff").body) == {"status": "ok"}


# Languages


def test_a_version_has_a_language(fresh_service, top_folder):
    response = fresh_service.request("PUT", "/system-prompt?syntax=jinja", {"template": "In {{ cwd }}"})
    assert (response.json, response.headers["template-syntax"]) == ({"template": "In {{ cwd }}"}, "jinja")
    turn = fresh_service.request("POST", "/conversations/c/turn", {"cwd": str(top_folder / "w"), "message": "Hi."})
    assert turn.json["system"] == f"In {top_folder / 'w'}"
    plain = fresh_service.request("PUT", "/system-prompt", {"template": "In {{ cwd }}"})
    assert plain.headers["template-syntax"] == "brackets"
    reread = fresh_service.request("POST", "/system-prompt/versions/1/restore", None)
    assert (reread.json, reread.headers["template-syntax"]) == ({"template": "In {{ cwd }}"}, "jinja")
    assert fresh_service.get("/system-prompt").headers["template-syntax"] == "jinja"
    syntaxes = [version["syntax"] for version in fresh_service.get("/system-prompt/versions").json["versions"]]
    assert syntaxes == ["jinja", "brackets", "jinja"]
    assert fresh_service.request("PUT", "/system-prompt?syntax=mako", {"template": ""}).status == 400


def test_a_preview_has_template_lines(service):
    template = "One\n[prompt:cwd]\n[if prompt:cwd]Two [prompt:cwd][endif]"
    form = service.request("POST", "/system-prompt/preview", {"template": template}).json
    written = [(form["text"][row["start"] : row["end"]], row["lines"], row["value"]) for row in form["template_lines"]]
    cwd = form["text"].splitlines()[1]
    assert written == [
        ("One\n", [1, 1], False),
        (cwd, [2, 2], True),
        ("\n", [2, 2], False),
        ("Two ", [3, 3], False),
        (cwd, [3, 3], True),
    ]


def test_a_compact_preview_has_the_same_origins(service):
    body = {
        "template": "One\n[prompt:cwd][prompt:cwd]\n[if file:AGENTS.md][file:AGENTS.md][endif] €uro 🙂 [system:date]"
    }
    full = service.request("POST", "/system-prompt/preview", body).json
    compact = service.request("POST", "/system-prompt/preview", {**body, "compact": True}).json
    for passage in compact["passages"]:
        numbers, position = passage.pop("spans"), passage["start"]
        passage["origins"] = []
        for length, source, first, last, *template_lines in zip(*[iter(numbers)] * 6, strict=True):
            start, position = position, position + length
            lines = [first, last] if first else None
            passage["origins"].append({**compact["sources"][source], "lines": lines, "start": start, "end": position})
            produced_by = [
                line for row in full["template_lines"] if start <= row["start"] < position for line in row["lines"]
            ]
            assert template_lines == ([min(produced_by), max(produced_by)] if produced_by else [0, 0])
    for passage in full["passages"]:
        for origin in passage["origins"]:
            del origin["hash"]
    del full["template_lines"], compact["sources"]
    assert compact == full


def test_a_jinja_preview_has_template_lines(service):
    body = {"template": "One\n{{ cwd }}\nTwo", "syntax": "jinja"}
    form = service.request("POST", "/system-prompt/preview", body).json
    values = [row["lines"] for row in form["template_lines"] if row["value"]]
    assert values == [[2, 2]] and "{{" not in form["text"]


def test_a_layout_without_the_template_has_no_template_lines(service):
    form = service.request("POST", "/system-prompt/preview", {"template": "[file:AGENTS.md]", "layout": "opal"}).json
    assert form["template_lines"] == []


def test_layouts_say_whether_they_use_the_stored_template(service):
    layouts = service.get("/layouts").json["layouts"]
    assert [layout["name"] for layout in layouts if layout["stored_template"]] == ["builder"]


@pytest.mark.parametrize("what", ["preview", "construct"])
def test_the_output_of_a_template_is_limited(fresh_service, top_folder, what):
    """Every insertion counts, before it is copied into memory."""
    (top_folder / "w" / "large.md").write_text("x" * 1_000_000)
    template = "[file:large.md]" * 200
    before = fresh_service.memory()
    if what == "preview":
        response = fresh_service.post("/system-prompt/preview", {"template": template})
    else:
        response = fresh_service.conversation("long", "construct", base=template)
    (top_folder / "w" / "large.md").unlink()
    assert (response.status, response.problem) == (422, "template-not-rendered")
    assert "writes more than 4,000,000 bytes" in response.json["detail"]
    assert fresh_service.memory() - before < 50
