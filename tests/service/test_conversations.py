"""Conversations over HTTP: every route, in every layout, with valid and invalid ids."""

import json
from urllib.parse import quote, urlencode

import pytest

from foreword.packs.packs import layout_names
from foreword.store import open_store
from foreword.vocabulary import Edition, replace

TOOLS = [{"name": "read_file", "description": "Reads.", "schema": {"type": "object"}}, {"name": "shell"}]


def editions(server, id):
    return [row["edition"] for row in server.get(f"/conversations/{quote(id, safe='')}/editions").json["editions"]]


# Constructing


def test_construct_always_builds_a_new_edition(service):
    first = service.conversation("construct", "construct").json
    assert (first["edition"], first["reused"]) == (1, False)
    assert service.conversation("construct", "construct").json == {**first, "reused": True}
    service.request("PUT", "/system-prompt", {"template": "planted another"})
    assert service.conversation("construct").json["system"] == first["system"]
    second = service.conversation("construct", "construct").json
    assert (second["edition"], second["reused"], second["system"]) == (2, False, "planted another")
    assert editions(service, "construct") == [1, 2]


@pytest.mark.parametrize("layout", ["foreword", "opal", "pi"])
def test_without_tools_a_conversation_keeps_its_own_and_an_empty_list_removes_them(service, layout):
    id = f"tools {layout}"
    first = service.conversation(id, layout=layout, tools=TOOLS, message="hi").json
    for tools in ({}, {"tools": None}):
        then = service.conversation(id, message="hi", **tools).json
        assert (then["reused"], then["system"], then["tools"]) == (True, first["system"], first["tools"])
        assert then["messages"] == [{"role": "user", "content": "hi"}]
    none = service.conversation(id, message="hi", tools=[]).json
    assert none["tools"] == [] or "`read_file`, `shell`" in none["messages"][0]["content"]
    assert service.conversation(id, message="hi", messages=none["history"]).json["messages"][:-1] == none["history"]


# Turns, in every layout


@pytest.mark.parametrize("layout", layout_names())
def test_a_conversation_works_in_every_layout(service, layout):
    id = f"layout {layout}"
    history = [
        {"role": "user", "content": "planted hello"},
        {"role": "assistant", "content": [{"type": "text", "text": "hi"}]},
    ]
    body = {"layout": layout, "tools": TOOLS, "model": "m", "provider": "p", "now": "2026-03-07T08:55:05-06:00"}
    first = service.conversation(id, messages=history, message="planted go", **body).json
    keys = "conversation edition reused model system sections messages history tools findings"
    assert first.keys() - {"leading", "changes", "root_end"} == set(keys.split())
    assert (first["conversation"], first["edition"], first["reused"]) == (id, 1, False)
    assert first["messages"][:2] == history and first["messages"][-1] == {"role": "user", "content": "planted go"}
    assert [tool["name"] for tool in first["tools"]] == ["read_file", "shell"]
    second = service.conversation(id, tools=TOOLS, model="m", provider="p").json  # continues with its layout
    assert (second["edition"], second["reused"], second["system"]) == (1, True, first["system"])
    stored = service.get(f"/conversations/{quote(id)}").json
    assert (stored["system"], stored["layout"], stored["tools"]) == (first["system"], f"$std/{layout}", first["tools"])
    assert stored["built_for"].items() >= {"model": "m", "provider": "p"}.items()
    drift = service.get(f"/conversations/{quote(id)}/drift")
    assert (drift.status, drift.json["conversation"]) == (200, id)
    reloaded = service.conversation(id, "reload", tools=TOOLS)
    assert (reloaded.status, reloaded.json["messages"]) == (200, [])
    compacted = service.conversation(id, "compact", tools=TOOLS, messages=history).json
    assert compacted["messages"][:2] == history
    if layout == "builder":
        assert compacted["system"].startswith(reloaded.json["system"] + "\n\n") and len(compacted["messages"]) == 2
    else:
        assert compacted["system"] == reloaded.json["system"] and len(compacted["messages"]) == 3
    assert service.get(f"/conversations/{quote(id)}").json["layout"] == f"$std/{layout}"


def test_a_mirror_can_be_used_only_with_the_field_mirror(fresh_service):
    response = fresh_service.conversation("m", layout="codex")
    assert (response.status, response.problem) == (422, "invalid-layout") and "mirror=True" in response.json["detail"]
    assert fresh_service.conversation("m", layout="codex", mirror=True).json["edition"] == 1
    assert fresh_service.conversation("m").status == 422
    assert fresh_service.get("/conversations/m/drift?mirror=true").json["changed"] is False


def test_the_default_layout_is_builder(fresh_service):
    assert fresh_service.conversation("a").json["system"].startswith("You are a helpful coding assistant.")
    assert fresh_service.get("/conversations/a").json["layout"] == "$std/builder"


@pytest.mark.parametrize(
    ("layout", "status", "kind"),
    [
        ("ghost", 404, "not-found"),
        ("$user/ghost", 404, "not-found"),
        ("$ghost/x", 404, "not-found"),
        ("$user/../../../etc/x", 404, "not-found"),
        ("$", 404, "not-found"),
        ("../w/x.toml", 404, "not-found"),
        ("/etc/passwd", 404, "not-found"),
        ("x.toml", 404, "not-found"),
        ("..", 404, "not-found"),
        (".", 404, "not-found"),
        ("$user/\0", 404, "not-found"),
        ("l" * 513, 400, "invalid-body"),
    ],
)
def test_invalid_layout_names_are_refused(service, layout, status, kind):
    response = service.conversation("layout", layout=layout)
    assert (response.status, response.problem) == (status, kind)
    assert service.get("/conversations/layout").status == 404


def test_drift_reports_changes_for_an_agent(fresh_service, top_folder):
    fresh_service.conversation("d", layout="opal", tools=TOOLS)
    assert fresh_service.get("/conversations/d/drift").json["changed"] is False
    response = fresh_service.get("/conversations/d/drift?tool=shell&tool=edit").json
    assert (response["changed"], response["tools"]["added"], response["tools"]["removed"]) == (
        True,
        ["edit"],
        ["read_file"],
    )
    assert fresh_service.get("/conversations/d/drift?cwd=sub").json["details"]
    assert fresh_service.get("/conversations/d/drift?model=other").json["changed"] is False
    notes = top_folder / "w" / "AGENTS.md"
    before = notes.read_text()
    notes.write_text("Something planted else.\n")
    try:
        response = fresh_service.get("/conversations/d/drift").json
    finally:
        notes.write_text(before)
    assert [(detail["section"], detail["changes"]) for detail in response["details"]] == [("context", ["changed"])]
    assert [source.endswith("/w/AGENTS.md") for source in response["details"][0]["sources"]] == [True]
    assert fresh_service.get("/conversations/none/drift").problem == "not-found"


def test_the_list_is_filtered_by_drift(fresh_service, top_folder):
    for id in ("a", "b"):
        fresh_service.conversation(id, layout="opal")
    fresh_service.conversation("c", layout="opal", cwd="sub")

    def listed(query):
        response = fresh_service.get(f"/conversations?{query}").json
        return [row["id"] for row in response["conversations"]], response["total"], response["next"]

    assert listed("drifted=true") == ([], {"count": 0, "exact": True}, None)
    notes = top_folder / "w" / "sub" / "AGENTS.md"
    before = notes.read_text() if notes.exists() else None
    notes.write_text("Something planted else.\n")
    try:
        assert listed("drifted=true") == (["c"], {"count": 1, "exact": True}, None)
        assert listed("drifted=false") == (["a", "b"], {"count": 2, "exact": True}, None)
        assert listed("drifted=true&limit=2") == ([], {"count": 0, "exact": False}, "b")
        assert listed("drifted=true&limit=2&after=b") == (["c"], {"count": 1, "exact": False}, None)
        rows = fresh_service.get("/conversations?compare=true&details=true").json["conversations"]
        assert [(row["id"], row["drift"]["changed"]) for row in rows] == [("a", False), ("b", False), ("c", True)]
        drift = fresh_service.get("/conversations/c/drift").json
        assert rows[2]["drift"] == {
            "sources": [str(notes)],
            **{key: drift[key] for key in ("changed", "tokens_lost", "cost", "basis")},
        }
        count = fresh_service.post("/tokens", {"cwd": ".", "prompt": "conversation:c@1"}).json["tokens"]["count"]
        assert (rows[2]["cwd"], rows[2]["tokens"]) == (str(notes.parent), count)
        assert (rows[2]["usage"], rows[2]["last_call"]) == (None, None)
    finally:
        notes.unlink() if before is None else notes.write_text(before)
    assert fresh_service.get("/conversations?drifted=maybe").problem == "invalid-query"


TOOL = {"name": "a", "description": "Does a.", "schema": {"type": "object"}}
AGENT_FIELDS = [
    ({"layout": "pod", "base": "Be planted."}, "base", "Be other."),
    ({"layout": "foreword", "plan": "Planted first."}, "plan", "Other first."),
    ({"layout": "pod", "scope": {"allow": [{"path": "sub"}]}}, "scope", '{"allow": [{"path": "."}]}'),
    ({"layout": "pod", "scope": {"allow": [{"path": "."}], "deny": [{"path": "sub"}]}}, "scope", '{"allow": [{"path": "."}]}'),
    ({"layout": "opal", "session": "s-1"}, "session", "s-2"),
    ({"layout": "opal", "sub_agent": True, "session": "s-1"}, "sub_agent", "false"),
    ({"layout": "pod", "language": "Latin"}, "language", "Greek"),
    ({"layout": "ion", "skill": "tidy"}, "skill", ""),
    ({"layout": "pi", "docs": [["Guide", "notes.md"]]}, "docs", '[["Guide", "other.md"]]'),
    ({"layout": "pi", "tools": [{"name": "a", "snippet": "does a", "guidelines": ["Be kind."]}]}, "tools", '[{"name": "a"}]'),
    ({"layout": "foreword", "tools": [TOOL]}, "tools", '[{"name": "a", "description": "Does b."}]'),
    ({"layout": "foreword", "model": "m", "provider": "p", "tools": [TOOL]}, "tool", "b"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "name", "other"), AGENT_FIELDS)
def test_drift_defaults_to_the_agent_of_the_edition(service, body, name, other):
    id, now = f"drift {name} {len(str(body))}", "2026-03-07T08:55:05Z"
    service.conversation(id, now=now, **body)

    def drift(**query):
        response = service.get(f"/conversations/{quote(id, safe='')}/drift?{urlencode({'now': now, **query})}")
        assert response.status == 200, response.body
        return response.json["changed"]

    same = {key: value if isinstance(value, str) else json.dumps(value) for key, value in body.items()}
    assert (drift(), drift(cwd=""), drift(**same), drift(**{name: other})) == (False, False, False, True)


def test_lone_surrogates_from_an_old_store_can_be_read(start, tmp_path):
    """Older versions accepted them on the command line."""
    store = open_store(str(tmp_path / "old.db"))
    tools = json.dumps([{"name": "t", "description": "t\udcff", "schema": {}}], ensure_ascii=False)
    built_for = json.dumps({"cwd": "", "model": "m\udcff"}, ensure_ascii=False)
    edition = Edition(1, "planted", tools, layout="$std/builder", built_for=built_for, created="2026-03-07T08:55:05Z")
    store.publish("old", replace(edition, account='{"passages": [], "candidates": [], "findings": []}'), 0)
    server = start(store=str(tmp_path / "old.db"))
    response = server.get("/conversations/old").json
    assert (response["tools"][0]["description"], response["built_for"]["model"]) == ("t\udcff", "m\udcff")
    paths = ("drift", "editions", "editions/1")
    assert [server.get(f"/conversations/old/{path}").status for path in paths] == [200] * len(paths)
    assert server.get("/system-prompt/usage").status == 200
    server.close()
    store.close()


def test_an_edition_with_unknown_agent_fields_is_compared(start, tmp_path):
    store = open_store(str(tmp_path / "other.db"))
    built_for = json.dumps({"cwd": "", "model": "m", "snippets": "0123456789abcdef", "template": 1})
    edition = Edition(1, "planted", "[]", layout="$std/builder", built_for=built_for, created="2026-03-07T08:55:05Z")
    store.publish("other", replace(edition, account='{"passages": [], "candidates": [], "findings": []}'), 0)
    store.close()
    server = start(store=str(tmp_path / "other.db"))
    assert server.get("/conversations/other/drift").status == 200
    server.close()


def test_editions_with_different_text_have_different_etags(start, tmp_path):
    """After restoring a backup, an edition may have the same number and time as an earlier one."""
    tags = set()
    for index, tools in enumerate(("[]", '[{"name":"a","description":"","schema":{}}]')):
        store = open_store(str(tmp_path / f"{index}.db"))
        store.publish("chat", Edition(1, "planted", tools, layout="$std/builder", created="2026-03-07T08:55:05Z"), 0)
        store.close()
        server = start(store=str(tmp_path / f"{index}.db"))
        tags.add(server.get("/conversations/chat").headers["etag"])
        server.close()
    assert len(tags) == 2


def test_drift_uses_the_editions_definition_of_a_named_tool(service):
    service.conversation("named", layout="foreword", tools=[TOOL])
    assert service.get("/conversations/named/drift?tool=a").json["changed"] is False


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("tools=a", "tools must be valid JSON"),
        ("tools=%7B%7D", "tools: expected 'array', got 'object'"),
        ("tools=%5B%7B%7D%5D", "tools[0]: object missing required field 'name'"),
        ("scope=%5B%5D", "scope: expected 'object', got 'array'"),
        ("sub_agent=1", "sub_agent must be true or false, not '1'"),
        ("now=soon", "now: invalid RFC3339 encoded datetime"),
        ("now=0001-01-01T00:00:00%2B23:00", "now must be between the years 1 and 9999 in UTC"),
        ("base=a&base=b", "'base' is repeated 2 times; pass it once"),
    ],
)
def test_invalid_drift_queries_are_refused(service, query, expected):
    service.conversation("queried")
    response = service.get(f"/conversations/queried/drift?{query}")
    assert (response.problem, response.json["detail"]) == ("invalid-query", expected)


# Skills


@pytest.mark.parametrize("layout", ["foreword", "ion", "opal", "pi"])
def test_a_skill_is_sent_once(service, layout):
    id = f"skills-{layout}"
    first = service.conversation(id, "skills/tidy", layout=layout).json
    assert first["role"] == "user" and "Sweep the planted floor." in first["content"]
    assert service.conversation(id, "skills/tidy").json == {
        "role": "user",
        "content": "The skill 'tidy' is already active.",
    }


@pytest.mark.parametrize("name", ["ghost", "..%2F..%2Fetc", "%00", "x" * 2000, "t%C3%AFdy", "tidy%2F"])
def test_unknown_skills_are_not_found(service, name):
    assert service.conversation("skill", f"skills/{name}", layout="opal").problem == "not-found"


# Reading


def test_old_editions_and_prompts_remain_readable(fresh_service):
    one = fresh_service.conversation("e").json
    fresh_service.request("PUT", "/system-prompt", {"template": "planted two"})
    fresh_service.conversation("e", "compact")
    rows = fresh_service.get("/conversations/e/editions").json["editions"]
    assert [row["edition"] for row in rows] == [1, 2]
    assert [row["built_for"]["template"] for row in rows] == [0, 1]
    assert fresh_service.get("/conversations/e/editions/1").json["system"] == one["system"]
    newest = fresh_service.get("/conversations/e")
    assert newest.json == fresh_service.get("/conversations/e/editions/2").json
    assert newest.json["system"] == "planted two"
    prompt = fresh_service.get(f"/prompts/{newest.json['id']}").json
    assert (prompt["id"], prompt["text"]) == (newest.json["id"], "planted two")
    assert prompt["passages"] == newest.json["passages"]
    tag = newest.headers["etag"]
    same = fresh_service.request("GET", "/conversations/e", headers={"If-None-Match": tag})
    assert (same.status, same.body, same.headers["etag"]) == (304, b"", tag)
    assert fresh_service.get("/conversations/e/editions/1").headers["etag"] != tag
    assert fresh_service.request("GET", "/conversations/e", headers={"If-None-Match": '"x"'}).status == 200


@pytest.mark.parametrize(
    ("path", "status", "kind"),
    [
        ("/conversations/none", 404, "not-found"),
        ("/conversations/none/editions", 404, "not-found"),
        ("/conversations/none/editions/1", 404, "not-found"),
        ("/conversations/none/editions/0", 404, "not-found"),
        ("/conversations/none/editions/x", 400, "invalid-request"),
        ("/conversations/none/editions/-1", 400, "invalid-request"),
        ("/prompts/none", 404, "not-found"),
        ("/prompts/sha256:" + "0" * 64, 404, "not-found"),
        ("/prompts/sha256:" + "Z" * 64, 404, "not-found"),
        ("/prompts/..%2F..%2Fetc%2Fpasswd", 404, "not-found"),
        ("/prompts/%00", 404, "not-found"),
        ("/conversations/a/b", 404, "unknown-path"),
        ("/conversations/a/turn/", 404, "unknown-path"),
        ("/conversations/a/turn", 405, "method-not-allowed"),
        ("/nothing", 404, "unknown-path"),
        ("//", 404, "unknown-path"),
        ("/static/..%2F..%2Fserver.py", 404, "not-found"),
        ("/static/%2Fetc%2Fpasswd", 404, "not-found"),
        ("/static/../server.py", 404, "unknown-path"),
        ("/static/", 404, "not-found"),
        ("/static/%00.js", 404, "not-found"),
    ],
)
def test_missing_resources_are_not_found(service, path, status, kind):
    response = service.get(path)
    assert (response.status, response.problem) == (status, kind)


def test_searching_and_paging_the_list(fresh_service):
    for id in ("b", "a/1", "a%2", "ä", "A"):
        fresh_service.conversation(id)

    def ids(query=""):
        return [row["id"] for row in fresh_service.get(f"/conversations{query}").json["conversations"]]

    assert ids() == sorted(["b", "a/1", "a%2", "ä", "A"])
    assert ids("?search=a") == ["a%2", "a/1"]
    assert ids("?search=a%25") == ["a%2"]
    assert ids("?search=_") == ids("?version=3") == []
    assert ids("?version=0") == ids()
    assert ids(f"?limit=2&after={quote(ids()[0])}") == ids()[1:3]
    assert ids("?after=%F4%8F%BF%BF") == []
    for path in ("/conversations", "/usage"):
        assert fresh_service.get(f"{path}?sort=newest&after=x").problem == "not-found"
    assert (ids("?version=0"), ids("?version=1")) == (ids(), [])
    for query in ("?limit=0", "?limit=1001", "?limit=-1", "?limit=1.0", "?limit=1e2", "?limit=%D9%A3", "?limit=true", "?offset=1", "?limit=", "?ghost=1", "?version=x"):  # fmt: skip
        assert fresh_service.get(f"/conversations{query}").problem == "invalid-query", query


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("sort=new", "sort: invalid enum value 'new'; expected one of 'id', 'newest'"),
        ("until=0001-01-01T00:00:00%2B01:00", "until must be between the years 1 and 9999 in UTC"),
        ("since=yesterday", "since: invalid RFC3339 encoded datetime"),
        ("version=x", "version must be a number such as 20, not 'x'"),
    ],
)
def test_an_invalid_filter_is_named_with_what_would_be_valid(service, query, detail):
    response = service.get(f"/conversations?{query}")
    assert (response.problem, response.json["detail"]) == ("invalid-query", detail)


# Ids


@pytest.mark.parametrize(
    "id",
    ["a/b", "../../etc/passwd", "..", ".", "%", "%2F", "a b", "ünï 🐍", "a?b#c&d=e", "{}", "{id}", "turn", "'; DROP TABLE x; --", "a\\b", "x" * 512, "🐍" * 512, "\u202e", "~", "\N{NO-BREAK SPACE}"],
)  # fmt: skip
def test_any_string_is_a_valid_id(service, id):
    escaped = quote(id, safe="").replace(".", "%2E")
    response = service.post(f"/conversations/{escaped}/construct", {"cwd": ""})
    assert (response.status, response.json["conversation"]) == (200, id)
    assert service.get(f"/conversations/{escaped}").json["conversation"] == id
    assert id in [row["id"] for row in service.get(f"/conversations?search={quote(id)}").json["conversations"]]


@pytest.mark.parametrize(
    "id", ["", "%00", "a%0Ab", "%1B%5B31m", "%7F", "%C2%85", "x" * 513, "%ff", "%C3", "%ED%A0%80", "%C0%AF"]
)
@pytest.mark.parametrize(
    ("method", "tail"),
    [("GET", ""), ("GET", "/editions"), ("GET", "/editions/1"), ("GET", "/drift"), ("POST", "/turn"), ("POST", "/construct"), ("POST", "/compact"), ("POST", "/reload"), ("POST", "/skills/tidy")],
)  # fmt: skip
def test_invalid_ids_are_refused(service, method, tail, id):
    response = service.request(method, f"/conversations/{id}{tail}", {"cwd": ""} if method == "POST" else None)
    assert (response.status, response.problem) == (400, "invalid-request")


# Bodies


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, "missing required field 'cwd'"),
        ({"cwd": 1}, "cwd: expected 'str', got 'int'"),
        ({"cwd": None}, "cwd: expected 'str', got 'null'"),
        ({"cwd": "", "settings": {"": 1}}, "settings: expected 'str' of length >= 1 for every key"),
        ({"cwd": "", "mesage": "planted"}, "did you mean 'message'?"),
        ({"cwd": "", "message": {"planted": 1}}, "message: expected 'str'"),
        ({"cwd": "", "message": "x" * 1_000_001}, "message"),
        ({"cwd": "", "messages": {}}, "messages: expected 'array'"),
        ({"cwd": "", "messages": ["planted"]}, "messages[0]"),
        ({"cwd": "", "tools": ["read"]}, "tools[0]: expected 'object', got 'str'"),
        ({"cwd": "", "tools": [{"name": ""}]}, "tools[0].name"),
        ({"cwd": "", "tools": [{"name": "a", "schema": []}]}, "tools[0].schema"),
        ({"cwd": "", "sub_agent": "yes"}, "sub_agent: expected 'bool | null', got 'str'"),
        ({"cwd": "", "sub_agent": 1}, "sub_agent: expected 'bool | null', got 'int'"),
        ({"cwd": "", "now": "planted"}, "now"),
        ({"cwd": "", "now": "2026-03-07T08:55:05"}, "now"),
        ({"cwd": "", "now": 5}, "now"),
        ({"cwd": "", "scope": {"allow": [{"path": ""}]}}, "scope.allow[0].path"),
        ({"cwd": "", "scope": {"allow": [{"path": ".", "permission": "execute"}]}}, "scope.allow[0].permission"),
        ({"cwd": "", "docs": [["a"]]}, "docs[0]"),
        ({"cwd": "", "docs": {"a": "b"}}, "docs"),
    ],
)
def test_invalid_bodies_are_refused(service, body, expected):
    response = service.post("/conversations/form/turn", body)
    assert (response.status, response.problem) == (400, "invalid-body")
    assert expected in response.json["detail"]
    assert "planted" not in response.json["detail"]
    assert service.get("/conversations/form").status == 404


@pytest.mark.parametrize("layout", layout_names())
@pytest.mark.parametrize(
    "now", ["0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999-12:00", "2026-02-28T24:00:00Z", "2016-12-31T23:59:60Z", "1969-12-31T00:00:00+00:00"]
)  # fmt: skip
def test_any_time_is_accepted_or_refused(service, layout, now):
    response = service.post("/system-prompt/preview", {"layout": layout, "now": now, "template": "[system:time]"})
    assert response.status in (200, 400)
    assert service.conversation(f"time {layout} {now}", layout=layout, now=now).status == response.status


NESTED = {"tools": b'{"cwd": "", "layout": "%s", "tools": [{"name": "a", "schema": {"a": %s}}]}', "messages": b'{"cwd": "", "layout": "%s", "messages": [{"role": "user", "content": [%s]}]}'}  # fmt: skip


@pytest.mark.parametrize("layout", ["builder", "opal"])
@pytest.mark.parametrize("what", NESTED)
@pytest.mark.parametrize(
    ("depth", "status"), [(90, 200), (110, 400), *((depth, 400) for depth in range(905, 1005, 9)), (100_000, 400)]
)
def test_the_nesting_of_json_is_limited(service, depth, status, what, layout):
    """The decoder accepts deeper nesting than the encoder."""
    body = NESTED[what] % (layout.encode(), b'{"a":' * depth + b"{}" + b"}" * depth)
    id = f"deep-{layout}-{what}-{depth}"
    response = service.request("POST", f"/conversations/{id}/turn", body)
    assert response.status == status
    if status == 200:
        assert [service.get(f"/conversations/{id}{tail}").status for tail in ("", "/drift", "/editions/1")] == [200] * 3
    else:
        assert "nested" in response.json["detail"]


@pytest.mark.parametrize(
    "body",
    [
        {"tools": [{"name": "a"}, {"name": "a", "description": "twice"}]},
        {
            "tools": [
                {
                    "name": "a.b:c-d",
                    "description": "\0",
                    "snippet": "\r\n",
                    "guidelines": ["", "\0"],
                    "schema": {"\0": None},
                }
            ]
        },
        {"base": "\0", "plan": "\0", "language": "\n", "model": "\0", "provider": "\0", "session": "\0"},
        {"message": "\0", "messages": [{"role": "user", "content": "\0"}]},
        {"messages": [{"role": "assistant", "content": [{"a": [1.5, None]}]}]},
        {"docs": [["a", "/etc/passwd"], ["a", "../.."]]},
        {"scope": {}},
        {"scope": {"allow": [{"path": "."}], "deny": [{"path": "ghost", "permission": "write", "recursive": False}]}},
        {"sub_agent": True, "language": "Klingon"},
        {"base": "[file:/etc/passwd]{% include '/etc/passwd' %}@/etc/passwd"},
    ],
)
@pytest.mark.parametrize("layout", layout_names())
def test_unusual_text_never_causes_an_internal_error(service, layout, body, request):
    """Each is a turn or a template problem, never an internal error, and nothing outside the served folders is read."""
    id = request.node.name[:200].encode("ascii", "replace").decode()
    response = service.conversation(id, layout=layout, **body)
    assert response.status in (200, 422)
    assert "root:" not in response.body.decode()
    assert service.conversation(id, "compact", layout=layout, **body).status == response.status


def test_a_scope_limits_what_file_reads(fresh_service):
    fresh_service.request("PUT", "/system-prompt", {"template": "[file:notes.md]|[file:sub/inner.md]"})
    assert fresh_service.conversation("open").json["system"] == "Notes.|Inner."
    assert fresh_service.conversation("sub", scope={"allow": [{"path": "sub"}]}).json["system"] == "|Inner."
    closed = {"allow": [{"path": "."}], "deny": [{"path": "sub"}]}
    assert fresh_service.conversation("denied", scope=closed).json["system"] == "Notes.|"
    assert fresh_service.conversation("nothing", scope={}).json["system"] == "|"


def test_stored_content_is_complete(fresh_service):
    for number in range(5):
        fresh_service.conversation(f"whole-{number}", layout="foreword", tools=TOOLS)
    store = open_store(f"sqlite:///{fresh_service.folder}/store.db")
    try:
        assert store.verify() == []
        assert store.stats()["conversations"] == 5
    finally:
        store.close()


# Messages of the prompt

ROLES = """
extends = "$std/foreword"
sections = ["identity", "instructions", "environment"]

[section.instructions]
role = "user"

[section.environment]
text = "Only here."  # a text of its own, because equal texts of other tests share one stored prompt
"""


def test_a_turn_starts_with_the_messages_of_the_prompt(top_folder, service):
    layouts = top_folder / "planted-home/.config/foreword/prompts"
    layouts.mkdir(parents=True, exist_ok=True)
    (layouts / "roles.toml").write_text(ROLES)
    turn = service.conversation("roles", layout="$user/roles", message="hi").json
    assert turn["system"].startswith("<identity>") and turn["system"].endswith("</identity>")
    assert [message["role"] for message in turn["messages"]] == ["user", "system", "user"]
    assert "planted-prompt" in turn["messages"][0]["content"]
    assert (turn["leading"], turn["history"]) == (2, [{"role": "user", "content": "hi"}])
    again = service.conversation("roles", messages=turn["messages"]).json
    assert (again["messages"], again["history"]) == (turn["messages"], turn["history"])
    edition = service.get("/conversations/roles").json
    assert [passage["role"] for passage in edition["passages"]] == ["system", "user", "system"]
    assert edition["system"] == "\n\n".join([turn["system"], *(message["content"] for message in turn["messages"][:2])])
    prompt = service.get(f"/prompts/{edition['id']}").json
    assert [passage.get("message") for passage in prompt["passages"]] == [None, 1, 2]


def test_shipped_tools_run_over_http(service):
    tools = service.get("/tools").json["tools"]
    assert [tool["name"] for tool in tools] == ["use_skill", "read_plan", "write_plan", "use_tool"]
    assert service.conversation("tools", "tools/use_skill", layout="opal", arguments={"name": "tidy"}).json == {
        "content": service.conversation("tools-2", "skills/tidy", layout="opal").json["content"],
        "is_error": False,
    }
    saved = service.conversation("tools", "tools/write_plan", arguments={"plan": "1. Look."}).json
    assert saved == {"content": "The plan has been saved.", "is_error": False}
    assert service.conversation("tools", "tools/read_plan").json == {"content": "1. Look.", "is_error": False}
    assert service.conversation("tools", "tools/use_skill", arguments={"skill": "tidy"}).json == {
        "content": "use_skill: unknown key 'skill'; known: name",
        "is_error": True,
    }
    assert service.conversation("tools", "tools/read_file").problem == "not-found"


def test_a_late_tool_keeps_the_prefix_over_http(service):
    use_tool = service.get("/tools").json["tools"][-1]
    issue = {"name": "open_issue", "schema": {"type": "object", "properties": {"title": {"type": "string"}}}}
    options = {"form": "openai-chat", "model": "gpt-5", "layout": "foreword"}
    first = service.conversation("late", message="hi", tools=[use_tool], **options).json
    history = [*first["history"], {"role": "assistant", "content": "Hello."}]
    later = service.conversation("late", message="more", messages=history, tools=[use_tool, issue], **options).json
    assert later["request"]["tools"] == first["request"]["tools"]
    count = len(first["request"]["messages"])
    assert later["request"]["messages"][:count] == first["request"]["messages"]
    assert '{"name":"open_issue"' in later["request"]["messages"][count + 1]["content"]
    call = {"name": "open_issue", "arguments": {"title": "x"}}
    answer = service.conversation("late", "tools/use_tool", arguments=call).json
    assert answer == {"content": "", "is_error": False, "call": call}
    answer = service.conversation(
        "late", "tools/use_tool", arguments={"name": "open_issue", "arguments": {"title": 1}}
    ).json
    assert answer == {"content": "open_issue: title must be a string, not 1", "is_error": True}


@pytest.mark.parametrize(
    ("base", "problem"), [("{{ unclosed", "invalid-template"), ("{{ ghost }}", "template-not-rendered")]
)
def test_parsing_and_rendering_are_different_problems(fresh_service, base, problem):
    response = fresh_service.conversation("broken", layout="pod", base=base)
    assert (response.status, response.problem) == (422, problem)


def test_drift_compares_with_the_residents_of_the_edition(service):
    residents = [{"kind": "workflow", "slug": "deploy", "description": "How we deploy"}]
    service.post("/conversations/residents/turn", {"cwd": "", "layout": "pod", "residents": residents, "message": "hi"})
    assert service.get("/conversations/residents/drift").json["changed"] is False
