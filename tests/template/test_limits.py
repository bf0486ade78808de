"""The limit on a template's output, in every language, enforced while it is rendered."""

import pytest

from foreword import Agent, Assembler, Document
from foreword.cli import main
from foreword.errors import TemplateError
from foreword.template import brackets, directives, jinja
from foreword.vocabulary import Origin, Piece

LARGE = "x" * 1_000_000


def test_brackets_stop_at_the_limit():
    looked_up = []

    def lookup(type, name):
        looked_up.append(name)
        return (Piece(LARGE, Origin("variable", name)),)

    template = brackets.parse("[file:a]" * 5 + "[file:b]", {"file"})
    with pytest.raises(TemplateError, match=r"^/t writes more than 4,000,000 bytes; .* raise template_limit$"):
        brackets.render(template, lookup, Origin("template", "/t"))
    assert looked_up == ["a"], "nothing is looked up after the limit is reached"


def test_the_limit_is_in_bytes_and_not_in_characters():
    template = brackets.parse("é[system:os]é", {"system"})

    def render(limit):
        return brackets.render(template, lambda *_: (Piece("ééé", Origin("variable")),), Origin("template"), limit)

    assert "".join(piece.text for piece in render(10)) == "ééééé"
    with pytest.raises(TemplateError, match="more than 9 bytes"):
        render(9)


def test_a_value_that_a_directive_repeats_counts_each_time():
    document = Document("/w/AGENTS.md", "{{cwd}}" * 1_000)
    with pytest.raises(TemplateError, match=r"^/w/AGENTS.md writes more than 4,000,000 bytes"):
        directives.render(document, {"cwd": "x" * 5_000}, lambda path, target: None)


def test_included_files_count_too():
    files = {name: Document(f"/w/{name}", LARGE) for name in "abcd"}
    document = Document("/w/AGENTS.md", "".join(f"<!-- include: {name} -->\n" for name in files))
    with pytest.raises(TemplateError, match=r"^/w/AGENTS.md writes more than 4,000,000 bytes"):
        directives.render(document, {}, lambda path, target: files[target])
    pieces, _ = directives.render(document, {}, lambda path, target: files[target], limit=5_000_000)
    assert len("".join(piece.text for piece in pieces)) > 4_000_000


@pytest.mark.parametrize(
    "text", ["{% for t in tools %}{{ cwd }}{% endfor %}", "{% set c = cwd %}{{ c }}{{ c }}{{ c }}"]
)
def test_jinja_stops_at_the_limit(text):
    variables = {"cwd": "x" * 400, "tools": ["a", "b", "c"]}
    with pytest.raises(TemplateError, match=r"^\$u/t writes more than 1,000 bytes"):
        jinja.render("$u/t", {"$u/t": Document("", text)}, variables, limit=1_000)


# The setting


LAYOUTS = {
    "builder": ("[file:large.md]" * 5, "request"),
    "pod": ("{% for a in range(2000) %}{{ '%3000s' | format('x') }}{% endfor %}", "request"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_library_raises_an_error(tree, layout):
    tree({"w/.git": None, "w/large.md": LARGE[:900_000]})
    base, path = LAYOUTS[layout]
    with pytest.raises(TemplateError, match="request writes more than 4,000,000 bytes"):
        Assembler(tree.workspace(), layout).prompt(Agent(base=Document(path, base)))


def test_the_limit_applies_to_a_layout_with_directives(tree):
    tree({"w/.git": None, "w/AGENTS.md": "{{cwd}}" * 100})
    with pytest.raises(TemplateError, match=r"AGENTS\.md writes more than 1,000 bytes"):
        Assembler(tree.workspace(), "ion", assignments=[("template_limit", 1_000)]).prompt(Agent())
    assert Assembler(tree.workspace(), "ion").prompt(Agent()).text


def test_the_command_line_says_what_would_be_valid(tree, capsys):
    tree({"w/.git": None})
    template = tree.path("t.md")
    tree({"t.md": "Hello, [prompt:cwd]!"})
    command = ["show", tree.path("w"), "--layout", "builder", "--base", template]
    assert main([*command, "--set", "template_limit=5"]) == 2
    error = capsys.readouterr().err
    assert "writes more than 5 bytes" in error and "raise template_limit" in error
    assert main([*command, "--set", "template_limit=5000"]) == 0


def test_a_workspace_may_not_set_the_limit(tree):
    tree({"w/.git": None, "w/.foreword/foreword.toml": "template_limit = 5\n"})
    prompt = Assembler(tree.workspace(), "builder").prompt(Agent(base=Document("request", "Hello, everyone!")))
    assert prompt.text == "Hello, everyone!"
    assert "workspace-refused" in {finding.code for finding in prompt.findings}


def test_a_template_may_use_a_thousand_variables():
    tags = "".join(f"[file:n{number}.md]" for number in range(1_000))
    assert len(brackets.parse(tags + tags, ("file",)).variables) == 1_000
    with pytest.raises(TemplateError, match="the template uses 1,001 variables; at most 1,000 are accepted"):
        brackets.parse(tags + "[file:one-more.md]", ("file",))
