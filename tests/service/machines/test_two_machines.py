"""Two services on one PostgreSQL: changes made on one are visible on the other."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from foreword.store import open_store

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
    for number, (setting, current) in enumerate(((one, other), (other, one), (one, other))):
        put = setting.ask("PUT", "/system-prompt", {"template": f"Template {number} of [prompt:conversation_id]."})
        assert put.status == 200
        assert current.ask("GET", "/system-prompt").form == {
            "template": f"Template {number} of [prompt:conversation_id]."
        }
        assert current.turn(f"t{number}").form["system"] == f"Template {number} of t{number}."
        assert setting.turn(f"t{number}").form["reused"]

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
        "findings": fewer.form["findings"],
    }
    (top / "w/AGENTS.md").write_text("Second.")
    assert one.turn("f", "compact", layout="foreword").form["system"] == first["system"]
    second = other.turn("f").form
    assert (second["edition"], "Second." in second["system"]) == (3, True)
    assert one.ask("GET", "/conversations/f").form["system"] == second["system"]


@pytest.mark.parametrize("layout", ["builder", "foreword", "pi"])
def test_simultaneous_first_turns_agree_on_one_edition(two_services, postgres_url, layout):
    """`builder` writes the time in milliseconds, so two separately built editions would differ."""
    two_services[0].ask("PUT", "/system-prompt", {"template": "It is [system:time] for [prompt:conversation_id]."})
    gate = Barrier(CLIENT_COUNT)

    def start(number):
        answers = []
        for round in range(6):
            gate.wait()
            answers.append(two_services[number % 2].turn(f"{layout}-{round}", layout=layout))
        return answers

    with ThreadPoolExecutor(CLIENT_COUNT) as pool:
        responses = list(pool.map(start, range(CLIENT_COUNT)))
    for answers in zip(*responses, strict=True):
        assert {answer.status for answer in answers} == {200}
        assert {(form["edition"], form["system"]) for form in (answer.form for answer in answers)} == {
            (1, answers[0].form["system"])
        }
        assert sum(not answer.form["reused"] for answer in answers) == 1
    store = open_store(postgres_url)
    assert [row.editions for row in store.conversations(layout)] == [1] * 6
    assert store.verify() == []
    store.close()


def test_every_construct_returns_a_stored_edition(two_services, postgres_url):
    """Overlapping calls agree on one edition, the others construct again, and no returned edition is lost."""
    two_services[0].ask("PUT", "/system-prompt", {"template": "It is [system:time] for [prompt:conversation_id]."})
    with ThreadPoolExecutor(CLIENT_COUNT) as pool:
        responses = list(
            pool.map(lambda number: two_services[number % 2].turn("again", "construct"), range(CLIENT_COUNT * 2))
        )
    assert {answer.status for answer in responses} == {200}
    store = open_store(postgres_url)
    stored = {edition.number: edition.system for edition in store.editions("again")}
    assert {answer.form["edition"]: answer.form["system"] for answer in responses}.items() <= stored.items()
    assert sum(not answer.form["reused"] for answer in responses) == len(stored)
    store.close()
