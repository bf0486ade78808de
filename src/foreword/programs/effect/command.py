"""`foreword effect`, from a question and its options to the report."""

from __future__ import annotations

import os
import time

from ...errors import CallError
from ...findings import finding
from ...sources.paths import data_folder, is_inside
from ...text.lines import printable
from ...vocabulary import value
from .design import MARGIN, RUNS, new_design
from .report import effect_form, power_form
from .stages import advance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...wire.effect_forms import ExperimentForm, PowerForm
    from ..question import Question
    from .design import Design
    from .experiment import ExperimentListener
    from .results import ResultsFile
    from .subject import ExperimentSubject


@value
class EffectOptions:
    """What the user asks for. `results` is the file of results; if it is empty, one is chosen."""

    arms: str = "files"
    command: Sequence[str] = ()
    runs: int = RUNS
    jobs: int = 1
    seed: int | None = None
    margin: float = MARGIN
    timeout: float = 1800.0
    retries: int = 2
    max_cost: float | None = None
    extra: Sequence[str] = ()
    results: str = ""
    resume: bool = False
    sessions: bool = False


def power_answer(question: Question, options: EffectOptions) -> PowerForm:
    """Return how many runs would show which difference. Nothing is run."""
    subject = _subject(question, options)
    return power_form(_design(subject, options, 0))


def effect_answer(question: Question, options: EffectOptions, listener: ExperimentListener) -> ExperimentForm:
    """Run the experiment, and return its report."""
    if not options.command:
        raise CallError(
            "effect needs the command that runs your agent and checks the result, after --; see docs/effect.md"
        )
    from .experiment import Conditions, Experiment
    from .subject import compare_with_arms

    subject = _subject(question, options)
    path, seed = _results_path(subject, options)
    design = _design(subject, options, seed)
    results = _open_results(path, subject, design, options)
    conditions = Conditions(options.command, _environment(question), options.timeout, options.jobs, options.max_cost)
    experiment = Experiment(subject, design, conditions, results, listener)
    try:
        progress = advance(design, results.scores)
        if progress.pending:
            progress = experiment.run(lambda clone: [*subject.findings, *compare_with_arms(question, subject, clone)])
    finally:
        results.close()
    findings = list(subject.findings)
    if experiment.stop_reason:
        findings.append(finding("effect-stopped", f"the experiment was stopped: {experiment.stop_reason}"))
    costs = _monthly_costs(question, subject) if options.sessions else {}
    return effect_form(design, progress, results.scores, subject.texts, costs, path, findings)


def _subject(question: Question, options: EffectOptions) -> ExperimentSubject:
    if os.name != "posix":
        raise CallError("foreword effect needs Linux or macOS")
    from .subject import read_subject

    return read_subject(question, options.extra)


def _design(subject: ExperimentSubject, options: EffectOptions, seed: int) -> Design:
    from .subject import first_arms

    return new_design(first_arms(options.arms, subject), options.runs, seed, options.margin)


def _environment(question: Question) -> dict[str, str]:
    """Return the environment for commands: this one, without variables that lead git to another repository."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_DIR")}
    for name in ("GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "OLDPWD"):
        environment.pop(name, None)
    return {**environment, "HOME": os.path.abspath(question.home)} if question.home else environment


# Results


def _results_path(subject: ExperimentSubject, options: EffectOptions) -> tuple[str, int]:
    """Return the file of results and the seed. An experiment that is continued keeps its own."""
    from .results import read_header

    path = os.path.abspath(options.results) if options.results else ""
    if path and is_inside(os.path.realpath(path), os.path.realpath(subject.git.root)):
        raise CallError(f"--results {printable(path)} is in the repository; choose a file outside of it")
    if options.resume:
        path = path or _latest_results(subject)
        return path, int(read_header(path).get("seed") or 0)
    seed = int.from_bytes(os.urandom(4), "big") if options.seed is None else options.seed
    name = f"{os.path.basename(subject.git.root)}-{time.strftime('%Y-%m-%d-%H%M%S')}-{seed}.jsonl"
    return path or os.path.join(_results_folder(subject), name), seed


def _results_folder(subject: ExperimentSubject) -> str:
    folder = data_folder(subject.workspace)
    if not folder:
        raise CallError("the results need a home directory, which is unknown; set --results FILE")
    return os.path.join(folder, "foreword", "effect")


def _latest_results(subject: ExperimentSubject) -> str:
    """Return the newest file of results of this repository."""
    from .results import read_header

    folder = _results_folder(subject)
    names = [name for name in os.listdir(folder) if name.endswith(".jsonl")] if os.path.isdir(folder) else []
    paths = sorted((os.path.join(folder, name) for name in names), key=os.path.getmtime, reverse=True)
    for path in paths:
        try:
            if read_header(path).get("root") == subject.git.root:
                return path
        except CallError:
            continue
    raise CallError("there are no results of this repository to continue; name the file with --results")


def _open_results(path: str, subject: ExperimentSubject, design: Design, options: EffectOptions) -> ResultsFile:
    from .results import ResultsFile, fingerprint

    header = {
        "root": subject.git.root,
        "seed": design.seed,
        "runs": design.runs,
        "command": list(options.command),
        "arms": [arm.name for arm in design.arms],
        "fingerprint": fingerprint(design, subject.texts, subject.tracked.head, options.command),
    }
    return ResultsFile(path, header, options.retries, options.resume)


def _monthly_costs(question: Question, subject: ExperimentSubject) -> Mapping[str, float | None]:
    """Return what each instruction file cost in the last month, from the logs of agents."""
    from ..sessions import file_costs

    full = {path: os.path.join(subject.git.root, path) for path in subject.texts}
    costs = file_costs(question, full.values())
    return {path: costs[name] for path, name in full.items() if name in costs}
