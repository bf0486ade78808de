"""The sandbox: the same results as in this process, and an error where a template would have killed the process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from foreword.engine import sandbox
from foreword.errors import TemplateError, TemplateRenderError
from foreword.template import jinja
from foreword.vocabulary import Document

SRC = str(Path(sandbox.__file__).parents[1])
VARIABLES = {"cwd": "/w", "tools": ["read", "edit"]}


def documents(**texts):
    return {f"$workspace/{name}": Document("", text, "sha256:0", 3) for name, text in texts.items()}


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
        errors.append(str(raised.value))
    assert errors[0] == errors[1]


def test_check_finds_a_mistake_in_a_branch_that_render_does_not_reach():
    with pytest.raises(TemplateError, match="cannot be parsed"):
        sandbox.check("$workspace/main", documents(main="{% if false %}{{ 1 + }}{% endif %}").get)


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


def test_an_interrupted_request_does_not_affect_the_next_one(monkeypatch):
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


def test_a_worker_that_does_not_start_is_an_error(monkeypatch):
    sandbox.close()
    monkeypatch.setattr(sandbox, "_WORKER_CODE", "raise SystemExit(3)")
    with pytest.raises(TemplateError, match=r"^the worker that renders untrusted templates exited with status 3$"):
        render("a")
    monkeypatch.undo()
    assert "".join(piece.text for piece in render("b")) == "b"
