"""The docstring of every public name has a small example, which works."""

import doctest

import pytest

import foreword


def example_of(name):
    names = {public: getattr(foreword, public) for public in foreword.__all__}
    return doctest.DocTestParser().get_doctest(names[name].__doc__, names, name, None, None)


def test_every_public_name_has_an_example():
    assert [name for name in foreword.__all__ if not example_of(name).examples] == []


@pytest.mark.parametrize("name", sorted(foreword.__all__))
def test_the_example_works(tree, monkeypatch, name):
    tree({"w/.git": None, "w/AGENTS.md": "Be brief.\n", "home": None})
    monkeypatch.chdir(tree.path("w"))
    monkeypatch.setenv("HOME", tree.path("home"))
    report = []
    results = doctest.DocTestRunner(verbose=False).run(example_of(name), out=report.append)
    assert results.attempted and not results.failed, "".join(report)
