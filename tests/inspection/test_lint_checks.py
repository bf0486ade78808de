"""What each check reports and, equally important, what it does not; the cases come from real files."""

import json
import os
from pathlib import Path

import pytest

from foreword import Agent, Tool
from foreword.engine.assembler import Assembler
from foreword.inspection.lint import lint
from foreword.inspection.lint.contradictions import find_contradictions, stances_of
from foreword.inspection.lint.references import find_missing_files, find_unexpanded_includes
from foreword.inspection.lint.secrets import ISSUERS, find_secrets, mask_secrets
from foreword.inspection.lint.sizes import LIMITS
from foreword.inspection.lint.source_text import LintContext, SourceText, source_texts
from foreword.inspection.lint.tools import find_missing_tools
from foreword.programs.proofread import proofread
from foreword.vocabulary import Candidate, Origin, Passage, Piece, Prompt


def source(text, path="/w/AGENTS.md", kind="file", lifetime="project"):
    return SourceText(path, text, "instructions", lifetime, kind)


def disk(*files):
    """A function that says whether a file exists, for a disk with these files in /w."""
    folders = {"/w/" + "/".join(file.split("/")[:n]) for file in files for n in range(1, file.count("/") + 2)}

    def exists(path, target, is_beside=False):
        return f"/w/{target.removeprefix('./')}" in folders

    return exists


# Source texts


def test_a_source_text_has_the_lines_of_its_file():
    pieces = [
        Piece("<x>", Origin("builtin", "$std/x")),
        Piece("one\n<", Origin("file", "/w/A.md", (3, 4))),
        Piece("\\", Origin("mark")),
        Piece("/x>\n", Origin("file", "/w/A.md", (4, 5))),
        Piece("nine", Origin("file", "/w/A.md", (9, 9))),
        Piece("other", Origin("file", "/w/B.md", (1, 1))),
    ]
    text = "".join(piece.text for piece in pieces)
    sources = source_texts(Prompt("l", text, [Passage("s", 0, text, "project", pieces)]), {})
    assert [(source.path, source.text) for source in sources] == [
        ("/w/A.md", "\n\none\n</x>\n\n\n\n\nnine"),
        ("/w/B.md", "other"),
    ]
    assert sources[0].line(sources[0].text.index("nine")) == 9 and sources[0].line(0) == 1


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ("X", False),
        ("`X`", True),
        ("`a` X `b`", False),
        ("```\nX\n```", True),
        ("```\na\n```\nX", False),
        ("- ```sh\n  X\n  ```", True),
        ("~~~\n```\nX\n~~~", True),
        ("```\nnever closed\nX", True),
        ("``` `not a fence`\nX", False),
    ],
)
def test_code_is_distinguished_from_prose(text, is_code):
    assert source(text).is_code(text.index("X")) is is_code


# References

SKILL = "/w/SKILL.md"


def exists_nowhere(target):
    return False


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("Routes: `api/routes.py`", "file", []),
        ("See `routes.md`.", "file", []),
        ("See [the routes](api/routes.py).", "file", ["api/routes.py"]),
        ("It is described in the skill `a`'s\n`references/x.md`.", "skill", []),
        ("```yaml\nrun: python scripts/gone.py\n```", "skill", []),
        ("See `api/Routes.kt` and `api/Gone.kt`.", "file", ["api/Gone.kt"]),
        ("Use folders that match the path, such as\n`api/gone.py` for pages.", "file", []),
    ],
)
def test_a_path_in_prose_may_be_relative_to_any_folder(text, kind, expected):
    exists = disk("api/x.py", "references/y.md")
    anywhere = {"api/routes.py", "routes.md", "Routes.kt"}.__contains__
    found = find_missing_files(source(text, SKILL if kind == "skill" else "/w/AGENTS.md", kind), exists, anywhere)
    assert [reference.target for reference in found] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See [the guide](docs/guide.md).", ["docs/guide.md"]),
        ('See [the guide](docs/guide.md#top "Title").', ["docs/guide.md"]),
        ("See [the guide](docs/my%20guide.md).", []),
        ("See [the guide](<docs/guide.md>).", ["docs/guide.md"]),
        ("See [a](docs/there.md:12), [b](docs/there.md:3-9) and [c](docs/gone.md:12).", ["docs/gone.md"]),
        ("[a](https://x.org/a.md) [b](mailto:a@b.org) [c](#top) [d](/abs/x.md) [e](~/x.md)", []),
        (
            "[a](elsewhere/gone.md) [b](./elsewhere/gone.md) [c](src/gone/gone.md) [d](gone.md) [e](../Docs/e.md)",
            ["src/gone/gone.md", "gone.md", "../Docs/e.md"],
        ),
        ("Bad: [a](docs/guide.md)", []),
        ("`[a](docs/guide.md)`", []),
        ("```\n[a](docs/guide.md)\n```", []),
        ("Read `docs/guide.md` first.", ["docs/guide.md"]),
        ("Read `docs/guide.md:12` first.", ["docs/guide.md"]),
        ("Read [`docs/gone.md`](https://example.com/x).", []),
        ("Read [docs/gone.md](https://example.com/x).", []),
        ("Read [`docs/gone.md`](docs/there.md) and [`docs/gone.md`][1].", []),
        ("Read [`docs/label.md`](docs/gone.md).", ["docs/gone.md"]),
        ("Read `GUIDE.md`.", []),
        ("See `elsewhere/api/gone.md`.", []),
        ("See `src/api/gone.md`.", ["src/api/gone.md"]),
        ("Clone the repository first.\n\nSee `docs/gone.md`.", []),
        ("# In your project\n\nSee [it](docs/gone.md).", []),
        ("They live in the acme/web repository: see `docs/gone.md`.", []),
        ("See `docs/gone.md` in this repository.", ["docs/gone.md"]),
        ("## Example: add a page\n\n### Tests\n\nSee [it](docs/gone.md).", []),
        ("**File**: [a](docs/gone.md)\n\n```ts\nx\n```", []),
        ("Tests: `src/api/gone.py` (pending)", []),
        ("| A \\| B | e.g. |\n|---|---|\n| x | `src/api/gone.py` |", []),
        ("| A (e.g.) | File |\n|---|---|\n| x | `src/api/gone.py` |", ["src/api/gone.py"]),
        ("- Entry points: `src/api/gone.py`", ["src/api/gone.py"]),
        ("- Each entry: `src/api/gone.py`", []),
        ("### Mobile — a iniciar\n\n- API: `src/api/gone.py`", []),
        ("### Mobile — iniciado\n\n- API: `src/api/gone.py`", ["src/api/gone.py"]),
        ("- Projeto-alvo: `src/api/gone.py`", []),
        ("- à venir : `src/api/gone.py`", []),
        ("- geplant: `src/api/gone.py`", []),
        ("- État (à persister dans `src/api/gone.json`)", []),
        ("- Persist it to disk (`src/api/gone.json`)", []),
        ("- The persistence layer (`src/api/gone.py`)", ["src/api/gone.py"]),
        ("Do not import deprecated [src/gone.ts](src/gone.ts).", []),
        ("Do not import from elsewhere. See [src/gone.ts](src/gone.ts).", ["src/gone.ts"]),
        ("## View mapping\n\nThe view: `src/api/gone.py`", []),
        ("```markdown\n```sh\nls\n```\nSee `docs/gone.md`.\n```\nSee `docs/other.md`.", ["docs/other.md"]),
        (
            "```markdown\n---\nname: a\n---\nOutput:\n```\nls\n```\nSee [a](docs/gone.md).\n```\nSee `docs/other.md`.",
            ["docs/other.md"],
        ),
        ("```markdown\nOutput:\n```\nSee [a](docs/gone.md).", ["docs/gone.md"]),
        ("---\nglobs: docs/**/*.md\n---\nLinks look like [a](there.md) or [b](gone.md).", ["gone.md"]),
        ("---\npaths:\n  - 'docs/*.md'\n---\nLinks look like [a](there.md) or [b](gone.md).", ["gone.md"]),
        ("See `service.ts`.", []),
        ("Factories: `src/api/gone.py`", ["src/api/gone.py"]),
        ("Factories: `elsewhere/api/gone.py`", []),
        ("Types: `src/api.Handler`, `src/gone/api.Handler`, `src/api/gone.MD`", ["src/api/gone.MD"]),
        ("Create `src/api/new.py`.", []),
        ("- `src/api/gone.json`: counts\n\n```sh\nnode count.js > src/api/gone.json\n```", []),
        ("\n".join(f"[a](docs/a{number}.md)" for number in range(10)), []),
        ("\n".join(f"[a](docs/a{number}.md)" for number in range(9)), [f"docs/a{number}.md" for number in range(9)]),
        (
            "[a](docs/there.md)\n" + "\n".join(f"[a](docs/a{number}.md)" for number in range(10)),
            [f"docs/a{number}.md" for number in range(10)],
        ),
        ("There is intentionally no\n`src/api/gone.py` here.", []),
        ("See `docs/gone.md` in the\noperator monorepo.", []),
        ("See `docs/gone.md`. Then look\nin the operator monorepo.", ["docs/gone.md"]),
        ("See `docs/gone.md`\n- in the operator monorepo", ["docs/gone.md"]),
        ("See `docs/gone.md`\n\nin the operator monorepo", ["docs/gone.md"]),
        ("There is no page. The routes: see\n`src/api/gone.py`.", ["src/api/gone.py"]),
        ("A remoção do CLI que a fatia\nsubstituiu (`src/api/gone.py`) tirou testes", []),
        ("A remoção do CLI.\nA fatia (`src/api/gone.py`) tirou testes", ["src/api/gone.py"]),
        ("- Removed: the CLI\n- Routes: `src/api/gone.py`", ["src/api/gone.py"]),
        ("- Never:\n- `src/api/gone.py`: routes", ["src/api/gone.py"]),
        ("For example `src/api/gone.py`.", []),
        ("The provider's `docs/gone.rst`.", []),
        ("`src/api/*.py` `src/{a,b}.py` `<name>/x.md` `$HOME/x.md` `a/b` `application/json`", []),
        ("Read `path/to/file.md`.", []),
        ("Read `docs/guide.md`. Again: read `docs/guide.md`.", ["docs/guide.md"]),
        ("# Changelog\n\nRoutes: `src/api/gone.py`. See [it](docs/gone.md).", ["docs/gone.md"]),
        ("# Chat history\n\nRoutes: `src/api/gone.py`", ["src/api/gone.py"]),
        ("# A\n\n## Session 2026-02-01\n\n### API\n\nRoutes: `src/api/gone.py`", []),
        ("# A\n\n## 变更日志\n\n`src/api/gone.py`\n\n## API\n\n`src/api/other.py`", ["src/api/other.py"]),
        ("Configure providers in `src/api/gone.py`.", []),
        ("Define the colours as described in `src/api/gone.py`.", ["src/api/gone.py"]),
        ("The providers are configured in `src/api/gone.py`.", []),
        ("The registry is stored at `src/api/gone.json`.", []),
        ("- `src/api/gone.py` (待添加)", []),
        ("| `src/api/there.h/.c` | `src/api/v1.x.x` |", []),
        (
            "Routes (`src/api/gone.py`), `src/api/a.py` and `src/api/b.py`",
            ["src/api/gone.py", "src/api/a.py", "src/api/b.py"],
        ),
        ("### Routes in `src/api/gone.py`", ["src/api/gone.py"]),
        ("1. `src/api/gone.py`\n2. the routes — `src/api/other.py`", ["src/api/gone.py", "src/api/other.py"]),
        (
            "<!-- X:START -->\nRoutes: `src/api/gone.py` [a](gone.md)\n<!-- X:END -->\nRoutes: `src/api/other.py`",
            ["src/api/other.py"],
        ),
        ("<!-- BEGIN:x -->\nRoutes: `src/api/gone.py`\n<!-- END:x -->", []),
        ("<!-- X:START -->\nRoutes: `src/api/gone.py`\n<!-- Y:END -->", ["src/api/gone.py"]),
        ("<!-- lint-ignore-start -->\nRoutes: `src/api/gone.py`\n<!-- lint-ignore-end -->", ["src/api/gone.py"]),
        ("# Rules for {{project-name}}\n\nRoutes: `src/api/gone.py`", []),
        ("# Rules for `{{brand}}`\n\n{{brand}}: `src/api/gone.py`", ["src/api/gone.py"]),
        ("Always follow the directory structure below:\n\n- `src/api/gone.py`: routes", []),
        ("The directory structure:\n\n- `src/api/gone.py`: routes", ["src/api/gone.py"]),
        ("**Example:** If you have:\n- `src/api/gone.py` (stub file)", []),
        ("The script populates:\n- `src/api/gone.py`", []),
        ("The script generates:\n- `src/api/gone.py`", []),
        ("src/api/gone.py is generated.\n\nRoutes: `src/api/gone.py`", []),
        ("Read these when you have to:\n- `src/api/gone.py`", ["src/api/gone.py"]),
        ("Factory: `src/api/there.py` or `src/there.py`", []),
        ("Factory: `src/there.py` or `src/api/there.py`", []),
        ("Factories: `src/api/there.py`, `src/there.py`", ["src/there.py"]),
        ("Factory: `src/gone.py` or `src/api/gone.py`", ["src/gone.py", "src/api/gone.py"]),
        ("- `src/api/gone.py`에 구독 추가", []),
    ],
)
def test_missing_files_are_reported(text, expected):
    exists = disk("src/api/there.py", "docs/there.md", "docs/my guide.md")
    assert [reference.target for reference in find_missing_files(source(text), exists, exists_nowhere)] == expected


@pytest.mark.parametrize(("place", "expected"), [("src/app.py", ["src/api/app.py"]), ("src/other.py", [])])
def test_a_path_in_a_sentence_is_missing_if_a_file_of_that_name_is_elsewhere(place, expected):
    def exists_anywhere(target):
        return place.endswith(f"/{target}")

    found = find_missing_files(source("The app is in `src/api/app.py`."), disk("src/api/there.py"), exists_anywhere)
    assert [reference.target for reference in found] == expected


@pytest.mark.parametrize("link", ["old/moved.md", "../old/moved.md", "references/gone.md"])
def test_a_link_into_a_folder_that_does_not_exist_may_be_about_another_repository(link):
    def find(kind, has_moved):
        text = source(f"See [it]({link}).", kind=kind)
        found = find_missing_files(text, disk("docs/there.md"), lambda target: has_moved and target == "moved.md")
        return [reference.target for reference in found]

    assert find("file", False) == []
    assert find("file", True) == ([link] if "moved" in link else [])
    assert find("skill", False) == ([link] if "references" in link else [])


@pytest.mark.parametrize(("name", "expected"), [("changelog-archive", []), ("chat-history", ["src/api/gone.py"])])
def test_the_name_of_a_file_says_that_it_records_changes(name, expected):
    text = source("Routes: `src/api/gone.py`", f"/w/{name}.md")
    found = find_missing_files(text, disk("src/api/there.py"), exists_nowhere)
    assert [reference.target for reference in found] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run `scripts/gone.py`.", ["scripts/gone.py"]),
        ("Run `scripts/there.py`.", []),
        ("```sh\npython scripts/gone.py --all\n```", ["scripts/gone.py"]),
        ("Then ./scripts/gone.sh does it.", ["scripts/gone.sh"]),
        ("Create a file and run `scripts/gone.py`.", []),
        ("Run `scripts/gone.py` (if it exists).\n\n```sh\npython scripts/gone.py\n```", []),
        ("Run `python scripts/your_script.py`.", []),
        ("- `scripts/gone.py`: counts", ["scripts/gone.py"]),
        ("It must **never**:\n\n- Ask for a password,\n  or\n- run `scripts/gone.py`.", []),
        ("Always:\n\n- run `scripts/gone.py`.", ["scripts/gone.py"]),
        ("| When | Example |\n|---|---|\n| x | `python scripts/gone.py` |", []),
        ("| Example | Command |\n|---|---|\n| x | `python scripts/gone.py` |", ["scripts/gone.py"]),
        ("See `references/gone.md`.", ["references/gone.md"]),
        ("See `.github/workflows/ci.yml`.", []),
        ("State: `data/inbox.jsonl`", []),
    ],
)
def test_references_in_a_skill_are_relative_to_its_folders(text, expected):
    exists = disk("scripts/there.py", "data/x.json", ".github/workflows/x.yml")
    assert [
        reference.target for reference in find_missing_files(source(text, SKILL, "skill"), exists, exists_nowhere)
    ] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@docs/there.md", [("@docs/there.md", True)]),
        ("@docs/gone.md", [("@docs/gone.md", False)]),
        ("- @docs/there.md", []),
        ("Also see @docs/there.md for more.", []),
        ("See @docs/there.md.", []),
        ("Also see @docs/gone.md for more.", []),
        ("Ask @someone or @org/team; use @scope/package.", []),
        ("`@docs/there.md`", []),
        ("```\n@docs/there.md\n```", []),
        ("@property\n@app.route", []),
        ("mail a@docs/there.md", []),
        ("- @/docs/there.ts\nImport it from @/docs/there.ts.", []),
        ("@AGENTS.local.md", []),
        ("<!-- include: docs/there.md -->", [("<!-- include: docs/there.md -->", True)]),
    ],
)
def test_includes_that_the_layout_does_not_expand_are_reported(text, expected):
    reported = find_unexpanded_includes(source(text), disk("docs/there.md", "/docs/there.ts"), False)
    assert [(reference.target, is_there) for reference, is_there in reported] == expected


def test_an_include_of_a_file_already_in_the_prompt_is_not_reported():
    assert (
        list(
            find_unexpanded_includes(
                source("@../AGENTS.md", "/w/web/CLAUDE.md"), disk("AGENTS.md"), False, {"/w/AGENTS.md"}
            )
        )
        == []
    )


def test_a_layout_that_expands_includes_is_not_reported():
    assert list(find_unexpanded_includes(source("<!-- include: docs/x.md -->"), disk("docs/x.md"), True)) == []


# Contradictions


@pytest.mark.parametrize(
    ("earlier", "later", "reported"),
    [
        ("Use pnpm.", "`npm install`", ""),
        ("Never use npm.", "```sh\nnpm install\n```", "uses npm, forbids npm"),
        ("`npm install`", "Use pnpm instead of npm.", "forbids npm, uses npm"),
        ("`npm run build`", "`pnpm build`", ""),
        ("`uv sync`", "`poetry install`", ""),
        ("Use tabs for indentation.", "Indentation: 2 spaces.", "uses 2 spaces, uses tabs"),
        ("Use pnpm.", "Use pnpm.", ""),
        ("`npm install`", "`npm install` or `pnpm install`", ""),
        ("`npm install`", "npm is not used here, and pnpm is.", ""),
        ("`pnpm install`", "`npm publish`", ""),
        ("`pnpm install`", "`npm install -g pnpm`", ""),
        ("`uv sync`", "`uv pip install x`", ""),
        ("`uv sync`", "`pip install uv`", ""),
        ("Do not run `bun test` here.", "`bun install`", ""),
        ("To avoid npm trouble, wait.", "`npm install`", ""),
        ("Use tabs in Go.", "Indentation: 2 spaces.", ""),
        ("Follow PEP 8 (indent with 4 spaces).", "Indentation: 2 spaces.", ""),
        ("## Code in `*.py`\n\n### Style\n\nIndent with 4 spaces.", "Indentation: 2 spaces.", ""),
        ("## 1.2 Style\n\nIndent with 4 spaces.", "Indentation: 2 spaces.", "uses 2 spaces, uses 4 spaces"),
        ("Use tabs for the pages of a dialog.", "Indentation: 2 spaces.", ""),
        ("Prefer tabs over accordions.", "Indentation: 2 spaces.", ""),
        ("Use spaces around operators.", "Indentation: tabs.", ""),
        ("Use tabs.", "Use spaces, not tabs.", "uses spaces, uses tabs"),
        ("`npm install`", "We no longer use `yarn install`.", ""),
        ("`npm install`", "`pnpm install` is deprecated.", ""),
        ("`uv sync`", "`pip install -r requirements.txt` is only for the worker.", ""),
        ("In `legacy/` use yarn.", "Use pnpm.", ""),
        ("`vitest run`", "`jest --watch`", ""),
        ("Use vitest.", "Use jest.", "uses jest, uses vitest"),
        ("npm must not be used.", "Use npm.", "uses npm, forbids npm"),
        ("`npm` must never be used.", "Install with npm.", "uses npm, forbids npm"),
        ("Using npm is forbidden.", "Use npm.", "uses npm, forbids npm"),
        ("The use of npm is not allowed.", "Install dependencies with npm.", "uses npm, forbids npm"),
        ("Do not call npm.", "Use npm.", "uses npm, forbids npm"),
        ("Never run `npm install`.", "Use npm.", "uses npm, forbids npm install"),
        ("Install with npm.", "Do not run `npm install`.", "forbids npm install, uses npm"),
        ("Never run `npm install`.", "`npm test`", ""),
        ("Use npm. Never run `npm install`.", "Use npm.", ""),
        ("Never run `npm install` in `web/`.", "Use npm.", ""),
        ("Never run `npm install --force`.", "Use npm.", ""),
        ("npm is forbidden in `web/`.", "Use npm.", ""),
        ("npm must not be used by the release job.", "Use npm.", ""),
        ("The registry says npm is not allowed.", "Use npm.", ""),
        ("Using npm workspaces is forbidden.", "Use npm.", ""),
        ("Users install with npm.", "Use pnpm.", ""),
    ],
)
def test_commands_that_contradict_each_other_are_reported(earlier, later, reported):
    contradictions_found = find_contradictions([source(earlier), source(later, "/w/web/AGENTS.md")])
    assert (
        "; ".join(f"{contradiction.says}, {contradiction.other_says}" for contradiction in contradictions_found)
        == reported
    )


@pytest.mark.parametrize(
    ("path", "later", "reported"),
    [
        ("/w/CLAUDE.md", "`npm install`", ["uses npm"]),
        ("/w/.cursor/rules/web.mdc", "`npm install`", ["uses npm"]),
        ("/w/web/AGENTS.md", "`npm install`", []),
        ("/w/web/AGENTS.md", "Use npm.", ["uses npm"]),
    ],
)
def test_a_package_may_run_its_own_tools(path, later, reported):
    texts = [source("Use pnpm."), source(later, path)]
    assert [contradiction.says for contradiction in find_contradictions(texts)] == reported


def test_two_files_that_only_run_different_tools_do_not_contradict():
    assert list(find_contradictions([source("`npm ci`"), source("`pnpm install`", "/w/CLAUDE.md")])) == []


def test_a_file_does_not_contradict_itself_nor_a_skill_the_prompt():
    text = "Use pnpm. `npm install`"
    assert list(find_contradictions([source(text)])) == []
    assert set(stances_of(source(text))) == {"the package manager"}


# Secrets


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "sk-ant-api03-" + "x" * 93,
        "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789",
        "ghp_your_token_here",
        "sk-proj-YOUR-API-KEY-GOES-HERE-" + "1234567890" * 3,
        "risk-assessment-and-task-management-for-everybody-and-their-cousins",
        "AIza" + "0" * 35,
        "-----BEGIN RSA PRIVATE KEY-----\n…\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQC...\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQC7\n  …\n-----END PRIVATE KEY-----",
        "xoxb-1234567890-abc",
        "xghp_" + "Zq8Yt2LwVb9KxRc4HnYd8PjUf3GsAe6TiOo1",
    ],
)
def test_examples_are_not_secrets(text):
    assert find_secrets(text) == []


RANDOM = "Zq8Yt2LwVb9KxRc4HnGd7PjUf3GsAe6TiMo1Wy5BrEkNvXpQhJ0CzDuSaIl" * 3
SECRETS = [
    "sk-ant-api03-" + RANDOM[:95],
    "sk-proj-" + RANDOM[:48],
    "ghp_" + RANDOM[:36],
    "github_pat_" + RANDOM[:22] + "_" + RANDOM[:59],
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n"
    + "\n".join([RANDOM[:70]] * 4),
    "-----BEGIN PRIVATE KEY-----\n" + RANDOM[:64] + "\n" + RANDOM[:40],
    "glpat-" + RANDOM[:20],
    "AKIA" + "QW3RZ7UPLK2MNB4C",
    "AIza" + RANDOM[:35],
    "xoxb-" + "8349021765" + "-" + RANDOM[:24],
    "sk_live_" + RANDOM[:24],
    "npm_" + RANDOM[:36],
    "hf_" + "mWeKtYuIoPaSdFgHjRlZxCvBnMqAzWsXeD",
    "gsk_" + RANDOM[:52],
]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:6])
def test_secrets_are_found_and_never_printed(secret):
    (found,) = find_secrets(f"key = '{secret}',")
    assert found.start == 7 and secret[-12:] not in found.summary + found.description
    for shown in (secret, secret[:-3] + "…", f"docs/{secret}.md"):
        assert secret[10:30] not in mask_secrets(shown)


def test_every_issuers_secrets_contain_its_hint():
    assert [issuer.description for issuer in ISSUERS if not issuer.hint] == []
    assert [issuer.description for issuer in ISSUERS if issuer.hint not in issuer.prefix + issuer.rest] == []


# Tools


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use the `grep_search` tool.", ["grep_search"]),
        ("Use the Task tool to start it.", ["Task"]),
        ("Call the tool `mcp__docs__search`.", ["mcp__docs__search"]),
        ("Use the `READ_FILE` tool and the `read_file` tool.", []),
        ("Use the `cargo` tool and the `pre-commit` tool.", []),
        ("If the `grep_search` tool is available, use it.", []),
        ("Never use the `grep_search` tool.", []),
        ("A hook on `Bash` tool calls.", []),
        ("```\nthe Task tool\n```", []),
        ("the Task tool and the Task tool", ["Task"]),
    ],
)
def test_missing_tools_are_reported(text, expected):
    assert [name for _, name in find_missing_tools(source(text), frozenset(("read_file",)))] == expected


def lint_text(text, lifetime="project"):
    pieces = [Piece(text, Origin("file", "/w/AGENTS.md", (1, text.count("\n") + 1)))]
    return lint(Prompt("l", text, [Passage("s", 0, text, lifetime, pieces)]), LintContext(lambda *_: True, len))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("\u200b```sh\nls\n\u200b```\n", 0),
        ("\u200b\u200b```sh\n", 1),
        ("a\u200bb\n\u200b```\n", 1),
        ("\u200b`x`", 1),
        ("```sh\nls\n```\u200b\n", 0),
        ("```\u200b\u200b\n", 1),
    ],
)
def test_a_zero_width_space_before_a_fence_is_not_hidden_text(text, count):
    reported = lint_text(text)
    assert [finding.code for finding in reported] == ["hidden-characters"] * count


@pytest.mark.parametrize(
    ("text", "fenced"),
    [
        ("a\n```markdown\nb\n```\nc\n", "b"),
        ("a\n```markdown\nb\n", "b"),
        ("a\n```markdown\nb\n```sh\nc\n```\nd\n```\ne\n", "bcd"),
        ("a\n```markdown\nb\n```sh\nc\n", "bc"),
    ],
)
def test_a_sample_document_may_contain_fences(text, fenced):
    document = source(text)
    assert "".join(letter for letter in "abcde" if document.is_fenced(text.rfind(f"{letter}\n"))) == fenced


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wrap names in `\u2068` and `\u2069`.\n", []),
        ("\u2067\u2066a\u2069\u2069", []),
        ("\u2067a\u2069\u2069 \u2068", ["an unpaired bidirectional isolate (2 characters)"]),
        ("\u2069a\u2068\n", ["an unpaired bidirectional isolate (2 characters)"]),
        ("a\u2067b\nc\u2069", ["an unpaired bidirectional isolate (2 characters on 2 lines, starting here)"]),
        ("a\u2067b\u2029c\u2069", ["an unpaired bidirectional isolate (2 characters)"]),
        ("\u2068a\u202e\u2069", ["a bidirectional override (U+202E)"]),
        ("\u202ba\u202c", ["a bidirectional override (2 characters)"]),
    ],
)
def test_isolates_that_are_closed_in_their_line_are_not_hidden_text(text, expected):
    assert [(found.severity, found.message) for found in lint_text(text)] == [("error", each) for each in expected]


@pytest.mark.parametrize(
    ("text", "is_decoded"),
    [("â\x80\x93 Â\x9f", True), ("a\x08b\x08c\x08", False), ("â\x80\x93\na\x1bb", False), ("\x80\x93", False)],
)
def test_control_characters_of_latin_1_come_from_wrong_decoding(text, is_decoded):
    (found,) = lint_text(text)
    assert found.message.endswith("; was this UTF-8 decoded as Latin-1?") is is_decoded


# Text that changes


def volatile_texts(text, lifetime="project"):
    return [
        finding.message.partition(" is")[0] for finding in lint_text(text, lifetime) if finding.code == "volatile-text"
    ]


@pytest.mark.parametrize(("text", "count"), [("s-1", 1), (" \n", 0), ("", 0)])
def test_a_changing_value_is_reported_if_it_has_text(text, count):
    prompt = Prompt("l", text, [Passage("s", 0, text, "project", [Piece(text, Origin("environment", "session"))])])
    reported = [finding.message for finding in lint(prompt, LintContext(lambda *_: True, len))]
    assert [message.partition(" is")[0] for message in reported] == ["the session's id"] * count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Today's date is 2026-03-07.", ["today's date"]),
        ("**Current date:** March 7, 2026", ["today's date"]),
        ("Indexed: 2026-03-07T08:55:05Z", []),
        *((f"{word}: 2026-03-07T08:55:05Z", []) for word in ("Last updated", "Generated", "Last modified", "Created")),
        *((f"{word} 2026-03-07 08:55", []) for word in ("As of", "Reviewed on", "Generated by make at")),
        ("*Last synced: 2026-03-07 08:55*", []),
        ("Session ID: 0b3f6c1e-9a57-4c1d-8e2f-7d6a5b4c3e21", ["the id of a run"]),
        ("Last updated: 2026-03-07", []),
        ("The freeze begins on 2026-03-07 at 08:55.", []),
        ("`Indexed: 2026-03-07T08:55:05Z`", []),
        ("```\nToday is 2026-03-07\n```", []),
        ("The session id is a UUID.", []),
    ],
)
def test_text_that_changes_over_time_is_reported(text, expected):
    assert volatile_texts(text) == expected
    assert volatile_texts(text, "turn") == []


def test_a_clock_in_a_lasting_section_is_reported():
    pieces = [Piece("It is ", Origin("builtin", "$std/x")), Piece("08:55", Origin("environment", "now.iso"))]
    context = LintContext(lambda *_: True, len)
    (finding,) = lint(Prompt("l", "It is 08:55", [Passage("s", 0, "It is 08:55", "project", pieces)]), context)
    assert (
        finding.message
        == "the time is in section 's', which should stay the same for a project; 5 characters follow it"
    )
    assert lint(Prompt("l", "It is 08:55", [Passage("s", 0, "It is 08:55", "turn", pieces)]), context) == []


# Sizes


def limits_exceeded(files, candidates=()):
    pieces = [Piece(text, Origin("file", path, (1, 1 + text.count("\n")))) for path, text in files.items()]
    text = "".join(files.values())
    prompt = Prompt("l", text, [Passage("s", 0, text, "project", pieces)], candidates)
    reported = lint(prompt, LintContext(lambda *_: True, lambda _: 0))
    return [(finding.path, finding.message.partition(";")[0]) for finding in reported if finding.code == "over-limit"]


def test_files_over_the_limits_of_other_agents_are_reported():
    assert limits_exceeded({"/w/CLAUDE.md": "ä" * 40_001}) == [("/w/CLAUDE.md", "this file has 40,001 characters")]
    assert limits_exceeded({"/w/CLAUDE.md": "ä" * 40_000, "/w/AGENTS.md": "a" * 40_001}) == []
    link = Candidate("/w/CLAUDE.md", "project", "duplicate", "the same file", "/w/AGENTS.md")
    assert limits_exceeded({"/w/AGENTS.md": "a" * 40_001}, [link]) == [
        ("/w/AGENTS.md", "this file, which Claude Code reads as CLAUDE.md, has 40,001 characters")
    ]


def test_every_limit_has_a_source_and_a_date():
    assert [limit.agent for limit in LIMITS if not limit.source or not limit.date[:4].isdecimal()] == []


# Tags


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("</instructions>", [("warning", 1)]),
        ("a\n<instructions>\nb\n</instructions>", []),
        ("a\n<instructions>\nb\n</instructions>\n</instructions>", [("warning", 5)]),
        ("deploy <environment>", []),
        ("say `<skills>` in the middle", []),
        ("deploy <environment>\n</environment>", [("warning", 2)]),
        ("</div> Vec<T>", []),
    ],
)
def test_forged_tags_are_reported(tree, text, reported):
    from foreword.engine.assembler import Assembler
    from foreword.programs.proofread import proofread

    tree({"w/.git/HEAD": "", "w/AGENTS.md": text})
    findings = proofread(Assembler(tree.workspace())).findings
    assert [(finding.severity, finding.line) for finding in findings if finding.code == "forged-tag"] == reported
    assert "file-neutralised" not in {finding.code for finding in findings}


@pytest.mark.parametrize("second", [Path("AGENTS.md"), "@AGENTS.md\n", "Be brief.\n"])
def test_a_second_name_for_a_file_is_good_practice(tree, second):
    tree({"w/.git/HEAD": "", "w/AGENTS.md": "Be brief.\n", "w/CLAUDE.md": second})
    findings = proofread(Assembler(tree.workspace("w"))).findings
    assert [finding.code for finding in findings if finding.code not in ("sent-twice", "unfollowed-import")] == []


def test_skills_with_the_same_kind_of_name_are_reported_once(tree):
    text = "---\nname: shop {0}\ndescription: Does it.\n---\nDo it.\n"
    tree({"w/.git/HEAD": "", **{f"w/.agents/skills/{name}/SKILL.md": text.format(name) for name in ("a", "b", "c")}})
    findings = proofread(Assembler(tree.workspace("w")), Agent(tools=[Tool("read")])).findings
    assert [(finding.severity, tree.short(finding.path), finding.message) for finding in findings] == [
        (
            "info",
            "/w/.agents/skills/a/SKILL.md",
            "its name 'shop a' must consist of a-z, 0-9 and single hyphens between them; Qwen Code skips this skill"
            " (the first of 3 such skills)",
        )
    ]


@pytest.mark.parametrize(
    ("folder", "head", "outcome"),
    [
        (".agents", "name: shop:a", None),
        (".agents", "name: other", None),
        (".agents", "name: a\nlicense: [MIT]", None),
        (".agents", "name: a/b", "Copilot CLI and Qwen Code skip this skill"),
        (".claude", "name: a/b", None),  # nothing says that Copilot is used
        (".gemini", "name: a/b", None),
        (".agents", "version: 1", "Gemini CLI, OpenCode and Qwen Code skip this skill"),
        (".agents", "license: MIT", None),  # a copy from elsewhere
        (".claude", "license: MIT", None),
        (".unknown", "name: a\nlicense: a: b", None),
        ("plugin", "slug: a", None),
        ("examples/plugin", "license: MIT", None),
        ("tests/Fixtures/plugin", "license: MIT", None),
        ("plugin", "name: a\nargument_hint: file", "did you mean 'argument-hint'?"),
        ("plugin", "name: a\nargument_hint: ''", None),
        ("plugin", "name: a\ndisallowed-tools: Write", None),
        ("plugin", f"name: {'n' * 65}", "Codex CLI and Copilot CLI skip this skill"),
        (".agents", "name: a\nlicense: a: b", "Copilot CLI skips this skill"),
        (".codex", "name: a\nlicense: a: b", None),
        (".agents", f"name: a\nx: {'x' * 9}", None),
    ],
)
def test_a_skill_is_reported_if_an_agent_skips_it(tree, folder, head, outcome):
    path = f"w/{folder}/skills/a/SKILL.md"
    files = {path: f"---\n{head}\ndescription: Does it.\n---\nDo it.\n", "w/plugin/.claude-plugin/plugin.json": "{}"}
    tree({"w/.git/HEAD": "", **files})
    findings = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    assert [finding.message.rpartition("; ")[2] for finding in findings] == ([outcome] if outcome else [])


@pytest.mark.parametrize(
    ("folder", "head", "outcome"),
    [
        (".agents", "license: MIT", "Codex CLI, Gemini CLI, OpenCode and Qwen Code skip this skill"),
        (".agents", "description:", "Codex CLI, Copilot CLI, OpenCode and Qwen Code skip this skill"),
        (".agents", "description: ''", "Codex CLI and Qwen Code skip this skill"),
        (".gemini", "description:", "Foreword skips this skill"),
        (".gemini", "license: MIT", "Gemini CLI skips this skill"),
        (".claude", "description: ''", "Foreword skips this skill, and Claude Code describes it by its first line"),
    ],
)
def test_a_blank_description_is_reported_for_agents_that_skip_it(tree, folder, head, outcome):
    tree({"w/.git/HEAD": "", f"w/{folder}/skills/a/SKILL.md": f"---\nname: a\n{head}\n---\nDo it.\n"})
    findings = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    assert [finding.message.rpartition("; ")[2] for finding in findings] == ([outcome] if outcome else [])


@pytest.mark.parametrize(("folder", "expected"), [(".agent-skills/a", []), (".agents/skills/a", ["skill-invalid"])])
def test_a_repository_in_a_hidden_folder(tree, folder, expected):
    """Its own hidden folders count, and not those around it."""
    tree({"w/.trees/w/.git/HEAD": "", f"w/.trees/w/{folder}/SKILL.md": "Do it.\n"})
    findings = proofread(Assembler(tree.workspace("w/.trees/w")), is_recursive=True).findings
    assert [finding.code for finding in findings] == expected


@pytest.mark.parametrize(
    ("path", "outcome"),
    [
        (".agents/skills/group/a", "Codex CLI, Copilot CLI and OpenCode skip this skill"),
        (
            ".claude/skills/a",
            "Copilot CLI and OpenCode skip this skill, and Claude Code describes it by its first line",
        ),
        (
            ".claude/skills/group/a",
            "Copilot CLI and OpenCode skip this skill",
        ),  # Claude Code does not look there
        (".gemini/skills/group/a", ""),
        (".claude/x/skills/a", ""),
    ],
)
def test_only_agents_that_search_so_deep_skip_a_skill(tree, path, outcome):
    tree({"w/.git/HEAD": "", f"w/{path}/SKILL.md": "Do it.\n"})
    findings = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    assert [finding.message.rpartition("; ")[2] for finding in findings] == ([outcome] if outcome else [])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# Shop\n\n```sh\nmake\n", 3),
        ("Run.\n\n<!-- later\n", 3),
        ("```\na\n```\n\nb\n\n~~~\nc\n", 7),
        ("Run.\n```\n \n", 0),
    ],
)
def test_the_line_of_a_fence_that_is_never_closed(tree, text, line):
    tree({"w/.git/HEAD": "", "w/AGENTS.md": text})
    found = proofread(Assembler(tree.workspace("w"))).findings
    assert [(each.code, each.line) for each in found] == ([("file-fence", line)] if line else [])
    assert all(each.message.endswith("; close it") for each in found)


@pytest.mark.parametrize(
    ("path", "file", "severity"),
    [
        (".claude/skills/a", "CLAUDE.md", "info"),
        (".claude/skills/a", "AGENTS.md", "info"),
        (".claude/skills/a", ".github/copilot-instructions.md", "warning"),
        (".agents/skills/a", "CLAUDE.md", "info"),
        (".agents/skills/a", ".github/copilot-instructions.md", "warning"),
        (".github/skills/a", "CLAUDE.md", "warning"),
    ],
)
def test_a_shared_skill_that_only_copilot_skips_matters_if_copilot_is_used(tree, path, file, severity):
    skill = "---\nname: a\ndescription: Use it when: always.\n---\nDo it.\n"
    tree({"w/.git/HEAD": "", f"w/{path}/SKILL.md": skill, f"w/{file}": "Be brief.\n"})
    found = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    assert [each.severity for each in found if each.code == "skill-repaired"] == [severity]


def test_what_agents_do_with_a_long_description(tree):
    text = f"---\nname: a\ndescription: {'Does it. ' * 200}\n---\nDo it.\n"
    tree({"w/.git/HEAD": "", "w/.agents/skills/a/SKILL.md": text})
    (finding,) = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    assert finding.message.endswith("; Copilot CLI skips this skill, and Codex CLI cuts its description")


def test_a_sub_agent_that_its_program_reads_anyway_is_not_reported(tree):
    text = "---\nname: a\ndescription: Use it when: always.\n---\nDo it.\n"
    tree({"w/.git/HEAD": "", "w/CLAUDE.md": "Be brief.\n", "w/.claude/agents/a.md": text})
    assert proofread(Assembler(tree.workspace("w"))).findings == ()


def test_a_sub_agent_that_no_agent_of_the_repository_reads_is_not_reported(tree):
    text = "---\nname: a\ndescription: Use it when: always.\n---\nDo it.\n"
    tree({"w/.git/HEAD": "", "w/.agents/agents/a.md": text})
    assert [found.code for found in proofread(Assembler(tree.workspace("w"))).findings] == ["front-matter-invalid"]
    tree({"w/CLAUDE.md": "Be brief.\n"})
    assert proofread(Assembler(tree.workspace("w"))).findings == ()


def test_an_exact_copy_has_the_findings_of_its_original(tree):
    text = "Before you start, read `guides/gone.md`.\n"
    tree({"w/.git/HEAD": "", "w/AGENTS.md": text, "w/CLAUDE.md": text})
    findings = proofread(Assembler(tree.workspace("w"))).findings
    assert [(finding.code, tree.short(finding.path)) for finding in findings] == [("missing-file", "/w/AGENTS.md")]


def test_what_agents_do_with_skills_without_front_matter(tree):
    tree({"w/.git/HEAD": "", **{f"w/.claude/skills/{name}/SKILL.md": "@skills/a.md\n" for name in ("a", "b")}})
    (finding,) = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    assert finding.message.endswith(
        "; Copilot CLI and OpenCode skip this skill, and Claude Code describes it by its first line (the first of 2 such skills)"
    )


@pytest.mark.parametrize(
    ("before", "is_reported"),
    [("```sh\ncd DOCS_PATH\n", False), ("```sh\ncd web\n", False), ("Wrong:\n\n```sh\n", False), ("```sh\n", True)],
)
def test_a_script_in_another_folder_is_not_missing(tree, before, is_reported):
    body = f"{before}node scripts/pages.mjs\n```\n"
    path = "w/skills/a/SKILL.md"
    tree({"w/.git/HEAD": "", path: f"---\nname: a\ndescription: Does it.\n---\n{body}"})
    findings = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    assert [finding.code for finding in findings] == (["missing-file"] if is_reported else [])


def missing_files(tree, files):
    tree({"w/.git/HEAD": "ref: refs/heads/main\n", "w/.git/objects/x": "", "w/.git/refs/x": "", **files})
    findings = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    return [tree.short(finding.message) for finding in findings if finding.code == "missing-file"]


def test_a_file_that_a_sparse_checkout_leaves_out_is_not_missing(tree, git):
    text = "Read `docs/a.md`.\nRead `docs/b.md`.\nSee [the guides](guides/web.d).\n"
    tree({"w/AGENTS.md": text, "w/docs/a.md": "A", "w/docs/b.md": "B", "w/guides/web.d/x.md": "X"})
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "x")
    git("sparse-checkout", "set", "--no-cone", "/AGENTS.md", "/docs/b.md")
    assert not os.path.exists(tree.path("w/guides"))
    os.unlink(tree.path("w/docs/b.md"))
    findings = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    assert [finding.message for finding in findings] == ["docs/b.md does not exist"]


def test_a_file_that_git_ignores_is_not_missing(tree):
    files = {"w/AGENTS.md": "Read `docs/a.md`.\nRead `docs/api/b.md`.\n", "w/.gitignore": "/docs/api/\n"}
    assert missing_files(tree, files) == ["docs/a.md does not exist"]


def test_a_file_of_a_submodule_is_not_missing(tree):
    files = {
        "w/AGENTS.md": "Read `sdk/a.md`.\nRead `lib/sdk/b.md`.\nRead `sdk2/c.md`.\n",
        "w/lib/x": "",
        "w/sdk2/x": "",
    }
    modules = '[submodule "a"]\n\tpath = sdk\n\turl = u\n[submodule "b"]\n\turl = u\n\tpath = "lib/sdk/"\n'
    assert missing_files(tree, {**files, "w/sdk/x": "", "w/.gitmodules": modules}) == ["sdk2/c.md does not exist"]
    os.unlink(tree.path("w/.gitmodules"))
    tree({"outside": modules, "w/.gitmodules": Path("../outside")})
    (message,) = missing_files(tree, {})
    assert message.startswith("sdk/a.md, "), "nothing outside the workspace is read"


SKILL_HEAD = "---\nname: plan\ndescription: Plans.\n---\n"
PLANS, COMMAND = "w/.claude/skills/plan/SKILL.md", "w/.claude/commands/plan.md"


@pytest.mark.parametrize(
    ("path", "text", "is_missing"),
    [
        (PLANS, "**Output:** `docs/plan.md`", False),
        (PLANS, "- Outputs: `docs/list.md` and `./docs/plan.md`", False),
        (PLANS, "| Writes | docs/plan.md |", False),
        (PLANS, "**Output:** see `docs/plan.md`", True),
        (PLANS, "**Input:** `docs/plan.md`", True),
        (PLANS, "Save the report to `docs/plan.md`.", False),
        (PLANS, "Write code that conforms to `docs/plan.md`.", True),
        (COMMAND, "May I write this to `docs/plan.md`?", False),
        (COMMAND, "Write this to `web/docs/plan.md`.", True),
        ("w/web/AGENTS.md", "**Output:** `docs/plan.md`", True),
        ("w/web/AGENTS.md", "Read `docs/plan.md` (if it\nexists).", False),
        ("w/web/AGENTS.md", "If `docs/plan.md` does not exist, stop.", False),
        ("w/web/AGENTS.md", "Read `docs/plan.md` if you are new.", True),
        ("w/web/AGENTS.md", "Read `old/docs/plan.md` if it exists.", True),
        ("w/README.md", "Read `docs/plan.md` if it exists.", True),
    ],
)
def test_a_file_that_a_skill_writes_or_that_is_used_only_if_it_exists_is_yet_to_come(tree, path, text, is_missing):
    files = {
        "w/AGENTS.md": "Read `docs/plan.md`.\n",
        "w/CLAUDE.md": "@AGENTS.md\n",
        "w/docs/x.md": "",
        "w/old/docs/x.md": "",
    }
    missing = missing_files(tree, {**files, path: f"{SKILL_HEAD if path == PLANS else ''}{text}\n"})
    assert ("docs/plan.md does not exist" in " ".join(missing)) is is_missing


def test_another_skill_has_its_own_scripts(tree):
    skill = "---\nname: {}\ndescription: Does it.\n---\n"
    files = {"w/.agents/skills/a/SKILL.md": RUNS.format("a", ""), "w/scripts/x.py": ""}
    guarded = f"{skill.format('b')}Read `scripts/check.py` if it exists.\n"
    assert missing_files(tree, {**files, "w/.agents/skills/b/SKILL.md": guarded}) == ["scripts/check.py does not exist"]


def test_a_link_has_the_references_of_its_target(tree):
    files = {"w/.ai/general.md": "See [it](./other.md) and [that](./c.md).\n", "w/.ai/other.md": "X."}
    assert missing_files(tree, {**files, "w/AGENTS.md": Path(".ai/general.md")}) == ["./c.md does not exist"]


def test_one_missing_file_in_copies_is_one_finding(tree):
    files = {f"w/{folder}/AGENTS.md": f"# {folder}\n\nRead `docs/a.md`.\n" for folder in "abc"}
    assert missing_files(tree, files) == ["docs/a.md does not exist; also in /w/b/AGENTS.md:3 and 1 more"]


def test_one_missing_file_in_different_files_is_one_finding(tree):
    text = "Read `docs/a.md`.\n"
    files = {"w/CLAUDE.md": f"# A\n\n{text}", "w/AGENTS.md": text, "w/web/GEMINI.md": text}
    (message,) = missing_files(tree, files)
    assert message.startswith("docs/a.md does not exist; also in /w/") and message.endswith(" and 1 more")


def test_a_link_to_a_persons_disk_can_be_followed_by_nobody_else(tree):
    links = "[a](/Users/kim/w/a.md) [b](file:///home/kim/w/b.md#x) [c](/home/user/c.md) [d](/api/users/d.md) `[e](/Users/kim/e.md)`"
    message = "/Users/kim/w/a.md and file:///home/kim/w/b.md are on one person's disk; link to them by relative paths"
    assert missing_files(tree, {"w/AGENTS.md": f"See {links}.\n"}) == [message]
    tree({"home/.claude/CLAUDE.md": "See [a](/Users/kim/w/a.md).\n"})
    assert missing_files(tree, {}) == [message]


def test_several_missing_files_are_one_finding(tree):
    lines = [f"Read `docs/{name}.md`." for name in "abcdefgh"]
    assert missing_files(tree, {"w/AGENTS.md": "\n".join(lines)}) == [
        "docs/a.md, docs/b.md (line 2), docs/c.md (line 3), docs/d.md (line 4), docs/e.md (line 5) and 3 more do not exist"
    ]
    ignored = [f"{line} <!-- foreword: ignore missing-file -->" for line in lines[2:]]
    files = {"w/AGENTS.md": "\n".join([*lines[:2], *ignored]), "w/web/AGENTS.md": lines[1]}
    assert missing_files(tree, files) == ["docs/a.md and docs/b.md (line 2; also in /w/web/AGENTS.md:1) do not exist"]


def test_several_missing_scripts_are_one_finding(tree):
    text = "Run `npm run lints`.\nRun `npm run docs`.\n"
    tree({"w/.git/HEAD": "", "w/AGENTS.md": text, "w/package.json": '{"scripts": {"lint": "x"}}'})
    (finding,) = proofread(Assembler(tree.workspace("w"))).findings
    assert (finding.line, tree.short(finding.message)) == (
        1,
        "/w/package.json has no scripts 'lints' and 'docs' (line 2)",
    )


@pytest.mark.parametrize(
    ("name", "hint"), [("lints", "; did you mean 'lint'?"), ("lint-all", "; known: lint"), ("X", None)]
)
def test_a_script_is_suggested_only_if_its_name_is_close(tree, name, hint):
    tree({"w/.git/HEAD": "", "w/AGENTS.md": f"Run `npm run {name}`.\n", "w/package.json": '{"scripts": {"lint": "x"}}'})
    messages = [finding.message for finding in proofread(Assembler(tree.workspace("w"))).findings]
    assert messages == ([] if hint is None else [f"{tree.path('w/package.json')} has no script {name!r}{hint}"])


def test_one_missing_script_in_several_files_is_one_finding(tree):
    package = '{"scripts": {"lint": "x"}}'
    files = {"w/AGENTS.md": "Run `npm run a`.\n", "w/web/AGENTS.md": "# Web\n\nRun `npm run a`, then `npm run b`.\n"}
    tree({"w/.git/HEAD": "", **files, "w/package.json": package})
    found = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    assert [tree.short(each.message) for each in found] == [
        "/w/package.json has no script 'a'; known: lint; also in /w/web/AGENTS.md:3",
        "/w/package.json has no script 'b'; known: lint",
    ]


def test_the_most_similar_of_many_scripts_are_named(tree):
    scripts = {f"{kind}:{number}": "x" for kind in ("build", "release") for number in range(10)}
    package = json.dumps({"scripts": scripts})
    tree({"w/.git/HEAD": "", "w/AGENTS.md": "Run `npm run release-everything`.\n", "w/package.json": package})
    (found,) = proofread(Assembler(tree.workspace("w"))).findings
    assert found.message.partition("; known: ")[2] == ", ".join(f"release:{number}" for number in range(10))


def test_one_yaml_problem_is_one_finding(tree):
    skill = "---\nname: s\ndescription: Use when: always.\n---\nDo it.\n"
    folders = (".claude", ".agents", ".github")
    tree({"w/.git/HEAD": "", **{f"w/{folder}/skills/s/SKILL.md": skill for folder in folders}})
    (finding,) = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    assert finding.code == "skill-repaired" and finding.message.endswith("(the first of 3 such skills)")


SKILL = "---\nname: a\ndescription: Does it.\n---\nRead `references/a.md`.\n"
RUNS = "---\nname: {}\ndescription: Does it.{}\n---\nRun `python scripts/check.py`.\n"


def test_a_skill_that_is_linked_or_published_was_installed(tree):
    files = {"w/scripts/b.py": "", "w/.agents/skills/a/SKILL.md": RUNS.format("a", "")}
    assert missing_files(tree, files) == ["scripts/check.py does not exist"], "the repository has such a folder"
    assert missing_files(tree, {"w/.claude/skills/a": Path("../../.agents/skills/a")}) == []
    assert len(missing_files(tree, {"w/.claude/skills/b/SKILL.md": RUNS.format("b", "")})) == 1
    assert missing_files(tree, {"w/.claude/skills/b/SKILL.md": RUNS.format("b", "\nlicense: MIT")}) == []
    assert missing_files(tree, {"w/.claude/skills/b/SKILL.md": RUNS.format("b", "\norigin: elsewhere")}) == []


def test_many_indented_fields_of_a_skill_are_searched_once(tree):
    """With a pattern that can divide each line in several ways, this would take years."""
    fields = "\nmetadata:" + "\n        key: x" * 60
    files = {"w/scripts/b.py": "", "w/.agents/skills/a/SKILL.md": RUNS.format("a", fields)}
    assert missing_files(tree, files) == ["scripts/check.py does not exist"]


def test_a_file_of_a_skill_in_an_agents_folder_may_be_missing_where_it_came_from(tree):
    assert missing_files(tree, {"w/.claude/skills/a/SKILL.md": SKILL}) == []
    assert len(missing_files(tree, {"w/skills/a/SKILL.md": SKILL})) == 1


def test_skills_without_front_matter_in_a_folder_that_no_agent_searches(tree):
    tree({"w/.git/HEAD": "", "w/skills/a/SKILL.md": "# A\n", "w/skills/b/SKILL.md": "# B\n"})
    assert proofread(Assembler(tree.workspace("w")), is_recursive=True).findings == ()


@pytest.mark.parametrize(
    ("folder", "count"), [("claw-skills", 0), ("claw/skills", 0), ("plugin/skills", 1), ("skills/web", 1)]
)
def test_skills_in_a_folder_with_another_name_are_for_another_program(tree, folder, count):
    skill = "---\nname: a\ndescription: Use when: always.\n---\nDo it.\n"
    tree({"w/.git/HEAD": "", f"w/{folder}/a/SKILL.md": skill, "w/plugin/gemini-extension.json": "{}"})
    assert len(proofread(Assembler(tree.workspace("w")), is_recursive=True).findings) == count


@pytest.mark.parametrize(
    ("path", "text", "is_page"),
    [
        ("agents.md", "Be brief.\n", False),
        ("agents.md", "---\ntitle: Agents\n---\nBe brief.\n", True),
        ("site/pages/agents.md", "Be brief.\n", True),
        ("api/agents.md", "Be brief.\n", False),
    ],
)
def test_a_page_about_agents_is_not_an_instruction_file(tree, path, text, is_page):
    tree({"w/.git/HEAD": "", f"w/{path}": text, f"w/{path.rpartition('/')[0]}/CLAUDE.md": "Be brief.\n"})
    findings = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    assert [finding.code for finding in findings] == ([] if is_page else ["file-case"])


@pytest.mark.parametrize(
    ("path", "is_missing"),
    [
        ("crates/bc/src/ident.rs", False),
        ("bc/src/lib/ident.rs", False),
        ("crates/bc/old/ident.rs", True),
        ("crates/bc/src/other.rs", True),
    ],
)
def test_people_leave_out_the_folder_of_sources(tree, path, is_missing):
    files = {"w/AGENTS.md": "- `bc/ident.rs`: the list\n", "w/bc/x": "", f"w/{path}": "X."}
    assert missing_files(tree, files) == (["bc/ident.rs does not exist"] if is_missing else [])


def test_many_links_to_unknown_files_beside_a_text_were_copied_with_it(tree):
    text = "[a](there.md)\n" + "".join(f"[a](../page{letter}.md)\n" for letter in "abcdefghij")
    assert missing_files(tree, {"w/web/AGENTS.md": text, "w/web/there.md": ""}) == []
    assert missing_files(tree, {"w/docs/pagea.md": ""}) == [
        "../pagea.md, ../pageb.md (line 3), ../pagec.md (line 4), ../paged.md (line 5), ../pagee.md (line 6) and 5 more do not exist"
    ]


def test_a_script_of_the_folder_that_a_skill_is_about_is_not_missing(tree):
    skill = RUNS.format("a", "")
    assert missing_files(tree, {"w/.agents/skills/a/SKILL.md": skill, "w/scripts/x": ""}) == [
        "scripts/check.py does not exist"
    ]
    assert missing_files(tree, {"w/examples/scripts/check.py": ""}) == []


def test_a_script_in_an_entry_of_a_sample_is_not_missing(tree):
    skill = RUNS.format("a", "").replace("Run `python scripts/check.py`.", '  "check": "node ./scripts/check.js",')
    assert missing_files(tree, {"w/.agents/skills/a/SKILL.md": skill, "w/scripts/x": ""}) == []


def test_skills_in_a_folder_that_no_agent_searches_are_not_checked(tree):
    skill, path = RUNS.format("a", ""), "a/SKILL.md"
    assert missing_files(tree, {f"w/.agents/old-skills/{path}": skill, "w/scripts/x": ""}) == []
    assert missing_files(tree, {f"w/.agents/skills/{path}": skill}) == ["scripts/check.py does not exist"]


def test_links_and_files_with_one_problem_are_one_finding(tree):
    links = {f"w/.agents/skills/{name}/SKILL.md": Path(tree.path("outside.md")) for name in "ab"}
    loops = {"w/AGENTS.md": Path("CLAUDE.md"), "w/CLAUDE.md": Path("AGENTS.md")}
    tree({"w/.git/HEAD": "ref: refs/heads/main\n", "outside.md": "X.", **links, **loops})
    found = [finding for finding in proofread(Assembler(tree.workspace("w"))).findings if finding.severity != "info"]
    assert {finding.code: finding.message.rpartition(" (")[2] for finding in found} == {
        "link-refused": "the first of 2 such links)",
        "file-unreadable": "the first of 2 such files)",
    }


def test_a_link_out_of_the_repository_leads_nowhere_for_others(tree):
    link = {"w/.agents/skills/a/SKILL.md": Path(tree.path("outside.md"))}
    tree({"w/.git/HEAD": "ref: refs/heads/main\n", "outside.md": "X.", "w/CLAUDE.md": "Be brief.", **link})
    (found,) = proofread(Assembler(tree.workspace("w"))).findings
    assert tree.short(found.message).endswith(
        "a link that leaves /w, so those who clone the repository do not get the file; link to a file in it, or copy the file"
    )


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((39_000, 27_000), "; most of them come from here, when working in /w/a/b"),
        ((22_000, 21_500, 21_000), "; the largest part of them comes from here, when working in /w/a/b/c"),
    ],
)
def test_a_large_section_names_its_largest_file_and_the_folder(tree, sizes, message):
    folders = ("a/", "a/b/", "a/b/c/")
    for folder, size in zip(folders, sizes, strict=False):
        tree({f"w/{folder}CLAUDE.md": f"{folder} x y. " * (size // len(f"{folder} x y. "))})
    tree({"w/.git/HEAD": "ref: refs/heads/main\n"})
    found = proofread(Assembler(tree.workspace("w"), "claude"), is_recursive=True).findings
    messages = [tree.short(finding.message) for finding in found if finding.code == "oversized-section"]
    assert len(messages) == 1 and messages[0].endswith(message)


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({"": 68_000, "a/": 66_000}, [""]),
        ({"": 66_000, "a/": 68_000}, ["", "a/"]),
        ({"": 50, "a/": 68_000, "a/b/": 66_000, "c/": 68_000}, ["a/", "c/"]),
    ],
)
def test_a_section_that_is_too_large_above_is_one_finding(tree, sizes, expected):
    for folder, size in sizes.items():
        tree({f"w/{folder}CLAUDE.md": f"{folder} x y. " * (size // len(f"{folder} x y. "))})
    tree({"w/.git/HEAD": "ref: refs/heads/main\n", "w/.claude/x": ""})
    disabled = ("over-limit", "sent-twice")
    found = proofread(Assembler(tree.workspace("w"), "claude"), disable=disabled, is_recursive=True).findings
    paths = [tree.short(each.path) for each in found if each.code == "oversized-section"]
    assert paths == [f"/w/{folder}CLAUDE.md" for folder in expected]


def test_a_file_that_is_cut_says_that_the_section_below_is_too_large(tree):
    texts = {folder: f"{folder} x y. " * (45_000 // len(f"{folder} x y. ")) for folder in ("a/", "a/b/")}
    tree(
        {
            "w/.git/HEAD": "ref: refs/heads/main\n",
            "w/.codex/x": "",
            **{f"w/{folder}AGENTS.md": text for folder, text in texts.items()},
        }
    )
    found = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    assert [(each.code, tree.short(each.path)) for each in found if each.severity == "warning"] == [
        ("cut-file", "/w/a/AGENTS.md")
    ]


def test_an_instruction_file_deep_in_a_hidden_folder_is_not_checked(tree):
    text = "See [it](gone.md).\n"
    assert missing_files(tree, {"w/CLAUDE.md": "X.", "w/.claude/bundle/CLAUDE.md": text}) == []


@pytest.mark.parametrize("lock", ['{"skills": {"a": {}}}', '{"skills": {}}', "[]", "no"])
def test_an_installed_skill_cannot_be_corrected_here(tree, lock):
    files = {"w/scripts/b.py": "", "w/.agents/skills/a/SKILL.md": RUNS.format("a", ""), "w/skills-lock.json": lock}
    assert len(missing_files(tree, files)) == (0 if '"a"' in lock else 1)


@pytest.mark.parametrize(
    "text",
    [
        "## Output\n\n- `docs/a.md`: the list\n",
        "| what | where it goes |\n|---|---|\n| a note | `docs/a.md` |\n",
        "Read `docs/YYYYMMDD-a.md`.\n",
        "Ein neues Dokument: `docs/a.md`\n",
        "## What to Build\n\n### `docs/a.md`\n\nThe list.\n",
        "The shop is at `~/work/shop/`:\n\n- `docs/a.md`: the list\n",
        "- **The shop**, in `~/work/shop/`:\n  - `docs/c.md`: more\n  - `docs/a.md`: the list\n",
    ],
)
def test_a_path_of_a_file_to_come_is_not_missing(tree, text):
    assert missing_files(tree, {"w/AGENTS.md": text, "w/docs/b.md": "X."}) == []


def test_skills_in_the_folder_of_an_unknown_agent_are_not_checked(tree):
    tree({"w/.git/HEAD": "", "w/.agent/skills/a/SKILL.md": "No front matter.\n"})
    assert proofread(Assembler(tree.workspace("w")), is_recursive=True).findings == ()


def test_skills_in_test_data_are_not_checked(tree):
    tree({"w/.git/HEAD": "", "w/test/fixtures/skills/a/SKILL.md": "No front matter.\n"})
    assert proofread(Assembler(tree.workspace("w")), is_recursive=True).findings == ()


def test_an_instruction_file_in_a_skill_belongs_to_the_skill(tree):
    skill = "---\nname: a\ndescription: Does it.\n---\nDo it.\n"
    long = "Every handler checks rights before it writes. " * 1_600
    tree({"w/.git/HEAD": "", "w/skills/a/SKILL.md": skill, "w/skills/a/AGENTS.md": long})
    assert proofread(Assembler(tree.workspace("w")), is_recursive=True).findings == ()


def test_findings_of_one_check_in_a_file_are_limited():
    text = "\n\n".join(f"Read `docs/p{chr(97 + n // 26)}{chr(97 + n % 26)}.md`." for n in range(300))
    pieces = [Piece(text, Origin("file", "/w/AGENTS.md", (1, text.count("\n") + 1)))]
    reported = lint(Prompt("l", text, [Passage("s", 0, text, "project", pieces)]), LintContext(lambda *_: False, len))
    assert len(reported) == 100 and reported[-1].message.endswith("; and 200 more like this in the file")


@pytest.mark.parametrize(
    ("one", "other", "is_contradiction"),
    [
        ("Run npm install before tests.", "Run pnpm install before tests.", False),
        ("Use npm.", "Install with pnpm.", True),
        ("When in web/, run npm install.", "Run pnpm install.", False),
        ("Indent with tabs.", "Indent with spaces.", True),
        ("Indent with 2 spaces.", "Indent with spaces.", False),
    ],
)
def test_instructions_in_prose_can_contradict_each_other(one, other, is_contradiction):
    texts = [source(one), source(other, "/w/sub/AGENTS.md")]
    assert bool(list(find_contradictions(texts))) == is_contradiction


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("See docs/none.md.", ["docs/none.md"]),
        ("Read ./guide.md before you start", []),
        ("See docs/there.md.", []),
        ("It would go to docs/none.md.", []),
        ("Speak of none.md.", []),
    ],
)
def test_prose_can_refer_to_files(text, missing):
    assert [
        reference.target for reference in find_missing_files(source(text), disk("docs/there.md"), exists_nowhere)
    ] == missing


@pytest.mark.parametrize(
    ("text", "forbidden"),
    [
        ("Do not use npm.", ["npm"]),
        ("The build does not use npm.", []),
        ("It doesn't use npm.", []),
        ("Never use npm.", ["npm"]),
    ],
)
def test_a_description_of_a_program_is_not_a_rule(text, forbidden):
    stances = stances_of(source(text))
    assert [choice for stance in stances.values() for choice in stance.forbids] == forbidden


def test_paths_that_need_not_exist(tree):
    text = (
        "See [the log](out/log.txt) and `src/util/page.util`, and the table in `docs/empty/spec.md`.\n"
        "It is defined in `lib/meter.py`.\n\nIts path is `config/lib/meter.py`.\n\n"
        "Run `make report > out/log.txt` first.\n\nSee `guides/a.md`.\n\nSee `./guides/a.md`.\n"
    )
    tree({"w/.git/HEAD": "", "w/AGENTS.md": text, "w/src/util/page.util.ts": "", "w/docs/empty/.gitkeep": ""})
    findings = proofread(Assembler(tree.workspace("w"))).findings
    assert [(finding.line, finding.message) for finding in findings] == [(8, "guides/a.md does not exist")]


def test_scripts_that_are_planned(tree):
    text = "# Tests\n\n## Phase 3\n\n```sh\nnpm run e2e\n```\n\n## Now\n\n```sh\nnpm run unit\n```\n"
    tree({"w/.git/HEAD": "", "w/AGENTS.md": text, "w/package.json": '{"scripts": {"build": "x"}}'})
    findings = proofread(Assembler(tree.workspace("w"))).findings
    assert [(finding.code, finding.line) for finding in findings] == [("missing-script", 12)]


def test_an_agents_file_in_a_skill_or_a_hidden_folder_is_not_checked(tree):
    skill = {"w/.agents/skills/a/SKILL.md": "---\nname: a\ndescription: Does it.\n---\nDo it.\n"}
    parts = {f"w/{folder}/AGENTS.md": "See [b](b.md).\n" for folder in (".agents/skills/a", ".tool")}
    tree({"w/.git/HEAD": "", "w/AGENTS.md": "Run tests.\n", **skill, **parts})
    assert not proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
