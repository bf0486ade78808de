"""Run mixed turns on two services with one PostgreSQL store, repeatedly killing and restarting one of them.

    python tests/service/machines/load.py --kills 200

Each client has its own conversations and calls either service: turns with changing tools, compactions, reloads, skills, reads,
in several layouts, while files and the global template change. Every response must be correct, a 503 or 504, or a broken connection.
In the end each conversation must have exactly the acknowledged editions, unchanged; an unanswered request may have stored one
more, which must be complete.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from machine import CONNECTION_ERRORS, Machine, database

from foreword.store import open_store

CLIENTS = 4
CONVERSATIONS = 12
TURNS = 25
TOOLS = [{"name": name, "description": f"The tool {name}."} for name in ("read", "bash", "edit", "zap", "use_skill")]
SKILL = "---\nname: testing\ndescription: How tests are run.\n---\nRun them all.\n"
TEMPLATE = "Begin of template {} for [prompt:conversation_id]: [file:AGENTS.md] " + "word " * 500 + "end"
COMPLETE = {
    "builder": re.compile(r"Begin of template \d+ for (\S+): File (\d+)\. (?:word ){500}end"),
    "foreword": re.compile(r"<identity>.*File (\d+)\..*</environment>.*", re.DOTALL),
    "opal": re.compile(r"<identity>.*File (\d+)\..*<environment>.*", re.DOTALL),
    "pi": re.compile(r".*File (\d+)\..*Current working directory: \S+", re.DOTALL),
    "ion": re.compile(r".*File (\d+)\..*", re.DOTALL),
}
TURN_TOOLS = ("opal", "pi")


class World:
    """State shared by all clients: the workspace, the machines, the template, and the failures."""

    def __init__(self, top, url):
        self.top, self.url = top, url
        self.machines = [Machine(top, url, name=f"machine-{number}") for number in range(2)]
        self.file = self.template = 0
        self.failures, self.counts = [], Counter()
        self.is_over = False
        (top / "w/.git").mkdir()
        (top / "w/.agents/skills/testing").mkdir(parents=True)
        (top / "w/.agents/skills/testing/SKILL.md").write_text(SKILL)
        self.write_file()

    def write_file(self):
        """Write the next version of the file; it counts once it is in place."""
        (self.top / "w/next").write_text(f"File {self.file + 1}.")
        (self.top / "w/next").rename(self.top / "w/AGENTS.md")
        self.file += 1

    def change(self, rng):
        """Change files and templates until the run is over."""
        while not self.is_over:
            time.sleep(0.05)
            self.write_file()
            if self.file % 10 == 0:
                body = {"template": TEMPLATE.format(self.template + 1)}
                response = self.request(rng, "PUT", "/system-prompt", body)
                if response and response.status == 200:
                    self.template += 1

    def request(self, rng, method, path, body=None):
        """Return the response of either machine, or None if there was none or it was a 503 or 504."""
        try:
            response = rng.choice(self.machines).request(method, path, body)
        except CONNECTION_ERRORS:
            self.counts["broken"] += 1
            return None
        if response.status in (503, 504):
            self.counts[f"{response.status}"] += 1
            return None
        self.counts["answered"] += 1
        return response


class ConversationClient:
    """One conversation and the responses about it."""

    def __init__(self, world, id, layout, rng):
        self.world, self.id, self.layout, self.rng = world, id, layout, rng
        self.editions = {}
        self.newest = self.unanswered = self.unaccounted = 0
        self.tools = TOOLS[:1]
        self.is_skill_active = None

    def fail(self, *words):
        self.world.failures.append(f"{self.id}: {' '.join(map(str, words))}")

    def step(self):
        action = self.rng.choices(
            ["turn", "tools", "compact", "reload", "skill", "read", "construct"], [8, 3, 2, 1, 2, 3, 1]
        )[0]
        if action == "tools":
            self.tools = self.rng.sample(TOOLS, self.rng.randint(1, len(TOOLS)))
        {"skill": self.use_skill, "read": self.read}.get(
            action, lambda: self.turn("turn" if action == "tools" else action)
        )()

    def turn(self, action):
        file, template = self.world.file, self.world.template
        body = {"cwd": "", "tools": self.tools, "message": "go on"}
        if action in ("construct", "reload"):
            del body["message"]
        if self.newest == 0 or self.rng.random() < 0.5:
            body["layout"] = self.layout
        if action in ("compact", "reload"):
            self.is_skill_active = None  # unknown until the next response
        response = self.world.request(self.rng, "POST", f"/conversations/{self.id}/{action}", body)
        if response is None:
            self.unanswered += 1
            return
        if response.status != 200:
            return self.fail(action, response)
        form = response.form
        if form["conversation"] != self.id or "store-down" in response.codes:
            self.fail(action, response)
        system = form["system"].partition("\n\nSummari")[0] if action == "compact" else form["system"]
        self.check_edition(action, form["edition"], system, form["tools"])
        if not form["reused"] and (form["edition"] == 1 or (action, self.layout) in FRESH):
            match = COMPLETE[self.layout].fullmatch(system)
            if match and int(match[match.re.groups]) < file:
                self.fail(action, "was made from an old file", match[match.re.groups], "not", file)
            if self.layout == "builder" and int(re.findall(r"\d+", system)[0]) < template:
                self.fail(action, "was made from an old template; it should be", template)
        if action == "turn" and self.layout in TURN_TOOLS and tool_names(form["tools"]) != tool_names(self.tools):
            self.fail("has different tools from the turn", form["tools"])

    def check_edition(self, action, number, system, tools):
        """Check a returned edition, which must be a known one or a new one."""
        if not COMPLETE[self.layout].fullmatch(system):
            self.fail(action, "is incomplete:", repr(system[:200]), "…", repr(system[-200:]))
        if self.editions.setdefault(number, (system, tools)) != (system, tools):
            self.fail(action, "edition", number, "differs from before")
        if number < self.newest:
            self.fail(action, "edition", number, "after", self.newest)
        if number > self.newest:
            self.unaccounted += max(0, number - self.newest - 1)
            if self.unaccounted > self.unanswered:
                self.fail(
                    action, "edition", number, "after", self.newest, "with", self.unanswered, "requests unanswered"
                )
            self.newest = number

    def use_skill(self):
        body = {"cwd": "", "tools": self.tools, "layout": self.layout}
        response = self.world.request(self.rng, "POST", f"/conversations/{self.id}/skills/testing", body)
        if response is None:
            self.unanswered += 1
            self.is_skill_active = None
        elif self.layout == "builder" and response.status == 404:
            if self.newest == 0:
                self.unanswered += 1  # a layout without skills still creates an edition
        elif response.status != 200:
            self.fail("skill", response)
        else:
            is_reported = "already active" in response.form["content"]
            if self.is_skill_active is not None and is_reported != self.is_skill_active:
                self.fail("skill: active", is_reported, "not", self.is_skill_active)
            if self.newest == 0:
                self.unanswered += 1  # it created an edition without reporting it
            self.is_skill_active = True

    def read(self):
        response = self.world.request(self.rng, "GET", f"/conversations/{self.id}")
        if response is None:
            return
        if response.status == 404 and self.newest == 0:
            return
        if response.status != 200:
            return self.fail("read", response)
        self.check_edition("read", response.form["edition"], response.form["system"], response.form["tools"])

    def check(self, editions):
        """Check the editions in the store at the end."""
        numbers = [edition.number for edition in editions]
        if numbers != list(range(1, len(numbers) + 1)) or len(numbers) < self.newest:
            return self.fail("has the editions", numbers, "and", self.newest, "were acknowledged")
        if len(numbers) - len(self.editions) > self.unanswered:
            self.fail(
                "has", len(numbers), "editions;", len(self.editions), "acknowledged,", self.unanswered, "unanswered"
            )
        for edition in editions:
            if not COMPLETE[self.layout].fullmatch(edition.system):
                self.fail("edition", edition.number, "is incomplete")
            if edition.number in self.editions and self.editions[edition.number][0] != edition.system:
                self.fail("edition", edition.number, "differs from the response")


FRESH = {("reload", "foreword"), ("reload", "pi"), ("reload", "opal"), ("reload", "builder"), ("compact", "builder")}


def tool_names(tools):
    return sorted(tool["name"] for tool in tools)


def run_client(world, number, seed, conversations):
    """Run a client: several conversations at a time, group after group."""
    rng = random.Random(seed)
    try:
        while not world.is_over:
            group = []
            for index in range(CONVERSATIONS):
                layout = rng.choice(list(COMPLETE))
                group.append(ConversationClient(world, f"{layout}-{number}-{len(conversations) + index}", layout, rng))
            conversations += group
            for _ in range(CONVERSATIONS * TURNS):
                if world.is_over:
                    break
                rng.choice(group).step()
    except BaseException as error:
        world.failures.append(f"client {number}: {type(error).__name__}: {error}")
        raise


def kill_repeatedly(world, kills, rng):
    """Kill one of the machines at a random moment and restart it, sometimes while it starts."""
    for number in range(kills):
        machine = world.machines[number % 2] if number < 2 else rng.choice(world.machines)
        time.sleep(rng.uniform(0.0, 0.5))
        machine.kill()
        machine.start(wait=False)
        if number % 8 == 7:
            time.sleep(rng.uniform(0.0, 1.0))
            machine.kill()
            machine.start(wait=False)
        machine.wait_for_start()
        world.counts["killed"] += 1
        if len(world.failures) > 20:
            break


def verify(world):
    command = [sys.executable, "-m", "foreword", "store", "verify", "--store", world.url]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        world.failures.append(f"store verify: {result.stdout}{result.stderr}")


def run(kills, seed, top, url):
    rng = random.Random(seed)
    world = World(top, url)
    for machine in world.machines:
        machine.start()
    world.machines[0].request("PUT", "/system-prompt", {"template": TEMPLATE.format(0)})
    all_conversations = [[] for _ in range(CLIENTS)]
    clients = [
        threading.Thread(target=run_client, args=(world, index, rng.random(), conversations))
        for index, conversations in enumerate(all_conversations)
    ]
    clients.append(threading.Thread(target=world.change, args=(random.Random(rng.random()),)))
    try:
        for client in clients:
            client.start()
        kill_repeatedly(world, kills, rng)
    finally:
        world.is_over = True
        for client in clients:
            client.join()
        for machine in world.machines:
            machine.close()
    store = open_store(url)
    for conversation in (conversation for conversations in all_conversations for conversation in conversations):
        conversation.check(store.editions(conversation.id))
    world.counts |= {key: store.stats()[key] for key in ("conversations", "editions", "versions")}
    store.close()
    verify(world)
    world.failures += [f"on stderr: {errors}" for machine in world.machines if (errors := machine.stderr())]
    return world


def main():
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200, metavar="N", help="how often a service is killed")
    parser.add_argument("--seed", type=int, default=None, metavar="N", help="repeat a run with the same kills")
    options = parser.parse_args()
    server = database()
    started = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="foreword-load-") as folder:
            world = run(options.kills, options.seed, Path(folder), server.url)
    finally:
        server.close()
    counts = ", ".join(f"{count} {name}" for name, count in world.counts.items())
    print(f"in {time.monotonic() - started:.0f} s: {counts}")
    print("\n".join(world.failures) or "every response was correct, and nothing was lost")
    return 1 if world.failures else 0


if __name__ == "__main__":
    sys.exit(main())
