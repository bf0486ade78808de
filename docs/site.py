"""A mkdocs hook that builds the site's navigation from `index.md`, so that there is only one list of pages, and ranks search results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

INDEX = Path(__file__).with_name("index.md")


def on_config(config: Any) -> Any:
    config["nav"] = navigation(INDEX.read_text(encoding="utf-8"))
    return config


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Rank pages that explain above those that list, and use the whole width for the first page."""
    if page.file.src_uri.startswith("reference/"):
        page.meta["search"] = {"boost": 0.3}
    if page.file.src_uri == "index.md":
        page.meta["hide"] = ["navigation"]
    return markdown


def navigation(index: str) -> list[dict[str, Any]]:
    """The navigation of an index page: headings become sections, links in tables become pages."""
    nav: list[dict[str, Any]] = [{"Overview": "index.md"}]
    for part in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        pages = [{name: page} for name, page in re.findall(r"^\| \[([^\]]+)\]\(([^)]+)\)", part, re.MULTILINE)]
        if pages:
            nav.append({part.partition("\n")[0]: pages})
    return nav
