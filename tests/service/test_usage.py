"""Measured cache hits over HTTP."""

import json

import pytest

USAGE = {
    "input_tokens": 500,
    "cache_read_input_tokens": 8000,
    "cache_creation_input_tokens": 1500,
    "output_tokens": 300,
}
COUNTED = {
    "calls": 1,
    "input": 10_000,
    "read": 8000,
    "written": 1500,
    "output": 300,
    "cost": 0.023375,
    "hit_rate": 0.8,
    "unreported": 0,
}


def test_usage_is_recorded_and_shown(service):
    service.request("POST", "/conversations/measured/turn", {"cwd": "", "model": "claude-opus-5"})
    before = service.request("GET", "/conversations/measured")
    assert "usage" not in before.json
    response = service.request("POST", "/conversations/measured/usage", {"usage": USAGE})
    assert response.json == {
        "conversation": "measured",
        "edition": 1,
        "usage": COUNTED,
        "edition_usage": COUNTED,
        "findings": [],
    }
    after = service.request("GET", "/conversations/measured", headers={"If-None-Match": before.headers["etag"]})
    assert (after.status, after.json["usage"]) == (200, COUNTED)
    again = service.request("GET", "/conversations/measured", headers={"If-None-Match": after.headers["etag"]})
    assert again.status == 304
    assert service.request("GET", "/conversations/measured/editions/1").json["usage"] == COUNTED


def test_a_hit_rate_is_not_rounded(service):
    """Rounded twice, 0.99497 would be 100%."""
    service.request("POST", "/conversations/nearly/turn", {"cwd": ""})
    usage = {"input_tokens": 503, "cache_read_input_tokens": 99_497, "output_tokens": 1}
    response = service.request("POST", "/conversations/nearly/usage", {"usage": usage})
    assert response.json["usage"]["hit_rate"] == 0.99497


def test_a_conversation_has_the_usage_of_all_its_editions(fresh_service):
    agent = {"cwd": "", "model": "claude-opus-5"}
    fresh_service.request("POST", "/conversations/t/turn", agent)
    fresh_service.request("POST", "/conversations/t/usage", {"usage": USAGE})
    fresh_service.request("PUT", "/system-prompt", {"template": "Another one."})
    fresh_service.request("POST", "/conversations/t/construct", agent)
    recorded = fresh_service.request("POST", "/conversations/t/usage", {"usage": {"input_tokens": 10}}).json
    conversation, editions = (
        fresh_service.get("/conversations/t").json,
        fresh_service.get("/conversations/t/editions").json,
    )
    unknown = {
        "calls": 1,
        "input": 10,
        "read": None,
        "written": None,
        "output": 0,
        "cost": None,
        "hit_rate": None,
        "unreported": 1,
    }
    total = {**COUNTED, "calls": 2, "input": 10_010, "read": None, "written": None, "unreported": 1}
    assert (recorded["usage"], recorded["edition_usage"]) == (total, unknown)
    assert (conversation["usage"], conversation["edition_usage"], conversation["trigger"]) == (
        total,
        unknown,
        "construct",
    )
    assert [(row["trigger"], row["usage"]) for row in editions["editions"]] == [
        ("start", COUNTED),
        ("construct", unknown),
    ]
    assert fresh_service.get("/conversations/t/editions/1").json["usage"] == COUNTED


def test_the_usage_of_many_conversations_is_added_up(fresh_service):
    for id in ("one", "two", "three"):
        fresh_service.request("POST", f"/conversations/{id}/turn", {"cwd": "", "model": "claude-opus-5"})
    total = {
        "calls": 0,
        "input": 0,
        "read": 0,
        "written": 0,
        "output": 0,
        "cost": None,
        "hit_rate": None,
        "unreported": 0,
    }
    assert fresh_service.get("/usage").json == {"conversations": 3, "next": None, "total": total, "days": []}
    for id in ("one", "two"):
        fresh_service.request("POST", f"/conversations/{id}/usage", {"usage": USAGE})
    response = fresh_service.get("/usage?sort=newest").json
    doubled = {name: number * 2 for name, number in COUNTED.items()} | {"hit_rate": 0.8}
    assert response["total"] == doubled
    assert [day["usage"] for day in response["days"]] in (
        [doubled],
        [COUNTED, COUNTED],
    )  # the second call may be after midnight
    assert fresh_service.get("/usage?search=t").json["total"] == COUNTED
    assert fresh_service.get("/usage?limit=1").json["next"] == "one"


def test_a_collapse_is_reported_and_counted(service):
    service.request("POST", "/conversations/collapsed/turn", {"cwd": ""})
    service.request("POST", "/conversations/collapsed/usage", {"usage": USAGE})
    response = service.request(
        "POST", "/conversations/collapsed/usage", {"usage": {"input_tokens": 10_000, "cache_read_input_tokens": 0}}
    )
    assert [finding["code"] for finding in response.json["findings"]] == ["cache-collapse"]
    text = service.request("GET", "/metrics").body.decode()
    metrics = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert float(metrics["foreword_cache_collapses_total"]) >= 1
    tokens = {name: float(metrics[f"foreword_{name}_tokens_total"]) for name in ("input", "read", "written", "output")}
    assert tokens["input"] >= 20_000
    assert tokens["read"] >= 8000
    assert float(metrics["foreword_hit_rate"]) == pytest.approx(tokens["read"] / tokens["input"], abs=1e-4)


@pytest.mark.parametrize(
    ("source", "usage"),
    [
        ("gemini", {"promptTokenCount": 100, "cachedContentTokenCount": 40, "thoughtsTokenCount": 3, "other": 1}),
        ("null", {"prompt_token_count": None, "promptTokenCount": 100, "cachedContentTokenCount": 40, "thoughtsTokenCount": 3}),
        ("langchain", {"input_tokens": 100, "output_tokens": 3, "input_token_details": {"cache_read": 40}}),
        ("pydantic-ai", {"input_tokens": 100, "output_tokens": 3, "cache_read_tokens": 40, "cache_write_tokens": 0}),
        ("litellm", {"prompt_tokens": 100, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 40}}),
    ],
)  # fmt: skip
def test_the_cached_tokens_of_every_source_are_counted(service, source, usage):
    service.request("POST", f"/conversations/{source}/turn", {"cwd": ""})
    counted = service.request("POST", f"/conversations/{source}/usage", {"usage": usage}).json["usage"]
    assert (counted["input"], counted["read"], counted["output"]) == (100, 40, 3)


@pytest.mark.parametrize(
    ("id", "body", "problem"),
    [
        ("unheard-of", {"usage": USAGE}, "not-found"),
        ("used", {}, "invalid-body"),
        ("used", {"usage": {}}, "invalid-body"),
        ("used", {"usage": {"input_tokens": "planted"}}, "invalid-body"),
        ("used", {"usage": {"promptTokenCount": None, "cachedContentTokenCount": 1}}, "invalid-request"),
        ("used", {"usage": USAGE, "planted": 1}, "invalid-body"),
    ],
)
def test_invalid_usage_is_a_problem(service, id, body, problem):
    service.request("POST", "/conversations/used/turn", {"cwd": ""})
    assert service.request("POST", f"/conversations/{id}/usage", json.dumps(body).encode()).problem == problem
