"""One vocabulary for comparisons: `changed` is a boolean, and `sections` and `tools` list names by kind of change."""

import re
from pathlib import Path
from typing import get_type_hints, is_typeddict

import pytest

from foreword.inspection.changes import KINDS, Changes, Names, SectionChange
from foreword.service import forms as service_forms
from foreword.wire import forms, store_forms
from foreword.wire.answers import changes_form

WEB = Path(__file__).parents[2] / "web/src/forms.ts"
FORMS = {
    name: get_type_hints(form)
    for module in (forms, store_forms, service_forms)
    for name, form in vars(module).items()
    if is_typeddict(form)
}
COMPARISONS = ["ChangesForm", "DriftForm", "DifferenceForm", "EffectForm", "CacheReusesForm"]


def test_a_comparison_has_a_json_form():
    sections = [SectionChange("a", ("added",)), SectionChange("b", ("moved", "changed"))]
    assert changes_form(Changes(sections, Names(removed=["shell"]))) == {
        "changed": True,
        "sections": {"added": ["a"], "removed": [], "changed": ["b"], "moved": ["b"]},
        "tools": {"added": [], "removed": ["shell"], "changed": [], "moved": []},
    }
    assert changes_form(Changes())["changed"] is False


@pytest.mark.parametrize("name", COMPARISONS)
def test_every_comparison_has_the_same_keys(name):
    fields = {key: FORMS[name][key] for key in ("changed", "sections", "tools")}
    assert fields == {"changed": bool, "sections": forms.NamesForm, "tools": forms.NamesForm}


def test_names_are_listed_by_kind_of_change():
    assert FORMS["NamesForm"] == dict.fromkeys(KINDS, list[str])


def test_changed_has_one_meaning_outside_comparisons():
    others = {name: form["changed"] for name, form in FORMS.items() if "changed" in form and name not in COMPARISONS}
    assert others == {"NamesForm": list[str], "RebuildForm": bool | None}  # None: the rebuild failed


def test_the_page_uses_the_same_vocabulary():
    text = WEB.read_text()
    (kinds,) = re.findall(r"^export type Change = (.*);$", text, re.MULTILINE)
    assert kinds == " | ".join(f'"{kind}"' for kind in KINDS)
    for name in ("Names", "Drift"):
        assert re.search(rf"^export type {name} = .*\bapi\.{name}Form\b", text, re.MULTILINE)
