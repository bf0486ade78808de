"""The files in deploy/: they can be parsed, and their commands start a service that answers, with this environment's paths."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from configparser import RawConfigParser
from pathlib import Path

import pytest
import yaml

from foreword.service.routes import ROUTES

DEPLOY = Path(__file__).parents[2] / "deploy"
TOKEN = "a-long-random-string"


def dockerfile():
    """Return the Dockerfile's instructions, each with its arguments, without continuation lines."""
    text = re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text())
    lines = [line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    return dict(lines)


def image_environment():
    return dict(pair.split("=", 1) for pair in dockerfile()["ENV"].split())


def compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def container():
    deployment, *_ = yaml.safe_load_all((DEPLOY / "kubernetes" / "foreword.yaml").read_text())
    return deployment["spec"]["template"]["spec"]["containers"][0]


def unit():
    """Return the options of the unit's section [Service], each with all its values."""
    options = {}
    for line in (DEPLOY / "foreword.service").read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            options.setdefault(name, []).append(value)
    return options


def commands():
    """Return the command and the environment with which each file starts the service."""
    entry = json.loads(dockerfile()["ENTRYPOINT"])
    in_compose = compose()["services"]["foreword"]["environment"]
    in_pod = {row["name"]: row.get("value", "") for row in container()["env"]}
    in_unit = dict(line.split("=", 1) for line in unit()["Environment"])
    return {
        "Dockerfile": (entry, image_environment()),
        "compose.yaml": (entry, {**image_environment(), **in_compose}),
        "kubernetes": (entry, {**image_environment(), **in_pod}),
        "systemd": (unit()["ExecStart"][0].split(), in_unit),
    }


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "kubernetes", "systemd"])
def test_the_command_starts_a_service(name, tmp_path):
    (program, *arguments), variables = commands()[name]
    assert program.rpartition("/")[2] == "foreword"
    here = {"FOREWORD_PORT": "0", "FOREWORD_ROOT": str(tmp_path), "FOREWORD_STORE": f"{tmp_path}/store.db"}
    secrets = {"FOREWORD_TOKEN": TOKEN}
    process = subprocess.Popen(
        [sys.executable, "-m", "foreword", *arguments],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), **variables, **here, **secrets},
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    try:
        port = process.stdout.readline().strip().rpartition(":")[2]
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/readyz", headers={"Authorization": f"Bearer {TOKEN}"}
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            assert json.load(response) == {"status": "ready"}
        if name == "Dockerfile":
            check = json.loads(dockerfile()["HEALTHCHECK"].partition("CMD ")[2])
            environment = {"PATH": os.environ["PATH"], "FOREWORD_PORT": port}
            assert subprocess.run([sys.executable, *check[1:]], env=environment, timeout=60).returncode == 0
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        process.stdout.close()


def test_every_part_of_the_composition_starts_after_those_it_needs():
    services = compose()["services"]
    assert list(services["foreword"]["depends_on"]) == ["pgbouncer"]
    assert list(services["pgbouncer"]["depends_on"]) == ["postgres"]
    assert (
        f"@pgbouncer:{services['pgbouncer']['environment']['LISTEN_PORT']}/"
        in (services["foreword"]["environment"]["FOREWORD_STORE"])
    )
    assert services["pgbouncer"]["environment"]["POOL_MODE"] == "transaction"


def test_kubernetes_probes_paths_that_need_no_token():
    probes = [container()[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")]
    open_paths = {route.path for route in ROUTES if route.is_open}
    assert {probe["path"] for probe in probes} <= open_paths
    assert {probe["port"] for probe in probes} == {container()["ports"][0]["name"]}


def test_kubernetes_selectors_match_the_pods():
    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes" / "foreword.yaml").read_text()))
    deployment, service, budget = documents
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    assert service["spec"]["selector"] == budget["spec"]["selector"]["matchLabels"] == labels


def test_each_stops_after_the_service_has_had_its_30_seconds():
    deployment = next(yaml.safe_load_all((DEPLOY / "kubernetes" / "foreword.yaml").read_text()))
    assert deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] >= 35
    assert int(compose()["services"]["foreword"]["stop_grace_period"].removesuffix("s")) >= 35
    assert int(unit()["TimeoutStopSec"][0]) >= 35


def test_the_unit_is_an_ini_file_with_three_sections():
    parser = RawConfigParser(strict=False)
    parser.read(DEPLOY / "foreword.service")
    assert parser.sections() == ["Unit", "Service", "Install"]


def test_the_image_contains_the_extras_that_its_options_need():
    extras = re.search(r"\[([a-z,]+)\]", dockerfile()["RUN"])[1].split(",")
    assert {"serve", "postgres"} <= set(extras)
