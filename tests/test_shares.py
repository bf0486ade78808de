"""Shares in words."""

import pytest

from foreword.text.shares import cached_percent


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "0%"), (0.004, "0%"), (0.125, "13%"), (0.8, "80%"), (0.99497, "99%"), (0.9999999, "99%"), (1.0, "100%")],
)
def test_a_share_is_100_percent_only_if_it_is_everything(share, words):
    assert cached_percent(share) == words
