"""The options --home, --settings, --set, --pack and --protect-label apply to every request in every worker."""

import http.client
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import foreword
from foreword.cli import main
from foreword.cli.serve import parser_for
from foreword.service.memory import IN_FLIGHT


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    top = tmp_path_factory.mktemp("options")
    for name, text in {
        "home/.config/foreword/prompts/greet.md": "Greet like the planted user.\n",
        "home/.config/foreword/foreword.toml": "[for.ion]\nsection.base.text = 'From the home.'\n",
        "mine.toml": "layout = 'ion'\n[for.opal]\nsection.identity.text = 'From the settings.'\n",
        "pack/review.md": "Review with the pack.\n",
        "skills/polish/SKILL.md": "---\nname: polish\ndescription: Tidies up.\n---\nTidy.\n",
    }.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


@pytest.fixture(scope="module", params=[1, 2], ids=["one-worker", "two-workers"])
def service(request, start, files):
    return start(
        *("--home", str(files / "home"), "--settings", str(files / "mine.toml"), "--pack", f"team={files / 'pack'}"),
        *(
            "--set",
            'identity.when=["main"]',
            "--set",
            "section.identity.wrap=<set>{}</set>",
            "--set",
            f"skill_dirs={files / 'skills'}",
            "--workers",
            str(request.param),
        ),
        *("--protect-label", "production", "--protect-label", "canary"),
    )


def texts(server, **body):
    """Return the prompts of several conversations, so that several workers respond."""
    bodies = [server.conversation(f"{body} {number}", session="same", **body) for number in range(6)]
    assert [body.status for body in bodies] == [200] * 6, bodies[0].body
    return {body.json["system"] for body in bodies}


def test_settings_and_keys_reach_every_worker(service):
    (text,) = texts(service, layout="opal")
    assert "<set>From the settings.</set>" in text


@pytest.mark.parametrize("layout", ["foreword", "opal", "ion", "pi", "pod", "builder"])
def test_keys_reach_the_layouts_that_have_them(service, layout):
    now, tools = "2026-03-07T08:55:05Z", [{"name": "use_skill"}, {"name": "read"}]
    (text,) = texts(service, layout=layout, tools=tools, now=now)
    assert ("polish" in text) == (layout == "opal")


def test_references_resolve_in_the_home_and_the_packs(service):
    (greeting,) = texts(service, layout="foreword", base="$user/greet")
    (review,) = texts(service, layout="foreword", base="$team/review")
    assert (greeting.splitlines()[0], review.splitlines()[0]) == (
        "Greet like the planted user.",
        "Review with the pack.",
    )


def test_protected_labels_reach_every_worker(service):
    labels = [service.get("/token").json["protected_labels"] for _ in range(6)]
    assert labels == [["production", "canary"]] * 6


def test_the_home_option_sets_the_home_directory(start, files):
    server = start("--home", str(files / "home"), "--settings", str(files / "mine.toml"))
    (text,) = texts(server)
    assert text.startswith("From the home."), "the settings name the layout ion, and the home has its base"
    server.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "x"], "--set needs KEY=VALUE, not 'x'"),
        (["--set", "no.such.key=1"], "--set no.such.key: no layout has this key"),
        (["--set", "skill_dir=x"], "--set skill_dir: no layout has this key; did you mean 'skill_dirs'?"),
        (["--set", "skills.validation=loose"], "validation must be one of strict, lenient"),
        (["--layout", "ion", "--set", "budget=x"], "budget"),
        (["--pack", "team=/does/not/exist"], "--pack team=/does/not/exist: the directory does not exist"),
        (["--settings", "/does/not/exist.toml"], "the settings file '/does/not/exist.toml' does not exist"),
        (["--home", "/does/not/exist"], "--home /does/not/exist: the directory does not exist"),
        (["--layout", "opel"], "unknown layout 'opel'; did you mean 'opal'?"),
        (["--allow-origin", "app.example"], "--allow-origin must be a site such as https://app.example"),
        (["--tls-cert", "x.pem"], "--tls-cert and --tls-key must be passed together"),
        (["--tls-cert", "x.pem", "--tls-key", "x.pem"], "--tls-cert x.pem, --tls-key x.pem: No such file or directory"),
        (["--unix", "/"], "--unix / exists and is not a socket"),
        (["--protect-label", "1"], "a label begins with a letter"),
    ],
)
def test_an_invalid_option_is_refused_at_the_start(tmp_path, options, message):
    command = [sys.executable, "-m", "foreword", "serve", "--port", "0", "--root", str(tmp_path), "--store", ":memory:"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    result = subprocess.run([*command, *options], capture_output=True, text=True, env=environment, timeout=60)
    assert result.returncode == 2 and message in result.stderr, result


def test_the_help_names_the_defaults():
    parser = parser_for("serve")
    defaults = [(action.default, re.search(r"\(([\d.]+)\)$", action.help)) for action in parser.actions()]
    named = [(default, float(match[1])) for default, match in defaults if match]
    assert len(named) > 3 and all(default == number for default, number in named), named
    assert parser.parse_args([]).in_flight == IN_FLIGHT


def test_workers_import_nothing_from_the_current_directory(tmp_path):
    """The current directory may be an untrusted workspace."""
    (tmp_path / "multiprocessing.py").write_text("open('imported', 'w').close()\n")
    program = Path(sys.executable).with_name("foreword")
    command = [program, "serve", "--port", "0", "--workers", "2", "--store", f"sqlite:///{tmp_path}/store.db"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
        port = int(process.stdout.readline().strip().rpartition(":")[2])
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("GET", "/healthz")
            assert connection.getresponse().status == 200
        process.terminate()
    assert not (tmp_path / "imported").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_the_log_says_what_started_and_when_it_stopped(start, workers):
    variables = {"FOREWORD_STROE": "planted", "FOREWORD_RATE_LIMIT": "500", "FOREWORD_HOOK_SECRET": "planted"}
    options = ("--workers", str(workers), "--log", "json", "--time-limit", "7.5", "--allow-host", "planted.example")
    server = start(*options, token="planted-token", environment=variables)
    server.close()
    started, warning, *_, stopped = [line for line in server.log() if line.get("from") == "service"]
    workers_part = [] if workers == 1 else ["workers 2"]
    assert started["message"].partition(", Python")[0] == f"started version {foreword.__version__}"
    assert started["message"].split(", ")[2:] == [
        "store SQLite",
        "roots 1",
        "port 0",
        *workers_part,
        "hosts 1",
        "log json",
        "rate limit 500",
        "time limit 7.5",
    ]
    assert (warning["level"], warning["message"]) == (
        "warning",
        "the environment variable FOREWORD_STROE has no effect; did you mean 'FOREWORD_STORE'?",
    )
    assert (stopped["level"], stopped["message"]) == ("info", "stopped")


@pytest.mark.parametrize(
    ("option", "low", "high", "unit"),
    [
        ("--port", 0, 65535, ""),
        ("--workers", 1, 64, ""),
        ("--time-limit", 0.1, 3600, " seconds"),
        ("--template-workers", 1, 64, ""),
        ("--template-queue", 0, 10000, ""),
        ("--in-flight", 1, 1000000, " megabytes"),
        ("--rate-limit", 0, 1000000, " requests per second"),
        ("--hook-time-limit", 0.1, 600, " seconds"),
    ],
)
def test_an_option_accepts_the_values_of_its_range(capsys, option, low, high, unit):
    """The store is examined next, and this one cannot be used."""
    step = 0.05 if isinstance(low, float) else 1
    for value, is_accepted in {low: True, high: True, low - step: False, high + 1: False}.items():
        assert main(["serve", "--store", "mysql://x", f"{option}={value}"]) == 2
        message = capsys.readouterr().err
        assert ("unknown kind of store" in message) is is_accepted
        assert (f"{option} must be between {low} and {high}{unit}, not {value:.15g}" in message) is not is_accepted
