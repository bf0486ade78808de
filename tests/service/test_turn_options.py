"""A conversation over HTTP accepts what the library accepts: settings, wording, packs, a request's form, sub-agents and events."""

import json
from contextlib import closing

import pytest

from foreword import (
    Agent,
    Conversations,
    Tool,
    Workspace,
    for_anthropic,
    for_openai_chat,
    for_openai_responses,
)
from foreword.engine import sandbox
from foreword.errors import CallError, LayoutError
from foreword.service.request import Request, parse_body
from foreword.service.responses import Problem, to_json
from foreword.service.routes import ROUTES
from foreword.service.service import Service

# The functions whose result is the body of a request.
FORMS = {
    "anthropic": for_anthropic,
    "openai-responses": for_openai_responses,
    "openai-chat": for_openai_chat,
}
# The fields of each API's body that a turn may set.
BODY_KEYS = {
    "anthropic": ("tools", "system", "messages"),
    "openai-responses": ("instructions", "tools", "tool_choice", "input", "prompt_cache_key"),
    "openai-chat": ("tools", "tool_choice", "messages", "prompt_cache_key"),
    "gemini": ("systemInstruction", "tools", "contents"),
    "bedrock": ("system", "toolConfig", "messages"),
}
TOOLS = [{"name": "read_file", "description": "Reads a file.", "schema": {"type": "object"}}]


@pytest.fixture
def files(tree, skill):
    return tree({
        "w/AGENTS.md": "Be kind.\n",
        "w/.agents/skills/tidy/SKILL.md": skill("tidy"),
        "packs/team/prompts.toml": 'compaction = "Sum up for the team."\n',
        "packs/team/review.md": "Review the change.\n",
        "elsewhere/review.md": "Review elsewhere.\n",
        "home": None,
    })  # fmt: skip


@pytest.fixture
def call(files):
    """A function that sends a body to a conversation's route, in this process, and returns the response."""
    options = {"home": files.path("home"), "pack_roots": [files.path("packs")]}
    service = Service(":memory:", [files.path("w")], **options)

    def call(action, id="it", **body):
        path = f"/conversations/{{id}}/{action}"
        route = next(route for route in ROUTES if route.path == path and route.method == "POST")
        cwd = {"cwd": ""} if "cwd" in route.body.__struct_fields__ else {}
        parsed = parse_body(json.dumps({**cwd, **body}).encode(), route.body)
        response = route.function(service, Request({"id": id}, [], None, parsed))
        return json.loads(to_json(response.body))

    with closing(service.conversations):
        yield call


@pytest.fixture
def open_conversation(files):
    """A function that opens a conversation of the same name in the library."""

    def open_conversation(layout, **options):
        agent = Agent(tools=[Tool(**tool) for tool in TOOLS], model="claude-opus-4-5")
        workspace = Workspace(files.path("w"), home=files.path("home"))
        return Conversations().open("it", workspace, agent, layout, **options)

    return open_conversation


@pytest.mark.parametrize("form", FORMS)
def test_the_request_is_what_the_library_returns(call, open_conversation, form):
    body = {"layout": "opal", "tools": TOOLS, "model": "claude-opus-4-5", "message": "Hi."}
    expected = open_conversation("opal").turn("Hi.")
    response = call("turn", form=form, **body)
    assert response["request"] == json.loads(to_json(FORMS[form](expected)))
    assert "request_headers" not in response
    assert "request" not in call("turn", **body)


def test_the_request_for_gemini_is_the_body_of_its_api(call):
    tools = [
        {**TOOLS[0], "schema": {"type": "object", "properties": {"line_number": {"type": "integer"}}}},
        {"name": "search", "type": "google_search", "options": {"time_range_filter": {}}},
    ]
    response = call("turn", form="gemini", layout="opal", tools=tools, message="Hi.")
    function = {"name": "read_file", "description": "Reads a file.", "parametersJsonSchema": tools[0]["schema"]}
    assert response["request"] == {
        "systemInstruction": {"parts": [{"text": response["system"]}]},
        "tools": [{"functionDeclarations": [function]}, {"googleSearch": {"time_range_filter": {}}}],
        "contents": [{"role": "user", "parts": [{"text": "Hi."}]}],
    }
    empty = call("turn", "empty", form="gemini", layout="opal", settings={"sections": []}, message="Hi.")
    assert empty["request"] == {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]}


@pytest.mark.parametrize(
    ("form", "model"),
    [
        ("anthropic", "claude-sonnet-5-5"),
        ("openai-responses", "gpt-5.6"),
        ("openai-chat", "gpt-5"),
        ("gemini", "gemini-3"),
    ],
)
def test_the_headers_of_a_late_tool_are_not_in_the_body(call, form, model):
    body = {"layout": "foreword", "form": form, "model": model}
    first = call("turn", **body, tools=TOOLS, message="Hi.")
    history = [*first["history"], {"role": "assistant", "content": "Hello."}]
    late = call("turn", **body, tools=[*TOOLS, {"name": "search"}], messages=history, message="Search.")
    assert [change["added"] for change in late["changes"]] == [["search"]]
    assert {*late["request"]} <= {*BODY_KEYS[form]}
    assert [*late.get("request_headers", {})] == (["anthropic-beta"] if form == "anthropic" else [])


def test_the_request_of_a_compaction_has_a_form_too(call, open_conversation):
    conversation = open_conversation("opal")
    conversation.turn("Hi.")
    body = {"layout": "opal", "tools": TOOLS, "model": "claude-opus-4-5"}
    call("turn", **body, message="Hi.")
    messages = [{"role": "user", "content": "Hi."}]
    expected = json.loads(to_json(for_anthropic(conversation.compact(messages=messages))))
    assert call("compact", **body, messages=messages, form="anthropic")["request"] == expected


def test_settings_are_the_librarys_assignments(call, open_conversation):
    settings = {"identity.wrap": "<mine>{}</mine>", "skills": False}
    expected = open_conversation("opal", assignments=list(settings.items())).turn("Hi.").system
    assert "<mine>" in expected and "tidy" not in expected
    assert call("turn", layout="opal", tools=TOOLS, model="claude-opus-4-5", settings=settings)["system"] == expected


@pytest.mark.parametrize(
    ("layout", "settings", "message"),
    [
        ("builder", {"file_secrets": True}, "a request may not set settings.file_secrets"),
        ("builder", {"file_paths": ["/etc"]}, "a request may not set settings.file_paths"),
        ("opal", {"links": "follow"}, "a request may not set links"),
        ("opal", {"skills.validation": "lenient"}, "a request may not set find.skills.validation"),
        ("opal", {"identity.text": "$user/secret"}, "a request may not set section.identity.text"),
        ("opal", {"no.such": 1}, "unknown key 'no.such' in this layout"),
        ("opal", {"sections": None}, "sections must be"),
    ],
)
def test_a_setting_that_would_read_more_is_refused(call, layout, settings, message):
    with pytest.raises(LayoutError, match=message):
        call("turn", layout=layout, settings=settings)


def test_a_template_in_settings_is_rendered_in_the_sandbox(call):
    sandbox.close()
    turn = call("turn", layout="opal", settings={"identity.language": "jinja", "identity.text": "In {{ cwd }}."})
    assert "In /" in turn["system"]
    assert len(sandbox.process_ids()) == 1


def test_wording_and_the_text_of_a_compaction_are_replaced(call):
    call("turn", layout="opal")
    asked = call("compact", compaction="Sum up in one line.")
    assert "Sum up in one line." in json.dumps([asked["system"], asked["messages"]])
    worded = call("compact", wording={"compaction": "Sum up in two lines."})
    assert "Sum up in two lines." in json.dumps([worded["system"], worded["messages"]])


def test_packs_come_from_folders_that_the_service_allows(call, files):
    turn = call("turn", layout="foreword", base="$team/review", packs={"team": "team"})
    assert turn["system"].startswith("Review the change.")
    asked = call("compact", packs={"team": files.path("packs/team")})
    assert "Sum up for the team." in json.dumps([asked["system"], asked["messages"]])
    for folder in (files.path("elsewhere"), "../elsewhere", "/"):
        with pytest.raises(Problem, match="outside the folders that packs may come from"):
            call("turn", layout="foreword", packs={"other": folder})


@pytest.mark.parametrize("layout", ["opal", "builder"])
@pytest.mark.parametrize("append", [False, True])
def test_a_sub_agent_is_a_conversation_of_its_own(call, files, open_conversation, layout, append):
    call("turn", layout=layout, tools=TOOLS, model="claude-opus-4-5")
    parent = open_conversation(layout)
    parent.turn("Hi.")
    files({"w/AGENTS.md": "Changed since the parent started.\n"})
    expected = parent.sub_agent("Find the bug.", [Tool("search")], append=append, message="Begin.")
    turn = call("sub-agents", task="Find the bug.", tools=[{"name": "search"}], append=append, message="Begin.")
    assert turn["conversation"].startswith("it.")
    assert (turn["edition"], turn["system"], turn["messages"]) == (1, expected.system, list(expected.messages))
    assert "Find the bug." in turn["system"] and [tool["name"] for tool in turn["tools"]] == ["search"]
    later = call("turn", turn["conversation"], message="Go on.")
    assert (later["edition"], later["reused"], later["system"], later["tools"]) == (
        1,
        True,
        turn["system"],
        turn["tools"],
    )
    assert call("turn", message="Hi.")["system"] != turn["system"]


def test_the_task_of_a_sub_agent_is_rendered_in_the_sandbox(call):
    call("turn", layout="pod")
    sandbox.close()
    for append in (False, True):
        assert "In /" in call("sub-agents", task="In {{ cwd }}.", append=append)["system"]
    assert len(sandbox.process_ids()) == 1


def test_a_sub_agent_needs_a_task_and_a_parent(call):
    with pytest.raises(Problem, match="has not been started"):
        call("sub-agents", task="Find the bug.")
    call("turn")
    with pytest.raises(CallError, match="either a task or the name of a definition"):
        call("sub-agents")


def test_a_message_is_sent_with_the_next_turn(call):
    call("turn", layout="opal")
    assert call("messages", message="From a watcher.") == {"conversation": "it", "waiting": 1}
    turn = call("turn", message="Hi.")
    assert [message["content"] for message in turn["messages"]] == ["From a watcher.", "Hi."]
    later = call("turn", messages=turn["history"], message="More.")
    assert [message["content"] for message in later["messages"]] == ["From a watcher.", "Hi.", "More."]


@pytest.fixture
def touch(call, files):
    """A function that touches a file below a nested instruction file, and returns the text of the touch."""
    files({"w/.git/HEAD": "ref: refs/heads/main\n", "w/web/AGENTS.md": "Use tabs.\n"})
    call("turn", layout="foreword", message="Hi.")

    def touch():
        (message,) = call("touch", paths=["web/a.py"])["messages"]
        return message["content"]

    return touch


def test_the_next_turn_sends_what_the_client_did_not_append_after_a_touch(call, touch):
    text = touch()
    turn = call("turn", message="Go on.")
    assert [message["content"] for message in turn["messages"]] == [text, "Go on."]
    later = call("turn", messages=[{"role": "user", "content": "Go on."}], message="More.")
    assert [message["content"] for message in later["messages"]] == [text, "Go on.", "More."]


def test_the_next_turn_does_not_repeat_what_the_client_appended_after_a_touch(call, touch):
    messages = [{"role": "tool", "content": f"The file.\n\n{touch()}"}]
    turn = call("turn", messages=messages, message="Go on.")
    assert turn["messages"] == [*messages, {"role": "user", "content": "Go on."}]


def test_a_rebuild_keeps_messages_that_no_turn_has_sent(call, touch, files):
    text = touch()
    call("messages", message="From a watcher.")
    files({"w/AGENTS.md": "Be strict.\n"})
    assert call("construct", layout="foreword")["edition"] == 2
    turn = call("turn", message="Go on.")
    assert [message["content"] for message in turn["messages"]] == [text, "From a watcher.", "Go on."]


def test_added_resources_stay_with_the_conversation(call, files, skill):
    files({"w/more/swim/SKILL.md": skill("swim"), "outside/walk/SKILL.md": skill("walk")})
    tools = [{"name": "read"}]
    assert "swim" not in call("turn", layout="pi", tools=tools)["system"]
    assert "swim" in call("resources", skills=["more"], prompts={"team": "team"})["system"]
    assert "swim" in call("reload")["system"], "another request knows them too"
    assert call("turn", base="$team/review", message="Hi.")["edition"]
    with pytest.raises(Problem, match="outside the served folders"):
        call("resources", skills=["../outside"])


def test_a_new_registry_sets_the_tools(call):
    call("turn", layout="pi", tools=[{"name": "read"}])
    turn = call("registry", tools=[{"name": "read"}, {"name": "edit"}])
    assert [tool["name"] for tool in turn["tools"]] == ["edit", "read"]
    assert [tool["name"] for tool in call("turn", message="Hi.")["tools"]] == ["edit", "read"]


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "function", "function": {"name": "read", "description": "Read.", "parameters": {"type": "object"}}},
        {"name": "read", "description": "Read.", "input_schema": {"type": "object"}},
        {"functionDeclarations": [{"name": "read", "description": "Read.", "parameters": {"type": "OBJECT"}}]},
        {"name": "read", "description": "Read.", "inputSchema": {"type": "object"}, "annotations": {"title": "Read"}},
    ],
)
def test_tools_may_be_in_a_providers_form(service, definition):
    expected = [{"name": "read", "description": "Read.", "schema": {"type": "object"}}]
    for padding in ("", "x" * 200):  # a long list of tools is decoded once for several requests
        tools = [definition, {"name": "other", "description": padding}] if padding else [definition]
        for _ in range(2):
            response = service.conversation(f"forms-{padding[:1]}", layout="pi", message="Hi", tools=tools)
            assert response.status == 200 and expected[0] in response.json["tools"]
    wrong = service.conversation("forms", layout="pi", message="Hi", tools=[{"nme": "read"}])
    assert wrong.status == 400 and "nme" in wrong.json["detail"]


def test_usage_without_known_keys_says_which_ones_are_expected(service):
    service.conversation("usage-keys", layout="builder", message="Hi")
    response = service.post("/conversations/usage-keys/usage", {"usage": {"tokens_in": 5}})
    assert response.status == 400 and "input_tokens (Anthropic, OpenAI Responses)" in response.json["detail"]


def test_residents_are_sent_with_a_turn(call):
    residents = [
        {"kind": "workflow", "slug": "deploy", "description": "How we\ndeploy"},
        {"kind": "knowledge", "slug": "api", "description": "Which routes exist"},
    ]
    settings = {"packs.std": "insomnia", "sections": ["knowledge", "workflows"]}
    response = call("turn", layout="pod", residents=residents, settings=settings, message="Hi.")
    assert response["system"] == (
        "---\n## Resident knowledge\n\n- api: Which routes exist\n\n---\n## Resident workflows\n\n- deploy: How we deploy"
    )


@pytest.mark.parametrize(
    ("row", "where"),
    [
        ({"kind": "workflows", "slug": "a", "description": "b"}, "residents[0].kind"),
        ({"kind": "workflow", "slug": "", "description": "b"}, "residents[0].slug"),
        ({"kind": "workflow", "slug": "a"}, "description"),
        ({"kind": "workflow", "slug": "a", "description": "b", "path": "/etc"}, "path"),
    ],
)
def test_a_resident_that_cannot_be_listed_is_refused_by_name(call, row, where):
    with pytest.raises(Problem) as raised:
        call("turn", layout="pod", residents=[row], message="Hi.")
    assert where in str(raised.value.__dict__)
