"""`foreword template`: show, set, label, delete, check and render templates, and list the variables they can use."""

from __future__ import annotations

import sys

from ..encoding.agent import document_form
from ..errors import CallError, MissingError, TemplateError, suggestion
from ..findings import finding, template_findings
from ..store.contents import DEFAULT_TEMPLATE
from ..store.rows import PRODUCTION, LabelMove, TemplateVersion
from ..template.languages import DEFAULT, LANGUAGES
from ..text.lines import printable
from ..vocabulary import Document
from .options import NOT_FOR_STORE, add_dir_argument, new_parser, read_document
from .prompt import write_prompt
from .terminal import format_time, report, write_json, write_line, write_table, write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import Section
    from ..programs.question import Question
    from ..store.contract import Store
    from ..vocabulary import Finding
    from .arguments import Namespace, Parser

OWN_COMMANDS = {
    "template show": (
        "template",
        "print the global template",
        "foreword template show --name support",
        "TemplateForm",
    ),
    "template set": (
        "template",
        "store a file as the global template",
        "foreword template set prompt.md --note 'Shorter'",
        "VersionForm",
    ),
    "template check": (
        "template",
        "report mistakes in a template",
        "foreword template check prompt.md",
        "CheckForm",
    ),
    "template render": (
        "template",
        "render a template in a directory",
        "foreword template render prompt.md .",
        "ShowForm",
    ),
    "template history": (
        "template",
        "list the versions of the global template",
        "foreword template history",
        "list[VersionForm]",
    ),
    "template restore": (
        "template",
        "restore a version of the global template",
        "foreword template restore 3",
        "VersionForm",
    ),
    "template list": (
        "template",
        "list the stored templates and their labels",
        "foreword template list",
        "list[TemplateNameForm]",
    ),
    "template label": (
        "template",
        "move a template's label to a version, or remove it",
        "foreword template label production 4",
        "MoveForm",
    ),
    "template delete": (
        "template",
        "delete a template with all its versions and labels",
        "foreword template delete support",
        "DeletedTemplateForm",
    ),
    "template variables": (
        "template",
        "list the variables that templates can use",
        "foreword template variables",
        "VariablesForm",
    ),
}
OWN_FAMILIES = {"template": ("skills", "the global template and named ones")}


_MAX_NAMES = 10_000


def parser_for(command: str) -> Parser:
    """Return the parser for one of these commands."""
    action = command.partition(" ")[2]
    parser = new_parser(command, NOT_FOR_STORE if action in ("list", "label", "delete") else ())
    if action in ("set", "check", "render"):
        parser.add_argument("file", metavar="FILE", help="the template; - is standard input")
    if action == "restore":
        parser.add_argument("version", metavar="N", type=int, help="the number of the version")
    if action == "delete":
        parser.add_argument("name", metavar="NAME", help="the name of the template; the default one cannot be deleted")
    if action == "label":
        parser.add_argument("label", metavar="LABEL", help="the label, such as production or staging")
        parser.add_argument("version", nargs="?", default=0, metavar="N", type=int, help="the number of the version")
        parser.add_argument("--remove", action="store_true", help="remove the label instead of moving it")
    if action in ("show", "set", "history", "restore", "label"):
        about = "the name of the template (default)"
        parser.add_argument("--name", default=DEFAULT_TEMPLATE, metavar="NAME", help=about)
    if action == "show":
        parser.add_argument(
            "--label", default=PRODUCTION, metavar="LABEL", help="the label of the version (production)"
        )
    if action == "set":
        parser.add_argument("--draft", action="store_true", help="save the version without making it live")
    if action in ("set", "restore", "label", "delete"):
        parser.add_argument("--author", default="", metavar="NAME", help="the author (by default your user name)")
    if action in ("set", "restore", "label"):
        parser.add_argument("--note", default="", metavar="TEXT", help="the reason for the change")
    if action in ("set", "restore", "label"):
        parser.add_argument("--force", action="store_true", help="make the version live even if it has errors")
    if action in ("set", "check", "render"):
        parser.add_argument(
            "--syntax", choices=LANGUAGES, default=DEFAULT, metavar="LANGUAGE", help=" or ".join(LANGUAGES)
        )
    if action not in ("check", "render"):
        return parser
    parser.add_argument("--value", action="append", default=[], metavar="type:name=TEXT", help="a value for a variable")
    return add_dir_argument(parser)


def template_show(args: Namespace) -> int:
    """`foreword template show`"""
    store = args.question.store_to_read()
    stored = store.template(args.name, args.label)
    if stored is None and args.name != DEFAULT_TEMPLATE and not store.templates(args.name, texts=False):
        raise _unknown(store, args.name)
    if stored is None and (args.name, args.label) != (DEFAULT_TEMPLATE, PRODUCTION):
        raise CallError(f"template {args.name!r} has no label {args.label!r}; see foreword template list")
    text = stored.template if stored else _default_template(args)
    if args.json:
        write_json({"template": text})
    else:
        write_text(text)
    return 0


def template_set(args: Namespace) -> int:
    """`foreword template set FILE`"""
    return _save(args, read_document(args.file, "FILE"), args.note, args.syntax)


def template_history(args: Namespace) -> int:
    """`foreword template history`"""
    from ..wire.answers import version_form

    store = args.question.store_to_read()
    versions, labels = store.templates(args.name, texts=bool(args.json)), store.labels(args.name)
    if args.name == DEFAULT_TEMPLATE:
        versions.append(TemplateVersion(0, _default_template(args), "foreword", "", "built in"))
    elif not versions:
        raise _unknown(store, args.name)
    if args.json:
        write_json([version_form(version) for version in versions])
    else:
        rows = [
            (
                str(version.version),
                ", ".join(label for label in labels if labels[label] == version.version),
                version.syntax,
                version.author,
                format_time(version.time),
                version.note,
            )
            for version in versions
        ]
        write_table(rows, ("version", "labels", "syntax", "author", "time", "note"), ("bold",), right=(0,))
    return 0


def template_restore(args: Namespace) -> int:
    """`foreword template restore N`"""
    if args.version:
        store = _store(args)
        restored = store.template_version(args.name, args.version)
        if restored is None and args.name != DEFAULT_TEMPLATE and not store.templates(args.name, texts=False):
            raise _unknown(store, args.name)
    else:
        restored = TemplateVersion(0, _default_template(args))
    if restored is None:
        raise CallError(f"the template has no version {args.version}; see foreword template history")
    document = Document(f"version {args.version}", restored.template)
    return _save(args, document, args.note or f"Restored version {args.version}", restored.syntax)


def _save(args: Namespace, template: Document, note: str, syntax: str) -> int:
    from ..engine.assembler import local_time
    from ..wire.answers import version_form

    author = args.author or _user_name()
    is_draft = getattr(args, "draft", False)
    _report_problems(args, template, syntax, may_have_errors=is_draft)
    version = _store(args).add_template(
        TemplateVersion(0, template.text, author, local_time().isoformat(timespec="seconds"), note, syntax, args.name),
        label="" if is_draft else PRODUCTION,
    )
    is_default = args.name == DEFAULT_TEMPLATE
    name = "the global template" if is_default else f"the template {printable(args.name)}"
    users = "new conversations" if is_default else "new conversations that name it"
    if args.json:
        write_json(version_form(version))
    elif is_draft:
        write_line(f"version {version.version} of {name} is saved, but not live; see foreword template label")
    else:
        write_line(
            f"version {version.version} is now {name}: {users} use it immediately, existing ones after compaction"
        )
    return 0


def _report_problems(args: Namespace, template: Document, syntax: str, *, may_have_errors: bool = False) -> None:
    """Print the findings about a template. Raises a TemplateError if it has errors, unless it may have them or --force was passed."""
    findings = _check(_only_template(args, template, syntax))
    report(findings, args, with_infos=True)
    errors = sum(finding.severity == "error" for finding in findings)
    if errors and not may_have_errors and not args.force:
        raise TemplateError(
            f"nothing was changed, because the template has {_pluralize(errors, 'error')}; --force makes it live anyway"
        )


def template_label(args: Namespace) -> int:
    """`foreword template label LABEL N`, `foreword template label LABEL --remove`"""
    from ..engine.assembler import local_time
    from ..wire.answers import move_form

    if bool(args.version) == args.remove:
        raise CallError("name the version that the label should refer to, or remove the label with --remove")
    time = local_time().isoformat(timespec="seconds")
    label = LabelMove(args.name, args.label, 0, args.version, args.author or _user_name(), time, args.note)
    if args.remove:
        return _remove_label(args, label)
    store = _store(args)
    if version := store.template_version(args.name, args.version):
        document = Document(f"version {args.version}", version.template)
        _report_problems(args, document, version.syntax)
    try:
        move = store.move_label(label)
    except MissingError:
        if not store.templates(args.name, texts=False):
            raise _unknown(store, args.name) from None
        raise
    if args.json:
        write_json(move_form(move))
    else:
        what = f"the label {printable(move.label)} of template {printable(move.name)}"
        if not move.previous:
            write_line(f"created {what} at version {move.version}")
        elif move.previous == move.version:
            write_line(f"{what} already refers to version {move.version}")
        else:
            write_line(f"moved {what} from version {move.previous} to version {move.version}")
    return 0


def _remove_label(args: Namespace, label: LabelMove) -> int:
    from ..wire.answers import move_form

    move = _store(args).remove_label(label)
    if args.json:
        write_json(move_form(move))
    else:
        name = printable(move.name)
        write_line(f"removed the label {printable(move.label)} from version {move.previous} of template {name}")
    return 0


def template_delete(args: Namespace) -> int:
    """`foreword template delete NAME`"""
    from ..engine.assembler import local_time
    from ..store.listing import ConversationQuery

    store = _store(args)
    time = local_time().isoformat(timespec="seconds")
    try:
        versions = store.delete_template(args.name, args.author or _user_name(), time)
    except MissingError:
        raise _unknown(store, args.name) from None
    if args.json:
        write_json({"deleted": args.name, "versions": versions})
        return 0
    write_line(f"deleted template {printable(args.name)} with {_pluralize(versions, 'version')}")
    users, _ = store.count(ConversationQuery(template=args.name))
    if users:
        owners = (
            "conversation that was built from it keeps its prompt"
            if users == 1
            else "conversations that were built from it keep their prompts"
        )
        print(f"{users} {owners}, but cannot be rebuilt without naming another template", file=sys.stderr)
    return 0


def _unknown(store: Store, name: str) -> CallError:
    names = [row.name for row in store.template_names(limit=_MAX_NAMES)]
    return CallError(f"no template {name!r} in the store{suggestion(name, names)}; see foreword template list")


def template_list(args: Namespace) -> int:
    """`foreword template list`"""
    from ..wire.answers import template_name_form

    rows = args.question.store_to_read().template_names(limit=_MAX_NAMES)
    if args.json:
        write_json([template_name_form(row) for row in rows])
    else:
        cells = [
            (row.name, str(row.newest), ", ".join(f"{label}: {row.labels[label]}" for label in row.labels))
            for row in rows
        ]
        write_table(cells, ("template", "newest", "labels"), ("bold",), right=(1,))
        if not rows:
            print("no stored templates; store one with foreword template set FILE", file=sys.stderr)
    return 0


def _user_name() -> str:
    from getpass import getuser

    try:
        return getuser()
    except (OSError, KeyError):  # this user id has no name
        return ""


def _store(args: Namespace) -> Store:
    from ..store import open_store

    return open_store(args.question.url_to_write(), args.question.team)


def _default_template(args: Namespace) -> str:
    """Return the layout's built-in template."""
    return _template_section(_with_template(args.question)).text or ""


def _with_template(question: Question) -> Question:
    """Return the question, with a layout that has a template if it did not specify one."""
    return question.with_fields(layout=question.fields.get("layout") or "builder")


def _template_section(question: Question) -> Section:
    """Return the layout's section whose text is a template."""
    layout = question.assembler.layout()
    for section in layout.sections:
        if section.language and section.text is not None:
            return section
    raise CallError(f"the layout {layout.name!r} has no template; use --layout builder")


def template_check(args: Namespace) -> int:
    """`foreword template check`"""
    template = read_document(args.file, "FILE")
    question = args.question = _only_template(args, template, args.syntax, args.value)
    findings = template_findings(question.assembler.prompt(question.agent, question.now).findings)
    inputs = question.assembler.snapshot(question.agent).inputs
    variables = LANGUAGES[args.syntax].module().variables_used(template, inputs)
    if args.json:
        from ..encoding.prompt import finding_form

        write_json({"variables": variables, "findings": [finding_form(finding) for finding in findings]})
    else:
        report(findings, args, with_infos=True)
        print(f"{_pluralize(len(findings), 'finding')}, {_pluralize(len(variables), 'variable')}", file=sys.stderr)
    return 1 if any(finding.severity == "error" for finding in findings) else 0


def _pluralize(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def template_render(args: Namespace) -> int:
    """`foreword template render`"""
    question = args.question = _only_template(args, read_document(args.file, "FILE"), args.syntax, args.value)
    return write_prompt(question.assembler.prompt(question.agent, question.now), args)


def _only_template(args: Namespace, template: Document, syntax: str, values: Sequence[str] = ()) -> Question:
    """Return a question about the template alone, as the only section of the layout."""
    question = _with_template(args.question)
    name = _template_section(question).name
    assignments = (f"sections={name}", f"section.{name}.trim=false", f"section.{name}.language={syntax}")
    return question.with_fields(
        base=document_form(template),
        set=[*(question.fields.get("set") or ()), *assignments],
        values=dict(_parse_value(assignment, syntax) for assignment in values),
    )


def _check(question: Question) -> list[Finding]:
    """Return the findings about a question's template. One that cannot be parsed or rendered is an error like the others."""
    try:
        return template_findings(question.assembler.prompt(question.agent, question.now).findings)
    except TemplateError as error:
        path = question.agent.base.path if isinstance(question.agent.base, Document) else ""
        return [finding("template-error", error.message, path, error.line, error.column, error.end_column)]


def _parse_value(text: str, syntax: str) -> tuple[str, str]:
    name, equals, content = text.partition("=")
    form = LANGUAGES[syntax].variable_form
    parts = name.partition(":") if ":" in form else [name]
    if not equals or not all(part.strip() for part in parts):
        raise CallError(f"--value must be {form}=TEXT, not {text!r}")
    return name.strip(), content


def template_variables(args: Namespace) -> int:
    """`foreword template variables`"""
    from ..template.catalog import CATALOG
    from ..wire.answers import variable_form

    if args.json:
        write_json({"variables": [variable_form(row) for row in CATALOG]})
    else:
        write_table(
            [(f"[{row.type}:{row.name}]", row.description) for row in CATALOG], ("variable", "value"), ("bold",)
        )
    return 0
