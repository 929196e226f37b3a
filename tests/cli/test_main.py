from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

import gbviz.__main__
import gbviz.cli.main
from gbviz import __version__
from gbviz.cli.whatif import whatif
from tests.cli import GBVIZ, answer, ask, refusal, shell, spawn


def test_version_loads_next_to_nothing() -> None:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gbviz", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == f"gbviz {__version__}\n"
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
    assert "gbviz" in loaded
    assert not loaded & {"numpy", "click", "pydantic", "rich", "networkx", "gbviz.cli"}


def test_version_among_other_words() -> None:
    assert answer("--version") == f"gbviz {__version__}\n"


def test_help_lists_what_there_is() -> None:
    text = answer("--help")
    assert text == answer("-h")
    for command in ("whatif", "info", "presets"):
        assert f"\n  {command} " in text
    assert "sweep" not in text


def test_help_imports_no_command() -> None:
    code = (
        "import sys; from gbviz.cli.main import run; run(['--help']);"
        "sys.exit(bool({'numpy', 'rich', 'gbviz.cli.whatif'} & set(sys.modules)))"
    )
    assert spawn(code=code).returncode == 0


def test_without_words_it_lists_its_commands() -> None:
    text = answer()
    assert "Without a command it opens the app" in text
    assert "whatif" in text


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("whatifs", "did you mean 'gbviz whatif'?"),
        ("ifno", "did you mean 'gbviz info'?"),
        ("preset", "did you mean 'gbviz presets'?"),
        ("swep", "did you mean 'gbviz sweep'?"),
        ("azure-gb300", "did you mean 'gbviz info azure-gb300'"),
        ("my.yaml", "did you mean 'gbviz run my.yaml'?"),
        ("xyz", "'gbviz --help' lists them"),
        ("", "'gbviz --help' lists them"),
        ("\x1b[31mred", "\\x1b[31mred"),
    ],
)
def test_a_command_that_is_none(word: str, says: str) -> None:
    message = refusal(word)
    assert "there is no command" in message
    assert says in message


@pytest.mark.parametrize("word", ["sweep", "plan", "diff", "import", "export"])
def test_names_are_kept_free_for_later(word: str) -> None:
    assert f"'gbviz {word}' comes with a later version" in refusal(word, "x")


def test_an_option_that_is_none() -> None:
    assert "--version" in refusal("--versio")


def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def broken(**_: object) -> None:
        raise error

    monkeypatch.setattr(whatif, "callback", broken)


def test_an_internal_error_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GBVIZ_TRACEBACK", raising=False)
    fail_with(monkeypatch, ZeroDivisionError("oh"))
    ran = ask("whatif")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        "gbviz: internal error, please report it: ZeroDivisionError: oh"
        " (GBVIZ_TRACEBACK=1 shows where)\n"
    )


def test_developers_get_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GBVIZ_TRACEBACK", "1")
    fail_with(monkeypatch, ZeroDivisionError("oh"))
    with pytest.raises(ZeroDivisionError):
        ask("whatif")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    fail_with(monkeypatch, error)
    ran = ask("whatif")
    assert (ran.code, ran.out) == (130, "")
    assert ran.err.strip() == "gbviz: interrupted"


def test_an_interrupt_before_the_command_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(gbviz.cli.main, "run", interrupted)
    monkeypatch.setattr(sys, "argv", ["gbviz", "whatif"])
    for name in ("stdout", "stderr"):  # which it replaces
        monkeypatch.setattr(sys, name, getattr(sys, name))
    with pytest.raises(SystemExit) as left:
        gbviz.__main__.main()
    assert left.value.code == 130


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_leaves_without_a_traceback() -> None:
    code = (
        "import sys, time; from gbviz.cli import main; from gbviz.cli.whatif import whatif\n"
        "def wait(**_): print('on', flush=True); time.sleep(30)\n"
        "whatif.callback = wait\n"
        "sys.exit(main.run(['whatif']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "on\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err.strip()) == (130, "gbviz: interrupted")


def test_a_full_disk_is_no_internal_error() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    for words in ("whatif --quiet", "whatif --json", "info"):
        ran = shell(f"{GBVIZ} {words} > /dev/full")
        assert ran.returncode == 3
        assert ran.stderr == "gbviz: standard output cannot be written: No space left on device\n"


@pytest.mark.parametrize(
    "words", ["info --json", "info --facts", "--help", "whatif --quiet", "--version", "whatif"]
)
@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_may_leave(words: str) -> None:
    ran = shell(f"{GBVIZ} {words} | head -c 1; exit ${{PIPESTATUS[0]}}")
    assert (ran.returncode, ran.stderr, len(ran.stdout)) == (0, "", 1)
    ran = shell(f"{GBVIZ} {words} | true; exit ${{PIPESTATUS[0]}}")
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="shells of POSIX")
def test_closed_streams_are_borne() -> None:
    for words, code in (("whatif", 0), ("info --json", 0), ("--version", 0), ("whatif x", 2)):
        assert shell(f"{GBVIZ} {words} >&- 2>&-").returncode == code
    ran = shell(f"{GBVIZ} whatif --quiet >&-")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_terminal_that_knows_ascii_only() -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    tables = spawn("whatif", "--fail", "hxu-3", **ascii_only)
    assert (tables.returncode, tables.stderr) == (0, "")
    assert "supply, ?C" in tables.stdout
    facts = spawn("info", "--facts", "--json", **ascii_only)
    assert (facts.returncode, facts.stderr) == (0, "")
    assert facts.stdout == spawn("info", "--facts", "--json", PYTHONUTF8="1").stdout
    assert spawn("whatif", "--fail", "é", **ascii_only).returncode == 2


@pytest.mark.skipif(os.name != "posix", reason="arguments of POSIX")
def test_arguments_that_are_no_text() -> None:
    for words in ("whatif --fail $'\\xff\\xfe'", "$'\\xff'", "whatif --$'\\xff'", "info $'\\xff'"):
        ran = shell(f"{GBVIZ} {words}")
        assert (ran.returncode, ran.stdout) == (2, "")
        assert ran.stderr.startswith("gbviz: ")


def test_completion_can_be_installed() -> None:
    ran = spawn(_GBVIZ_COMPLETE="bash_source")
    assert ran.returncode == 0
    ran = spawn(_GBVIZ_COMPLETE="bash_complete", COMP_WORDS="gbviz wh", COMP_CWORD="1")
    assert (ran.returncode, ran.stdout) == (0, "plain,whatif\n")
