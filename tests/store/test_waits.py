"""Every call that writes announces it, so that a thread which must not wait stops before anything is written."""

import pytest

from foreword.store import waits
from foreword.store.rows import LabelMove, TemplateVersion
from foreword.store.usage import CallUsage


class Refused(Exception):
    pass


class Reader:
    """Listens for a thread that must not write."""

    def on_slow_work(self, kind):
        if kind == "write":
            raise Refused

    def set_interrupt(self, stop):
        """Nothing is interrupted."""


@pytest.mark.parametrize(
    "write",
    [
        lambda store, edition: store.publish("chat", edition(2, "new"), 1),
        lambda store, edition: store.publish("other", edition(1), 0),
        lambda store, edition: store.save_state("chat", 1, '{"a": 1}'),
        lambda store, edition: store.add_usage("chat", 1, CallUsage(1, 0, 0, 1, None, 1)),
        lambda store, edition: store.add_template(TemplateVersion(0, "x")),
        lambda store, edition: store.move_label(LabelMove(name="t", label="old", previous=0, version=1)),
        lambda store, edition: store.remove_label(LabelMove(name="t", label="old", previous=0, version=0)),
        lambda store, edition: store.delete_template("t"),
        lambda store, edition: store.forget("chat"),
        lambda store, edition: list(store.prune(2e9)),
        lambda store, edition: store.take_lease("a", "me", 1, 1),
        lambda store, edition: store.renew_lease("a", "me", 1),
        lambda store, edition: store.finish_lease("a", "me"),
    ],
)
def test_a_thread_that_must_not_wait_writes_nothing(store, edition, write):
    store.publish("chat", edition(1), 0)
    before = store.stats()
    waits.listen(Reader())
    try:
        with pytest.raises(Refused):
            write(store, edition)
    finally:
        waits.listen(None)
    assert store.stats() == before
