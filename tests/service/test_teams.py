"""Two teams on one store: on every route, requests for anything that a token may not see get a 404."""

import asyncio
import io
import json
import re
from urllib.parse import quote

import pytest

from foreword.errors import CallError, MissingError
from foreword.service.application import Application
from foreword.service.guard import MAX_HEADER_BYTES, RequestGuard
from foreword.service.log import Log
from foreword.service.metrics import Metrics
from foreword.service.rates import RateLimit, network_of
from foreword.service.responses import Problem
from foreword.service.routes import ROUTES
from foreword.service.service import Service
from foreword.service.tokens import UNLIMITED, Caller, Tokens, hash_token, new_token, read_tokens
from foreword.store.rows import TemplateVersion
from foreword.vocabulary import digest, replace

TOKENS = """
[[token]]
name = "Alpha"
hash = "{a}"
rights = ["read", "turn", "template", "admin"]
team = "a"
roots = ["a"]

[[token]]
name = "Beta"
hash = "{b}"
rights = ["read", "turn", "template", "admin"]
team = "b"
roots = ["b"]

[[token]]
name = "page"
hash = "{r}"
rights = ["read"]
"""


class Answer:
    def __init__(self, messages):
        self.status = messages[0]["status"]
        self.body = b"".join(message.get("body", b"") for message in messages).decode()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def without_names(self):
        """The problem without the id of the request and what it asked for."""
        return self.status, re.sub("'[^']*'|urn:foreword:request:[^\"]*", "", self.body)


class TwoTeams:
    """A service in this process with two teams, and a token that may only read. All of team A's text contains `planted`."""

    def __init__(self, folder):
        for team in "ab":
            (folder / team).mkdir()
        (folder / "a" / "AGENTS.md").write_text("planted instructions")
        (folder / "b" / "AGENTS.md").write_text("other instructions")
        self.tokens_file = folder / "tokens.toml"
        hashes = {name: hash_token(f"token-{name}".encode()).decode() for name in "abr"}
        self.tokens_file.write_text(TOKENS.format(**hashes))
        self.folder, self.log = folder, io.StringIO()
        self.tokens = Tokens("everything", str(self.tokens_file))
        self.service = Service(f"{folder}/store.db", [str(folder)])
        guard = RequestGuard(self.tokens, ["localhost"])
        self.app = Application(self.service, guard, Log(stream=self.log), Metrics(ROUTES))

    def send(self, token, method, path, body=None):
        async def receive():
            return {"type": "http.request", "body": b"" if body is None else json.dumps(body).encode()}

        messages = []

        async def send(message):
            messages.append(message)

        route, _, query = path.partition("?")
        scope = {"type": "http", "method": method, "raw_path": route.encode(), "query_string": query.encode()}
        headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {token}".encode())]
        asyncio.run(self.app({**scope, "headers": headers}, receive, send))
        return Answer(messages)


@pytest.fixture(scope="module")
def teams(tmp_path_factory):
    teams = TwoTeams(tmp_path_factory.mktemp("teams"))
    for word in ("planted one", "planted two"):
        assert teams.send("token-a", "PUT", "/system-prompt", {"template": word}).status == 200
    assert teams.send("token-a", "PUT", "/templates/a-planted", {"template": "planted named"}).status == 200
    body = {"cwd": "", "layout": "builder", "template_name": "a-planted"}
    assert teams.send("token-a", "POST", "/conversations/a-planted/turn", body).status == 200
    body = {"cwd": "", "layout": "foreword"}
    for id in ("a-planted2", "shared"):
        assert "planted instructions" in teams.send("token-a", "POST", f"/conversations/{id}/turn", body).body
    usage = {"usage": {"input_tokens": 100, "output_tokens": 10}}
    assert teams.send("token-a", "POST", "/conversations/shared/usage", usage).status == 200
    assert teams.send("token-a", "PUT", "/templates/shared", {"template": "planted too"}).status == 200
    yield teams
    teams.service.conversations.close()


def prompt_id(teams):
    return teams.send("token-a", "GET", "/conversations").json["conversations"][0]["prompt"]


def path_of(route, teams, id="a-planted", name="a-planted"):
    is_template = route.path.startswith("/templates")
    values = {
        "id": prompt_id(teams) if route.path.startswith("/prompts") else id,
        "name": name if is_template else "x",
        "number": "1",
        "version": "1",
        "label": "production",
    }
    return re.sub(r"\{(\w+)\}", lambda match: quote(values[match[1]], safe=""), route.path)


# Requests that name something of team A other than in their path.
QUESTIONS = {
    "/diff": {"old": "conversation:shared@1", "new": "conversation:a-planted2@1"},
    "/system-prompt/preview": {"template_name": "a-planted", "session": "shared"},
}


def all_of(store):
    """Return everything that a team has in a store."""
    rows = store.conversations().rows
    names = [row.name for row in store.template_names()]
    return (
        rows,
        {row.id: (store.editions(row.id), store.usages(row.id)) for row in rows},
        {name: (store.templates(name), store.labels(name), store.label_moves(name)) for name in names},
    )


def body_of(route):
    if route.body is None:
        return None
    if "/labels/" in route.path:
        return {"version": 1}
    if route.path.endswith("/usage"):
        return {"usage": {"input_tokens": 3, "output_tokens": 1}}
    if route.method == "PUT" or route.path.endswith("/versions"):
        return {"template": "of team B"}
    return QUESTIONS.get(route.path, {"cwd": "", "layout": "foreword"})


@pytest.mark.parametrize("has_own", [False, True], ids=["without its own", "with its own"])
@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.lane != "stream"], ids=lambda route: f"{route.method} {route.path}"
)
def test_a_token_cannot_see_or_change_another_team(teams, route, has_own):
    """Team A has a conversation and a template with the id `shared`, and team B has none, or others with the same id."""
    before = all_of(teams.service.conversations.store.for_team("a"))
    teams.send("token-b", "DELETE", "/conversations/shared")
    teams.send("token-b", "DELETE", "/templates/shared")
    if has_own:
        assert teams.send("token-b", "PUT", "/templates/shared", {"template": "of team B"}).status == 200
        turn = teams.send("token-b", "POST", "/conversations/shared/turn", {"cwd": "", "layout": "foreword"})
        assert "other instructions" in turn.body
    answer = teams.send("token-b", route.method, path_of(route, teams, "shared", "shared"), body_of(route))
    assert "planted" not in answer.without_names[1], answer.body[:500]
    assert answer.status != 500
    is_simple = route.method in ("GET", "DELETE") and "{version}" not in route.path and "{label}" not in route.path
    if route.path.startswith(("/conversations/", "/templates/")) and is_simple:
        assert answer.status == (200 if has_own else 404)
    if route.path in ("/prompts/{id}", "/metrics"):
        assert answer.status == 404
    assert all_of(teams.service.conversations.store.for_team("a")) == before
    if not route.is_open:
        named = teams.send("token-b", route.method, path_of(route, teams) + "?team=a", body_of(route))
        assert named.status == (404 if route.right in ("read", "turn", "template", "admin") else 403)


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.lane != "stream"], ids=lambda route: f"{route.method} {route.path}"
)
def test_a_token_needs_the_right_that_a_route_asks_for(teams, route):
    answer = teams.send("token-r", route.method, path_of(route, teams), None if route.body is None else {})
    assert (answer.status == 403) == (route.right not in ("read", "none")), answer.body
    changes = route.method in ("PUT", "DELETE") or (route.path.startswith("/conversations/") and route.method == "POST")
    is_private = route.path.startswith("/sessions")
    needs_more = is_private or changes or (route.method == "POST" and "/versions" in route.path)
    assert (route.right not in ("read", "none")) == needs_more


def test_a_client_can_ask_what_its_token_may_do(teams):
    rights = ["read", "turn", "template", "admin"]
    alpha = {"name": "Alpha", "rights": rights, "team": "a", "default_template": "default", "protected_labels": []}
    assert teams.send("token-a", "GET", "/token").json == alpha
    page = {"name": "page", "rights": ["read"], "team": "", "default_template": "default", "protected_labels": []}
    assert teams.send("token-r", "GET", "/token").json == page
    everything = teams.send("everything", "GET", "/token").json
    assert (everything["rights"], everything["team"]) == (rights, "*")


def test_lists_searches_and_counts_include_only_the_team(teams):
    def listed(token, query=""):
        answer = teams.send(token, "GET", f"/conversations?sort=newest{query}").json
        return sorted(row["id"] for row in answer["conversations"]), answer["total"]["count"]

    teams.send("token-b", "DELETE", "/conversations/shared")
    everything = (["a-planted", "a-planted2", "shared"], 3)
    assert (listed("token-a"), listed("everything"), listed("everything", "&team=a")) == (everything,) * 3
    assert listed("token-b") == listed("token-r") == listed("everything", "&team=b") == ([], 0)
    assert listed("token-b", "&search=a-") == ([], 0)
    assert listed("token-a", "&search=a-planted2") == (["a-planted2"], 1)
    assert listed("token-a", "&search=b") == ([], 0)
    names = [row["name"] for row in teams.send("token-a", "GET", "/templates").json["templates"]]
    assert names == ["a-planted", "default", "shared"]
    teams.send("token-b", "DELETE", "/templates/shared")
    listed_of_b = teams.send("token-b", "GET", "/templates").json["templates"]
    assert [row["name"] for row in listed_of_b if row["name"] != "default"] == []


def test_each_team_has_its_own_default_template(teams):
    teams.send("token-b", "PUT", "/system-prompt", {"template": "of team B"})
    assert teams.send("token-a", "GET", "/system-prompt").json == {"template": "planted two"}
    assert teams.send("token-b", "GET", "/system-prompt").json == {"template": "of team B"}
    turn = teams.send("token-b", "POST", "/conversations/b-chat/turn", {"cwd": "", "layout": "builder"})
    assert turn.json["system"] == "of team B"
    versions = teams.send("token-a", "GET", "/system-prompt/versions").json["versions"]
    assert [(row["version"], row["author"]) for row in versions] == [(2, "Alpha"), (1, "Alpha")]
    uses = teams.send("token-b", "GET", "/system-prompt/usage").json["versions"]
    assert [row["conversations"] for row in uses] == [1]
    teams.send("token-b", "DELETE", "/conversations/b-chat")


def test_everyone_can_rebuild_a_conversation_from_the_layouts_own_template(tmp_path):
    teams = TwoTeams(tmp_path)
    body = {"cwd": "", "layout": "builder"}
    assert teams.send("token-b", "POST", "/conversations/b-own/turn", body).json["edition"] == 1
    for token in ("token-b", "everything"):
        drift = teams.send(token, "GET", "/conversations/b-own/drift")
        assert (drift.status, drift.json["changed"]) == (200, False)
    teams.service.conversations.close()


def test_a_query_is_refused_where_the_body_has_the_fields(teams):
    answer = teams.send("token-a", "PUT", "/templates/a-planted/labels/staging?note=why", {"version": 1})
    assert (answer.status, answer.json["detail"]) == (
        400,
        "this route does not accept a query; send the fields in the body",
    )


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/conversations/b-x/turn", {"cwd": "", "layout": "builder", "template_name": "a-planted"}, 404),
        ("POST", "/conversations/b-x/turn", {"cwd": "../a", "layout": "foreword"}, 403),
        ("POST", "/show", {"cwd": "../a"}, 403),
        ("GET", "/files?cwd=../a", None, 403),
        ("POST", "/show", {"cwd": "", "layout": "builder", "template_name": "a-planted"}, 404),
        ("POST", "/tokens", {"prompt": "conversation:a-planted"}, 404),
    ],
)
def test_a_team_cannot_use_what_belongs_to_another(teams, method, path, body, status):
    assert teams.send("token-b", method, path, body).status == status


def test_the_name_of_the_token_is_in_the_log(teams):
    teams.send("token-a", "GET", "/layouts")
    line = teams.log.getvalue().splitlines()[-1]
    assert line.endswith("  token Alpha") and "token-a" not in line
    teams.send("wrong", "GET", "/layouts")
    assert "invalid-token" in teams.log.getvalue().splitlines()[-1]


def test_a_version_is_saved_before_it_is_live(teams):
    path = "/templates/b-support"
    send = lambda method, rest, body=None: teams.send("token-b", method, path + rest, body)  # noqa: E731
    assert send("POST", "/versions?label=staging&note=first", {"template": "one"}).status == 200
    assert (send("GET", "").status, send("GET", "?label=staging").json) == (404, {"template": "one"})
    moved = send("PUT", "/labels/production", {"version": 1, "note": "live", "after": 0})
    assert (moved.json["previous"], moved.json["version"], moved.json["author"]) == (None, 1, "Beta")
    assert send("GET", "").json == {"template": "one"}
    send("POST", "/versions", {"template": "two"})
    assert (send("GET", "").json, send("GET", "/versions/2").json) == ({"template": "one"}, {"template": "two"})
    assert send("PUT", "/labels/production", {"version": 2, "after": 7}).status == 412
    assert send("PUT", "/labels/production", {"version": 9}).status == 404
    assert send("PUT", "/labels/production", {"version": 2}).json["previous"] == 1
    everything = send("GET", "/versions").json
    assert everything["labels"] == {"production": 2, "staging": 1}
    assert [(move["label"], move["previous"], move["version"], move["note"]) for move in everything["moves"]] == [
        ("production", 1, 2, ""),
        ("production", None, 1, "live"),
        ("staging", None, 1, "first"),
    ]
    turns = {}
    for reference in ("b-support", "b-support@staging", "b-support@1"):
        body = {"cwd": "", "layout": "builder", "template_name": reference}
        turns[reference] = teams.send("token-b", "POST", f"/conversations/b-{reference}/turn", body).json["system"]
    assert turns == {"b-support": "two", "b-support@staging": "one", "b-support@1": "one"}
    for reference in turns:
        teams.send("token-b", "DELETE", f"/conversations/b-{reference}")


def test_a_conversation_keeps_its_template(teams):
    teams.send("token-b", "PUT", "/templates/b-kept", {"template": "first"})
    body = {"cwd": "", "layout": "builder"}
    teams.send("token-b", "POST", "/conversations/b-kept/turn", {**body, "template_name": "b-kept"})
    teams.send("token-b", "PUT", "/templates/b-kept", {"template": "second"})
    assert teams.send("token-b", "POST", "/conversations/b-kept/construct", body).json["system"] == "second"
    row = teams.send("token-b", "GET", "/conversations?template=b-kept").json["conversations"][0]
    assert (row["id"], row["template"], row["version"]) == ("b-kept", "b-kept", 2)
    teams.send("token-b", "DELETE", "/conversations/b-kept")


def test_a_saved_version_is_returned_with_its_number_and_note(teams):
    saved = teams.send("token-b", "POST", "/templates/b-noted/versions?note=shorter", {"template": "one"}).json
    assert (saved["version"], saved["note"], saved["author"], saved["template"]) == (1, "shorter", "Beta", "one")
    assert teams.send("token-b", "PUT", "/templates/b-noted", {"template": "two"}).json["version"] == 2


def test_a_template_is_deleted_and_its_conversations_keep_their_prompts(teams):
    path, body = "/templates/b-gone", {"cwd": "", "layout": "builder"}
    for text in ("one", "two"):
        teams.send("token-b", "PUT", path, {"template": text})
    teams.send("token-b", "POST", "/conversations/b-left/turn", {**body, "template_name": "b-gone"})
    assert teams.send("token-a", "DELETE", path).status == 404
    assert teams.send("token-b", "DELETE", path).json == {"deleted": "b-gone", "versions": 2}
    assert "audit  DELETE /templates/b-gone" in teams.log.getvalue()
    assert [teams.send("token-b", "GET", path + rest).status for rest in ("", "/versions", "/versions/1")] == [404] * 3
    assert teams.send("token-b", "POST", "/conversations/b-left/turn", body).json["system"] == "two"
    for method, event in (("POST", "reload"), ("POST", "compact"), ("GET", "drift?cwd=")):
        problem = teams.send("token-b", method, f"/conversations/b-left/{event}", body if method == "POST" else None)
        assert (problem.status, problem.json["detail"]) == (
            404,
            "the template 'b-gone' that this conversation was built from no longer exists; save it again, or name another template",
        )
    rows = teams.send("token-b", "GET", "/conversations?drifted=false&template=b-gone").json["conversations"]
    assert [row["id"] for row in rows] == ["b-left"]
    again = teams.send("token-b", "PUT", path, {"template": "three"})
    assert again.json["version"] == 3
    assert teams.send("token-b", "POST", "/conversations/b-left/reload", body).json["system"] == "three"
    assert teams.send("token-b", "GET", path + "/versions").json["moves"][-1]["version"] == 0
    teams.send("token-b", "DELETE", "/conversations/b-left")


@pytest.mark.parametrize(
    ("token", "method", "path", "status", "detail"),
    [
        ("token-b", "DELETE", "/templates/default", 409, "template 'default' cannot be deleted"),
        ("everything", "DELETE", "/templates/default?team=", 409, "template 'default' cannot be deleted"),
        ("token-a", "DELETE", "/templates/a-plantd", 404, "no template 'a-plantd'; did you mean 'a-planted'?"),
        ("token-b", "DELETE", "/templates/b-plantd", 404, "no template 'b-plantd'"),
        ("token-a", "PUT", "/templates/a-plantd/labels/staging", 404, "no template 'a-plantd'; did you mean"),
        ("token-a", "DELETE", "/templates/a-planted/labels/none", 404, "template 'a-planted' has no label 'none'"),
        ("token-a", "DELETE", "/templates/a-planted/labels/production", 409, "cannot be removed; move it"),
    ],
)
def test_what_cannot_be_deleted_is_explained(teams, token, method, path, status, detail):
    problem = teams.send(token, method, path, {"version": 1} if method == "PUT" else None)
    assert (problem.status, detail in problem.json["detail"]) == (status, True), problem.body
    assert token == "token-a" or "planted" not in problem.body


def test_a_protected_label_is_changed_only_with_the_right_admin(tmp_path):
    teams = TwoTeams(tmp_path)
    teams.service = Service(f"{tmp_path}/store.db", [str(tmp_path)], protected_labels=["production", "canary"])
    guard = RequestGuard(teams.tokens, ["localhost"])
    teams.app = Application(teams.service, guard, Log(stream=teams.log), Metrics(ROUTES))
    text = teams.tokens_file.read_text()
    teams.tokens_file.write_text(text.replace('"template", "admin"]\nteam = "b"', '"template"]\nteam = "b"'))
    teams.tokens._next_check = 0.0
    assert teams.send("token-b", "GET", "/token").json["protected_labels"] == ["production", "canary"]
    body = {"template": "text"}
    assert teams.send("token-b", "POST", "/templates/b-x/versions?label=staging", body).status == 200
    teams.send("everything", "PUT", "/templates/b-x/labels/canary", {"version": 1})
    refused = [
        ("PUT", "/templates/b-x", body),
        ("POST", "/templates/b-x/versions?label=canary", body),
        ("PUT", "/templates/b-x/labels/production", {"version": 1}),
        ("DELETE", "/templates/b-x/labels/canary", None),
        ("PUT", "/system-prompt", body),
        ("POST", "/system-prompt/versions/0/restore", None),
    ]
    for method, path, content in refused:
        problem = teams.send("token-b", method, path, content)
        assert problem.status == 403, path
        sentence = r"the label '\w+' is protected: .* needs the right 'admin', .* POST /templates/{name}/versions saves a version"
        assert re.match(sentence, problem.json["detail"])
    assert teams.send("token-b", "PUT", "/templates/b-x/labels/staging", {"version": 1}).status == 200
    assert teams.send("token-b", "DELETE", "/templates/b-x/labels/staging").json["version"] == 0
    for method, path, content in refused:
        assert teams.send("everything", method, path, content).status == 200, path
    teams.service.conversations.close()


def test_a_protected_label_must_be_a_label(tmp_path):
    with pytest.raises(CallError, match="a label begins with a letter"):
        Service(":memory:", [str(tmp_path)], protected_labels=["1"])


def test_a_forgotten_conversation_is_gone(teams):
    body = {"cwd": "", "layout": "foreword", "base": "only here"}
    turn = teams.send("token-b", "POST", "/conversations/b-gone/turn", body).json
    edition = teams.send("token-b", "GET", "/conversations/b-gone").json
    assert teams.send("token-b", "DELETE", "/conversations/b-gone").json == {"forgotten": "b-gone"}
    assert teams.send("token-b", "GET", "/conversations/b-gone").status == 404
    assert teams.send("token-b", "DELETE", "/conversations/b-gone").status == 404
    assert turn["system"] and edition["edition"] == 1
    assert teams.service.conversations.store.verify() == []


def test_a_team_whose_folder_was_removed_can_still_read(teams, tmp_path):
    caller = replace(teams.tokens.find(b"Bearer token-b"), roots=(str(tmp_path / "removed"),))
    assert teams.service.view(caller).roots == [str(tmp_path / "removed")]


def test_a_label_is_not_a_number_and_may_be_older_than_the_recorded_moves(teams, monkeypatch):
    teams.send("token-a", "PUT", "/templates/a-old", {"template": "text"})
    assert teams.send("token-a", "PUT", "/templates/a-old/labels/1", {"version": 1}).status == 400
    monkeypatch.setattr(teams.service.conversations.store, "label_moves", lambda name: [])
    assert teams.send("token-a", "GET", "/templates/a-old/labels/production").json["version"] == 1


def test_the_file_is_read_again_when_it_changes(tmp_path):
    path = tmp_path / "tokens.toml"
    token, entry = new_token("team")
    path.write_text(entry)
    reports = []
    tokens = Tokens("", str(path), lambda level, message: reports.append((level, message)))
    header = f"Bearer {token}".encode()
    assert (tokens.find(header).name, tokens.find(header).team) == ("team", "team")
    path.write_text("nonsense")
    tokens._next_check = 0
    assert tokens.find(header).name == "team" and "tokens.toml" in tokens.problem
    assert reports == [("error", f"{tokens.problem}; the previous tokens stay in effect")]
    path.write_text(entry.replace('name = "team"', 'name = "other"'))
    tokens._next_check = 0
    assert (tokens.find(header).name, tokens.problem) == ("other", "")
    path.write_text(entry.replace("sha256:", "sha256:0")[:-9])
    assert tokens.find(b"Bearer something") is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("rights", "right"), "unknown key 'right'"),
        (('"read"', '"write"'), "rights must be a list of"),
        (("sha256:", ""), ""),
        (('hash = "sha256:', 'hash = "md5:'), "hash must be sha256:"),
        (('hash = "', 'hash = 7 # "'), "hash must be sha256:"),
        (("rights = [", 'rights = "read" # ['), "rights must be a list of"),
        (("rights = [", "rights = [] # ["), "rights must be a list of"),
        (('name = "team"', "name = 7"), "name must be a string"),
        (('name = "team"', 'name = ""'), "name must be a string"),
        (('name = "team"', f'name = "{"x" * 101}"'), "name must be a string"),
        (('name = "team"', f'name = "{"x" * 100}"'), ""),
        (('team = "team"', "team = 7"), "team must be a string"),
        (('team = "team"', f'team = "{"x" * 101}"'), "the name of a team must have at most 100 characters"),
        (('team = "team"', f'team = "{"x" * 100}"'), ""),
        (('team = "team"', 'team = " a"'), "surrounding spaces"),
        (('team = "team"', 'team = "*"'), "must not be '*'"),
        (('team = "team"', 'teams = ["*"]'), 'teams = ["*"] needs the right admin'),
        (('team = "team"', 'teams = ["a", "b"]'), 'teams must be ["*"]; for a token that sees one team'),
        (('team = "team"', 'team = "a"\nteams = ["*"]'), "either team or teams, not both"),
        (
            ('team = "team"', 'prefix = "bill-"'),
            'team = "bill", and, to keep the default template, template = "bill-default"',
        ),
        (('team = "team"', 'prefix = "b-"\ntemplate = "b-x"'), 'template = "b-x"'),
        (('team = "team"', 'prefix = ""'), "prefix is not used any more, because ids need none; remove it"),
        (('team = "team"', "team = " + "[" * 5000), "recursion"),
        (('team = "team"', 'roots = ["\\u0000"]'), "roots must not contain null characters"),
        (('team = "team"', 'roots = "a"'), "roots must be a list of folders"),
        (('team = "team"', "roots = [7]"), "roots must be a list of folders"),
        (('team = "team"', 'roots = [""]'), "roots must be a list of folders"),  # it would be the folder of the file
        (('team = "team"', 'packs = "all"'), "packs must be a list of names"),
        (('team = "team"', "packs = [7]"), "packs must be a list of names"),
        (('team = "team"', "template = 7"), "template must be the name of a stored template"),
        (('team = "team"', 'template = "a@b"'), "must not contain @"),
        (("[[token]]", "[token]"), "must contain only"),
        (("[[token]]", ""), "must contain only"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path, change, message):
    path = tmp_path / "tokens.toml"
    path.write_text(new_token("team")[1].replace(*change))
    if not message:
        assert len(read_tokens(str(path))) == 1
        return
    with pytest.raises(CallError, match=re.escape(message)):
        read_tokens(str(path))


@pytest.mark.parametrize("same", ["name", "hash"])
def test_two_tokens_have_different_names_and_hashes(tmp_path, same):
    path = tmp_path / "tokens.toml"
    entries = [new_token("one")[1], new_token("two")[1]]
    path.write_text("\n".join(entries))
    assert [caller.name for caller in read_tokens(str(path)).values()] == ["one", "two"]
    [line] = re.findall(f"^{same} = .*$", entries[0], re.MULTILINE)
    path.write_text(entries[0] + "\n" + re.sub(f"(?m)^{same} = .*$", line, entries[1]))
    with pytest.raises(CallError, match="token 2: another token already has its name or hash"):
        read_tokens(str(path))


@pytest.mark.parametrize("full_token", ["", "full"])
def test_a_file_of_tokens_protects_the_service_without_a_full_token_too(tmp_path, full_token):
    path = tmp_path / "tokens.toml"
    token, entry = new_token("team")
    path.write_text(entry)
    guard = RequestGuard(Tokens(full_token, str(path)))
    host = (b"host", b"localhost")
    with pytest.raises(Problem, match="send the header 'Authorization: Bearer TOKEN'"):
        guard.check("GET", [host], is_open=False)
    with pytest.raises(Problem, match="the token is unknown"):
        guard.check("GET", [host, (b"authorization", b"Bearer other")], is_open=False)
    authorization = (b"authorization", f"Bearer {token}".encode())
    assert guard.check("GET", [host, authorization], is_open=False).name == "team"
    assert guard.accepts([authorization], UNLIMITED) is False


def test_without_tokens_a_caller_stays_accepted_and_headers_have_a_limit():
    guard, host = RequestGuard(), (b"host", b"localhost")
    assert guard.accepts([], UNLIMITED)
    room = MAX_HEADER_BYTES - len(b"host" + b"localhost" + b"x")
    assert guard.check("GET", [host, (b"x", b"y" * room)], is_open=False) is UNLIMITED
    with pytest.raises(Problem, match="the headers are 32,769 bytes long; the limit is 32,768"):
        guard.check("GET", [host, (b"x", b"y" * (room + 1))], is_open=False)


def test_a_missing_folder_needs_nobody_to_report_it_to(tmp_path):
    path = tmp_path / "tokens.toml"
    token, entry = new_token("team")
    path.write_text(f'{entry}\nroots = ["missing"]')
    assert Tokens("", str(path)).find(f"Bearer {token}".encode()).roots == (str(tmp_path / "missing"),)


def test_only_the_missing_folder_of_a_token_is_unusable(tmp_path):
    path = tmp_path / "tokens.toml"
    token, entry = new_token("team")
    (tmp_path / "here").mkdir()
    path.write_text(f'{entry}\nroots = ["missing", "here"]')
    reports = []
    caller = Tokens("", str(path), lambda *report: reports.append(report)).find(f"Bearer {token}".encode())
    missing = str(tmp_path / "missing")
    assert reports == [("warning", f"token team: no such folder {missing}; agents cannot work there until it exists")]
    service = Service(":memory:", [str(tmp_path)]).view(caller)
    assert service.path(str(tmp_path / "here")) == str(tmp_path / "here")
    with pytest.raises(Problem, match="outside the served folders"):
        service.path(str(tmp_path))


def test_a_token_may_have_its_own_template_and_packs(tmp_path):
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "chat.toml").write_text('about = "planted"\nsections = ["body"]\n[body]\ntext = "x"\n')
    service = Service(":memory:", [str(tmp_path)], packs={name: str(tmp_path / name) for name in ("ours", "theirs")})
    view = service.view(Caller("team", packs=("ours",), template="support"))
    assert list(view.packs) == ["ours"] and list(service.packs) == ["ours", "theirs"]
    service.conversations.store.add_template(TemplateVersion(0, "Hello.", name="support"))
    assert view.store.template(view.caller.default_template).template == "Hello."
    assert view.open("id", view.workspace(""), None, "builder").construct().system == "Hello."
    with pytest.raises(MissingError, match="unknown pack 'theirs'; known packs: agents, ours,"):
        view.open("id", view.workspace(""), None, "$theirs/chat").construct()


# Someone who sees all teams


@pytest.fixture
def equal(tmp_path):
    """Two teams that both have a conversation `same` and a template `same`, and one that only B has."""
    teams = TwoTeams(tmp_path)
    for token, ids in (("token-a", ["same"]), ("token-b", ["same", "single"])):
        for id in ids:
            assert teams.send(token, "PUT", f"/templates/{id}", {"template": f"of {token}"}).status == 200
            body = {"cwd": "", "layout": "builder", "template_name": id}
            assert teams.send(token, "POST", f"/conversations/{id}/turn", body).status == 200
            usage = {"usage": {"input_tokens": 100, "output_tokens": 10}}
            assert teams.send(token, "POST", f"/conversations/{id}/usage", usage).status == 200
    yield teams
    teams.service.conversations.close()


@pytest.mark.parametrize(
    "path", ["/conversations/{}", "/conversations/{}/editions", "/templates/{}", "/templates/{}/versions"]
)
def test_an_operator_names_a_team_where_an_id_is_ambiguous(equal, path):
    problem = equal.send("everything", "GET", path.format("same"))
    assert (problem.status, problem.json["type"]) == (409, "urn:foreword:problem:ambiguous-team")
    assert "'a', 'b'; name one with ?team=" in problem.json["detail"]
    for team in "ab":
        named = equal.send("everything", "GET", path.format("same") + f"?team={team}")
        assert named.body == equal.send(f"token-{team}", "GET", path.format("same")).body
    assert equal.send("everything", "GET", path.format("single")).status == 200
    assert equal.send("everything", "GET", path.format("single") + "?team=a").status == 404
    assert equal.send("everything", "GET", path.format("none")).status == 404


@pytest.mark.parametrize("sort", ["id", "newest"])
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_an_operator_lists_the_conversations_of_all_teams(equal, sort, limit):
    found, after = [], ""
    while True:
        page = equal.send(
            "everything", "GET", f"/conversations?sort={sort}&limit={limit}&after={after}&details=true"
        ).json
        found += [(row["team"], row["id"]) for row in page["conversations"]]
        assert page["total"] == {"count": 3, "exact": True}
        after = quote(page["next"] or "")
        if not after:
            break
    expected = [("a", "same"), ("b", "same"), ("b", "single")]
    assert found == (expected if sort == "id" else expected[::-1])


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_an_operator_lists_the_templates_of_all_teams(equal, limit):
    found, after = [], ""
    while True:
        page = equal.send("everything", "GET", f"/templates?limit={limit}&after={after}").json
        found += [(row["team"], row["name"]) for row in page["templates"]]
        after = quote(page["next"] or "")
        if not after:
            break
    assert found == [("a", "same"), ("b", "same"), ("b", "single")]


def test_an_operator_sees_the_usage_and_the_prompts_of_all_teams(equal):
    usage = equal.send("everything", "GET", "/usage").json
    assert (usage["conversations"], usage["total"]["calls"]) == (3, 3)
    assert equal.send("everything", "GET", "/usage?team=a").json["total"]["calls"] == 1
    prompt = equal.send("token-b", "GET", "/conversations?search=single").json["conversations"][0]["prompt"]
    seen = [equal.send(token, "GET", f"/prompts/{prompt}").status for token in ("everything", "token-b", "token-a")]
    assert seen == [200, 200, 404]
    assert equal.send("everything", "GET", f"/prompts/{prompt}?team=a").status == 404


def test_a_forgotten_conversation_leaves_the_one_of_another_team(equal):
    before = equal.send("token-b", "GET", "/conversations/same").body
    assert equal.send("token-a", "DELETE", "/conversations/same").status == 200
    assert equal.send("token-a", "GET", "/conversations/same").status == 404
    assert equal.send("token-b", "GET", "/conversations/same").body == before
    assert equal.send("everything", "GET", "/conversations/same").body == before
    assert equal.service.conversations.store.verify() == []


@pytest.mark.parametrize("path", ["/conversations?after=nonsense", "/templates?after=9:x"])
def test_a_page_of_all_teams_that_does_not_exist_is_named(equal, path):
    assert equal.send("everything", "GET", path).status == 404


@pytest.mark.parametrize("query", ["team=%20a", "team=%FF", "team=a&team=b", f"team={'x' * 101}"])
def test_a_team_that_cannot_exist_is_refused(equal, query):
    assert equal.send("everything", "GET", f"/conversations?{query}").status == 400


def test_without_tokens_the_team_is_the_one_without_a_name(tmp_path):
    teams = TwoTeams(tmp_path)
    teams.app = Application(teams.service, RequestGuard(), Log(stream=teams.log), Metrics(ROUTES))
    body = {"cwd": "", "layout": "foreword"}
    for query in ("", "?team=a"):
        assert teams.send("", "POST", f"/conversations/same/turn{query}", body).status == 200
    assert teams.service.conversations.store.teams() == ["", "a"]
    listed = [
        [row["team"] for row in teams.send("", "GET", f"/conversations{query}").json["conversations"]]
        for query in ("", "?team=a", "?team=b", "?team=*")
    ]
    assert listed == [[""], ["a"], [], ["", "a"]]
    assert teams.send("", "GET", "/conversations/same").status == 200
    teams.service.conversations.close()


# Streams


async def read_stream(app, change):
    """Return what a stream of team A sends until it ends. `change` is called after the first event."""
    messages, lifespan = [], asyncio.Queue()

    async def send(message):
        messages.append(message)
        if len(messages) == 2:
            change()

    async def receive():
        return {"type": "http.request", "body": b""}

    async def ignore(message):
        pass

    headers = [(b"host", b"localhost"), (b"authorization", b"Bearer token-a")]
    scope = {"type": "http", "method": "GET", "raw_path": b"/events", "query_string": b"template=default"}
    await lifespan.put({"type": "lifespan.startup"})
    running = asyncio.create_task(app({"type": "lifespan", "state": {}}, lifespan.get, ignore))
    await asyncio.wait_for(app({**scope, "headers": headers}, receive, send), 60)
    running.cancel()
    return messages


def test_a_stream_ends_when_its_token_is_removed(teams, monkeypatch):
    monkeypatch.setattr("foreword.service.application._TOKEN_SECONDS", 0.01)
    monkeypatch.setattr("foreword.service.tokens._INTERVAL", 0.0)
    text = teams.tokens_file.read_text()
    try:
        messages = asyncio.run(
            read_stream(teams.app, lambda: teams.tokens_file.write_text(text.replace('"Alpha"', '"Other"')))
        )
    finally:
        teams.tokens_file.write_text(text)
    assert messages[0]["status"] == 200 and messages[-1] == {"type": "http.response.body", "body": b""}


def test_a_stream_follows_only_templates_of_the_team(teams):
    assert teams.send("token-b", "GET", "/events?template=a-planted&limit=1").status == 404
    assert teams.send("token-b", "GET", "/events?template=a-none&limit=1").status == 404
    followed = teams.send("token-a", "GET", "/events?template=a-planted&limit=1")
    assert json.loads(followed.body.partition("data: ")[2])["id"] == digest("planted named")


def test_questions_use_the_template_that_they_name(teams):
    body = {"cwd": "", "layout": "builder", "template_name": "a-planted"}
    assert teams.send("token-a", "POST", "/show", body).json["text"] == "planted named"
    assert teams.send("token-b", "POST", "/show", body).status == 404


# Guessing


def test_someone_who_tries_tokens_is_limited_but_others_are_not():
    now = [0.0]
    guard = RequestGuard(Tokens("right"), rates=RateLimit(2, lambda: now[0]))

    def kind(token, address="10.0.0.1"):
        try:
            guard.check("GET", [(b"host", b"h"), (b"authorization", f"Bearer {token}".encode())], False, address)
        except Problem as problem:
            return problem.kind
        return "accepted"

    assert [kind(word) for word in ("right", "a", "b", "right")] == [
        *("accepted", "invalid-token", "too-many-requests", "accepted")
    ]
    assert (kind("a", "10.0.0.2"), kind("", "10.0.0.1")) == ("invalid-token", "too-many-requests")
    now[0] = 0.5
    assert (kind("c"), kind("right")) == ("invalid-token", "accepted")


def test_a_right_guess_is_not_answered_once_the_limit_is_reached():
    guard = RequestGuard(Tokens("right"), rates=RateLimit(1, lambda: 0.0))
    request = lambda token: guard.check("GET", [(b"host", b"h"), (b"authorization", b"Bearer " + token)], False, "::1")  # noqa: E731
    with pytest.raises(Problem, match="unknown"):
        request(b"wrong")
    with pytest.raises(Problem, match="you may send 1 request per second"):
        request(b"right")


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("this machine", "this machine"),
        ("2001:db8:1:2:3::4", "20010db800010002"),
        ("2001:db8:1:2:9::4", "20010db800010002"),
        ("::ffff:10.0.0.1", "0a000001"),
        ("fe80::1%eth0", "fe80000000000000"),
        ("not:an:address", "not:an:address"),
    ],
)
def test_addresses_of_one_sender_share_a_limit(address, network):
    assert network_of(address) == network
