"""A store that is dropped without being closed closes its connections, in whatever order Python drops the objects."""

import gc
import warnings

from foreword.store import open_store


def test_a_store_in_a_reference_cycle_is_dropped_without_a_warning(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/store.db")
    assert store.template() is None
    circle = [store]
    circle.append(circle)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del store, circle
        gc.collect()
    assert [str(finding.message) for finding in caught] == []
