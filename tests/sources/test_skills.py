"""Front matter of skills and residents: a table of files and the expected results."""

import pytest

from foreword.findings import CODES, finding
from foreword.sources.front_matter import (
    MAX_ALIASES,
    MAX_BRACKETS,
    MAX_HEAD_LENGTH,
    body,
    parse_plain_fields,
    read_resident,
    read_skill,
    split,
)
from foreword.vocabulary import Finding, Resident, Skill

PATH = "/w/.agents/skills/testing/SKILL.md"


def skill_file(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "Body."])


def with_name(name: str) -> str:
    return skill_file(f"name: {name}", "description: Runs the tests.")


def with_lines(*lines: str) -> str:
    return skill_file("name: testing", *lines)


def with_field(*lines: str) -> str:
    return skill_file("name: testing", "description: Runs the tests.", *lines)


def read(text: str, validation: str = "lenient") -> tuple[str, str] | None:
    skill, _ = read_skill(text, PATH, validation)  # type: ignore[arg-type]
    return skill and (skill.name, skill.description)


def summarize(findings: list[Finding]) -> list[tuple[str, int | None, str]]:
    return [(finding.code, finding.line, finding.message) for finding in findings]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("---\na: b\n---\nBody.\n", ("a: b\n", "Body.\n", 4)),
        ("---\n---\nBody.", ("", "Body.", 3)),
        ("---\na: b\n---", ("a: b\n", "", 4)),
        ("---\na: b\n---\n", ("a: b\n", "", 4)),
        ("--- \t\na: b\n---  \nBody.", ("a: b\n", "Body.", 4)),
        ("---\na: b\n---\nOne.\n---\nTwo.", ("a: b\n", "One.\n---\nTwo.", 4)),
        ("---\na: b --- c\n---\nBody.", ("a: b --- c\n", "Body.", 4)),
        ("---\na: |\n  x\n  ---\n---\nBody.", ("a: |\n  x\n  ---\n", "Body.", 6)),
        ("---\na: b\n----\n---x\n ---\n---\nBody.", ("a: b\n----\n---x\n ---\n", "Body.", 7)),
        ("---\na: x\u2028---\u2028y\n---\nBody.", ("a: x\u2028---\u2028y\n", "Body.", 4)),
        # no front matter
        ("", (None, "", 1)),
        ("Body.\n---\na: b\n---\n", (None, "Body.\n---\na: b\n---\n", 1)),
        ("\n---\na: b\n---\n", (None, "\n---\na: b\n---\n", 1)),
        (" ---\na: b\n---\n", (None, " ---\na: b\n---\n", 1)),
        ("----\na: b\n----\n", (None, "----\na: b\n----\n", 1)),
        ("--- -\na: b\n---\n", (None, "--- -\na: b\n---\n", 1)),
        ("---\x0c\na: b\n---\n", (None, "---\x0c\na: b\n---\n", 1)),
        ("---", (None, "---", 1)),
        ("---\na: b\n", (None, "---\na: b\n", 1)),
        ("---\na: b\n----\n", (None, "---\na: b\n----\n", 1)),
    ],
)
def test_split_separates_front_matter_and_body(text: str, parts: tuple[str | None, str, int]) -> None:
    assert split(text) == parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\na: b\n---\nBody.\n", ("Body.", 4)),
        ("---\na: b\n---\n\n \n  indented\n\nmore  \n\n \n", ("  indented\n\nmore  ", 6)),
        ("---\na: b\n---\nOne.\n---\nTwo.", ("One.\n---\nTwo.", 4)),
        ("---\na: b\n---\n\n\n", ("", 4)),
        ("---\na: b\n---", ("", 4)),
        ("\n\nno front matter", ("no front matter", 3)),
        ("---\nnever closed\n", ("---\nnever closed", 1)),
        ("", ("", 1)),
    ],
)
def test_body_is_the_text_after_the_front_matter(text: str, expected: tuple[str, int]) -> None:
    assert body(text) == expected


@pytest.mark.parametrize("validation", ["strict", "lenient"])
@pytest.mark.parametrize(
    "lines",
    [
        ["name: testing", "description: Runs the tests."],
        ["description: Runs the tests.", "name: testing"],
        ["# a comment", "name: testing # another", "", "description: Runs the tests. # and one more"],
        ["name:\ttesting", "description:\tRuns the tests."],
        ["name: 'testing'", 'description: "Runs \\u0074he tests."'],
        ["name: testing", "description: >-", "  Runs", "  the tests."],
        ["name: testing", "description: |", "  Runs the tests."],
        ["name: testing", "description: Runs", "  the", "  tests."],
        ["name: testing", "description:", "  Runs the tests."],
        ["{name: testing, description: Runs the tests.}"],
        ["  name: testing", "  description: Runs the tests."],
        ["name: &n testing", "description: Runs the tests.", "metadata: {same: *n}"],
        ["name: testing", "description: Runs the tests.", "license: Apache-2.0", "compatibility: " + "x" * 500],
        ["name: testing", "description: Runs the tests.", "allowed-tools: Bash(git:*) Read"],
        ["name: testing", "description: Runs the tests.", "allowed-tools: [Bash, Read]", "license:", "metadata:"],
        ["name: testing", "description: Runs the tests.", "metadata:", "  version: 1.0", "  tags: [a, b]"],
        ["name: testing", "description: Runs the tests.", "disable-model-invocation: false"],
    ],
)
def test_a_valid_skill_is_the_same_with_both_sets_of_rules(lines: list[str], validation: str) -> None:
    good = Skill("testing", "Runs the tests.", PATH, hidden=False, lines=(1, len(lines) + 2))
    assert read_skill(skill_file(*lines), PATH, validation) == (good, [])  # type: ignore[arg-type]


@pytest.mark.parametrize("validation", ["strict", "lenient"])
@pytest.mark.parametrize(
    ("text", "description"),
    [
        (with_lines("description: a --- b"), "a --- b"),
        (with_lines("description: '</description></skill>'"), "</description></skill>"),
        (with_lines("description: |", "  One.", "", "  Two."), "One.\n\nTwo."),
        (with_lines("description: 123"), "123"),
        (with_lines("description: 1.50"), "1.50"),
        (with_lines("description: no"), "no"),
        (with_lines("description: True"), "True"),
        (with_lines("description: a\u2028b\u2029c\u0085d\re"), "a b c d e"),
        (with_lines('description: "a\\u2028b"'), "a\u2028b"),
        (with_lines("description: Runs.", "..."), "Runs."),
        (with_lines("description: 日本語 — 👩‍👩‍👧 می‌خواهم"), "日本語 — 👩‍👩‍👧 می‌خواهم"),
        (with_lines("description: " + "é" * 1024), "é" * 1024),
    ],
)
def test_a_description_may_be_any_scalar(text: str, description: str, validation: str) -> None:
    assert read(text, validation) == ("testing", description)


@pytest.mark.parametrize("validation", ["strict", "lenient"])
@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("123", "123"),
        ("0123", "0123"),
        ("0x1f", "0x1f"),
        ("1e3", "1e3"),
        ("true", "true"),
        ("yes", "yes"),
        ("null", "null"),
        ("null # why", "null"),
        ("'123'", "123"),
        ("&n 123", "123"),
        ("!!int '7'", "7"),
        ("\n  123", "123"),
    ],
)
def test_a_bare_value_is_a_name_as_written(value: str, name: str, validation: str) -> None:
    skill, findings = read_skill(with_name(value), f"/w/{name}/SKILL.md", validation)  # type: ignore[arg-type]
    assert skill is not None and (skill.name, findings) == (name, [])


@pytest.mark.parametrize(
    ("value", "hidden"),
    [
        ("true", True),
        ('"true"', True),
        ("'True '", True),
        ("TRUE", True),
        ("yes", True),
        ("on", True),
        ("false", False),
        ("no", False),
        ("'false'", False),
        ("", False),
        ("null", False),
    ],
)
def test_disable_model_invocation_hides_a_skill(value: str, hidden: bool) -> None:
    for validation in ("strict", "lenient"):
        skill, findings = read_skill(with_field(f"disable-model-invocation: {value}"), PATH, validation)  # type: ignore[arg-type]
        assert skill is not None and (skill.hidden, findings) == (hidden, [])


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        ("'*.py'", "*.py"),
        ("a/**, web", "a/**, web"),
        ("['*.py', '*.{ts,tsx}']", "*.py, *.{ts,tsx}"),
        ("*.py", "*.py"),  # not valid YAML
        ("", ""),
        ("[]", ""),
        ("['**/*', 'web']", ""),
        ("{a: b}", ""),
        ("3", "3"),
    ],
)
def test_paths_are_the_globs_of_the_files_that_a_skill_is_for(value: str, paths: str) -> None:
    skill, _ = read_skill(with_field(f"paths: {value}"), PATH, "lenient")
    assert skill is not None and skill.paths == paths


@pytest.mark.parametrize("validation", ["strict", "lenient"])
@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["globs: ['*.py']"], "its globs are ignored: a skill is chosen by its description"),
        (
            ["disable-model-invocation: ture"],
            "its disable-model-invocation is neither true nor false; the skill is not hidden",
        ),
        (
            ["disable-model-invocation: [true]"],
            "its disable-model-invocation is neither true nor false; the skill is not hidden",
        ),
    ],
)
def test_fields_of_other_agents_are_tolerated(lines: list[str], message: str, validation: str) -> None:
    skill, findings = read_skill(with_field(*lines), PATH, validation)  # type: ignore[arg-type]
    assert skill == Skill("testing", "Runs the tests.", PATH, lines=(1, 5))
    assert summarize(findings) == [("skill-field", 4, message)]


@pytest.mark.parametrize("validation", ["strict", "lenient"])
def test_a_skill_with_unknown_fields_is_loaded(validation: str) -> None:
    text = with_field("version: 1", "author: {name: me}", "priority: 3", "model: x", "~: x")
    skill, findings = read_skill(text, PATH, validation)  # type: ignore[arg-type]
    assert skill == Skill("testing", "Runs the tests.", PATH, lines=(1, 9))
    assert findings == []


def test_a_field_that_resembles_a_known_one_is_reported() -> None:
    text = with_field("allowedTools: read", "descripton: x", "tools: read", "type: core")
    assert summarize(read_skill(text, PATH, "strict")[1]) == [
        ("skill-field", 4, "its field 'allowedTools' is ignored; did you mean 'allowed-tools'?"),
        ("skill-field", 5, "its field 'descripton' is ignored; did you mean 'description'?"),
    ]


@pytest.mark.parametrize(
    ("field", "expected"),
    [("user_invocable: true", 0), ("user-invokable: false", 1), ("disable_model_invocation: false", 0)],
)
def test_a_misspelled_field_with_the_default_value_changes_nothing(field: str, expected: int) -> None:
    assert len(read_skill(with_field(field), PATH, "lenient")[1]) == expected


NOT_YAML = "the front matter cannot be read as YAML"
COLON = "mapping values are not allowed in this context: a value that contains a colon and a space needs quotes"
AFTER = "did not find expected key: a value that continues after a closing bracket or quote needs quotes around it"
START = "found character that cannot start any token: a value that begins with such a character needs quotes"


@pytest.mark.parametrize(
    ("text", "line", "wrong", "code", "outcome"),
    [
        (skill_file("description: Runs."), 1, "it has no name", "skill-name", "it is listed as 'testing'"),
        (
            skill_file("name: ''", "description: Runs."),
            2,
            "it has no name",
            "skill-name",
            "it is listed as 'testing'",
        ),
        (
            skill_file("description: Runs.", "name: [a]"),
            3,
            "its name is a list, not text",
            "skill-name",
            "it is listed as 'testing'",
        ),
        (
            with_name("other"),
            2,
            "its name 'other' differs from its folder 'testing'",
            "skill-name",
            "it is listed as 'other'",
        ),
        (
            with_field("license: [MIT]"),
            4,
            "its license is a list, not text",
            "skill-field",
            "it is loaded anyway",
        ),
        (
            with_field("compatibility: {os: any}"),
            4,
            "its compatibility is a set of fields, not text",
            "skill-field",
            "it is loaded anyway",
        ),
        (
            with_field("compatibility: " + "x" * 501),
            4,
            "its compatibility is longer than 500 characters",
            "skill-field",
            "it is loaded anyway",
        ),
        (
            with_field("metadata: none"),
            4,
            "its metadata is a text, not a set of fields",
            "skill-field",
            "it is loaded anyway",
        ),
        (
            with_field("allowed-tools: [[Bash]]"),
            4,
            "its allowed-tools are neither text nor a list of strings",
            "skill-field",
            "it is loaded anyway",
        ),
        (
            with_lines("description: " + "x" * 1025),
            3,
            "its description is longer than 1,024 characters",
            "skill-field",
            "it is loaded anyway",
        ),
        (
            with_lines("description: Use when: x"),
            3,
            f"{NOT_YAML} ({COLON})",
            "skill-repaired",
            "it was read line by line",
        ),
        (
            with_field("argument-hint: [date] [duration]"),
            4,
            f"{NOT_YAML} ({AFTER})",
            "skill-repaired",
            "it was read line by line",
        ),
        (
            with_field("name: again"),
            1,
            f'{NOT_YAML} (duplicate entry with key "name")',
            "skill-repaired",
            "it was read line by line",
        ),
        (
            with_lines("description: `make` runs"),
            3,
            f"{NOT_YAML} ({START})",
            "skill-repaired",
            "it was read line by line",
        ),
        (
            with_field("? [a]", ": b"),
            1,
            f"{NOT_YAML} (a field's name is a list or a set of fields)",
            "skill-repaired",
            "it was read line by line",
        ),
    ],
)
def test_only_the_lenient_rules_load_these_skills(text: str, line: int, wrong: str, code: str, outcome: str) -> None:
    skipped = [("skill-invalid", line, f"{wrong}; the skill is skipped")]
    skill, findings = read_skill(text, PATH, "strict")
    assert (skill, summarize(findings)) == (None, skipped)
    skill, findings = read_skill(text, PATH, "lenient")
    assert skill is not None and summarize(findings) == [(code, line, f"{wrong}; {outcome}")]


@pytest.mark.parametrize(
    "name",
    ["Testing", "a_b", "a b", "-a", "a-", "a--b", "tést", "a/b", "a.b", "日本", "a" * 65, "a&b<c", "-", "a\u200bb"],
)
def test_an_invalid_name_is_reported(name: str) -> None:
    text, path = with_name(f"'{name}'"), f"/w/{name.replace('/', '-')}/SKILL.md"
    skill, findings = read_skill(text, path, "strict")
    assert skill is None and {finding.code for finding in findings} == {"skill-invalid"}
    skill, findings = read_skill(text, path, "lenient")
    assert skill is not None and skill.name == name and {finding.code for finding in findings} == {"skill-name"}


def test_a_name_of_several_lines_is_listed_on_one() -> None:
    assert read(with_name('"two\\nlines"')) == ("two lines", "Runs the tests.")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/w/testing/SKILL.md", "testing"),
        ("testing/SKILL.md", "testing"),
        ("/w/a&b<c/SKILL.md", "a&b<c"),
        ("/w/caf\udce9/SKILL.md", "caf\\xe9"),
        ("SKILL.md", None),
        ("/SKILL.md", None),
    ],
)
def test_a_name_should_match_its_folder(path: str, name: str | None) -> None:
    skill, findings = read_skill(skill_file("description: Runs."), path, "lenient")
    assert (skill and skill.name) == name
    assert [finding.code for finding in findings] == ["skill-name" if name else "skill-invalid"]


@pytest.mark.parametrize(
    ("lines", "description"),
    [
        (["description: Use when: x"], "Use when: x"),
        (["description: Use when: x # 1"], "Use when: x # 1"),
        (["description: Use when: x", "  or: y", "\tor z"], "Use when: x or: y or z"),
        (["description: Wrapped by hand", "without indent"], "Wrapped by hand without indent"),
        (["description: 'it's'"], "it's"),
        (['description: "say "hi" or \\"ho\\""'], 'say "hi" or "ho"'),
        (['description: "C:\\path"'], "C:\\path"),
        (['description: "never closed'], '"never closed'),
        (["description: [draft] Runs"], "[draft] Runs"),
        (["description: {{ x }} runs"], "{{ x }} runs"),
        (["description: **bold** runs"], "**bold** runs"),
        (["description: @team runs"], "@team runs"),
        (["description: - runs"], "- runs"),
        (["description: |", "unindented", "text"], "unindented text"),
        (["description: >-", "\ttabs", "# aside", "\tmore"], "tabs more"),
        (["description: a\x0cb"], "a b"),
        (["description: a\x07b\ud800c\uffffd"], "a b c d"),
        (["description: First.", "description: Second."], "First."),
        (["description: Runs.", "argument-hint: [date] [duration]"], "Runs."),
        (["argument-hint: [date] [duration]", "description: >-", "  Runs", "  it."], "Runs it."),
        (["argument-hint: [date] [duration]", 'description: "Runs\\u0021"'], "Runs!"),
        (["argument-hint: 'never closed", "description: Runs."], "Runs."),
        (["metadata:", "\tversion: 1", "description: Runs."], "Runs."),
        (["metadata: {version: 1, version: 2}", "description: Runs."], "Runs."),
        (["big: 99999999999999999999999999", "description: 99999999999999999999999999"], "9" * 26),
        (["description: a\u2028license: MIT"], "a license: MIT"),  # a line separator is not a line end
        (["description: Runs.", "...", "more: x"], "Runs."),
        (["description: *nowhere"], "*nowhere"),
    ],
)
def test_a_broken_front_matter_is_read_line_by_line(lines: list[str], description: str) -> None:
    assert read(with_lines(*lines)) == ("testing", description)
    assert read(with_lines(*lines), "strict") is None


def test_a_repaired_skill_keeps_its_other_fields() -> None:
    text = skill_file("\tname: 007", "\tdescription: Use when: x", "\tdisable-model-invocation: 'true'")
    skill, findings = read_skill(text, PATH, "lenient")
    assert skill == Skill("007", "Use when: x", PATH, hidden=True, lines=(1, 5))
    assert [finding.code for finding in findings] == ["skill-repaired", "skill-name"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (skill_file("name: testing"), 1, "it has no description"),
        (with_lines("description:"), 3, "its description is empty"),
        (with_lines("description: null"), 3, "its description is empty"),
        (with_lines("description: ~"), 3, "its description is empty"),
        (with_lines("description: ''"), 3, "its description is blank"),
        (with_lines('description: " \\t\\u3000"'), 3, "its description is blank"),
        (with_lines("description: [a, b]"), 3, "its description is a list, not text"),
        (with_lines("description: {a: b}"), 3, "its description is a set of fields, not text"),
        (with_lines("description: !tag x"), 3, "its description is a set of fields, not text"),
        (with_lines("Description: Runs."), 1, "it has no description"),
        (skill_file(), 1, "it has no description"),
        (skill_file("", " ", "# only a comment"), 1, "it has no description"),
        (skill_file("- a", "- b"), 2, "no description could be read: the front matter is a list, not a set of fields"),
        (skill_file("Hello."), 2, "no description could be read: the front matter is a text, not a set of fields"),
        (
            skill_file("12"),
            2,
            "no description could be read: the front matter is a single value, not a set of fields",
        ),
        (skill_file("x: [a] b"), 2, f"no description could be read: {NOT_YAML} ({AFTER})"),
    ],
)
def test_a_skill_without_a_description_is_not_loaded(text: str, line: int, message: str) -> None:
    skipped = finding("skill-no-description", f"{message}; the skill is skipped", PATH, line)
    assert read_skill(text, PATH, "lenient") == (None, [skipped])
    skill, findings = read_skill(text, PATH, "strict")
    assert skill is None and {finding.code for finding in findings} == {"skill-invalid"}


@pytest.mark.parametrize("validation", ["strict", "lenient"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the front matter is missing: a SKILL.md begins with '---', its fields, and '---'"),
        (" \n\n", "the front matter is missing: a SKILL.md begins with '---', its fields, and '---'"),
        ("# Title\n", "the front matter is missing: a SKILL.md begins with '---', its fields, and '---'"),
        ("----\nname: a\n----\n", "the front matter is missing: a SKILL.md begins with '---', its fields, and '---'"),
        ("---\nname: a\n", "the front matter is never closed: a second line '---' is missing"),
        ("---\nname: a\n----\n", "the front matter is never closed: a second line '---' is missing"),
        (with_field("#" * MAX_HEAD_LENGTH), "the front matter has 32,812 characters, more than 32,768"),
    ],
)
def test_a_file_without_front_matter_is_not_a_skill(text: str, message: str, validation: str) -> None:
    skipped = finding("skill-invalid", f"{message}; the skill is skipped", PATH, 1)
    assert read_skill(text, PATH, validation) == (None, [skipped])  # type: ignore[arg-type]


def test_messages_quote_only_short_values() -> None:
    secret = "s" * 5000
    for lines in ([f"name: {secret}"], [f"name: testing\n{secret}: x"], [f"name: a\n{secret}: x\n{secret}: y"]):
        for validation in ("strict", "lenient"):
            _, findings = read_skill(skill_file("description: Runs.", *lines), PATH, validation)  # type: ignore[arg-type]
            assert findings and all(len(finding.message) < 250 for finding in findings)


@pytest.mark.parametrize("key", ["model_invokation", "model-invocation", "model_invocation"])
@pytest.mark.parametrize("value", ["true", '"true"', "yes"])
def test_a_resident_is_read(key: str, value: str) -> None:
    text = skill_file("description: How we deploy.", f"{key}: {value}", "owner: ops")
    path = "/w/.foreword/knowledge/deploy.v2.md"
    assert read_resident(text, path) == (Resident("deploy.v2", "How we deploy.", path, (1, 5)), [])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Knowledge\n",
        skill_file(),
        skill_file("description: How."),
        skill_file("description: How.", "model_invokation: false"),
        skill_file("description: Use when: x"),
        skill_file("model_invokation:"),
        skill_file("- model_invokation: true"),
    ],
)
def test_agents_that_do_not_opt_in_are_not_residents(text: str) -> None:
    assert read_resident(text, "/w/deploy.md") == (None, [])


@pytest.mark.parametrize(
    ("text", "resident", "findings"),
    [
        (
            skill_file("model_invokation: true"),
            None,
            [("resident-no-description", 1, "it has no description; the resident is skipped")],
        ),
        (
            skill_file("model_invokation: true", "description: [a]"),
            None,
            [("resident-no-description", 3, "its description is a list, not text; the resident is skipped")],
        ),
        (
            skill_file("model_invokation: true", "x: [a] b"),
            None,
            [
                (
                    "resident-no-description",
                    3,
                    f"no description could be read: {NOT_YAML} ({AFTER}); the resident is skipped",
                )
            ],
        ),
        (
            skill_file("model_invokation: true", "description: Use when: x"),
            Resident("deploy", "Use when: x", "/w/deploy.md", (1, 4)),
            [("resident-repaired", 3, f"{NOT_YAML} ({COLON}); it was read line by line")],
        ),
        (
            "---\nmodel_invokation: true\n",
            None,
            [
                (
                    "resident-invalid",
                    1,
                    "the front matter is never closed: a second line '---' is missing; the file is skipped",
                )
            ],
        ),
    ],
)
def test_an_invalid_resident_is_reported(
    text: str, resident: Resident | None, findings: list[tuple[str, int | None, str]]
) -> None:
    actual, actual_findings = read_resident(text, "/w/deploy.md")
    assert (actual, summarize(actual_findings)) == (resident, findings)


ALIAS_BOMB = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"] + [
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)
]


@pytest.mark.parametrize(
    "lines",
    [
        ALIAS_BOMB,
        ["a: &a " + "[x]", *["b: *a"] * MAX_ALIASES, "c: *a"],
        ["a: " + "[" * (MAX_BRACKETS + 1)],
        ["a: " + "{" * (MAX_HEAD_LENGTH // 2)],
        ["license: " + "[" * 127 + "]" * 127],
        ["a:", "- " * 2000],
    ],
)
def test_a_field_that_would_slow_down_the_parser_is_dropped_alone(lines: list[str]) -> None:
    assert read(with_field(*lines), "strict") is None
    assert read(with_field(*lines)) == ("testing", "Runs the tests.")


MEGABYTE = 1 << 20


@pytest.mark.parametrize(
    "text",
    [
        "---\n" + "\n" * MEGABYTE,
        "---\n" + "---x\n" * (MEGABYTE // 5),
        "---" + " " * MEGABYTE,
        "---\n" + ("---" + " " * 1000 + "x\n") * 1000,
        skill_file("description: " + "x" * MEGABYTE),
        skill_file("description: " + "[" * MEGABYTE),
        skill_file("name: 1" + " " * (MAX_HEAD_LENGTH - 100), "description: Runs: x"),
        skill_file(*["description: Runs: x"] * 1000, "a" * 10_000),
        skill_file("description: Runs: x", *[" x"] * 10_000),
        skill_file("description: Runs.") + "\n" * MEGABYTE + "End." + "\n" * MEGABYTE,
    ],
)
def test_a_huge_file_costs_few_and_small_parses(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import ryaml._ryaml as parser

    parsed: list[int] = []
    loads = parser.loads
    monkeypatch.setattr(parser, "loads", lambda head: parsed.append(len(head)) or loads(head))
    read_skill(text, PATH, "lenient")
    read_resident(text, PATH)
    body(text)
    assert len(parsed) <= 8 and max(parsed, default=0) <= MAX_HEAD_LENGTH


@pytest.mark.parametrize(("field", "parses"), [("license: MIT", 0), ("license: 'MIT'", 1), ("metadata:\n  a: b", 1)])
def test_a_skill_costs_at_most_one_parse(field: str, parses: int, monkeypatch: pytest.MonkeyPatch) -> None:
    import ryaml._ryaml as parser

    parsed: list[str] = []
    loads = parser.loads
    monkeypatch.setattr(parser, "loads", lambda head: parsed.append(head) or loads(head))
    skill, findings = read_skill(with_field(field), PATH, "strict")
    assert skill and not findings
    assert parsed == [f"name: testing\ndescription: Runs the tests.\n{field}\n"] * parses


@pytest.mark.parametrize(
    "line",
    [
        *["a: ", "a:", "a", "a: true", "a: Null", "a: FALSE", "true: a", "null: a", "a: 1", "1: a", "a: ~", "a: .nan"],
        *[
            "a: 2026-01-01",
            "a: b: c",
            "a: b:",
            "a: b #c",
            "a: 'b'",
            'a: "b"',
            "a: [b]",
            "a: {b: c}",
            "a: &b c",
            "a: *b",
        ],
        *[
            "a: !b c",
            "a: |",
            "a: >",
            "a: @b",
            "a: %b",
            "a: `b`",
            "- a: b",
            "? a: b",
            " a: b",
            "a : b",
            "a: b\nc",
            "a: é",
        ],
        *[
            "a: b\tc",
            "a: b\n  c",
            "a: b\na: c",
            "--- a: b",
            "a: b\n...",
            "<<: b",
            "a: b\rc",
            "a: b\n\nc: d",
            "x" * 65 + ": a",
        ],
    ],
)
def test_only_the_parser_reads_anything_but_plain_text(line: str) -> None:
    assert parse_plain_fields(f"{line}\n") == {}


def test_every_code_is_in_the_table() -> None:
    codes = {
        "skill-invalid",
        "skill-no-description",
        "skill-repaired",
        "skill-name",
        "skill-field",
        "resident-invalid",
        "resident-no-description",
        "resident-repaired",
    }
    assert codes <= CODES.keys()
