"""Installed extensions take part in the service's responses."""

import pytest

MODULE = """
from foreword import Extension
from foreword.extensions import Start


def weather(name, workspace):
    return f"sunny in {name}"


def fail(messages, about):
    raise ValueError("planted")


def rule(tools):
    return "Bring an umbrella." if "shell" in tools else None


def before(prompt, message, about):
    return Start(message="It is sunny.") if "weather" in message else None


extension = Extension("weather", variables={"weather": weather}, rules=[rule], before_agent_start=before)
broken = Extension("broken", context=fail)


def prompted(prompt, message, about):
    return Start(prompt=f"{prompt} For {message} in {about.conversation}.") if message.startswith("hold") else None


def strict(prompt, message, about):
    if "swordfish" in message:
        raise ValueError("swordfish")


holding = Extension("holding", before_agent_start=prompted)
required = Extension("required", before_agent_start=strict, required=["before_agent_start"])
few = Extension("few", context=lambda messages: messages, required=["context"])
"""
FILES = {
    "weather_extension.py": MODULE,
    "weather_extension-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: weather-extension\nVersion: 1.0\n",
    "weather_extension-1.0.dist-info/entry_points.txt": "[foreword]\nweather = weather_extension:extension\nbroken = weather_extension:broken\nfew = weather_extension:few\nholding = weather_extension:holding\nrequired = weather_extension:required\nmissing = no_such_module:extension\n",
}


@pytest.fixture(scope="module")
def extended_service(start, tmp_path_factory):
    """A service with an installed package that has two extensions, and one that cannot be loaded."""
    folder = tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return start(environment={"PYTHONPATH": str(folder)})


def test_templates_can_use_extension_variables(extended_service):
    template = "It is [weather:Oslo][if weather:x]![endif]"
    assert (
        extended_service.post("/system-prompt/preview", {"template": template}).json["text"] == "It is sunny in Oslo!"
    )
    assert extended_service.post("/system-prompt/check", {"template": template}).json == {"findings": []}
    assert extended_service.conversation("variables", base=template).json["system"] == "It is sunny in Oslo!"


def test_extension_rules_appear_in_the_guidelines(extended_service):
    assert (
        "Bring an umbrella."
        in extended_service.conversation("rules", layout="opal", tools=[{"name": "shell"}]).json["system"]
    )
    assert "umbrella" not in extended_service.conversation("no rules", layout="opal").json["system"]


def test_messages_from_extensions_follow_the_users(extended_service):
    messages = extended_service.conversation("messages", message="How is the weather?").json["messages"]
    assert [message["content"] for message in messages] == ["How is the weather?", "It is sunny."]


def test_a_failing_hook_is_reported_and_skipped(extended_service):
    findings = extended_service.conversation("failing").json["findings"]
    assert [finding["message"] for finding in findings if finding["code"] == "extension-failed"] == [
        "extension 'few': loading raised CallError (extension 'few': context is called as context(messages, about) but"
        " does not accept these arguments) and was skipped",
        "extension 'missing': loading raised ModuleNotFoundError and was skipped",
        "extension 'broken': fail raised ValueError and was skipped",
    ]


def test_an_extensions_prompt_lasts_until_the_next_user_request(extended_service):
    first = extended_service.conversation("held", message="hold this").json
    assert first["system"].endswith("For hold this in held.")
    assert extended_service.conversation("held", messages=first["history"]).json["system"] == first["system"]
    mine = [*first["history"], {"role": "user", "content": "hold that"}]
    assert (
        extended_service.conversation("held", messages=mine, new_prompt=True)
        .json["system"]
        .endswith("For hold that in held.")
    )
    assert "For hold" not in extended_service.conversation("held", message="go on").json["system"]


def test_a_required_hook_that_fails_is_a_problem(extended_service):
    response = extended_service.conversation("required", message="swordfish")
    assert (response.status, response.problem) == (502, "hook-failed")
    assert "swordfish" not in str(response.json)


def test_without_the_package_nothing_is_added(service):
    assert service.post("/system-prompt/preview", {"template": "[weather:Oslo]"}).json["text"] == ""
