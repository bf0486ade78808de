"""The page in a real Chromium, with `foreword serve` in a separate process and a real store."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chromium
from playwright.sync_api import Browser, sync_playwright

TIMEOUT = 300_000
"""Timeout in milliseconds, for tests that hang. It is long because half a minute was not enough on a loaded machine."""
# Without the first two, every window has a process for its address bar, which took 30 % of these tests' CPU time. The others are those
# that Playwright disables, because this list replaces Playwright's.
_UNUSED_FEATURES = (
    "WebUIOmniboxPopup WebUIOmniboxAimPopup AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose HttpsUpgrades"
    " HttpsFirstBalancedModeAutoEnable LensOverlay MediaRouter PaintHolding ThirdPartyStoragePartitioning AvoidCorsURLLoaderRestartOnRedirect"
    " OptimizationHints NetworkTimeServiceQuerying AimEnabled PreconnectToSearch"
).split()
FILES = {
    "shop/AGENTS.md": "# Shop\n\nRun `make test` before you say that you are done.\nPrices are integers, in cents.\n",
    "shop/api/AGENTS.md": "Handlers stay thin; rules live in `domain/`.\n",
    "shop/docs/style.md": "Write short sentences.\n",
    "shop/.agents/skills/release/SKILL.md": "---\nname: release\ndescription: Cuts a release of the shop.\n---\nTag it.\n",
    "home/.keep": "",
}


class Site:
    """A service on a free port of this machine, with a workspace `shop` and a store below a folder."""

    def __init__(
        self, folder: Path, *, token: str = "", source: str = "", options: Sequence[str] = (), launcher: Any = None
    ) -> None:
        self.folder, self.token, self.source, self.options, self.launcher = folder, token, source, options, launcher
        self.shop = folder / "shop"
        self.store = f"sqlite:///{folder / 'store.db'}"
        for name, text in FILES.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: Any = None
        self.start()

    def start(self) -> None:
        """Start the service, and wait until it responds."""
        environment = {**os.environ, "HOME": str(self.folder / "home"), "FOREWORD_TOKEN": self.token}
        for name in ("XDG_CONFIG_HOME", "FOREWORD_STORE"):
            environment.pop(name, None)
        if not self.token:
            del environment["FOREWORD_TOKEN"]
        if self.source:  # use a different copy of the package than the installed one
            environment["PYTHONPATH"] = self.source
        arguments = ["serve", "--port", str(self.port), "--root", str(self.shop), "--store", self.store, *self.options]
        log = self.folder / "service.log"  # not a pipe, because a full pipe would block the service
        with log.open("ab") as file:
            if self.launcher:
                self.process = self.launcher(arguments, env=environment, cwd=os.getcwd(), stdout=file, stderr=file)
            else:
                command = [sys.executable, "-m", "foreword", *arguments]
                self.process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
        for _ in range(TIMEOUT // 50):
            if self.process.poll() is not None:
                raise RuntimeError(f"the service ended: {log.read_text()}")
            try:
                urllib.request.urlopen(f"{self.url}/healthz").close()
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the service did not answer")

    def stop(self) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the response to a call that must succeed."""
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()}") from None

    def write(self, template: str, author: str = "", note: str = "", *, force: bool = False) -> None:
        """Set the global template, with `force` even if it has errors."""
        query = urllib.parse.urlencode({"author": author, "note": note, **({"force": "true"} if force else {})})
        self.call("PUT", f"/system-prompt?{query}", {"template": template})

    def template(self) -> str:
        text: str = self.call("GET", "/system-prompt")["template"]
        return text

    def construct(self, id: str, **agent: object) -> None:
        self.call("POST", f"/conversations/{id}/construct", {"cwd": str(self.shop), **agent})


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a Chromium, without its sandbox if this process is root."""
    path = chromium.find()
    if not path:
        raise RuntimeError(f"no Chromium found for the tests of the page: {chromium.ADVICE}")
    flags = [f"--disable-features={','.join(_UNUSED_FEATURES)}", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    # Playwright's profile is temporary, but Chromium writes crash reports and caches below the home directory.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, sync_playwright() as playwright:
        environment: dict[str, str | float | bool] = {"HOME": home}
        environment |= {
            name: value for name, value in os.environ.items() if name != "HOME" and not name.startswith("XDG_")
        }
        chrome = playwright.chromium.launch(executable_path=path, args=flags, timeout=TIMEOUT, env=environment)
        yield chrome
        chrome.close()
