"""The sandbox: the same results as in this process, and an error where a template would have killed the process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from foreword.engine import sandbox
from foreword.errors import CallError, TemplateError, TemplateRenderError, TemplateSyntaxError
from foreword.store import waits
from foreword.template import jinja
from foreword.vocabulary import Document

SRC = str(Path(sandbox.__file__).parents[1])
VARIABLES = {"cwd": "/w", "tools": ["read", "edit"]}


def documents(**texts):
    return {f"$workspace/{name}": Document("", text, "sha256:0", 3) for name, text in texts.items()}


def raise_end(*arguments):
    raise EOFError


def render(text, *, is_trusted=False, **more):
    return sandbox.render("$workspace/main", documents(main=text, **more), VARIABLES, is_trusted=is_trusted)


@pytest.mark.parametrize("text", ["", "a\n{{ cwd }}é\n", "{% for t in tools %}{{ t }}{% include 'b' %}{% endfor %}"])
def test_the_worker_renders_the_same_text_as_this_process(text):
    sources = documents(main=text, b="b {{ cwd }} 🐍\n")
    assert render(text, b="b {{ cwd }} 🐍\n") == jinja.render("$workspace/main", sources, VARIABLES)
    assert sandbox.check("$workspace/main", sources.get) == jinja.check("$workspace/main", sources.get)


@pytest.mark.parametrize("text", ["{{ ghost }}", "{% if %}{% endif %}", "{{ cwd", "{% include 'no' %}", "{{ 1 // 0 }}"])
def test_the_worker_raises_the_same_error_as_this_process(text):
    errors = []
    for call in (sandbox.render, jinja.render):
        with pytest.raises(TemplateError) as raised:
            call("$workspace/main", documents(main=text), VARIABLES)
        error = raised.value
        errors.append((type(error), str(error), error.line, error.column, error.end_column))
    assert errors[0] == errors[1]


def test_check_finds_a_mistake_in_a_branch_that_render_does_not_reach():
    with pytest.raises(TemplateError, match="cannot be parsed"):
        sandbox.check("$workspace/main", documents(main="{% if false %}{{ 1 + }}{% endif %}").get)


@pytest.mark.parametrize(("is_trusted", "workers"), [(None, 1), (False, 1), (True, 0)])
def test_only_trusted_templates_are_parsed_without_a_worker(is_trusted, workers):
    sandbox.close()
    trusting = {} if is_trusted is None else {"is_trusted": lambda addresses: is_trusted}
    sandbox.check("$workspace/main", documents(main="{{ cwd }}").get, **trusting)
    assert len(sandbox.process_ids()) == workers


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda sources: sandbox.check("$workspace/main", sources.get), TemplateSyntaxError),
        (lambda sources: sandbox.render("$workspace/main", sources, VARIABLES), TemplateRenderError),
    ],
)
def test_a_template_that_ends_its_worker_is_an_error_of_what_was_asked(monkeypatch, call, error):
    monkeypatch.setattr(sandbox, "_exchange", raise_end)
    with pytest.raises(error) as raised:
        call(documents(main="a"))
    assert (type(raised.value), str(raised.value)) == (
        error,
        "$workspace/main crashed the template engine (signal 9)",
    )


def test_the_worker_is_reused():
    render("a")
    (pid,) = sandbox.process_ids()[-1:]
    render("b")
    assert sandbox.process_ids()[-1] == pid != os.getpid()


def test_trusted_and_bounded_templates_need_no_worker():
    sandbox.close()
    render("{% if tools %}{{ cwd }}{% endif %}", is_trusted=True)
    assert sandbox.process_ids() == []
    render("{% set x = cwd %}{{ x }}", is_trusted=True)
    assert len(sandbox.process_ids()) == 1


# Templates that would kill a process

DEEP_INCLUDES = {f"n{number}": f"{{% include 'n{number + 1}' %}}" for number in range(1_000)}
HOSTILE = {
    "10,000 elif": "{% if cwd %}" + "{% elif cwd %}" * 10_000 + "{% endif %}",
    "50,000 operators": "{{ " + "+".join(["1"] * 50_000) + " }}",
    "5,000 operators that nearly fit": "{{ 1" + "+1" * 4_900 + " }}",
    "50,000 filters": "{{ cwd" + "|e" * 50_000 + " }}",
    "brackets": "{{ " + "(" * 5_000 + ")" * 5_000 + " }}",
    "nesting": "{% if cwd %}" * 20_000 + "{% endif %}" * 20_000,
    "10 MB of [if": "[if" * (10 * 1024 * 1024 // 3),
    "10 MB of {% if": "{% if" * (10 * 1024 * 1024 // 5),
    "half a MB of {% if": "{% if" * 99_999,
    "half a MB of {{": "{{" * 249_999,
    "half a MB of {#": "{#" * 249_999,
    "half a MB of quotes": "{{ '" * 124_999,
    "half a MB of brackets": "{{ [" * 124_999,
    "half a MB of tags": "{{ 1 }}" * 70_000,
    "doubling in a loop": "{% set n = namespace(x='x') %}{% for i in range(64) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    "doubling by hand": "{% set x = 'x' %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}",
    "a wide format": "{{ '%9999999999d' | format(1) }}",
    "a wide Python format": "{{ '{:>9999999999}'.format('a') }}",
    "an indent": "{{ 'a\\nb' | indent(2000000000) }}",
    "a repetition": "{{ 'x' * 2000000000 }}",
    "joining": "{{ range(99999) | join(range(99999) | join('x')) }}",
    "a namespace inside itself": "{% set n = namespace() %}{% set n.n = n %}{{ n }}",
    "lists inside lists": "{% set n = namespace(x=[]) %}{% for i in range(99999) %}{% set n.x = [n.x] %}{% endfor %}",
    "a list inside itself": "{{ tools.append(tools) }}{{ tools | tojson }}",
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "sorting forever": "{% for a in range(9999) %}{% set x = range(99999) | list | sort %}{% endfor %}",
    "zips": "{% set n = namespace(x=[1]) %}{% for i in range(9000) %}{% set n.x = n.x | zip %}{% endfor %}{{ n.x }}",
    "a macro that calls itself": "{% macro m(n) %}{{ m(n) ~ m(n) }}{% endmacro %}{{ m(1) }}",
    "a loop that calls itself": "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "a block that contains itself": "{% block a %}{{ self.a() }}{% endblock %}",
    "a template that includes itself": "{% include 'main' %}",
    "endless includes": "{% include 'n0' %}",
    "includes that multiply": "{% include 'm0' %}",
    "endless output": "{% for a in range(99999) %}{{ '%99d' | format(1) }}{% endfor %}",
}
MULTIPLYING = {f"m{number}": f"{{% include 'm{number + 1}' %}}" * 50 for number in range(15)} | {"m15": "x" * 1_000}


@pytest.mark.parametrize("is_trusted", [False, True])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_template_is_an_error_and_the_next_one_renders(name, is_trusted):
    with pytest.raises(TemplateError) as raised:
        render(HOSTILE[name], is_trusted=is_trusted, **DEEP_INCLUDES, **MULTIPLYING)
    assert str(raised.value).startswith("$workspace/")
    assert len(str(raised.value).split("\n")[0]) < 1_000
    assert "".join(piece.text for piece in render("next {{ cwd }}")) == "next /w"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("doubling in a loop", "$workspace/main needed more than 256 MB of memory and was stopped"),
        ("a namespace inside itself", "$workspace/main crashed the template engine (signal 11)"),
        ("sorting forever", "$workspace/main took longer than 1 s and was stopped"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit memory and name signals in their own ways")
def test_an_error_says_which_limit_the_template_exceeded(name, message):
    with pytest.raises(TemplateError) as raised:
        render(HOSTILE[name])
    assert str(raised.value) == message


# The process


def test_a_killed_worker_is_replaced():
    render("a")
    process = sandbox._pool.idle[-1].process
    process.kill()
    process.wait()
    assert "".join(piece.text for piece in render("{{ cwd }}")) == "/w"


@pytest.mark.parametrize("is_running", [True, False])
def test_an_interrupted_request_does_not_affect_the_next_one(monkeypatch, is_running):
    sandbox.close()
    if is_running:
        render("a")
    monkeypatch.setattr(sandbox, "_receive", lambda pipe: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        render("b")
    monkeypatch.undo()
    assert "".join(piece.text for piece in render("c")) == "c"


def test_threads_wait_for_each_other():
    results = {}

    def work(number):
        for turn in range(5):
            text = HOSTILE["a namespace inside itself"] if number == 0 else f"{number} {turn} {{{{ cwd }}}}"
            try:
                results[number, turn] = "".join(piece.text for piece in render(text))
            except TemplateError as error:
                results[number, turn] = type(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = {(number, turn): f"{number} {turn} /w" for number in range(1, 6) for turn in range(5)}
    assert results == expected | {(0, turn): TemplateRenderError for turn in range(5)}


def test_two_templates_are_rendered_at_a_time_and_closing_lets_the_next_one_in(monkeypatch):
    """The busy workers are not used again after that."""
    is_waiting = threading.Event()

    class Condition(threading.Condition):
        def wait(self, timeout=None):
            is_waiting.set()
            return super().wait(timeout)

    pool = sandbox._Pool()
    pool.changed = Condition()
    monkeypatch.setattr(sandbox, "_pool", pool)
    workers = [pool.acquire(), pool.acquire()]
    processes = [worker.ensure_running() for worker in workers]
    thread = threading.Thread(target=lambda: workers.append(pool.acquire()))
    thread.start()
    assert is_waiting.wait(60)
    assert (len(workers), sandbox.counts()["sandbox_busy"]) == (2, 2)
    sandbox.close()
    thread.join(60)
    assert len(workers) == 3
    for worker in workers:
        pool.release(worker)
    assert [process.poll() is not None for process in processes] == [True, True]
    assert (sandbox.process_ids(), sandbox.counts()) == (
        [],
        {"sandbox_idle": 0, "sandbox_busy": 0, "sandbox_requests": 3, "sandbox_ended": 1},
    )


def test_the_pool_prepares_for_the_end_of_the_program_once(monkeypatch):
    registered = []
    monkeypatch.setattr("atexit.register", registered.append)
    monkeypatch.setattr("os.register_at_fork", lambda **functions: registered.append(functions), raising=False)
    pool = sandbox._Pool()
    for _ in range(2):
        pool.release(pool.acquire())
    assert registered == [sandbox.close, {"after_in_child": pool.forget}]


@pytest.mark.parametrize("then", [lambda: None, raise_end])
def test_an_answer_that_comes_too_late_is_not_used(then):
    killed = threading.Event()
    process = SimpleNamespace(kill=killed.set)
    with pytest.raises(sandbox._WorkerEnded, match=r"^took longer than 0.01 s and was stopped$"):
        sandbox._with_timeout(0.01, process, lambda: (killed.wait(60), then()))


def test_the_timer_of_an_answer_stops_with_it(monkeypatch):
    monkeypatch.setattr(sandbox, "ANSWER_TIMEOUT", 3600)
    render("a")
    timers = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
    for timer in timers:
        timer.join(10)
    assert [timer.is_alive() for timer in timers] == [False] * len(timers)


def test_whoever_listens_can_stop_the_worker_while_it_is_busy_and_not_later():
    class Listener:
        def on_slow_work(self, kind):
            kinds.append(kind)

        def set_interrupt(self, stop):
            stops.append(stop)

    kinds, stops = [], []
    waits.listen(Listener())
    try:
        render("a")
    finally:
        waits.listen(None)
    stop, nothing = stops
    assert (kinds, callable(stop), nothing) == (["template"], True, None)


@pytest.mark.parametrize(("length", "error"), [(100_000_000, EOFError), (100_000_001, ValueError)])
def test_a_message_has_a_limit(length, error):
    with pytest.raises(error):
        sandbox._receive(BytesIO(length.to_bytes(8, "big")))


def script(code, folder, *, flags=(), environment=None, status=0):
    """Output of a program that can import the package, run in a folder with this environment."""
    head = f"import sys; sys.path += {[SRC, *(path for path in sys.path if 'site-packages' in path)]!r}\n"
    head += "from foreword.engine import sandbox\nfrom foreword.vocabulary import Document\n"
    head += "def render(text):\n"
    head += "    pieces = sandbox.render('$w/a', {'$w/a': Document('', text)}, {'cwd': '/w'})\n"
    head += "    return ''.join(piece.text for piece in pieces)\n"
    command = [sys.executable, "-W", "error", *flags, "-c", head + code]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (status, "")
    return result.stdout


@pytest.mark.parametrize("environment", [{}, {"PYTHONDONTWRITEBYTECODE": "1"}, {"PYTHONPATH": ".", "HOME": "/nowhere"}])
def test_workspace_modules_are_not_imported(tmp_path, environment):
    trap = "import sys; open('sprung', 'w').close(); raise SystemExit('trapped')"
    for name in ("minijinja", "json", "foreword", "resource", "sitecustomize", "usercustomize", "markupsafe", "time"):
        (tmp_path / f"{name}.py").write_text(trap)
    before = sorted(tmp_path.iterdir())
    assert script("print(render('{{ cwd }}'))", tmp_path, flags=["-I"], environment=environment) == "/w\n"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_worker_has_an_empty_environment_and_a_neutral_directory(tmp_path):
    code = "import os, pathlib\nrender('a'); own = pathlib.Path(f'/proc/{sandbox.process_ids()[-1]}')\n"
    code += "print(repr((own / 'environ').read_text()), os.readlink(own / 'cwd'))"
    assert script(code, tmp_path, environment={"TOKEN": "s3cret"}) == "'' /\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_worker_has_limits_and_a_session_of_its_own(tmp_path):
    code = "import os, pathlib\nrender('a'); pid = sandbox.process_ids()[-1]\n"
    code += "print(pathlib.Path(f'/proc/{pid}/limits').read_text(), os.getsid(pid) == pid, os.getsid(0) == pid)"
    lines = script(code, tmp_path).splitlines()
    limits = {line[:25].rstrip(): line[25:].split()[0] for line in lines if line.startswith("Max ")}
    names = ("Max address space", "Max core file size", "Max file size")
    assert [limits[name] for name in names] == [str(256 * 1024 * 1024), "0", "0"]
    assert lines[-1].split() == ["True", "False"]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("flags", [["-B"], []])
def test_the_worker_writes_bytecode_only_if_the_program_does(tmp_path, flags):
    code = "import pathlib\nrender('a')\n"
    code += "print('-B' in pathlib.Path(f'/proc/{sandbox.process_ids()[-1]}/cmdline').read_text().split('\\0'))"
    assert script(code, tmp_path, flags=flags) == f"{bool(flags)}\n"


def test_a_thread_that_waits_for_a_template_does_not_keep_the_program_running(tmp_path):
    code = """
import threading
begun = threading.Event()
sandbox.ANSWER_TIMEOUT = 3600
def never_answer(process, request):
    begun.set()
    threading.Event().wait()
sandbox._exchange = never_answer
threading.Thread(target=render, args=("a",), daemon=True).start()
print(begun.wait(60))
"""
    assert script(code, tmp_path) == "True\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no children to count")
def test_no_process_is_left_running(tmp_path):
    code = f"""
import os
for text in ['a', {HOSTILE["a namespace inside itself"]!r}, 'b']:
    try:
        print(render(text))
    except Exception as error:
        print(type(error).__name__)
sandbox.close()
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print('no children')
"""
    assert script(code, tmp_path) == "a\nTemplateRenderError\nb\nno children\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_the_worker_exits_with_the_program(tmp_path):
    pid = int(script("render('a'); print(sandbox.process_ids()[-1])", tmp_path))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_has_its_own_worker(tmp_path):
    code = """
import os
render('a'); first = sandbox.process_ids()[-1]
child = os.fork()
if child == 0:
    same = render('{{ cwd }}') == '/w' and sandbox.process_ids()[-1] != first
    sandbox.close()
    os._exit(0 if same else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), render('b'), sandbox.process_ids()[-1] == first)
"""
    assert script(code, tmp_path) == "0 b True\n"


@pytest.mark.skipif(sys.platform != "linux", reason="waits for a process that it has not started")
def test_a_worker_exits_if_its_program_is_killed(tmp_path, has_ended):
    end = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    worker = script(f"render('a'); print(sandbox.process_ids()[-1], flush=True); {end}", tmp_path, status=-9)
    assert has_ended(int(worker))


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise SystemExit(3)", "exited with status 3"),
        ("raise SystemExit(0)", "exited with status 0"),
        ("import os; os.write(1, bytes([255] * 8)); os.read(0, 1)", "crashed the template engine (signal 9)"),
        ("import os; os.read(0, 1)", "took longer than 0.2 s and was stopped"),
    ],
)
def test_a_worker_that_does_not_start_is_an_error(monkeypatch, code, reason):
    sandbox.close()
    monkeypatch.setattr(sandbox, "_WORKER_CODE", code)
    if "took" in reason:
        monkeypatch.setattr(sandbox, "ANSWER_TIMEOUT", 0.2)
    with pytest.raises(TemplateError) as raised:
        render("a")
    assert str(raised.value) == f"the worker that renders untrusted templates {reason}"
    monkeypatch.undo()
    assert "".join(piece.text for piece in render("b")) == "b"


def test_a_program_without_an_interpreter_cannot_render_untrusted_templates(monkeypatch):
    sandbox.close()
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(CallError, match=r"sys\.executable is empty"):
        render("a")
