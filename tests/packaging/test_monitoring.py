"""The files for operators: alerts and dashboard use series that the service has, and the manifests fit Kubernetes' own schemas."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from foreword.findings import CODES
from foreword.service.lanes import LANES
from foreword.service.metrics import Metrics
from foreword.service.responses import PROBLEMS
from foreword.service.routes import ROUTES

ROOT = Path(__file__).parents[2]
RULES = yaml.safe_load((ROOT / "deploy/monitoring/alerts.yaml").read_text())["groups"][0]["rules"]
PANELS = json.loads((ROOT / "deploy/monitoring/grafana.json").read_text())["panels"]
EXPRESSIONS = {
    **{rule["alert"]: rule["expr"] for rule in RULES},
    **{f"{panel['title']} {row['refId']}": row["expr"] for panel in PANELS for row in panel["targets"]},
}
_NAME = re.compile(r"\b((?:foreword|process)_\w+)(?:\{([^}]*(?:\{id\})?[^}]*)\})?")
# Prometheus adds these labels to every series that it scrapes.
_ADDED = {"job", "instance"}


@pytest.fixture(scope="module")
def series():
    """Return each series of a service that has seen a request of every kind, with the values of each of its labels."""
    metrics = Metrics(ROUTES)
    for route in ROUTES:
        for status in {status for status, _ in PROBLEMS.values()}:
            metrics.request(route, status, 0.1, (), codes=tuple(CODES))
    found = {}
    for line in metrics.text().splitlines():
        if not line.startswith("#"):
            name, labels = re.match(r"(\w+)(?:\{(.*)\})?", line).groups()
            for label, text in re.findall(r'(\w+)="([^"]*)"', labels or ""):
                found.setdefault(name, {}).setdefault(label, set()).add(text)
            found.setdefault(name, {})
    return found


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_every_series_and_label_exists(expression, series):
    names = _NAME.findall(expression)
    assert names or expression == 'up{job="foreword"} == 0'
    for name, labels in names:
        assert name in series
        for label, sign, text in re.findall(r'(\w+)(=~|=)"([^"]*)"', labels):
            if label in _ADDED:
                continue
            known = series[name][label]
            choices = [text] if sign == "=" else [part.replace("..", "00") for part in text.split("|")]
            assert set(choices) <= known, label


def test_the_run_book_has_a_heading_for_each_alert_and_no_other():
    page = (ROOT / "docs/run-book.md").read_text()
    headings = re.findall(r"^## (Foreword\w+)$", page, re.MULTILINE)
    assert headings == [rule["alert"] for rule in RULES]
    assert [rule["annotations"]["run_book"] for rule in RULES] == [
        f"docs/run-book.md#{heading.lower()}" for heading in headings
    ]


def test_the_run_book_names_lanes_that_exist():
    page = (ROOT / "docs/run-book.md").read_text()
    refusing = page.split("## ForewordRefusing")[1].split("## ")[0]
    assert set(re.findall(r"`(\w+)`(?=:| and `\w+`:)", refusing)) <= set(LANES)


@pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed (Debian: apt install prometheus)"
)
def test_each_alert_fires_and_a_quiet_service_has_none():
    cases = ROOT / "tests/packaging/alerts_test.yaml"
    answer = subprocess.run(["promtool", "test", "rules", str(cases)], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize("path", sorted((ROOT / "deploy/kubernetes").glob("*.yaml")), ids=lambda path: path.name)
def test_manifests_fit_the_schemas_of_kubernetes(path):
    import kubernetes_validate

    documents = [row for row in yaml.safe_load_all(path.read_text()) if row["kind"] != "ServiceMonitor"]
    assert len(documents) >= 3
    for document in documents:
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)


def test_the_service_monitor_selects_the_service():
    rows = {}
    for path in (ROOT / "deploy/kubernetes").glob("*.yaml"):
        rows.update({row["kind"]: row for row in yaml.safe_load_all(path.read_text())})
    monitor, service = rows["ServiceMonitor"]["spec"], rows["Service"]
    assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitor["endpoints"][0]["port"] == service["spec"]["ports"][0]["name"]
    # The alerts expect the job `foreword`, which is the value of this label.
    assert service["metadata"]["labels"][monitor["jobLabel"]] == "foreword"
    assert rows["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"] == rows["Deployment"]["metadata"]["name"]


def test_docker_sends_only_what_the_image_copies():
    ignored = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    copied = re.findall(r"^COPY (\S+)", (ROOT / "deploy/Dockerfile").read_text(), re.MULTILINE)
    assert ignored == ["*", *(f"!{path}" for path in copied)]
