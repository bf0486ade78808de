"""Builds wheel, sdist and SBOMs, and checks what is in them: metadata, size, licences, and what the image copies."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

from release.tools import DIST, ROOT, TOOLS, UV, expect, run, say

MAX_BYTES = 2_000_000
RULE = f"{'-' * 72}\n"
"""What separates the licences of packages in the page's list."""
FONT_LICENCE = "SIL OPEN FONT LICENSE Version 1.1"
COPIED = "dist/foreword-*.whl"


def build(version: str) -> Path:
    """Build everything into dist/, and return the wheel. The wheel is built from the sdist, so the sdist is complete."""
    shutil.rmtree(DIST, ignore_errors=True)
    run([UV, "build", "--out-dir", DIST, "--python", ROOT / ".venv/bin/python"])
    (DIST / ".gitignore").unlink(missing_ok=True)
    wheel, sdist = DIST / f"foreword-{version}-py3-none-any.whl", DIST / f"foreword-{version}.tar.gz"
    expect(wheel.exists() and sdist.exists(), f"dist/ has other files than those of {version}")
    for path in (wheel, sdist):
        say(f"  {path.name}, {path.stat().st_size:,} bytes")
    expect(
        wheel.stat().st_size < MAX_BYTES, f"the wheel has {wheel.stat().st_size:,} bytes; the limit is {MAX_BYTES:,}"
    )
    with tarfile.open(sdist) as archive:
        expect(not [name for name in archive.getnames() if "node_modules" in name], "the sdist contains node_modules")
    return wheel


def write_sboms() -> None:
    """Write what the package may install, and what the page in it is made of, in CycloneDX's form."""
    folder = DIST / "sbom"
    folder.mkdir()
    run(
        [str(UV), "export", "-q", "--locked", "--no-dev", "--all-extras", "--format", "cyclonedx1.5"]
        + ["-o", str(folder / "python.cdx.json")]
    )
    page = run(["npm", "--prefix", "web", "sbom", "--omit", "dev", "--package-lock-only", "--sbom-format", "cyclonedx"])
    (folder / "page.cdx.json").write_text(page, encoding="utf-8")
    for path in sorted(folder.iterdir()):
        components = json.loads(path.read_text("utf-8"))["components"]
        expect(bool(components), f"{path.name} lists nothing")
        say(f"  sbom/{path.name}, {len(components)} packages")


def check_metadata(wheel: Path, is_release: bool) -> None:
    run([TOOLS / "twine", "check", "--strict", *sorted(DIST.glob("foreword-*"))])
    metadata = metadata_of(wheel)
    urls = metadata.get_all("Project-URL") or []
    expect({url.partition(",")[0] for url in urls} >= {"Homepage", "Documentation", "Changelog", "Issues"}, "URLs")
    relative = re.findall(r"\]\((?!https?://|#)([^)]*)\)", str(metadata.get_payload()))
    expect(not relative, f"links in the description lead nowhere on PyPI: {relative}")
    say(f"  twine check, {len(urls)} URLs, every link of the description is absolute")
    if "OWNER" in " ".join(urls):
        expect(not is_release, "OWNER is not filled in: make owner OWNER=name CONTACT=address")
        say("  to do before a release: make owner OWNER=name CONTACT=address")


def metadata_of(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def check_licences(wheel: Path) -> None:
    """Every package and font in the page has its licence in the wheel, and it is one that may be shipped."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        text = archive.read("foreword/service/static/licences.txt").decode()
    expect(any(name.endswith(".dist-info/licenses/LICENSE") for name in names), "the wheel has no LICENSE")
    packages = {block.strip().partition("\n")[0]: block for block in text.split(RULE)}
    unknown = [
        title for title, block in packages.items() if "Permission is hereby granted, free of charge" not in block
    ]
    expect(not unknown, f"not under the MIT licence: {unknown}")
    listed = {package["name"] for package in json.loads((DIST / "sbom/page.cdx.json").read_text("utf-8"))["components"]}
    missing = sorted(set(packages) - {name.rpartition("/")[2] for name in listed} - listed)
    expect(not missing, f"in the page, but not in its SBOM: {missing}")
    fonts = [Path(name).stem for name in names if name.endswith(".woff2")]
    named = [font for font in fonts if font.replace("-", " ") in text.lower()]
    expect(named == fonts and text.count(FONT_LICENCE) == len(fonts), f"fonts without their licence: {fonts}, {named}")
    other = [name for name in names if Path(name).suffix not in SUFFIXES]
    expect(not other, f"files of a new kind, whose licence nobody has checked: {other}")
    say(f"  licences of {len(packages)} bundled packages and {len(fonts)} fonts; no vocabulary is in the wheel")


SUFFIXES = {"", ".css", ".html", ".js", ".md", ".py", ".sql", ".svg", ".toml", ".txt", ".typed", ".woff2"}


def check_image(wheel: Path) -> None:
    """The Dockerfile copies exactly the wheel, and installs extras that the wheel has."""
    run([TOOLS / "hadolint", ROOT / "deploy/Dockerfile"])
    text = (ROOT / "deploy/Dockerfile").read_text("utf-8")
    copied = re.findall(r"^COPY (\S+) ", text, re.MULTILINE)
    expect(copied == [COPIED], f"the Dockerfile copies {copied}, not {COPIED}")
    expect(list(ROOT.glob(COPIED)) == [wheel], f"{COPIED} does not match exactly the wheel")
    wanted = set(re.findall(r"\[([a-z,]+)\]", text)[0].split(","))
    unknown = wanted - set(metadata_of(wheel).get_all("Provides-Extra") or [])
    expect(not unknown, f"the Dockerfile installs unknown extras: {unknown}")
    say(f"  hadolint; the image copies {wheel.name} and installs {', '.join(sorted(wanted))}")
