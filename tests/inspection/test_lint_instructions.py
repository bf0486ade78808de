"""Only instructions contradict each other; descriptions of code, tools or history do not."""

import pytest

from foreword.inspection.lint.contradictions import find_contradictions
from foreword.inspection.lint.instructions import attitude, sentence_before
from foreword.inspection.lint.source_text import SourceText

TABS, SPACES = "Use tabs for indentation.", "Indent with 2 spaces."
PNPM, NO_NPM, NPM = "Use pnpm.", "Never use npm.", "Use npm."


def contradictions_between(one, other):
    """The contradictions between two files, in either order."""
    found = []
    for earlier, later in ((one, other), (other, one)):
        texts = [SourceText("/w/AGENTS.md", earlier), SourceText("/w/web/AGENTS.md", later)]
        found.append(
            {frozenset((contradiction.says, contradiction.other_says)) for contradiction in find_contradictions(texts)}
        )
    assert found[0] == found[1]
    return [" / ".join(sorted(words)) for words in found[0]]


@pytest.mark.parametrize(
    ("description", "instruction"),
    [
        ("The parser never returns None.", "The cache always returns None."),
        ("`load` does not use tabs.", "Use tabs."),
        ("`load` does not use tabs.", SPACES),
        ("This module uses spaces internally.", "Use tabs."),
        ("The old scripts use tabs for indentation.", SPACES),
        ("Generated files use tabs for indentation.", SPACES),
        ("The printer indents with 4 spaces.", TABS),
        ("It will indent with tabs.", SPACES),
        ("The formatter emits 2-space indentation.", TABS),
        ("Its indentation is 2 spaces.", TABS),
        ("The lexer can read spaces and use tabs for indentation.", SPACES),
        ("Older modules, however, use tabs for indentation.", SPACES),
        ("The scripts read a file, sort it, and use tabs for indentation.", SPACES),
        ('The linter prints "use tabs for indentation" and exits.', SPACES),
        ("Modules that use tabs for indentation are being rewritten.", SPACES),
        ("The exporter, which we wrote long ago, may use tabs for indentation.", SPACES),
        ("There are two writers. The first one does\nnot use tabs for indentation.", TABS),
        ("You will see that some files use tabs for indentation.", SPACES),
        ("The release jobs use npm.", NO_NPM),
        ("The release jobs use npm.", PNPM),
        ("CI never uses npm.", NPM),
        ("The hooks never use npm.", NPM),
        ("The image runs pnpm, never npm.", NPM),
        ("The image installs with pnpm instead of npm.", NPM),
        ("The bundler does not use npm.", NPM),
        ("The Dockerfile runs `npm ci`.", PNPM),
        ("The release workflow still calls `npm ci`.", NO_NPM),
        ("`npm ci` is run by the base image.", PNPM),
        ("`setup.sh` executes `pip install`.", "Use uv."),
        ("The jobs run npm install on their own.", PNPM),
        ("Jobs in the cloud run npm install.", PNPM),
        ("We no longer use npm.", NPM),
        ("We used to use npm.", PNPM),
        ("You do not have to use npm.", NPM),
        ("There is no need to use npm.", NPM),
        ("Tools may not use npm.", NPM),
        ("The template's package manager is npm.", PNPM),
        ("This library avoids npm, and its plugins avoid npm.", NPM),
        ("Those tests use jest.", "Use vitest."),
        ("Our legacy tests use unittest.", "Use pytest."),
        ("The vendored code should not use black.", "Use black."),
        ("It does not use prettier.", "Use prettier."),
        ("Some teams prefer npm.", PNPM),
        ("Developers use npm.", PNPM),
        ("Users install it with `npm install shop`.", PNPM),
        ("In production the container starts with `npm start`.", PNPM),
        ("Since the parsers use tabs for indentation, line numbers differ.", SPACES),
        ("It should use tabs for indentation.", SPACES),
        ("Never use tabs.", SPACES),
        ("Never use tabs.", "Use spaces."),
        ("Stop using npm.", PNPM),
        ("You shouldn't use npm.", PNPM),
    ],
)
def test_descriptions_do_not_contradict(description, instruction):
    assert contradictions_between(description, instruction) == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Use tabs.", "Use spaces.", "uses spaces / uses tabs"),
        ("Always use tabs.", "Never use tabs.", "forbids tabs / uses tabs"),
        ("You must indent with tabs.", SPACES, "uses 2 spaces / uses tabs"),
        ("All files must use tabs for indentation.", SPACES, "uses 2 spaces / uses tabs"),
        ("- **Indentation**: tabs", SPACES, "uses 2 spaces / uses tabs"),
        ("For indentation, use tabs.", SPACES, "uses 2 spaces / uses tabs"),
        ("Please indent your code with tabs.", SPACES, "uses 2 spaces / uses tabs"),
        ("Do not use tabs for indentation.", TABS, "forbids tabs / uses tabs"),
        ("Make sure that you always use pnpm.", NPM, "uses npm / uses pnpm"),
        ("You should never use npm.", "`npm install`", "forbids npm / uses npm"),
        ("You shouldn't use npm.", NPM, "forbids npm / uses npm"),
        ("Don’t use npm.", "Install with `npm ci`.", "forbids npm / uses npm"),
        ("Stop using npm.", NPM, "forbids npm / uses npm"),
        ("Avoid npm.", NPM, "forbids npm / uses npm"),
        ("We use pnpm here.", NPM, "uses npm / uses pnpm"),
        ("Agents must use pnpm.", NPM, "uses npm / uses pnpm"),
        ("The agent should use pnpm.", NPM, "uses npm / uses pnpm"),
        ("You are required to use pnpm.", NPM, "uses npm / uses pnpm"),
        ("It is important to use pnpm.", NPM, "uses npm / uses pnpm"),
        ("Package manager: pnpm", NPM, "uses npm / uses pnpm"),
        ("The package manager is pnpm.", NPM, "uses npm / uses pnpm"),
        ("npm is slow, so use pnpm.", NPM, "uses npm / uses pnpm"),
        ("The lockfile is pnpm's: never use npm.", NPM, "forbids npm / uses npm"),
        ("Install the dependencies with pnpm instead of npm.", NPM, "forbids npm / uses npm"),
        ("Install the dependencies and always\nuse pnpm, never npm.", NPM, "forbids npm / uses npm"),
        ("In this repository we use pnpm.", NPM, "uses npm / uses pnpm"),
        ("For packages use pnpm.", NPM, "uses npm / uses pnpm"),
        ("Before you commit, run `npm test`.", NO_NPM, "forbids npm / uses npm"),
        ("| Test | `npm test` |", NO_NPM, "forbids npm / uses npm"),
        ("`npm test` runs the tests.", NO_NPM, "forbids npm / uses npm"),
        ("Tests should use vitest.", "Use jest.", "uses jest / uses vitest"),
        ("Prefer `pytest`.", "Always use unittest.", "uses pytest / uses unittest"),
        ("Format with ruff format; never use black.", "Use black.", "forbids black / uses black"),
    ],
)
def test_two_instructions_contradict_each_other(one, other, expected):
    assert contradictions_between(one, other) == [expected]


@pytest.mark.parametrize(
    ("before", "wants"),
    [
        ("", "asks"),
        ("Always ", "asks"),
        ("**Never** ", "forbids"),
        ("Never, ever ", "forbids"),
        ("You must not ", "forbids"),
        ("You can't ", "forbids"),
        ("You need not ", ""),
        ("Run the tests and ", "asks"),
        ("The tests run and ", ""),
        ("The tests are slow, ", "asks"),
        ("The tests are slow and ", ""),
        ("npm is there, but never ", "forbids"),
        ("The tools are fast, but never ", ""),
        ("`load` must ", ""),
        ("In `load` we ", "asks"),
        ('It says "', ""),
        ("He said “", ""),
        ("Because the tests ", ""),
        ("Why ", ""),
        ("Run whatever scripts ", ""),
        ("Ensure all files ", "asks"),
    ],
)
def test_a_sentence_demands_forbids_or_describes(before, wants):
    assert attitude(before) == wants


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("One. Two X", "Two "),
        ("one\ntwo X", "one two "),
        ("one\n\ntwo X", "two "),
        ("one\n- two X", "two "),
        ("- [ ] one\n  two X", "one two "),
        ("# One\ntwo X", "two "),
        ("one\nTwo X", "Two "),
        ("1. one, e.g. two X", "one, e.g. two "),
    ],
)
def test_sentence_before_ends_at_the_offset(text, before):
    assert sentence_before(text, text.index("X")) == before
