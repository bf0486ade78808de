"""Which requests are accepted, by their headers, and what a file of tokens lets their senders do."""

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from foreword.errors import CallError, StoreBusyError, StoreError
from foreword.service.cross_origin import CrossOrigin
from foreword.service.folders import ServedFolders
from foreword.service.guard import MAX_HEADER_BYTES, RequestGuard
from foreword.service.responses import Problem
from foreword.service.routes import ROUTES
from foreword.service.teams import caller_in_team, find_team, must_be_found, take_team
from foreword.service.tokens import UNLIMITED, Caller, Tokens, hash_token, read_prefixes, read_tokens
from foreword.vocabulary import Workspace

HASH = hash_token(b"secret").decode()


def check(guard, *headers, method="POST", is_open=False):
    """Return who sent a request with these headers, or the kind of the problem."""
    pairs = [tuple(part.encode("latin-1") for part in header.split(": ", 1)) for header in headers]
    try:
        return guard.check(method, pairs, is_open)
    except Problem as problem:
        return problem.kind


@pytest.mark.parametrize(
    ("headers", "result"),
    [
        (["host: localhost"], UNLIMITED),
        (["host: LOCALHOST:8300"], UNLIMITED),
        (["host: 127.0.0.1:1"], UNLIMITED),
        (["host: [::1]:8300"], UNLIMITED),
        (["host: [::1]"], UNLIMITED),
        (["host: prompts.example"], UNLIMITED),
        (["host: Prompts.Example:443"], UNLIMITED),
        (["host: other.example"], "foreign-host"),
        (["host: localhost:port"], "foreign-host"),
        (["host: localhost.example:80"], "foreign-host"),
        ([], "invalid-headers"),
        (["host: "], "invalid-headers"),
        (["host: localhost", "host: localhost"], "invalid-headers"),
        (["host: localhost", "authorization: a", "authorization: b"], "invalid-headers"),
        (["host: localhost", "origin: http://localhost", "origin: http://localhost"], "invalid-headers"),
        (["host: localhost", "accept: a", "accept: b"], UNLIMITED),
        # Pages of the service itself, and of the origins that it allows.
        (["host: localhost:8300", "origin: http://localhost:8300"], UNLIMITED),
        (["host: localhost:8300", "origin: HTTP://LOCALHOST:8300"], UNLIMITED),
        (["host: localhost:8300", "origin: http://localhost:8301"], "foreign-origin"),
        (["host: localhost", "origin: null"], "foreign-origin"),
        (["host: localhost", "origin: https://app.example"], UNLIMITED),
        (["host: localhost", "origin: https://APP.example", "sec-fetch-site: cross-site"], UNLIMITED),
        (["host: localhost", "origin: https://app.example.org"], "foreign-origin"),
        (["host: localhost", "sec-fetch-site: same-origin"], UNLIMITED),
        (["host: localhost", "sec-fetch-site: none"], UNLIMITED),
        (["host: localhost", "sec-fetch-site: cross-site"], "foreign-origin"),
        (["host: localhost", "sec-fetch-site: same-site"], "foreign-origin"),
        (["host: localhost", "origin: http://localhost", "sec-fetch-site: cross-site"], "foreign-origin"),
        (["host: localhost", "sec-fetch-site: cross-site", "sec-fetch-mode: navigate"], "foreign-origin"),
    ],
)
def test_without_tokens_only_known_hosts_and_no_foreign_pages_are_accepted(headers, result):
    guard = RequestGuard(hosts=["Prompts.example"], origins=["https://App.example"])
    assert check(guard, *headers) == result
    assert check(guard, *headers, is_open=True) == result


@pytest.mark.parametrize(
    ("method", "mode", "is_accepted"),
    [("GET", "navigate", True), ("HEAD", "navigate", True), ("POST", "navigate", False), ("GET", "cors", False)],
)
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_of_another_site_may_be_followed(method, mode, is_accepted, site):
    headers = ["host: localhost", f"sec-fetch-site: {site}", f"sec-fetch-mode: {mode}"]
    assert check(RequestGuard(), *headers, method=method) == (UNLIMITED if is_accepted else "foreign-origin")


@pytest.mark.parametrize(
    ("size", "result"), [(MAX_HEADER_BYTES, UNLIMITED), (MAX_HEADER_BYTES + 1, "headers-too-large")]
)
def test_the_size_of_the_headers_has_a_limit(size, result):
    filler = "x: " + "y" * (size - len("hostlocalhost") - 1)
    assert check(RequestGuard(), "host: localhost", filler) == result


@pytest.mark.parametrize(
    ("header", "result"),
    [
        ("authorization: Bearer secret", UNLIMITED),
        ("authorization: bearer   secret ", UNLIMITED),
        ("authorization: Bearer other", "invalid-token"),
        ("authorization: Bearer secret2", "invalid-token"),
        ("authorization: Basic secret", "missing-token"),
        ("authorization: Bearer ", "missing-token"),
        ("authorization: secret", "missing-token"),
        ("cookie: secret", "missing-token"),
    ],
)
def test_with_a_token_only_its_senders_are_accepted(header, result):
    guard = RequestGuard(Tokens("secret"))
    assert check(guard, "host: any.example", header) == result
    assert check(guard, "host: any.example", header, is_open=True) == UNLIMITED
    assert check(guard, "host: any.example", header, "origin: https://other.example") == "foreign-origin"


def tokens_file(tmp_path, *rows):
    path = tmp_path / "tokens.toml"
    path.write_text("".join(f"[[token]]\n{row}\n" for row in rows))
    return str(path)


ROW = f'name = "ci"\nhash = "{HASH}"\nrights = ["read"]\n'


@pytest.mark.parametrize(
    ("row", "caller"),
    [
        ("", Caller("ci", ("read",))),
        ('team = "billing"', Caller("ci", ("read",), "billing")),
        ('packs = []\ntemplate = ""', Caller("ci", ("read",), packs=())),
        ('packs = ["house"]\ntemplate = "support"', Caller("ci", ("read",), packs=("house",), template="support")),
        ('older_than = "90d"', Caller("ci", ("read",), older_than=90 * 86_400.0)),
        ('older_than = "12h"\nteam = "a"', Caller("ci", ("read",), "a", older_than=12 * 3600.0)),
    ],
)
def test_a_token_may_do_what_its_table_says(tmp_path, row, caller):
    path = tokens_file(tmp_path, ROW + row)
    assert read_tokens(path) == {HASH.encode(): caller}
    assert RequestGuard(Tokens("", path)).accepts([(b"authorization", b"Bearer secret")], caller)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("token = [1]", "the file must contain only [[token]] tables"),
        ("token = 1", "the file must contain only [[token]] tables"),
        ("other = 1", "the file must contain only [[token]] tables"),
        (f"[[token]]\n{ROW}[other]\n", "the file must contain only [[token]] tables"),
        ("token = ", "Invalid value"),
        ("[[token]]\n" + ROW.replace('["read"]', "{read = 1}"), "token 1: rights must be a list of one or more of read,"),
        ("[[token]]\n" + ROW.replace("ci", "c\\ni"), "token 1: name must be a string of 1 to 100 printable characters"),
        (f"[[token]]\n{ROW}[[token]]\n{ROW.replace('ci', 'cd')}", "token 2: another token already has its name or hash"),
        (f"[[token]]\n{ROW}[[token]]\n{ROW.replace(HASH, HASH[::-1][:64])}", "token 2: "),
    ],
)  # fmt: skip
def test_a_file_that_is_not_only_tokens_is_refused(tmp_path, content, message):
    path = tmp_path / "tokens.toml"
    path.write_text(content)
    with pytest.raises(CallError) as error:
        read_tokens(str(path))
    assert str(error.value).startswith(f"--tokens {path}: ") and message in str(error.value)


def test_a_file_of_tokens_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(CallError, match=f"^--tokens {tmp_path}/gone: No such file or directory$"):
        read_tokens(f"{tmp_path}/gone")


def test_the_token_of_the_environment_may_do_everything_but_read_logs_beside_those_of_teams(tmp_path):
    path = tokens_file(tmp_path, ROW.replace(HASH, hash_token(b"other").decode()))
    tokens = Tokens("secret", path)
    assert tokens.find(b"Bearer secret") == Caller("", ("read", "turn", "template", "admin"), "*", names_team=True)
    assert tokens.find(b"Bearer other") == Caller("ci", ("read",))
    assert Tokens("secret").find(b"Bearer secret") == UNLIMITED
    assert (bool(tokens), bool(Tokens("secret")), bool(Tokens("", path)), bool(Tokens())) == (True, True, True, False)


def test_a_token_that_sees_all_teams_is_an_administrators(tmp_path):
    path = tokens_file(tmp_path, ROW.replace('["read"]', '["read", "admin"]') + 'teams = ["*"]')
    assert read_tokens(path)[HASH.encode()] == Caller("ci", ("read", "admin"), "*", names_team=True)


def test_the_folders_of_a_token_are_relative_to_the_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    path = tokens_file(tmp_path, ROW + 'roots = ["a/../b", "/c", "~/d"]')
    monkeypatch.chdir("/")
    assert read_tokens(path)[HASH.encode()].roots == (f"{tmp_path}/b", "/c", "/home/ada/d")


@pytest.mark.parametrize("age", ['"90"', '"d"', '"1w"', '"0d"', '"-1d"', '"1.5d"', "90", '"1000000d"'])
def test_an_age_is_a_number_and_a_unit(tmp_path, age):
    with pytest.raises(
        CallError, match="older_than must be a number of days, hours or minutes, such as 90d, 12h or 30m"
    ):
        read_tokens(tokens_file(tmp_path, f"{ROW}older_than = {age}"))


def test_a_team_has_one_age(tmp_path):
    other = ROW.replace("ci", "cd").replace(HASH, hash_token(b"other").decode())
    rows = f'{ROW}team = "a"\nolder_than = "1d"', f'{other}team = "a"\nolder_than = "24h"'
    assert Tokens("", tokens_file(tmp_path, *rows)).retentions() == {"a": 86_400.0}
    with pytest.raises(CallError, match="the tokens of the team 'a' have different older_than; write it once"):
        read_tokens(tokens_file(tmp_path, rows[0], rows[1].replace("24h", "25h")))
    with pytest.raises(CallError, match="older_than belongs to a token with a team, whose conversations it removes"):
        read_tokens(tokens_file(tmp_path, ROW.replace('"read"', '"admin"') + 'teams = ["*"]\nolder_than = "1d"'))


@pytest.mark.parametrize(
    ("rows", "teams"),
    [
        (['prefix = "bill-"'], {"bill-": "bill"}),
        (['prefix = ""', 'name = "x"', 'prefix = "a/b: "'], {"a/b: ": "a/b"}),
        (['prefix = "-"\nteam = "minus"', 'prefix = "x-"\nteam = "X"'], {"-": "minus", "x-": "X"}),
        (['prefix = "x-"', 'prefix = "x-"\nteam = "x"'], {"x-": "x"}),
        (['prefix = "--"'], {"--": "--"}),
        (['prefix = 7'], "token 1: prefix must be a string of at most 100 printable characters"),
        ([f'prefix = "{"x" * 101}"'], "token 1: prefix must be a string of at most 100 printable characters"),
        (['prefix = "a-"\nteam = 7'], "token 1: team must be a string"),
        (['prefix = "a-"\nteam = " a"'], "the name of a team must have at most 100 characters"),
        (['prefix = "a-"', 'prefix = "a-"\nteam = "b"'], "token 2: the prefix 'a-' belongs to two teams, 'a' and 'b'"),
        (['prefix = ""'], "no token has a prefix, so nothing has to move to a team"),
    ],
)  # fmt: skip
def test_the_prefixes_of_an_older_file_become_teams(tmp_path, rows, teams):
    path = tokens_file(tmp_path, *rows)
    if isinstance(teams, dict):
        assert read_prefixes(path) == teams
    else:
        with pytest.raises(CallError) as error:
            read_prefixes(path)
        assert teams in str(error.value)


# Teams


@pytest.mark.parametrize(
    ("query", "team", "rest"),
    [
        (b"", None, b""),
        (b"a=1&b=2", None, b"a=1&b=2"),
        (b"steam=x", None, b"steam=x"),
        (b"team=x", "x", b""),
        (b"a=1&team=x%20y&b=2", "x y", b"a=1&b=2"),
        (b"team=", "", b""),
        (b"team=%C3%A4+b", "ä b", b""),
        (b"team=a&team=b", "invalid-query", b""),
        (b"team=a&team=a", "invalid-query", b""),
        (b"team=%FF", "invalid-query", b""),
        (b"team=\xc3\xa4", "invalid-query", b""),
    ],
)
def test_a_query_may_name_one_team(query, team, rest):
    try:
        found = take_team(query)
    except Problem as problem:
        found = problem.kind, b""
    assert found == (team, rest)


OPERATOR = Caller(team="*", names_team=True)


@pytest.mark.parametrize(
    ("caller", "team", "result"),
    [
        (Caller(team="a"), "a", Caller(team="a")),
        (Caller(team="a"), "b", "not-found"),
        (Caller(team="a"), "", "not-found"),
        (Caller(team="a"), "*", "not-found"),
        (OPERATOR, "*", OPERATOR),
        (OPERATOR, "b", Caller(team="b", names_team=True)),
        (OPERATOR, "", Caller(team="", names_team=True)),
        (OPERATOR, " b", "invalid-query"),
        (UNLIMITED, "*", Caller(team="*", names_team=True)),
    ],
)
def test_only_who_sees_all_teams_may_name_another_one(caller, team, result):
    try:
        found = caller_in_team(caller, team)
    except Problem as problem:
        found = problem.kind
    assert found == result


@pytest.mark.parametrize(
    ("path", "caller", "expected"),
    [
        ("/conversations/{id}", OPERATOR, True),
        ("/conversations", OPERATOR, False),
        ("/usage", OPERATOR, False),
        ("/healthz", OPERATOR, False),
        ("/conversations/{id}", Caller(team="a"), False),
        ("/conversations/{id}", UNLIMITED, False),
    ],
)
def test_a_request_about_one_thing_is_for_one_team(path, caller, expected):
    (route, *_) = [route for route in ROUTES if route.path == path and route.method == "GET"]
    assert must_be_found(route, caller) is expected


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (StoreBusyError("locked"), "store-busy"),
        (StoreError("down"), "store-down"),
        (CallError("wrong"), "invalid-request"),
    ],
)
@pytest.mark.parametrize(("path", "ids"), [("/conversations/{id}", {"id": "x"}), ("/templates/{name}", {"name": "x"})])
def test_a_team_that_cannot_be_looked_up_is_a_problem(error, kind, path, ids):
    class Store:
        def __getattr__(self, name):
            raise error

    service = SimpleNamespace(conversations=SimpleNamespace(store=Store()))
    (route, *_) = [route for route in ROUTES if route.path == path and route.method == "GET"]
    with pytest.raises(Problem, match=str(error)) as problem:
        find_team(service, route, ids)
    assert problem.value.kind == kind


# Folders


@pytest.fixture
def folders(tree):
    tree({"srv/a/w": None, "srv/b": None, "packs/house": None, "far": None, "srv/a/out": Path("../../far")})
    return ServedFolders([tree.path("srv/a"), tree.path("srv/b")], {"own": "/p"}, [tree.path("packs")])


@pytest.mark.parametrize(
    ("requested", "path"),
    [("", "srv/a"), ("w", "srv/a/w"), ("../b", "srv/b"), ("w/../..", None), ("../../far", None), ("out", None), ("gone", "srv/a/gone"), ("/", None)],
)  # fmt: skip
def test_a_requested_folder_is_in_a_served_one(tree, folders, requested, path):
    if path is not None:
        assert folders.path(requested) == folders.path(requested) == tree.path(path)
        return
    with pytest.raises(Problem, match="is outside the served folders") as problem:
        folders.path(requested)
    assert problem.value.kind == "outside-roots"


@pytest.mark.parametrize(
    ("packs", "result"),
    [
        ({"x": "house"}, {"x": "packs/house"}),
        ({"x": "."}, {"x": "packs"}),
        ({"x": "../far"}, "outside-roots"),
        ({"x": "/far"}, "outside-roots"),
        ({"own": "house"}, "invalid-request"),
    ],
)
def test_a_requested_pack_is_in_an_allowed_folder(tree, folders, packs, result):
    if isinstance(result, dict):
        assert folders.pack_folders(packs) == {name: tree.path(path) for name, path in result.items()}
        return
    with pytest.raises(Problem) as problem:
        folders.pack_folders(packs)
    assert problem.value.kind == result


def test_other_folders_can_be_served_instead(tree, folders):
    folders.restrict([tree.path("srv/b")])
    assert folders.path("") == tree.path("srv/b")
    for refused in (
        lambda: folders.path(tree.path("srv/a")),
        lambda: folders.pack_folders({"x": tree.path("packs/house")}),
    ):
        with pytest.raises(Problem):
            refused()
    folders.restrict([tree.path("gone")])
    assert folders.path("x") == tree.path("gone/x")


def test_packs_in_the_new_folders_stay_allowed(tree, folders):
    folders.restrict([tree.top])
    assert folders.pack_folders({"x": "house"}) == {"x": tree.path("packs/house")}


def test_the_served_folder_limits_a_repository_around_it(tree, folders):
    tree({"srv/a/w/.git": None, "srv/b/.git": None})
    assert folders.served_root(Workspace(tree.path("srv/a/w"))) is None
    tree({".git": None})
    os.rmdir(tree.path("srv/a/w/.git"))
    assert folders.served_root(Workspace(tree.path("srv/a/w"))) == tree.path("srv/a")
    with pytest.raises(Problem, match="is outside the served folders"):
        folders.served_root(Workspace(tree.path("far")))


# Other origins


@pytest.mark.parametrize(
    ("headers", "status", "names"),
    [
        ({"origin": "https://app.example", "access-control-request-method": "POST"}, 204, "allow-origin allow-methods max-age"),
        ({"origin": "https://App.example", "access-control-request-method": "POST", "access-control-request-headers": "x-y"}, 204, "allow-origin allow-methods max-age allow-headers"),
        ({"origin": "https://app.example"}, 200, "allow-origin expose-headers"),
        ({"origin": "https://other.example", "access-control-request-method": "POST"}, 200, ""),
        ({}, 200, ""),
    ],
)  # fmt: skip
def test_only_allowed_origins_may_read_responses(headers, status, names):
    sent = []

    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-own", b"1")]})

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "OPTIONS", "headers": [(n.encode(), v.encode()) for n, v in headers.items()]}
    asyncio.run(CrossOrigin(application, ["https://App.example"])(scope, None, send))
    found = dict(sent[0]["headers"])
    assert sent[0]["status"] == status
    assert [name for name in found if name.startswith(b"access")] == [
        f"access-control-{name}".encode() for name in names.split()
    ]
    assert found.get(b"access-control-allow-origin", b"").decode() == (headers["origin"] if names else "")
    assert (found.get(b"vary"), found.get(b"x-own")) == (b"Origin" if names else None, b"1" if status == 200 else None)
    assert found.get(b"access-control-allow-headers", b"").decode() == (
        headers.get("access-control-request-headers", "") if status == 204 else ""
    )
