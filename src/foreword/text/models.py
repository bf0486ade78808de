"""Names of models, which providers and gateways spell differently."""

from __future__ import annotations


def normalized_model(name: str) -> str:
    """Return a model's name in lower case, with hyphens instead of dots and underscores."""
    return name.lower().replace(".", "-").replace("_", "-")


def is_same_model(row: str, model: str) -> bool:
    """Whether the name in a table's row means this model. Providers and gateways add dots, capitals, dates or prefixes.

    A name with any other suffix is a different model: `-mini` does not cost the same as the base model.
    """
    import re

    row_name, model_name = (normalized_model(name) for name in (row, model))
    _, found, rest = model_name.rpartition(row_name)
    extra = re.sub(r"\d{4}-?\d{2}-?\d{2}", "", rest)
    words = re.findall(r"[a-z0-9]+", extra)
    is_whole = bool(found) and not re.match(r"[a-z0-9]", extra)
    return is_whole and all(re.fullmatch(r"latest|preview|thinking|1m|v\d+|0", word) for word in words)
