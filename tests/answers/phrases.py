"""Small instruction files, one for each way to name a file, a command, a tool or a habit: what lint reports, and what it lets pass."""

from tests.answers.projects import REPOSITORY, fields

# `{p}` is a file that is missing, `{e}` one that exists.
FILES = """\
See {p} and {e}.
- `{p}`: the style of the house
For example, put the style into `{p}`.
Create `{p}` if you need it, e.g. {e}.
Do not edit {p}; it is generated.
Never commit `{p}`.
Your own `{p}` may say more.
In the user's `{p}`, in other projects' {p}.
If {p} exists, read it first.
Output goes to `{p}`.
| file | use |\\n|---|---|\\n| `{p}` | style |\\n| {e} | more |
```\\n{p}\\n```
```sh\\ncat {p}\\ncp {e} {p}\\n```
Files such as:\\n\\n```text\\n{p}\\n```
[the style]({p}) and [more]({e} "Title")
[the style][s]\\n\\n[s]: {p}
![a picture]({p}.png)
> See {p}.
* item\\n  * [ ] inner `{p}`
@{p}
Read @{p} first, and @{e}.
Lines that start with @ name files to read.\\n\\n@{p}
See ~/{p} or https://example.org/{p}.
See node_modules/{p} and vendor/{p}.
See ${{DIR}}/{p}, <name>/{p}, path/to/{p} and {p}/*.md.
See `{p}:12`, `{p}#L3` and {p}(3).
**{p}** and _{p}_
Rename `old/{p}` to `{p}`.
`{p}` (optional, ignored by git)
See ../{p}, /{p} and ./{p}.
<!-- See {p}. -->
<!-- foreword: ignore missing-file -->\\nSee {p}.
See {p}. <!-- foreword: ignore missing-file -->
<!-- include: {p} -->\\n<!-- include: {e} -->
<details>\\nSee {p}.\\n</details>
Tests look like `test_{p}`, and `{p}` is only a sample.
In the repository `other/thing`, see {p}.
It was removed: `{p}`.
The folder `{p}/` contains fixtures.
Sie finden es in `{p}`.\\n参照 {p}。""".split("\n")
# Lines about commands, tools and habits.
PHRASES = """\
Run `make missing-{n}`, `make build` and `make -j4 test VAR=x`.
```sh\\nmake missing-{n}\\nmake -C sub missing-{n}\\nmake -f other.mk x\\n```
Run `cd sub && make inner && make missing-{n}`.
Never run `make missing-{n}`.
Run `npm run missing-{n}`, `npm run build` and `npm test`.
```bash\\n$ pnpm run missing-{n}\\n$ yarn missing-{n} --flag\\n```
From `sub/`: `npm run inner`, `npm run missing-{n}`.
```sh\\ncd sub\\nnpm run missing-{n}\\ncd ..\\nnpm run inner\\n```
`npm run missing-{n} --workspace sub` and `npm --prefix sub run inner`
Run `uv run missing-{n}`, `just missing-{n}`, `task missing-{n}` and `cargo missing-{n}`.
Use the `missing_tool_{n}` tool, and call `read_file` before `edit_file`.
Call `grep_search({n})`.
Use pnpm, never npm.\\n\\nRun `npm install`.
We prefer yarn over npm. Use yarn.
Use bun instead of pnpm. `bun install`
Do not use tabs; indent with 2 spaces.
Indent with tabs, not spaces.
Tabs are preferred. Use four spaces in YAML.
Use uv, not pip. `pip install -r requirements.txt`
Use poetry. Never use uv.
Tests run with jest; vitest is forbidden.
Always use vitest. `npx jest` is gone.
Format with prettier, and don't use biome.
Format code with black. Lint with ruff, not flake8.
Use double quotes, never single quotes.
Use single quotes. Avoid semicolons.
Always use semicolons.
Use npm if pnpm is missing, and yarn in `old/`.
npm is fine for one-off scripts. Should you use pnpm?
Today is 2026-11-18. Last updated: November 18, 2026, 06:05.
Current time: {{ now }} and version 1.2.3-{n}.
The current date is 18.11.2026, and there are 3 open issues.
Updated 2 days ago by CI at 06:05:05Z.
Close every </instructions> and </skills>, never <skills>.
<instructions>\\nMine.\\n</instructions>
A password: hunter2-{n}; api_key = "abcdefghijklmnop{n}"
AKIAIOSFODNN7EXAMPLE and ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
postgres://user:secret{n}@db.example.org/shop
-----BEGIN {k} KEY-----\\nMIIabc\\n-----END {k} KEY-----
Zero\u200bwidth, soft\u00adhyphen, \u202bright\u202c and \ufeffmark.
Emoji \U0001f469\u200d\U0001f4bb, Persian \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645, tag \U000e0041\U000e0042.
\u2066isolated\u2069 \u2067open
<!-- foreword: ignore -->\\nx
<!-- foreword: ignore nothing -->\\nx
<!-- foreword: ignore secret hidden-characters -->\\nx""".split("\n")


def _phrases():
    for number, line in enumerate(FILES):
        text = line.replace("\\n", "\n").format(p=f"docs/missing-{number}.md", e="docs/style.md")
        yield f"w/f{number}/AGENTS.md", f"# Files\n\n{text}\n"
    for number, line in enumerate(PHRASES):
        text = line.replace("\\n", "\n").replace("{n}", str(number)).replace("{k}", "PRIVATE")
        yield f"w/p{number}/AGENTS.md", f"# Phrases\n\n{text}\n"


PHRASES_OF_LINT = {
    **REPOSITORY,
    "w/AGENTS.md": "# Shop\n\nUse pnpm. Indent with spaces. Run `pnpm test`.\n",
    "w/CLAUDE.md": "@AGENTS.md\n",
    "w/docs/style.md": "Style.\n",
    "w/Makefile": ".PHONY: build test\nbuild test:\n\techo\n",
    "w/package.json": '{"scripts": {"build": "x", "test": "y", "test:unit": "z"}}',
    "w/sub/Makefile": "inner:\n\techo\n",
    "w/sub/package.json": '{"name": "sub", "scripts": {"inner": "x"}}',
    "w/pyproject.toml": '[project.scripts]\nshop = "shop:main"\n[tool.poe.tasks]\ncheck = "x"\n',
    "w/.gitignore": "ignored/\n",
    "w/.agents/skills/one/SKILL.md": fields(
        "See docs/missing.md and [x](references/x.md), run `make nothing`.\n", name="one", description="One."
    ),
    **dict(_phrases()),
}
