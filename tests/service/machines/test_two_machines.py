"""Two services on one PostgreSQL: changes made on one are visible on the other."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from foreword.store import open_store
from foreword.store.listing import ConversationQuery

pytestmark = pytest.mark.xdist_group("machines")
CLIENT_COUNT = 12


@pytest.fixture(scope="module")
def two_services(start_shared_service, postgres_url):
    machines = [start_shared_service(postgres_url, wait=False) for _ in range(2)]
    for machine in machines:
        machine.wait_for_start()
    return machines


def test_each_service_continues_conversations_of_the_other(two_services, top):
    one, other = two_services
    for index, (setting, current) in enumerate(((one, other), (other, one), (one, other))):
        put = setting.request("PUT", "/system-prompt", {"template": f"Template {index} of [prompt:conversation_id]."})
        assert put.status == 200
        assert current.request("GET", "/system-prompt").form == {
            "template": f"Template {index} of [prompt:conversation_id]."
        }
        assert current.turn(f"t{index}").form["system"] == f"Template {index} of t{index}."
        assert setting.turn(f"t{index}").form["reused"]

    (top / "w/AGENTS.md").write_text("First.")
    first = one.turn("f", layout="foreword", tools=[{"name": "read"}]).form
    assert (first["edition"], first["reused"], "First." in first["system"]) == (1, False, True)
    more = other.turn("f", layout="foreword", tools=[{"name": "read"}, {"name": "zap"}]).form
    assert (more["edition"], more["system"], [tool["name"] for tool in more["tools"]]) == (
        2,
        first["system"],
        ["read", "zap"],
    )
    fewer = one.turn("f", layout="foreword", tools=[{"name": "read"}])
    assert "`zap`" in fewer.form["messages"][0]["content"] and fewer.codes == ["drift"]
    assert fewer.form == {
        **more,
        "reused": True,
        "messages": fewer.form["messages"],
        "history": fewer.form["history"],
        "changes": fewer.form["changes"],
        "findings": fewer.form["findings"],
    }
    assert [change.get("removed") for change in fewer.form["changes"]] == [None, ["zap"]]
    (top / "w/AGENTS.md").write_text("Second.")
    assert one.turn("f", "compact", layout="foreword").form["system"] == first["system"]
    second = other.turn("f").form
    assert (second["edition"], "Second." in second["system"]) == (3, True)
    assert one.request("GET", "/conversations/f").form["system"] == second["system"]


@pytest.mark.parametrize("layout", ["builder", "foreword", "pi"])
def test_simultaneous_first_turns_agree_on_one_edition(two_services, postgres_url, layout):
    """`builder` writes the time in milliseconds, so two separately built editions would differ."""
    two_services[0].request("PUT", "/system-prompt", {"template": "It is [system:time] for [prompt:conversation_id]."})
    gate = Barrier(CLIENT_COUNT)

    def start(number):
        responses = []
        for round in range(6):
            gate.wait()
            responses.append(two_services[number % 2].turn(f"{layout}-{round}", layout=layout))
        return responses

    with ThreadPoolExecutor(CLIENT_COUNT) as pool:
        responses_by_client = list(pool.map(start, range(CLIENT_COUNT)))
    for responses in zip(*responses_by_client, strict=True):
        assert {response.status for response in responses} == {200}
        assert {(form["edition"], form["system"]) for form in (response.form for response in responses)} == {
            (1, responses[0].form["system"])
        }
        assert sum(not response.form["reused"] for response in responses) == 1
    store = open_store(postgres_url)
    assert [row.editions for row in store.conversations(ConversationQuery(layout)).rows] == [1] * 6
    assert store.verify() == []
    store.close()


def test_every_construct_returns_a_stored_edition(two_services, postgres_url):
    """Overlapping calls agree on one edition, the others construct again, and no returned edition is lost."""
    two_services[0].request("PUT", "/system-prompt", {"template": "It is [system:time] for [prompt:conversation_id]."})
    with ThreadPoolExecutor(CLIENT_COUNT) as pool:
        responses = list(
            pool.map(lambda number: two_services[number % 2].turn("again", "construct"), range(CLIENT_COUNT * 2))
        )
    assert {response.status for response in responses} == {200}
    store = open_store(postgres_url)
    stored = {edition.number: edition.system for edition in store.editions("again")}
    assert {response.form["edition"]: response.form["system"] for response in responses}.items() <= stored.items()
    assert sum(not response.form["reused"] for response in responses) == len(stored)
    store.close()
