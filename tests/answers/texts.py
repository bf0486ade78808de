"""Workspaces whose texts matter: what lint finds in them, sources of other programs, and saved requests."""

import json

from tests.answers.projects import REPOSITORY, fields

# In two parts, so that nothing here looks like a real one.
KEY = "aB3dE5gH7jK9mN1pQ4sT6vX8zC2eF" * 3 + "abcdeXYZ"
TOKEN = "aB3dE5gH7jK9mN1pQ4sT6" + "vX8zC2eF7hJ4kLQ"
WORDING = {
    **REPOSITORY,
    "w/AGENTS.md": """\
Shop
====

Today is 18 November 2026, and it is 06:05.

Use pnpm, never npm. Indent with tabs. Run `pnpm test` and `make lint`, `make -C web build`, `cd web && make deploy`.

| command | effect |
|---------|--------|
| `make test` | tests |
| `npm run lint` | checks |

1. Read [the style](docs/style.md), [the guide](docs/guide%20book.md#top "Guide") and ![a picture](docs/x.png).
2. See `src/shop.py`, src/missing/order.py, `~/notes.md`, /home/ann/shop/README.md and <https://example.org/a.md>.

   ```sh
   cd web
   npm run dev
   make lint
   foreword why
   ```

> Use `grep_search` and the `read_file` tool.

<!-- foreword: ignore missing-file -->
See docs/ignored.md.
<!-- foreword: ignore nothing, secret -->

* Never commit the key sk-ant-api03-{KEY}.
* A token: ghp_{TOKEN}

Placeholder <environment>, and a closed </environment>.

    indented code with docs/in-code.md

Setext again
------------

\u2067isolated \u00ad soft \x1b[31mred\u200bzero\U000e0061\U000e0062
Run `./scripts/deploy.sh --force` or `python -m shop.cli`, then `uv run pytest tests/missing`.
""".replace("{KEY}", KEY).replace("{TOKEN}", TOKEN),
    "w/CLAUDE.md": "@AGENTS.md\n\nUse npm. Indent with 4 spaces. Use yarn add.\n\nRun jest.\n",
    "w/web/AGENTS.md": "# Web\n\nUse npm install, not pnpm. Indent with two spaces, not with tabs.\n\nRun vitest, never jest. Format with prettier.\n",
    "w/web/CLAUDE.md": "Use bun install. Don't use prettier, use biome.\n",
    "w/web/Makefile": "build:\n\tnpm run build\n.PHONY: dev\ndev: build\n\tnpm run dev\ninclude missing.mk\n",
    "w/web/package.json": '{"scripts": {"dev": "vite", "build": "vite build"}, "workspaces": ["a"]}',
    "w/package.json": '{"scripts": {"test": "x", "lint:all": "y"}}',
    "w/Makefile": "test lint: web\n\tx\nweb/%.js: web\n\ty\n",
    "w/pyproject.toml": '[project]\nname = "shop"\n[project.scripts]\nshop = "shop.cli:main"\n',
    "w/docs/style.md": "Style.\n",
    "w/docs/guide book.md": "Guide.\n",
    "w/src/shop.py": "",
    "w/.foreword/foreword.toml": "[lint]\ndisable = ['volatile-text']\n",
}

FOREIGN = {
    **{f"w/{name}/.git/HEAD": "ref: refs/heads/main\n" for name in ("rulesync", "ruler", "file")},
    "w/rulesync/.rulesync/rules/overview.md": fields("# Overview\n", root="true", targets='["*"]'),
    "w/rulesync/.rulesync/rules/python.md": fields(
        "Type everything.\n", root="false", targets='["*"]', globs='["**/*.py"]'
    ),
    "w/rulesync/.rulesync/rules/only.md": fields("Only for Claude.\n", targets='["claudecode"]'),
    "w/rulesync/.rulesync/rules/web.md": "---\nagentsmd:\n  subprojectPath: web\n---\nUse React.\n",
    "w/rulesync/.rulesync/skills/ship/SKILL.md": fields("Ship it.\n", name="ship", description="Ships."),
    "w/rulesync/.rulesync/skills/ship/notes.txt": "Notes.\n",
    "w/rulesync/x.py": "",
    "w/rulesync/web/y.ts": "",
    "w/ruler/.ruler/AGENTS.md": "First.\n",
    "w/ruler/.ruler/b.md": "\ufeffSecond.\r\n",
    "w/ruler/.ruler/ruler.toml": "nested = true\n",
    "w/ruler/web/.ruler/web.md": "Web.\n",
    "w/ruler/AGENTS.md": "Written by a person.\n",
    "w/file/RULES.md": "Rules of the house.\n",
    "w/file/CLAUDE.md": "Other rules.\n",
}


def _request(model, system, messages, tools):
    return json.dumps({"model": model, "system": system, "messages": messages, "tools": tools})


_TOOL = {"name": "read", "description": "Reads a file. " * 60, "input_schema": {"type": "object"}}
_OTHER = {"name": "edit", "description": "Edits a file.", "input_schema": {"type": "object"}}
_SYSTEM = "You are an agent.\n" + "Be careful with files. " * 400
_MESSAGES = [{"role": "user", "content": "Hello. " * 300}, {"role": "assistant", "content": "Hi."}]
REQUESTS = {
    **REPOSITORY,
    "w/AGENTS.md": "# Shop\n\nBe brief.\n\n## Style\n\nType everything.\n\n- Use tabs.\n- Use spaces.\n",
    "w/CLAUDE.md": "@AGENTS.md\n",
    "one.json": _request("claude-sonnet-5", _SYSTEM, _MESSAGES, [_TOOL]),
    "two.json": _request("claude-sonnet-5", _SYSTEM, [*_MESSAGES, {"role": "user", "content": "Go on."}], [_TOOL]),
    "tools.json": _request("claude-sonnet-5", _SYSTEM, _MESSAGES, [_OTHER, _TOOL]),
    "moved.json": _request("claude-sonnet-5", _SYSTEM, _MESSAGES, [_TOOL, _OTHER]),
    "model.json": _request("gpt-5.6", _SYSTEM.replace("careful", "quick", 1), _MESSAGES, []),
    "plain.txt": "A plain prompt.\nTwo lines.\n",
    "bad.json": "{",
    "list.json": "[]",
    "nan.json": '[{"name": "x", "schema": NaN}]',
    "twice.json": '[{"name": "x", "name": "y"}]',
    "prices.toml": '[[model]]\nname = "claude-sonnet-5"\nminimum = 64\n[[model]]\nname = "in-house"\nprovider = "deepseek"\ninput = 0.3\noutput = 0.6\nwrite = 0.3\nread = 0.03\nminimum = 64\nuntil = "2026-01-01"\n',
    "wrong.toml": '[[model]]\nname = "x"\ninput = "much"\n',
    "plan.md": "1. Plan.\n",
    "serve.toml": "port = 'x'\n",
    "serve-2.toml": "prot = 1\n",
    "serve-3.toml": "sessions = 5\n",
    "serve-4.toml": "port = [",
    "serve-6.toml": 'allow-host = ["a", 5]\nport = true\n',
    "serve-7.toml": 'pack = {own = "nowhere"}\nport = 0\n',
}
