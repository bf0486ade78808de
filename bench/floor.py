"""The baseline for `show`: only the file reads that every prompt needs. Run it as `python -I -S floor.py CWD TOOLS`."""

import os
import sys


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def main(folder: str, tools: str) -> None:
    texts = [read(tools)]
    while True:
        skills = folder + "/.agents/skills"
        if os.path.exists(folder + "/AGENTS.md"):
            texts.append(read(folder + "/AGENTS.md"))
        if os.path.exists(skills):
            texts += [read(f"{skills}/{name}/SKILL.md") for name in os.listdir(skills)]
        if os.path.exists(folder + "/.git"):
            break
        folder = os.path.dirname(folder)
    print(len(texts), "files", sum(map(len, texts)), "bytes")


main(*sys.argv[1:])
