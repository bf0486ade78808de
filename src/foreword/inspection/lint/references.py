"""Finds references to files that do not exist, and includes that are not expanded.

A Markdown link is a reference, unless it leads into a folder that does not exist and no file of that name is elsewhere. A path in a code
span is one if the text points to it (`see …`) and its first folder exists or is one in which documentation usually is. Otherwise its folder
must exist, and it must be listed or labelled, or a file of that name must be elsewhere. It may still be an example, a file yet to be created
or one of another repository; the line or the section often says so.
"""

from __future__ import annotations

import re
from posixpath import basename, join, normpath

from ...vocabulary import value
from .commands import is_shell
from .instructions import is_about_other_repository
from .patterns import lazy_pattern
from .records import is_record, is_unfilled, is_written_by_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from .source_text import SourceText

    Exists = Callable[..., bool]
    ExistsAnywhere = Callable[[str], bool]

_LINK = lazy_pattern(r"\]\(<?([^()\s<>#?]{1,300}?)(?::\d[\d:-]{0,20})?(?=[\s<>#?)])[^()\n]{0,200}\)")
# A path in backticks, perhaps with a line number or an anchor.
_QUOTED = lazy_pattern(r"(?<!`)`([\w./+-]{1,200}\.[A-Za-z][A-Za-z0-9]{0,7})(?::\d[\d:-]{0,20}|#[^`\n]{0,60})?`(?!`)")
# A page that the text points to, without backticks.
_UNQUOTED = lazy_pattern(
    r"\b(?:see|read|refer to|consult|follow)[ \t]+(?:also[ \t]+|the[ \t]+)?((?:\.{1,2}/)?(?:[\w.+-]{1,60}/){0,8}[\w.+-]{1,80}\.(?:md|mdx|rst|txt))"
    r"(?=[\s.,;:)!?]|$)",
    re.IGNORECASE,
)
# A script in the skill's folder that the skill runs, even in a fence.
_SCRIPT = lazy_pattern(
    r"(?:\b(?:python3?|bash|sh|zsh|node|ruby|perl|deno run|uv run|npx tsx)[ \t]+"
    r"|\b(?:[Rr]un|[Ee]xecute|[Cc]all|[Ii]nvoke)[ \t]+(?:the[ \t]+)?`|(?<![\w/.-])\./)(?:\./)?"
    r"(scripts/(?![\w-]\.)[\w./+-]{1,200}\.(?:py|sh|bash|js|mjs|cjs|ts|rb|pl))(?![\w/-])"
)
# `cd web`: what follows in this fence is relative to that folder.
_CHANGES_FOLDER = lazy_pattern(r"^[ \t$]*(?:cd|pushd)[ \t]+\S|&&[ \t]*cd[ \t]", re.MULTILINE)
# `cd DOCS_PATH`: what follows is in another repository.
_ANY_FOLDER = lazy_pattern(r"^[ \t]*cd[ \t]+[\"']?(?:[$<{]|[A-Z][A-Z_]{2,}\b)", re.MULTILINE)
_GENERATED = lazy_pattern(r"\b(?:creat\w*|writ\w+|generat\w*|e\.g|examples?|such as|your)\b", re.IGNORECASE)
# `"lint": "node scripts/lint.js"`, to be added to a file.
_IS_PAIR = lazy_pattern(r"[ \t>]*\"[^\"\n]{1,100}\"[ \t]*:[ \t]*\"")
# In the first cell of a column.
_IS_EXAMPLE = lazy_pattern(r"\b(?:e\.g\b|examples?\b|samples?\b)", re.IGNORECASE)
_IF_EXISTS = lazy_pattern(
    r"\b(?:if (?:it |they |one )?(?:exists?|(?:is |are )?(?:present|available))|optional(?:ly)?)\b", re.IGNORECASE
)
# A command or a sentence that makes a file.
_WRITES = lazy_pattern(
    r"\b(?:mkdir|touch|tee|creat(?:e|es|ed|ing)|writes?|writing|written|generat(?:e|es|ed|ing)|sav(?:e|es|ed|ing)|download(?:s|ed)?|outputs?|produc(?:e|es|ed)"
    r"|-o|--output)\b|(?<![-=<>])>{1,2}[ \t]*[\"'$\w./]",
    re.IGNORECASE,
)
_LABEL_START = lazy_pattern(r"\[[^\[\]\n]{0,200}$")
_LABEL_END = lazy_pattern(r"[^\[\]\n]{0,200}\](?=[(\[])")
_SCHEME = lazy_pattern(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_POINTS_TO = lazy_pattern(
    r"\b(?:see|see also|read|refer to|consult|follow|documented in|described in|defined in|details in|listed in)[ \t]+(?:also[ \t]+|the[ \t]+)?"
    r"[*_\[`(]{0,3}$",
    re.IGNORECASE,
)
# Planned, in Spanish, Portuguese, French and German.
_TO_COME = (
    r"a iniciar|a fazer|por fazer|por hacer|pendi?entes?|futur[aeo]s?|planejad[ao]s?|planead[ao]s?|planificad[ao]s?|planifiée?s?|previst[ao]s?|prévue?s?"
    r"|à venir|à faire|geplant\w*|zukünftig\w*|künftig\w*|projeto-alvo"
)
_NOT_A_FILE = lazy_pattern(
    r"\b(?:e\.?g\.?|i\.e|examples?|for instance|such as|like|new|add(?:s|ed|ing)?|creat\w*|generat\w*|writ\w+|wrote|outputs?|sav\w+|renam\w*|delet\w*"
    r"|remov\w*|deprecat\w*|legacy|old|former\w*|moved?|replac\w*|exists?|optional\w*|templates?|placeholders?|would|produc\w*|emit\w*|ignor\w*"
    r"|gitignored?|local|locally|cach\w*|download\w*|upload\w*|your|their|user'?s?|if|when|not|never|no|don'?t|avoid|wrong|bad|instead|missing|path"
    r"|export\w*|install\w*|init|scaffold\w*|copy|copies|copied|build\w*|compil\w*|artifacts?|log|logs|result|results|report|reports|plan|any|each|every"
    r"|per|name\w*|convention|pattern|planned|pending|future|todo|consumer|project's|target|run"
    r"|maintain\w*|clon\w*|scrubb\w*|updat\w*|append\w*|record\w*|check for|promot\w*|goes|put|stor(?:e|es|ed) (?:in|at)|keep in|one line|bullet"
    r"|entry(?![ -]points?\b)"
    # Spanish, Portuguese, French, German
    rf"|{_TO_COME}|persister|enregistr\w+|sauvegard\w+|gravar|speicher\w*|gespeichert"
    r"|persist(?:s|ed|ing)?[ \t]+(?:[\w-]+[ \t]+){0,3}(?:to|in|into|as)"
    r"|apagad\w+|remo[vçc]\w+|eliminad\w+|borrad\w+|supprim\w+|gelöscht\w*|entfernt\w*"
    r"|crear|cree|crea|criar|crie|criad\w+|nuev\w+|nov[oa]s?|ejemplos?|exemplos?|exemples?|beispiel\w*|cré\w+|nouve\w+|neue?[rsn]?|erstell\w*|angelegt|gerar|gerad\w+|generar|générer"
    r"|escrib\w+|escrev\w+|guardar|guarde|salvar|salve|si|se|wenn|falls|cuando|quando|nunca|não|nicht|kein\w*)\b"
    r"|→|->|=>|❌|✗|待(?:添加|补充|实现|创建)|未实现|例如|比如|或类似|例えば|示例|新建|创建|建立|新增|生成|输出|保存|写入|如果|若|不要|不存在|作成|生成|出力|例|場合|생성|작성|예시|만약|저장|추가|添加|追加"
    r"|созда|пример|если|сохран|létrehoz|példa",
    re.IGNORECASE,
)
# In the heading or in the first row of a table above a path.
_ABOUT_OTHER_FILES = lazy_pattern(
    r"\b(?:goes|write|save|create|creat\w+|output|outputs|put|store|new|templates?|examples?|generated|planned|roadmap|future|propos\w+|todo|target"
    r"|scaffold\w*|deliverables?|artifacts?|naming|convention\w*|migrat\w+|deprecated|removed|legacy|when|if|expected|adding|add|step|writing|mapping|maps"
    rf"|to (?:build|implement)|{_TO_COME})\b|示例|模板|计划|例",
    re.IGNORECASE,
)
# "Do not import deprecated [x](x.ts)"
_AVOIDED = lazy_pattern(
    r"\b(?:deprecated|obsolete|removed|deleted|(?:do not|don['’]t|never) (?:import|use))[ \t]+(?:[\w`*-]+[ \t]+){0,3}[`*_]{0,3}$",
    re.IGNORECASE,
)
_LABEL = lazy_pattern(r"\[[^\[\]\n]{0,200}\]\(<?$")
_NOT_A_LINK = lazy_pattern(r"\b(?:bad|wrong|e\.g|examples?|broken|placeholder)\b|❌|✗", re.IGNORECASE)
# Folders to which instructions refer even if the repository has none.
_PAGE_FOLDERS = frozenset("doc docs documentation guide guides handbook playbook playbooks runbooks wiki".split())
_PAGE_SUFFIXES = (".md", ".mdx", ".rst", ".txt")
_MODULE_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".py", ".vue", ".dart")
_CLASS_SUFFIXES = (".java", ".kt", ".scala")
# The files that people include: `@app.route` on a line by itself is not a file.
INCLUDED_SUFFIXES = (*_PAGE_SUFFIXES, ".mdc", ".json", ".yaml", ".yml", ".toml")
# Before a path that is an item of a list or a cell of a table, is in a heading or brackets, or follows a label or another name in backticks.
_LISTS = lazy_pattern(
    r"(?:^[ \t]*(?:[-+*•>][ \t]*)*|^[ \t]*#.*|\d[.)]|[|:([—–]|`[),]*[ \t]*(?:[,/+&·]|and|or)|[ \t]-)[ \t]*$"
)
_PLACEHOLDER = lazy_pattern(
    r"(?:^|[/_.-])(?:path|to|foo\w*|bar|baz|my\w*|your\w*|some\w*|xxx*|nnn*|yyyy|mm|dd|example\w*|sample\w*|name|namespace|file|filename|feature|module|skill|skill-name"
    r"|dist|build|out|output|outputs|target|node_modules|coverage|venv|__pycache__|tmp|temp|logs?|generated|vendor|cache|next|git|env|local)(?:[/_.-]|$)"
    r"|\.\w{1,5}/\.\w{1,5}$|\d\.x\b|\.\.\.|…|[A-Z]{2,}-X+|[Xx]{2,}|\d{3,}|y{4}|mmdd|hhmm",
    re.IGNORECASE,
)
# In the home directory of a person, not of a container or an example.
_PERSONAL = lazy_pattern(
    r"(?:file://)?/(?:[A-Za-z]:/)?(?:Users|home)/(?!(?:you|your\w*|me|user|username|name|node|runner|ubuntu|vscode|app|shared|public|\W)/)[\w.-]+/",
    re.IGNORECASE,
)
# In the line that introduces a list, or in an item above: "The API, in `~/work/api/`:".
_IN_HOME = lazy_pattern(r"(?<![\w/.])~/[A-Za-z][\w-]*/")
# In the line that introduces a list: "It must never:".
_FORBIDS = lazy_pattern(r"\b(?:never|not|don['’]t|avoid|forbidden|wrong)\b[^.]{0,60}:[*_ \t]*$", re.IGNORECASE)
# In the line that introduces a list: "Always follow the directory structure below:".
_PLANS = lazy_pattern(r"\bfollow\b[^.]{0,60}\bstructure\b|\bstructure\b[^.]{0,40}\bto follow\b", re.IGNORECASE)
# Says where code is to come: "configure providers in `lib/auth.ts`".
_PLACES = lazy_pattern(
    r"\b(?:configure|define|place|keep|declare|register|implement)[ \t]+(?:(?!(?:see|read|use|follow)\b)[\w'’,*`/-]+[ \t]+){1,8}"
    r"(?:in|into|to|inside|under|at)[ \t]+(?:the[ \t]+)?[*_\[`(]{0,3}$",
    re.IGNORECASE,
)
# In the line that introduces a list: "If you have:", "This writes:".
_SUPPOSES = lazy_pattern(
    r"\b(?:examples?|e\.g|suppose|imagine|hypothetical\w*|if (?:you have|there (?:is|are))|generat\w*|creat\w*|produc\w*|populat\w*|comput\w*|emits?"
    r"|outputs?|writes?|saves?|scaffold\w*)\b",
    re.IGNORECASE,
)
# At the end of the line above a wrapped line.
_INTRODUCES_EXAMPLE = lazy_pattern(
    r"(?:\be\.?g\.?,?|\bfor example,?|\bfor instance,?|\bsuch as|\blike)$", re.IGNORECASE
)
_POSSESSIVE = lazy_pattern(r"(?:['’]s|\btheir|\bits)[ \t]+[*_\[`(]{0,3}$")
# Folders that belong to a skill by specification or convention. Any other folder may belong to the project that uses the skill.
_SKILL_FOLDERS = frozenset(
    "references reference scripts assets resources templates rules guides workflows examples".split()
)
# The folder of the files to which a rule applies: links in samples are relative to such a file.
_SCOPE = lazy_pattern(
    r"---\n(?:[^\n]{0,500}\n){0,20}?(?:globs|paths|applyTo):\s{0,20}(?:-[ \t]*)?[\"'\[ ]*((?:[\w.-]{1,60}/){1,8})\*"
)
_INCLUDE_LINE = lazy_pattern(r"^[ \t]*@([\w.~/+-]{2,200})[ \t]*$", re.MULTILINE)
_DIRECTIVE = lazy_pattern(r"<!--[ \t]*include:[ \t]*([^\s>]{1,300})[ \t]*-->")


_MANY_LINKS = 10


@value
class Reference:
    """A reference to a file: its offset, and the path as it is written."""

    offset: int
    target: str


def find_missing_files(source: SourceText, exists: Exists, exists_anywhere: ExistsAnywhere) -> Iterator[Reference]:
    """Yield the references to files that do not exist, without duplicates.

    Unlike a link, a path in prose may be relative to any folder, so it is missing only if no path in the workspace ends with it.
    """
    found = list(_paths_in(source))
    links = [_percent_decode(target) for _, target, is_link in found if is_link]
    is_copied = _is_copied(source, links, exists, exists_anywhere)
    for offset, target, is_link in found:
        decoded = _percent_decode(target) if is_link else target
        if _exists(source, decoded, exists) or not _should_exist(
            source, offset, target, is_link, exists, exists_anywhere
        ):
            continue
        if is_link:
            is_meant = not is_copied and _is_about_this_repository(source, decoded, exists, exists_anywhere)
        else:
            is_meant = _is_maintained(source, offset) and not _is_anywhere(target, exists_anywhere)
        if not is_meant or is_written_by_tool(source, offset) or _is_explained(source, offset, target):
            continue
        if not _has_alternative(source, offset, target, exists):
            yield Reference(offset, decoded)
    if source.kind == "skill":
        yield from _find_missing_scripts(source, exists, exists_anywhere)


def _exists(source: SourceText, target: str, exists: Exists) -> bool:
    """Whether a file exists for the one that mentions it or, in a rule, for the files to which it applies."""
    if exists(source.path, target):
        return True
    scope = _SCOPE.match(source.text)
    return scope is not None and exists(source.path, scope[1] + target)


def _is_copied(source: SourceText, links: Sequence[str], exists: Exists, exists_anywhere: ExistsAnywhere) -> bool:
    """Whether a text was probably copied from documentation elsewhere.

    None of its many links leads to a file, or many lead to files beside it or in folders above whose names are nowhere in the workspace.
    """
    missing = [link for link in links if not exists(source.path, link)]
    beside = (link for link in missing if not _first_folder(link) and not exists_anywhere(basename(link)))
    return len(missing) >= _MANY_LINKS and (len(missing) == len(links) or len(list(beside)) >= _MANY_LINKS)


def _first_folder(link: str) -> str:
    """Return a link up to the first folder that it names, or empty if it names none, as `../page.md` does not."""
    folders = link.split("/")[:-1]
    depth = next((depth for depth, folder in enumerate(folders) if folder not in (".", "..")), None)
    return "" if depth is None else "/".join(folders[: depth + 1])


def _is_about_this_repository(source: SourceText, link: str, exists: Exists, exists_anywhere: ExistsAnywhere) -> bool:
    """Whether the first folder of a link exists, or is one that people usually link to, or a file with the same name is elsewhere.

    Otherwise, the text is a copy from another repository, or the folder is not shared.
    """
    folder = _first_folder(link)
    usual = _PAGE_FOLDERS | _SKILL_FOLDERS if source.kind == "skill" else _PAGE_FOLDERS
    if not folder or basename(folder).lower() in usual:
        return True
    return exists(source.path, folder) or exists_anywhere(basename(link))


def find_personal_links(source: SourceText, exists: Exists) -> Iterator[Reference]:
    """Yield the links to files in a person's home directory, without duplicates. A file outside the workspace is that person's own."""
    seen: set[str] = set()
    for match in _LINK.finditer(source.text):
        target = match[1]
        if target in seen or not _PERSONAL.match(target) or source.is_code(match.start()):
            continue
        seen.add(target)
        is_sample = _is_sample_link(source, match.start(1), source.line_around(match.start()).replace(target, ""))
        if exists(source.path, ".", True) and not is_sample and not is_written_by_tool(source, match.start()):
            yield Reference(match.start(1), target)


def _is_maintained(source: SourceText, offset: int) -> bool:
    """Whether a path in prose is meant to exist now: it is not in a record of changes, a template or a structure to follow."""
    is_kept = not is_unfilled(source) and not is_record(source, offset)
    return is_kept and not _PLANS.search(source.list_above(offset)[0])


def _is_anywhere(target: str, exists_anywhere: ExistsAnywhere) -> bool:
    """Whether a path exists anywhere, perhaps as that of a module, without its extension."""
    if target.endswith(
        _CLASS_SUFFIXES
    ):  # people name the module and the class: core/Shop.kt is core/src/main/kotlin/x/Shop.kt
        target = target.rpartition("/")[2]
    return any(exists_anywhere(target + suffix) for suffix in ("", *_MODULE_SUFFIXES))


def _is_explained(source: SourceText, offset: int, target: str) -> bool:
    """Whether another line of the file says that this path is written, for example by a command, or that it is below another folder."""
    path, start = target.removeprefix("./"), 0
    own_line = source.line(offset)
    while (start := source.text.find(path, start)) >= 0:
        if source.line(start) != own_line:
            is_longer = re.search(r"[\w-]/$", source.before(start)) is not None
            if is_longer or _WRITES.search(source.line_around(start).replace(path, "x")):
                return True
        start += len(path)
    return False


def _has_alternative(source: SourceText, offset: int, target: str, exists: Exists) -> bool:
    """Whether the line names another path for the same file, which exists: "`src/shop.py` or `src/core/shop.py`"."""
    line, name = source.line_around(offset), basename(target)
    others = [match[1] for match in _QUOTED.finditer(line) if basename(match[1]) == name]
    alternatives = [
        other for other in others if f"`{other}` or `{target}`" in line or f"`{target}` or `{other}`" in line
    ]
    return any(exists(source.path, other) for other in alternatives)


def _find_missing_scripts(source: SourceText, exists: Exists, exists_anywhere: ExistsAnywhere) -> Iterator[Reference]:
    """Yield the scripts that a skill runs but that neither it nor a folder that it may be about contains, without duplicates."""
    seen: set[str] = set()
    elsewhere = _ANY_FOLDER.search(source.text)
    for match in _SCRIPT.finditer(source.text):
        if elsewhere and elsewhere.start() < match.start():
            return
        target = match[1]
        if _IF_EXISTS.search(source.line_around(match.start())):
            seen.add(target)
        if target not in seen and not _is_example(source, match.start()) and not _PLACEHOLDER.search(target):
            seen.add(target)
            if not exists(source.path, target) and not exists_anywhere(target):
                yield Reference(match.start(1), target)


def _is_example(source: SourceText, offset: int) -> bool:
    """Whether a script is only named as an example. In a fence of another language, such as a workflow, it is one."""
    before = source.before(offset)
    return bool(
        _GENERATED.search(source.line_around(offset))
        or _IS_PAIR.match(before)
        or not is_shell(source, offset)
        or source.is_counterexample(offset)
        or _IS_EXAMPLE.search(source.column_head(offset))
        or _FORBIDS.search(source.list_above(offset)[0])
        or _CHANGES_FOLDER.search(source.fence_before(offset))
    )


def _is_label(source: SourceText, start: int, end: int) -> bool:
    """Whether a path is the label of a link, whose target is checked instead."""
    is_closed = _LABEL_END.match(source.text, end) is not None
    return is_closed and _LABEL_START.search(source.before(start)) is not None


def _paths_in(source: SourceText) -> Iterator[tuple[int, str, bool]]:
    """Yield the paths in a source, without duplicates: the offset, the path, and whether it is a link."""
    seen: set[str] = set()
    for pattern, is_code, is_link in (
        (_LINK, source.is_code, True),
        (_QUOTED, source.is_fenced, False),
        (_UNQUOTED, source.is_code, False),
    ):
        for match in pattern.finditer(source.text):
            target = match[1]
            path = normpath(target)
            if path in seen or is_code(match.start()):
                continue
            if not is_link and _is_label(source, match.start(), match.end()):
                continue
            seen.add(path)
            if _is_path(target) and not _PLACEHOLDER.search(target):
                yield match.start(1), target, is_link


def _is_path(target: str) -> bool:
    """Whether this is a relative path, rather than a URL, a pattern or a placeholder."""
    is_relative = target[:1] not in ("/", "~", "$", "@", "#", "-") and not _SCHEME.match(target)
    return is_relative and "." in target and not any(character in target for character in "*{}<>$|\\=,;")


def _percent_decode(target: str) -> str:
    """Return a link's path, percent-decoded."""
    if "%" not in target:
        return target
    from urllib.parse import unquote

    return unquote(target, errors="surrogateescape")


def _should_exist(
    source: SourceText, offset: int, target: str, is_link: bool, exists: Exists, exists_anywhere: ExistsAnywhere
) -> bool:
    """Whether a path refers to a file that should exist. A link does, unless its line calls it an example.

    A path in a sentence does if the sentence points to it, or if a file of that name is elsewhere. Otherwise, it may be one that a program makes.
    """
    line, before = source.line_around(offset).replace(target, ""), source.before(offset)
    line = f"{source.sentence_above(offset)} {line} {source.rest_of_sentence(offset)}"
    if is_link:
        return not _is_sample_link(source, offset, line)
    about = f"{source.section_before(offset)} {source.rest_of_sentence(offset)}"
    if "/" not in target.removeprefix("./") or is_about_other_repository(about):
        return False
    if _is_name_in_package(source, target, exists):
        return False
    if not before.strip("`*_ \t>-"):
        above = source.before(offset - len(before) - 1).rstrip()
        if _INTRODUCES_EXAMPLE.search(above):
            return False
        if source.sentence_above(offset):
            before = f"{above} {before}"
    if _NOT_A_FILE.search(line) or _is_about_other_files(source, offset, before):
        return False
    first = target.removeprefix("./").partition("/")[0]
    if source.kind == "skill" and first not in _SKILL_FOLDERS:
        return False
    if _points_to(source, before, first, exists):
        return True
    is_known = _LISTS.search(before.rstrip("`*_\"' \t")) or exists_anywhere(target.rpartition("/")[2])
    return bool(is_known) and _has_folder(source, target, exists)


def _is_name_in_package(source: SourceText, target: str, exists: Exists) -> bool:
    """Whether a path names a type or a function of a package, such as `internal/auth.Handler` in Go."""
    package, _, name = target.rpartition(".")
    return name[:1].isupper() and not name.isupper() and exists(source.path, package)


def _is_sample_link(source: SourceText, offset: int, line: str) -> bool:
    """Whether a link is an example, in another repository, or to a file that the reader has to write first."""
    headings = source.headings_above(offset)
    return bool(
        _AVOIDED.search(_LABEL.sub("", source.before(offset)))
        or _NOT_A_LINK.search(line)
        or is_about_other_repository(f"{headings}\n{line}")
        or _ABOUT_OTHER_FILES.search(headings)
        or source.introduces_fence(offset)
    )


def _points_to(source: SourceText, before: str, first: str, exists: Exists) -> bool:
    """Whether the words before a path point to it, and its first folder exists or is one in which documentation usually is."""
    if not _POINTS_TO.search(before):
        return False
    return source.kind == "skill" or first in _PAGE_FOLDERS or exists(source.path, first)


def _has_folder(source: SourceText, target: str, exists: Exists) -> bool:
    """Whether a path is below a folder that exists, and that is not still to be filled."""
    folder = target.rpartition("/")[0].strip("./")
    if not folder or exists(source.path, f"{folder}/.gitkeep"):
        return False
    return exists(source.path, folder, True) or (
        source.kind != "skill" and "/" in folder and exists(source.path, folder)
    )


def _is_about_other_files(source: SourceText, offset: int, before: str) -> bool:
    """Whether the words before a path, the heading above it or the first row of its table are about files that need not exist here."""
    if _POSSESSIVE.search(before) or source.introduces_fence(offset):
        return True
    if _PLACES.search(before) and not _POINTS_TO.search(before):
        return True
    introduction, items = source.list_above(offset)
    if _SUPPOSES.search(introduction) or _IN_HOME.search(introduction) or _IN_HOME.search(items):
        return True
    if _IS_EXAMPLE.search(source.column_head(offset)):
        return True
    return any(map(_ABOUT_OTHER_FILES.search, (source.headings_above(offset), source.table_head(offset))))


def find_unexpanded_includes(
    source: SourceText, exists: Exists, follows_directives: bool, present: Collection[str] = ()
) -> Iterator[tuple[Reference, bool]]:
    """Yield the includes in other agents' syntax, which are not expanded here, and whether each file exists.

    `@path` counts if it is alone on its line: in a sentence or a list, the agent understands that it should read the file.
    Files that are in the prompt anyway (`present`, by path), and those that the text also names elsewhere, are skipped.
    """
    text = source.text
    folder = source.path.rpartition("/")[0]
    if "@" in text:
        for match in _INCLUDE_LINE.finditer(text):
            target = match[1].rstrip(".")
            is_file = _looks_like_a_file(target) and exists(source.path, target)
            is_page = target.endswith(INCLUDED_SUFFIXES) and ".local." not in target
            is_named = is_file and text.count(target) > text.count(f"@{target}")
            if is_named or _is_present(folder, target, present) or source.is_code(match.start(1)):
                continue
            if is_file or is_page:
                yield Reference(match.start(1) - 1, "@" + target), is_file
    if not follows_directives and "include:" in text:
        for match in _DIRECTIVE.finditer(text):
            if not source.is_code(match.start()):
                yield Reference(match.start(), match[0]), exists(source.path, match[1])


def _is_present(folder: str, target: str, present: Collection[str]) -> bool:
    """Whether the prompt contains the file that a path in a file of this folder means."""
    if target.startswith("~/"):
        return any(path.endswith(target[1:]) for path in present)
    return normpath(join(folder, target)) in present


def _looks_like_a_file(target: str) -> bool:
    """Whether this looks like `@docs/style.md` or `@README`, rather than a person, package, decorator or module (`@/lib/utils.ts`)."""
    if target.startswith("/") and not target.endswith(INCLUDED_SUFFIXES):
        return False
    name = target.rpartition("/")[2]
    return "." in name.strip(".") or name in ("README", "CHANGELOG", "CONTRIBUTING", "LICENSE", "Makefile")
