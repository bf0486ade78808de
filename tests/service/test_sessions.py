"""Sessions over HTTP: only in services that were started for that, only for those who may, and only in the served folders."""

import json
from contextlib import closing

import pytest
from tests.sessions.session_logs import ClaudeLog

from foreword.cli import main
from foreword.errors import CallError, MissingError
from foreword.service.request import Request, parse_query
from foreword.service.responses import Problem
from foreword.service.route import authorize
from foreword.service.routes import ROUTES
from foreword.service.server import ServerOptions, serve
from foreword.service.service import Service
from foreword.service.tokens import UNLIMITED, Caller, Tokens, hash_token

OTHER = "99999999-aaaa-4bbb-8ccc-222222222222"


@pytest.fixture
def folders(tmp_path):
    """A home with the logs of two repositories, `ours` and `theirs`."""
    for name, session in (("ours", "11111111-aaaa-4bbb-8ccc-222222222222"), ("theirs", OTHER)):
        repo = tmp_path / name
        (repo / ".git").mkdir(parents=True)
        (repo / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (repo / "CLAUDE.md").write_text("Be kind.\n")
        log = ClaudeLog(tmp_path / "home", repo, session).snapshot().instructions(repo / "CLAUDE.md", "Be kind.\n")
        log.user().answer(written=5000).user().answer(read=5000, written=100).write()
    return tmp_path


@pytest.fixture
def get(folders, monkeypatch):
    """A function that asks a service for `ours`, in this process, and returns the answer."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(folders / "cache"))

    def get(path, query="", id="", has_sessions=True, body=None, rights=UNLIMITED.rights):
        options = {"home": str(folders / "home"), "has_sessions": has_sessions}
        service = Service(":memory:", [str(folders / "ours")], **options)
        with closing(service.conversations):
            route = next(route for route in ROUTES if route.path == path)
            fields = parse_query(query, route.query) if route.query else None, body and route.body(**body)
            return route.function(service.view(Caller(rights=rights)), Request({"id": id}, [], *fields)).body

    return get


def test_sessions_are_listed_and_summed_up(get):
    answer = get("/sessions")
    assert [session["requests"] for session in answer["sessions"]] == [2]
    rows = get("/sessions", "by=file&since=2020-01-01&agents=claude,codex")["rows"]
    assert [row["key"].rpartition("/")[2] for row in rows if row["key"].startswith("/")] == ["CLAUDE.md"]
    assert get("/sessions", "agents=codex")["sessions"] == []


def test_one_session_has_its_requests_and_what_was_in_force(get):
    answer = get("/sessions/{id}", id="1111")
    assert [request["tokens"]["read"] for request in answer["requests"]] == [0, 5000]
    assert [span["requests"] for span in get("/sessions/{id}", "in_force=CLAUDE.md", id="1111")["spans"]] == [[1, 2]]


def test_sessions_of_other_folders_are_not_found(get, folders):
    with pytest.raises(MissingError, match="no session has the id"):
        get("/sessions/{id}", id=OTHER)
    with pytest.raises(Problem, match="outside the served folders"):
        get("/sessions", f"cwd={folders / 'theirs'}")
    with pytest.raises(MissingError, match="does not name"):
        get("/sessions/{id}", f"in_force={folders / 'theirs' / 'CLAUDE.md'}", id="1111")


def test_a_service_that_was_not_started_for_it_refuses(get):
    with pytest.raises(Problem, match="not started with --sessions"):
        get("/sessions", has_sessions=False)


def test_the_table_of_agents_has_what_each_file_cost(get, folders, capsys):
    answer = get("/agents", body={"cwd": "", "cost": True})
    path = str(folders / "ours" / "CLAUDE.md")
    assert answer["costs"].keys() == {path} and answer["costs"][path] > 0
    main(["agents", str(folders / "ours"), "--home", str(folders / "home"), "--cost", "--json"])
    assert json.loads(capsys.readouterr().out)["costs"] == answer["costs"]
    assert "costs" not in get("/agents", body={"cwd": ""})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"has_sessions": False}, "not started with --sessions"),
        ({"rights": ("read",)}, "cost needs the right 'sessions'"),
    ],
)
def test_costs_are_only_for_those_who_may_see_sessions(get, options, message):
    with pytest.raises(Problem, match=message):
        get("/agents", body={"cwd": "", "cost": True}, **options)


def test_a_teams_token_needs_the_right(tmp_path):
    rows = [
        f'[[token]]\nname = "{name}"\nhash = "{hash_token(name.encode()).decode()}"\nrights = [{rights}]\n'
        for name, rights in (("reader", '"read"'), ("auditor", '"read", "sessions"'))
    ]
    (tmp_path / "tokens.toml").write_text("\n".join(rows))
    tokens = Tokens("operator", str(tmp_path / "tokens.toml"))
    route = next(route for route in ROUTES if route.path == "/sessions")
    authorize(route, tokens.find(b"Bearer auditor"))
    authorize(route, UNLIMITED)
    for name in (b"reader", b"operator"):
        with pytest.raises(Problem, match="needs the right 'sessions'"):
            authorize(route, tokens.find(b"Bearer " + name))


def test_other_machines_need_tokens_of_teams(tmp_path):
    options = ServerOptions(store=":memory:", roots=(str(tmp_path),), host="0.0.0.0", sessions=True)
    with pytest.raises(CallError, match="use --tokens FILE, and give the right sessions"):
        serve(options, "a-long-token", print)
