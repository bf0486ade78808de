"""Make targets and npm scripts: commands in text, definitions of the project, and when lint reports nothing."""

import os

import pytest

from foreword.engine.assembler import Assembler
from foreword.inspection.lint.commands import find_commands
from foreword.inspection.lint.source_text import SourceText
from foreword.inspection.lint.targets import (
    ProjectFiles,
    find_missing_scripts,
    find_missing_targets,
    scripts_of,
    targets_of,
)
from foreword.programs.proofread import proofread


def source(text, kind="file"):
    return SourceText("/w/AGENTS.md", text, "instructions", "project", kind)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run `make lint`.", [("make lint", "")]),
        ("Run ``make lint``.", [("make lint", "")]),
        ("```sh\nmake lint\n$ make test\n```", [("make lint", ""), ("make test", "")]),
        ("- ```\n  make lint\n  ```", [("make lint", "")]),
        (
            "```sh\nmake lint && make test; make all | tee log\n```",
            [("make lint", ""), ("make test", ""), ("make all", "")],
        ),
        ("```sh\ncd web && make lint\nmake test\n```", [("make lint", "web"), ("make test", "web")]),
        ("```sh\n(cd web && make lint)\nmake test\n```", [("make lint", "web"), ("make test", "")]),
        ("```sh\ncd web\ncd ..\nmake lint\n```", [("make lint", ".")]),
        ("```sh\ncd web\nmake lint\n\nmake test\n```", [("make lint", "web")]),
        ("```sh\ncd web\nmake lint\n# At the root\nmake test\n```", [("make lint", "web")]),
        ("```sh\nmake lint\n\nmake test\n```", [("make lint", ""), ("make test", "")]),
        ("```sh\ncd $WEB\nmake lint\n```", []),
        ("```sh\npushd web\nmake lint\n```", []),
        ("```sh\nCI=1 sudo make lint >log 2>&1\n```", [("make lint", "")]),
        ("```sh\nmake lint  # checks it; make nothing\n# make fast\n```", [("make lint", "")]),
        ("```sh\nmake \"two words\" 'x'\n```", [("make two words x", "")]),
        ("```sh\nmake 'open\n```", []),
        ("```sh\nmake lint \\\n  make more\nmake test\n```", [("make lint", ""), ("make test", "")]),
        ("```python\nmake lint\n```\n```dockerfile\nmake lint\n```", []),
        ("make lint in prose, and 'make lint'", []),
        ("```sh\nmake a\n```\n`make b`\n```sh\nmake c\n```", [("make a", ""), ("make b", ""), ("make c", "")]),
        ("Use `cmake lint` or `./make lint`.", []),
        ("```sh\necho make lint\n```", []),
    ],
)
def test_commands_are_found_in_code_and_prose(text, expected):
    assert [(" ".join(command.words), command.folder) for command in find_commands(source(text), ("make",))] == expected


@pytest.mark.parametrize(
    ("makefile", "defined"),
    [
        ("lint:\n\truff\n", "lint"),
        ("lint test: deps\n\truff\n", "lint test"),
        ("lint test &: deps ; ruff\nall:: lint\n", "lint test all"),
        (".PHONY: lint test # both\n", ".PHONY lint test"),
        (".PHONY: lint \\\n  test\nlint: ; ruff\n", ".PHONY lint test"),
        ("A := b\nC ?= d:e\nE = f\nG ::= h\nI += j: k\nlint:\n", "lint"),
        ("lint: URL = http://x\nlint: ; x\n", "lint"),
        ("# other:\nlint:\n\techo other:\n", "lint"),
        ("ifdef CI\nlint:\n\truff\nelse\ntest:\n\tpytest\nendif\n", "lint test"),
        ("define HELP\nother: words\nendef\nlint:\n", "lint"),
        ("$(BUILD)/app: x\n${OUT}.js: x\nlint: $(FILES:.c=.o)\n", "$/app $.js lint"),
        ("export PATH := a:b\nlint:\r\n", "lint"),
        ("$(info hello)\nlint:\n\t$(call log,x)\n", "lint"),
        ("", ""),
    ],
)
def test_makefile_targets_are_found(makefile, defined):
    names = targets_of(makefile)
    assert (" ".join(names.defined), names.is_open) == (defined, False)


@pytest.mark.parametrize(
    "makefile",
    [
        "include common.mk\n",
        "-include .env\n",
        "sinclude x\n",
        "ifdef CI\n  include ci.mk\nendif\n",
        "$(BINS): x\n\tgo build\n",
        "run-$(NAME): x\n\tgo build\n",
        "${BINS} other: x\n",
        "$(foreach b,$(BINS),$(eval $(call rule,$(b))))\n",
        "$(RULES)\n",
        ".DEFAULT:\n\techo\n",
        "%:\n\t@cargo $@\n",
        "run-%:\n\t@cargo $*\n",
        ".RECIPEPREFIX = >\nlint:\n> ruff\n",
        ".PHONY: $(ALL)\n",
    ],
)
def test_a_makefile_that_may_define_more_targets_is_not_checked(makefile):
    assert targets_of(makefile).has("run-it")


def test_a_pattern_rule_matches_only_its_targets():
    names = targets_of("run-%:\n\t@cargo $*\n%.o: %.c\n\tcc\n")
    assert [names.has(name) for name in ("run-it", "run-", "lint", "a.o")] == [True, False, False, True]


MAKEFILE = "test lint:\n\tx\n"


def find_above(files):
    def find_above(path, names, folder):
        return [(f"/w/{folder or '.'}/{name}", files[folder, name]) for name in names if (folder, name) in files]

    return find_above


def has_no_files(*_):
    return False


def project_files(above, exists=has_no_files, anywhere=()):
    return ProjectFiles(above, lambda names: anywhere, exists)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run `make gone`.", ["gone"]),
        ("- `make gone`: removes what was built, and adds no more", ["gone"]),
        ("| `make gone` | Create a database |", ["gone"]),
        ("```sh\nmake gone   # create a database\n```", ["gone"]),
        ("```console\n$ make -j4 lint gone\n```", ["gone"]),
        ("`make -j 4 gone`, `make -kj8 test`", ["gone"]),
        ("`make VAR=x gone`, `V=1 make absent`, `make absent V=2`", ["gone", "absent"]),
        ("`gmake --silent gone`", ["gone"]),
        ("`make -C web gone` and `make --directory=web build`", ["gone"]),
        ("`cd web && make lint`", ["lint"]),
        ("Run `make gone` from the root of the repository.", ["gone"]),
        ("Requires a project root: `make gone` runs inside the `api` container.", []),
        ("Run `make gone`. Run `make gone` again.", ["gone"]),
        ("When you are done, `make gone`. If it fails, say so.", ["gone"]),
        ("Do not push. Run `make gone`.", ["gone"]),
        ("`make`, `make test`, `make -j lint`, `make V=1`, `make --version`", []),
        ("`make -f other.mk gone`, `make -fother.mk gone`, `make --eval='x:' gone`", []),
        ("`make -C elsewhere gone`, `make -C $DIR gone`, `make -C ~/x gone`", []),
        ("`make <target>`, `make $TARGET`, `make TARGET`, `make {a,b}`, `make gone-*`, `make ...`", []),
        ("`make out/app`, `make app.o`, `make there`", []),
        ("```\nmake sure that it works\n```", []),
        ("Make sure it works; `make it so`.", []),
        ("```\nmake checkout faster\n```", []),
        ("`make gone absent`", []),
        ("Add a `make gone` target.", []),
        ("There is no `make gone`.", []),
        ("Never run `make gone`.", []),
        ("Run `just lint` instead of `make gone`.", []),
        ("Stories: `make gone` (if configured).", []),
        ("Run `make gone` when the tool is available.", []),
        ("`make gone` was removed. `make absent` does not exist. Run `make other` if it is there.", []),
        ("If there is a makefile, run `make gone`.", []),
        ("For example, `make gone`.", []),
        ("In `web/`, run `make gone`.", []),
        ("From the web folder, run `make gone`.", []),
        ("1. From `site/web`, run it.\n2. Then `make gone`.", []),
        ("1. Save it.\n2. Then `make gone`.", ["gone"]),
        ("1. From `site/web`, run it.\n\nText.\n\n2. Then `make gone`.", ["gone"]),
        ("In `site/web`, run `make gone`.\n\nAlways run `make gone`.", []),
        ("It is in each sibling clone. Run `make gone`.", []),
        ("```sh\nmake lint / make test  # both\nmake gone / make lint\n```", ["gone"]),
        ("## Future work\n\nOne target: `make gone`.", []),
        ("## Future work\n\n```sh\nmake gone\n```", []),
        ("## Futures\n\nOne target: `make gone`.", ["gone"]),
        ("```sh\n# Wrong, do not:\nmake gone\n```", []),
        ("```yaml\nrun: make gone\n```", []),
    ],
)
def test_missing_targets_are_reported(text, expected):
    files = {("", "Makefile"): MAKEFILE, ("web", "Makefile"): "build:\n"}
    targets = find_missing_targets(
        source(text), project_files(find_above(files), lambda _, name, *rest: name == "there.c")
    )
    assert [target.name for target in targets] == expected


PACKAGE = '{"scripts": {"build": "x", "lint:fix": "x"}, "devDependencies": {"@scope/jest": "1", "vite": "1"}}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run `npm run gone`.", ["gone"]),
        ("Run `npm run gone` (not yet).\nThen `npm run absent` (future).", []),
        ("Use this if you want `npm run gone` to print it.", []),
        ('Say "`npm run gone` passes", or 「`npm run absent` passes」.', []),
        ('After "done": run `npm run gone`. 「もし」 `npm run absent`.', ["gone", "absent"]),
        ("```sh\nnpm run gone # text\n```\n\nUse `npm run gone`.", ["gone"]),
        ("```sh\n# No editor/\nnpm run gone\n```", ["gone"]),
        ("```sh\n# No consumer (A/B)\nCI=1 npm run gone\n```", []),
        ("```sh\n# In the shop:\nnpm install\nnpm run gone\n```", []),
        ("```sh\n# Dans boutique\nnpm run gone\n```", []),
        ("```sh\n# In shop\nls\n# Then:\nnpm run gone\n```", ["gone"]),
        ("```sh\n# In CI\nnpm run gone\n```", ["gone"]),
        ("```sh\n# In case of fire\nnpm run gone\n```", ["gone"]),
        ("```sh\n# No cache\nnpm run gone\n```", ["gone"]),
        ("## Development (Consumers)\n\n```sh\nnpm run gone\n```", []),
        ("## Development\n\n```sh\nnpm run gone\n```", ["gone"]),
        ("Run `npm run-script gone -- --watch`.", ["gone"]),
        ("`pnpm run gone`, `yarn run absent`", ["gone", "absent"]),
        ("`npm test`", ["test"]),
        ("`npm t`, `npm start`", ["test", "start"]),
        ("`yarn test` and `pnpm start`", ["test", "start"]),
        ("```bash\nnpm ci\nnpm run --silent gone\n```", ["gone"]),
        ("`npm --prefix web run gone`, `npm run --prefix=web dev`", ["gone"]),
        ("`pnpm -C web run gone`, `yarn --cwd web run absent`", ["gone", "absent"]),
        ("```sh\ncd web\nnpm run build\n```", ["build"]),
        ("`npm run build`, `npm run lint:fix`, `npm run`, `npm install`, `npx gone`, `npm run env`", []),
        ("`npm run gone -w web`, `npm run gone --workspace=web`, `npm -ws run gone`, `npm run gone --if-present`", []),
        ("`pnpm -r run gone`, `pnpm --filter web run gone`, `pnpm gone`", []),
        ("`yarn workspace web run gone`, `yarn gone`", []),
        ("`yarn run jest`, `yarn run vite`, `yarn run tsc`, `yarn run web:gone`", []),
        ("`npm run <script>`, `npm run $X`, `npm run NAME`, `pnpm run /gone/`", []),
        ("Add a script, then `npm run build`. Do not use `npm run gone`.", []),
        ("In the `web` package: `npm run gone`", []),
        ("- `npm test`, `pytest`, `go test` (testing)", []),
        ("- `npm test`, `go test`", ["test"]),
        ('```json\n{"scripts": {"gone": "x"}}\n```\nThen `npm run gone`, `npm run absent`.', ["absent"]),
    ],
)
def test_missing_scripts_are_reported(text, expected):
    files = {("", "package.json"): PACKAGE, ("web", "package.json"): '{"scripts": {"dev": "x"}}'}
    targets = find_missing_scripts(source(text), project_files(find_above(files)))
    assert [target.name for target in targets] == expected


@pytest.mark.parametrize("text", ["", "{", "[]", '{"scripts": 3}', '{"scripts": null}', "[" * 100_000])
def test_an_invalid_package_is_not_checked(text):
    assert scripts_of(text).has("anything")


def test_a_package_without_scripts_has_none():
    assert not scripts_of('{"name": "x"}').has("test")


def test_npm_start_runs_a_server_without_a_script():
    missing = find_missing_scripts(
        source("`npm start`"),
        project_files(find_above({("", "package.json"): "{}"}), lambda _, name, *rest: name == "server.js"),
    )
    assert list(missing) == []


def test_a_skill_may_be_meant_for_other_projects():
    def missing(kind):
        found = find_missing_targets(
            source("`make gone`", kind), project_files(find_above({("", "Makefile"): MAKEFILE}))
        )
        return [target.name for target in found]

    assert (missing("skill"), missing("file")) == ([], ["gone"])


@pytest.mark.parametrize(
    ("text", "anywhere", "expected"),
    [
        ("`make build`", [("/w/web/Makefile", "build:\n")], []),
        ("`make build`", [("/w/web/Makefile", "include x.mk\n")], []),
        ("`make build`", [("/w/web/Makefile", None)], []),
        ("`make build`", None, []),
        ("`make build`", [("/w/web/Makefile", "other:\n")], ["build"]),
        ("`make -C web lint`", [("/w/other/Makefile", "lint:\n")], ["lint"]),
    ],
)
def test_a_name_that_is_defined_anywhere_is_not_missing(text, anywhere, expected):
    files = {("", "Makefile"): MAKEFILE, ("web", "Makefile"): "x:\n"}
    found = find_missing_targets(source(text), project_files(find_above(files), anywhere=anywhere))
    assert [target.name for target in found] == expected


# With a disk


def lint_messages(tree, files, cwd="w"):
    tree({"w/.git/HEAD": "", **files})
    findings = proofread(Assembler(tree.workspace(cwd))).findings
    return [
        (tree.short(finding.path), finding.line, tree.short(finding.message))
        for finding in findings
        if "missing" in finding.code
    ]


def test_targets_are_looked_up_in_every_file_of_the_project(tree):
    files = {
        "w/Makefile": "lint:\n",
        "w/package.json": '{"scripts": {"lint": "x"}}',
        "w/api/package.json": '{"scripts": {"serve": "x"}}',
        "w/web/Makefile": "build:\n",
        "w/web/src/AGENTS.md": "Run `make lint`.\n\n`make built`, `npm run lint`, `npm run serve` and `npm run lit`.\n",
    }
    assert lint_messages(tree, files, "w/web/src") == [
        ("/w/web/src/AGENTS.md", 3, "/w/package.json has no script 'lit'; did you mean 'lint'?"),
        ("/w/web/src/AGENTS.md", 3, "/w/web/Makefile has no target 'built'; did you mean 'build'?"),
    ]


def test_nothing_is_reported_without_a_file_or_for_user_text(tree):
    assert lint_messages(tree, {"w/AGENTS.md": "`make lint`, `npm test`"}) == []
    assert lint_messages(tree, {"home/.config/foreword/AGENTS.md": "`make lint`", "w/Makefile": "x:\n"}) == [
        ("/w/AGENTS.md", 1, "/w/Makefile has no target 'lint'; known: x")
    ]


def test_no_file_outside_the_workspace_is_read(tree):
    """Neither through a relative path, nor through a link, nor above the root."""
    tree(
        {
            "other/Makefile": "x:\n",
            "Makefile": "x:\n",
            "w/AGENTS.md": "`make -C ../other lint`, `make -C sub lint`, `make lint`\n",
        }
    )
    os.symlink(tree.path("other"), os.path.join(tree.path("w"), "sub"))
    assert lint_messages(tree, {}) == []
    os.symlink(tree.path("other/Makefile"), os.path.join(tree.path("w"), "Makefile"))
    assert lint_messages(tree, {}) == []


@pytest.mark.parametrize("content", [b"\0\1", b"lint\xff:\n", "x:\n" * 600_000, None])
def test_an_unreadable_makefile_is_not_checked(tree, content):
    if content is None:
        tree({"w/Makefile/x": "a folder of that name"})
    else:
        tree({"w/Makefile": content})
    assert lint_messages(tree, {"w/AGENTS.md": "`make lint`"}) == []


def test_a_pipe_does_not_block(tree):
    tree({"w/AGENTS.md": "`make lint`"})
    os.mkfifo(os.path.join(tree.path("w"), "Makefile"))
    assert lint_messages(tree, {}) == []


@pytest.mark.parametrize(
    "seed", ["$(", "${", "a ", "a:", "a:=", ":", "\\\n", "a%: ", "define x\n", "a b: c\n", ".PHONY: ", " "]
)
def test_hostile_makefiles_are_parsed_quickly(seed):
    names = targets_of(seed * (1_000_000 // len(seed)))
    assert not names.has("nothing-like-it") or names.is_open
