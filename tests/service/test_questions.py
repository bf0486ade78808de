"""Routes that ask about a prompt: they answer what the commands print with --json, and only about the served folders."""

import asyncio
import json
from contextlib import closing
from threading import Barrier, Event

import pytest

from foreword import cli
from foreword.cli import main
from foreword.engine import sandbox
from foreword.packs.packs import layout_names, mirror_names
from foreword.programs.questions import ANSWERS
from foreword.service import responses
from foreword.service.lanes import BUILDING, INSPECTIONS, READING, TEMPLATES, Cancelled, Job, Lanes
from foreword.service.request import Request
from foreword.service.responses import Problem, Response
from foreword.service.routes import ROUTES
from foreword.service.service import Service

NOW = "2026-03-07T08:55:05-06:00"
TOOLS = [{"name": "read", "description": "Reads a file.", "schema": {"type": "object"}}, {"name": "shell"}]
BODY = {"cwd": "", "layout": "opal", "model": "gpt-5", "tools": TOOLS, "now": NOW, "message": "hi"}
LAYOUT = """\
sections = ["greeting", "files"]

[find.files]
files = ["cwd:AGENTS.md"]

[section.greeting]
language = "jinja"
text = "Work in {{ cwd }}."

[section.files]
list = "files"
"""


def command_output(capsys, tmp_path, home, command, *arguments):
    """Return what a command prints with --json."""
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    options = f"--home={home} --store=sqlite:///{tmp_path}/none.db --now={NOW} --model=gpt-5 --json"
    main([command, *map(str, arguments), *options.split(), f"--tools={tmp_path}/tools.json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("command", "arguments", "body"),
    [
        ("show", ["W", "--layout=opal"], BODY),
        ("show", ["W/sub", "--layout=codex"], {**BODY, "cwd": "sub", "layout": "codex"}),
        ("why", ["W", "--layout=opal"], BODY),
        ("why", ["W", "AGENTS.md", "--layout=opal"], {**BODY, "path": "AGENTS.md"}),
        ("why", ["W", "sub/inner.md", "--layout=opal"], {**BODY, "path": "sub/inner.md"}),
        ("blame", ["W", "--layout=opal"], BODY),
        ("tokens", ["W", "--layout=opal"], BODY),
        ("touch", ["W", "sub/x.py", "--layout=opal"], {**BODY, "paths": ["sub/x.py"]}),
        ("diff", ["W", "W/sub", "--layout=opal"], {"old": BODY, "new": {**BODY, "cwd": "sub"}}),
        ("cache", ["W", "--layout=opal"], BODY),
        ("cache", ["W", "W/sub", "--layout=opal"], {**BODY, "cwd": "sub", "old": BODY}),
        ("cache", ["W/sub", "W", "--layout=opal"], {**BODY, "old": {**BODY, "cwd": "sub"}, "new": BODY}),
        ("agents", ["W"], {**BODY, "layout": ""}),
        ("agents", ["W", "AGENTS.md", "--layout=opal"], {**BODY, "paths": ["AGENTS.md"]}),
        ("lint", ["W", "--recursive", "--layout=opal"], {**BODY, "recursive": True}),
    ],
)
def test_the_service_answers_what_the_command_prints(service, top_folder, tmp_path, capsys, command, arguments, body):
    paths = [argument.replace("W", str(top_folder / "w")) for argument in arguments]
    printed = command_output(capsys, tmp_path, top_folder / "planted-home", command, *paths)
    response = service.post(f"/{command}", body)
    assert (response.status, response.json) == (200, printed)


def test_skills_are_those_that_the_command_lists(service, top_folder, tmp_path, capsys):
    arguments = (top_folder / "w", "--layout=opal")
    printed = command_output(capsys, tmp_path, top_folder / "planted-home", "skills", *arguments)
    assert [skill["name"] for skill in printed] == ["tidy"]
    assert service.get("/skills?cwd=&layout=opal").json == printed


def test_every_question_is_a_route():
    tested = {row[0] for row in test_the_service_answers_what_the_command_prints.pytestmark[0].args[1]}
    assert tested | {"skills", "skill", "layouts"} | {"review", "lock"} == set(ANSWERS)  # see test_git_questions.py


def test_a_diff_takes_editions_and_stored_prompts(service):
    service.conversation("differs", layout="opal")
    prompt = service.get("/conversations/differs").json["id"]
    for old in ("conversation:differs", "conversation:differs@1", prompt):
        difference = service.post("/diff", {"old": old, "new": {**BODY, "layout": "pi"}}).json
        assert (difference["old"]["id"], difference["new"]["layout"], difference["changed"]) == (prompt, "pi", True)
    missing = service.post("/diff", {"old": "conversation:differs@7", "new": prompt})
    assert (missing.status, missing.problem) == (404, "not-found")


def test_the_tokens_of_an_edition_are_those_of_its_prompt(service):
    service.conversation("counted", layout="ion", model="claude-opus-4-5")
    built = service.post("/tokens", {"cwd": "", "layout": "ion", "model": "claude-opus-4-5"}).json
    id = service.get("/conversations/counted").json["id"]
    for name, model in (("conversation:counted", ""), ("conversation:counted@1", ""), (id, "claude-opus-4-5")):
        assert service.post("/tokens", {"prompt": name, "model": model}).json == built
    missing = service.post("/tokens", {"cwd": "", "prompt": "conversation:counted@7"})
    assert (missing.status, missing.problem) == (404, "not-found")
    assert service.post("/tokens", {"cwd": "", "prompt": "/etc/passwd"}).status == 400


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        ("/show", {"template_name": "gone"}, "no stored template 'gone'; see GET /templates"),
        (
            "/tokens",
            {"prompt": "conversation:gone"},
            "no conversation or edition 'gone' in the store; see GET /conversations",
        ),
        (
            "/tokens",
            {"prompt": "sha256:" + "0" * 64},
            f"no prompt sha256:{'0' * 64} in the store; use the full id; see GET /conversations/{{id}}/editions",
        ),
        ("/show", {"settings": {"zzzz": 1}}, "unknown key 'zzzz' in this layout; see GET /layouts/keys"),
        ("/why", {"for": "a.py"}, "to find out whether a rule applies to a file, name the path of the rule too"),
    ],
)
def test_an_error_names_the_route_that_lists_valid_names(service, path, body, detail):
    assert service.post(path, {"cwd": "", **body}).json["detail"] == detail


def test_the_command_line_and_the_service_have_the_same_lists():
    assert cli._LISTS.keys() == responses._LISTS.keys()


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("show", {"cwd": "/"}),
        ("why", {**BODY, "path": "/etc/passwd"}),
        ("why", {**BODY, "path": "link-out/secret.txt"}),
        ("agents", {**BODY, "paths": ["../outside"]}),
        ("diff", {"old": {**BODY, "cwd": "link-out"}, "new": BODY}),
        ("skills?cwd=..", None),
    ],
)
def test_nothing_outside_the_served_folders_is_answered(service, route, body):
    response = service.get(f"/{route}") if body is None else service.post(f"/{route}", body)
    assert (response.status, response.problem) == (403, "outside-roots")


@pytest.fixture
def in_process(top_folder, tmp_path):
    """A function that calls a route of a service in this process, which serves a part of a repository and has a pack."""
    for name, text in {
        "home/.config/foreword/prompts/mine.toml": 'extends = "$std/opal"\nabout = "Mine."',
        "home/.config/foreword/prompts/broken.toml": "sections = 1",
        "pack/ours.toml": 'extends = "$std/builder"\nabout = "Ours."',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    options = {"home": str(tmp_path / "home"), "packs": {"team": str(tmp_path / "pack")}}
    service = Service(":memory:", [str(top_folder / "repo/served")], **options)

    def call(path, **fields):
        route = next(route for route in ROUTES if route.path == path)
        query = route.query(**fields) if route.query else None
        return route.function(service, Request({}, [], query, route.body(**fields) if route.body else None)).body

    with closing(service.conversations):
        yield call


@pytest.mark.parametrize("route", ["/agents", "/lint"])
def test_a_search_stays_in_the_served_folder_if_the_repository_is_larger(in_process, top_folder, route):
    assert in_process(route, cwd="", layout="opal")["root"] == str(top_folder / "repo/served")


def test_custom_layouts_are_listed_after_the_shipped_ones(in_process):
    rows = {row["name"]: row for row in in_process("/layouts")["layouts"]}
    assert list(rows) == [*layout_names(), *mirror_names(), "$user/broken", "$user/mine", "$team/ours"]
    assert (rows["$user/mine"]["about"], rows["$user/mine"]["sections"]) == ("Mine.", rows["opal"]["sections"])
    assert (rows["$team/ours"]["language"], rows["$team/ours"]["stored_template"]) == ("brackets", True)
    assert (rows["opal"]["mirrors"], rows["claude"]["mirrors"][:11]) == ("", "Claude Code")
    assert rows["$user/broken"]["about"].startswith("cannot be loaded: layout broken: sections must be")


def test_inspections_block_no_other_work():
    async def fill_the_lane():
        lanes, end = Lanes(1, 1), Event()
        running = [lanes.submit(Job(lambda: end.wait() and Response({})), INSPECTIONS) for _ in range(18)]
        assert (await lanes.submit(Job(lambda: Response("quick")), READING)).body == "quick"
        assert (await lanes.submit(Job(lambda: Response("built")), BUILDING)).body == "built"
        with pytest.raises(Problem, match="16 inspections are already waiting"):
            lanes.submit(Job(lambda: Response({})), INSPECTIONS)
        end.set()
        assert [response.body for response in await asyncio.gather(*running)] == [{}] * 18
        lanes.close()

    asyncio.run(fill_the_lane())


def test_one_team_cannot_take_a_whole_lane():
    async def fill_half_of_the_lane():
        lanes, end = Lanes(1, 1), Event()
        running = [lanes.submit(Job(end.wait, token="a"), INSPECTIONS) for _ in range(9)]
        with pytest.raises(Problem, match="9 such requests with this token are already in progress"):
            lanes.submit(Job(end.wait, token="a"), INSPECTIONS)
        running.append(lanes.submit(Job(end.wait, token="b"), INSPECTIONS))
        end.set()
        await asyncio.gather(*running)
        await lanes.submit(Job(end.wait, token="a"), INSPECTIONS)
        lanes.close()

    asyncio.run(fill_half_of_the_lane())


@pytest.mark.parametrize(("lane", "name"), [(TEMPLATES, "templates"), (INSPECTIONS, "inspections")])
def test_a_token_uses_all_threads_of_a_lane_while_it_is_alone(lane, name):
    async def run(callers):
        lanes, meeting = Lanes(2, 4, callers), Barrier(2)
        running = [lanes.submit(Job(lambda: meeting.wait(30), token="a"), lane) for _ in range(2)]
        waiting = lanes.counts()[name]
        if callers.is_busy:
            running.append(lanes.submit(Job(lambda: meeting.wait(30), token="b"), lane))
            running.append(lanes.submit(Job(lambda: meeting.wait(30), token="c"), lane))
        assert sorted(await asyncio.gather(*running)) == sorted([0, 1] * (len(running) // 2))
        lanes.close()
        return waiting

    class Callers:
        def __init__(self, is_busy):
            self.is_busy = is_busy

        def has_several(self):
            return self.is_busy

    asyncio.run(run(Callers(False)))
    assert asyncio.run(run(Callers(True))) >= 1


@pytest.mark.parametrize("route", ["/agents", "/lint", "/cache"])
def test_an_inspection_moves_to_its_own_lane_and_stops_when_cancelled(in_process, route):
    job = Job(lambda: Response(in_process(route, cwd="", layout="opal")))
    assert job.run(READING) == INSPECTIONS
    job.is_cancelled = True
    with pytest.raises(Cancelled):
        job.run(INSPECTIONS)


@pytest.mark.parametrize("route", ["show", "why"])
def test_a_layout_can_be_sent_with_the_request(service, top_folder, route):
    answered = service.post(f"/{route}", {"cwd": "", "layout_text": LAYOUT}).json
    candidates = answered if route == "why" else answered["candidates"]
    assert [(row["path"], row["fate"]) for row in candidates] == [(str(top_folder / "w/AGENTS.md"), "used")]
    if route == "show":
        assert answered["text"] == f"Work in {top_folder / 'w'}.\n\nBe kind: planted-prompt."


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("sections = [", (1, 13, None), "is not valid TOML"),
        ('sections = ["a"]\nabout = = 1', (2, 9, None), "is not valid TOML"),
        ('sections = ["a"]\n[section.a]\n  txt = "x"', (3, 3, 6), "section.a: unknown key 'txt'; did you mean 'text'?"),
        (
            'sections = ["a"]\n[section.a]\nlist = "nope"',
            (3, 1, 5),
            "section.a.list: unknown lookup rule or list 'nope'",
        ),
        ('sectoins = ["a"]', (1, 1, 9), "unknown key 'sectoins'; did you mean 'sections'?"),
        ('extends = "/etc/own.toml"', (1, 1, 8), "extends must be an address"),
        (
            'sections = []\n[[guideline]]\nsay = ["a"]\n[[guideline]]\nwhen = []',
            (4, 3, 12),
            "guideline 2 needs either",
        ),
        # The message quotes 'about', but the error is in another key.
        (
            'about = "x"\nsections = ["a"]\n[find]\na = { files = ["walk:{about}"] }\n[section.a]\nlist = "a"',
            (4, 1, 2),
            "find.a.files: unknown setting 'about'",
        ),
    ],
)
def test_an_error_in_a_sent_layout_has_a_position(service, text, position, message):
    response = service.post("/show", {"cwd": "", "layout_text": text})
    assert (response.status, response.problem) == (422, "invalid-layout")
    (error,) = response.json["errors"]
    assert (error["line"], error["column"], error["end_column"]) == position
    assert message in error["message"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('sections = ["a"]\n[find.x]\nfiles = ["path:/etc/passwd"]\n[section.a]\nlist = "x"', "workspace-refused"),
        ('extends = "$std/opal"\nlinks = "follow"', "workspace-refused"),
    ],
)
def test_a_sent_layout_is_as_untrusted_as_a_workspace(service, text, code):
    response = service.post("/show", {"cwd": "", "layout_text": text})
    assert code in [finding["code"] for finding in response.json["findings"]]
    assert "root:" not in response.json["text"]


def test_a_template_in_a_sent_layout_is_rendered_in_the_sandbox(in_process):
    sandbox.close()
    assert in_process("/show", cwd="", layout_text=LAYOUT)["text"].startswith("Work in /")
    assert len(sandbox.process_ids()) == 1


def test_a_layout_is_named_or_sent(service):
    response = service.post("/show", {"cwd": "", "layout": "opal", "layout_text": LAYOUT})
    assert (response.status, response.problem) == (400, "invalid-request")
