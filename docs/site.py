"""A mkdocs hook that builds the site's navigation from `index.md`, so that there is only one list of pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

INDEX = Path(__file__).with_name("index.md")


def on_config(config: Any) -> Any:
    config["nav"] = navigation(INDEX.read_text(encoding="utf-8"))
    return config


def navigation(index: str) -> list[dict[str, Any]]:
    """The navigation of an index page: headings become sections, links in tables become pages."""
    nav: list[dict[str, Any]] = [{"Foreword": "index.md"}]
    for part in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        pages = [{name: page} for name, page in re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\)", part, re.MULTILINE)]
        if pages:
            nav.append({part.partition("\n")[0]: pages})
    return nav
