"""Converts lint's findings to the formats of code hosts: SARIF 2.1.0 and GitHub workflow annotations."""

from __future__ import annotations

from ...vocabulary import digest
from .table import BY_ID, GUARDS, about

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...vocabulary import Finding

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "WORKSPACE"


def sarif_form(findings: Sequence[Finding], root: str, version: str) -> dict[str, Any]:
    """Return findings as a SARIF 2.1.0 log. Paths inside the workspace are relative to its root, which is empty if they are already."""
    codes = sorted({*BY_ID, *(finding.code for finding in findings)})
    rules = [
        {
            "id": code,
            "shortDescription": {"text": about(code)},
            **({"fullDescription": {"text": BY_ID[code].why}} if code in BY_ID else {}),
            "defaultConfiguration": {"level": _LEVELS[BY_ID[code].severity] if code in BY_ID else "warning"},
            **({"properties": {"tags": ["security"]}} if code in GUARDS else {}),
        }
        for code in codes
    ]
    driver = {"name": "foreword", "version": version, "semanticVersion": version, "rules": rules}
    return {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {_ROOT: _base_of(root)},
                "results": [_result(finding, codes.index(finding.code), root) for finding in findings],
            }
        ],
    }


def _base_of(root: str) -> dict[str, Any]:
    if not root:
        return {"description": {"text": "the root of the repository"}}
    return {"uri": _uri(root.rstrip("/") + "/")}


def _result(finding: Finding, rule: int, root: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": _shorten_paths(root, finding.message)},
    }
    if finding.path.startswith("/") or (finding.path and not root):
        relative = _relative_path(finding.path, root)
        location = {"uri": _escape(relative), "uriBaseId": _ROOT} if relative else {"uri": _uri(finding.path)}
        columns = {"startColumn": finding.column, "endColumn": finding.end_column}
        known_columns = {key: column for key, column in columns.items() if column}
        region = {"region": {"startLine": finding.line, **known_columns}} if finding.line else {}
        result["locations"] = [{"physicalLocation": {"artifactLocation": location, **region}}]
        # The fingerprint does not depend on the line, so it stays the same if the line moves.
        identity = f"{finding.code}\n{relative or finding.path}\n{_shorten_paths(root, finding.message)}"
        result["partialFingerprints"] = {"foreword/v1": digest(identity).removeprefix("sha256:")}
    return result


def _relative_path(path: str, root: str) -> str:
    """Return the path relative to the root, or empty if it is not below the root."""
    if not root:
        return "" if path.startswith("/") else path
    top = root.rstrip("/") + "/"
    return path[len(top) :] if path.startswith(top) else ""


def _shorten_paths(root: str, message: str) -> str:
    """Return the message with paths relative to the root, so that it is the same in every checkout."""
    return message.replace(root.rstrip("/") + "/", "") if root else message


def _uri(path: str) -> str:
    return "file://" + _escape(path)


def _escape(path: str) -> str:
    from urllib.parse import quote

    return quote(path, safe="/", errors="backslashreplace")


def annotation(finding: Finding, root: str) -> str:
    """Return the finding as a GitHub workflow command."""
    kind = {"error": "error", "warning": "warning", "info": "notice"}[finding.severity]
    path = _relative_path(finding.path, root) or finding.path
    properties = {"file": path, "line": str(finding.line or ""), "title": f"foreword {finding.code}"}
    encoded = ",".join(
        f"{key}={_escape_data(content).replace(':', '%3A').replace(',', '%2C')}"
        for key, content in properties.items()
        if content
    )
    return f"::{kind} {encoded}::{_escape_data(_shorten_paths(root, finding.message))}"


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
