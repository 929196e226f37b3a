"""What README.md and docs/ show: made from the code as it is, and it works."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING

import click
import pytest

from gbviz.errors import ScenarioError
from gbviz.scenario.file import read
from gbviz.scenario.form import Form
from gbviz.topology.build import build
from gbviz.topology.selectors import select
from gbviz.topology.spec import cluster_spec
from tests.cli import ask, document
from tests.docs.commands import context
from tests.docs.pages import PAGES, ROOT, fences, made

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *PAGES)
}
LINES = [
    (name, line)
    for name, text in TEXTS.items()
    for language, block in fences(text)
    if language != "yaml"
    for line in block.splitlines()
    if line.removeprefix("$ ").startswith("gbviz ")
]
# Sections of files that are tried as a whole.
PIECES = "".join(
    re.findall(r"<!-- made: piece .*?<!-- end -->", "".join(TEXTS.values()), re.DOTALL)
)
YAML = [
    (name, block)
    for name, text in TEXTS.items()
    for language, block in fences(text)
    if language == "yaml" and f"{block}```" not in PIECES
]
# Answers that take well under a second and leave nothing behind.
QUICK = ("whatif", "info", "presets", "check", "schema")


def words_of(line: str) -> list[str]:
    """The words of a command line as a shell has them, what it redirects left out."""
    words = shlex.split(line.removeprefix("$ "), comments=True)[1:]
    return words[: words.index(">")] if ">" in words else words


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_are_made_from_the_code_as_it_is(path: Path) -> None:
    before = path.read_text(encoding="utf-8").splitlines()
    after = made(path.read_text(encoding="utf-8")).splitlines()
    changed = [line for line in after if line not in before]
    assert before == after, (
        f"docs/{path.name} is not what the code says now: run `python -m tests.docs`, look at what"
        f" it changes and commit that too. The first new line is {changed[:1]}"
    )


def test_every_model_and_every_command_has_its_part() -> None:
    from gbviz.cli.main import _COMMANDS
    from gbviz.scenario.described import reached

    models = set(re.findall(r"made: fields (\w+)", TEXTS["docs/scenario.md"]))
    assert models == {*reached(Form), "Placement"}
    commands = re.findall(r"made: command (\w+)", TEXTS["docs/commands.md"])
    assert commands == list(_COMMANDS)


def test_there_are_lines_to_try() -> None:
    assert len(LINES) > 30
    assert len(YAML) >= 13


@pytest.mark.parametrize(("name", "line"), LINES)
def test_every_command_line_is_one(name: str, line: str) -> None:
    words = words_of(line)
    if words[0].endswith((".yaml", ".json")) or words == ["--version"]:
        return
    if "[OPTIONS]" in words:
        assert words[0] in context(words[0]).command_path
        return
    command = context(words[0]).command
    command.make_context(f"gbviz {words[0]}", words[1:])


@pytest.mark.parametrize(("name", "line"), LINES)
def test_every_file_of_a_command_line_is_there(name: str, line: str) -> None:
    words = words_of(line)
    for before, word in zip(words, [*words[1:], ""], strict=True):
        if word.endswith((".yaml", ".json")) and before not in ("-o", "--output"):
            assert list(ROOT.glob(word)), f"{name}: {word}"
    if words[0].endswith((".yaml", ".json")):
        assert (ROOT / words[0]).is_file()


@pytest.mark.parametrize(
    ("name", "line"),
    [(n, line) for n, line in LINES if words_of(line)[0] in QUICK and "-o" not in words_of(line)],
)
def test_quick_ones_answer(name: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words = words_of(line)
    if "[OPTIONS]" in words:
        return
    monkeypatch.chdir(ROOT)
    globbed = [
        str(found.relative_to(ROOT)) if found is not None else word
        for word in words
        for found in (sorted(ROOT.glob(word)) if word.endswith("*.yaml") else [None])
    ]
    ran = ask(*globbed)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out


@pytest.mark.parametrize(("name", "block"), YAML)
def test_every_piece_of_a_file_is_right(name: str, block: str) -> None:
    folder = ROOT / ("docs/tutorial" if name == "docs/tutorial.md" else "scenarios")
    if not re.search(r"^gbviz:", block, re.MULTILINE):
        cluster = "" if re.search(r"^cluster:", block, re.MULTILINE) else "{preset: azure-gb300}"
        block = "gbviz: 1\n" + (f"cluster: {cluster}\n" if cluster else "") + block
    try:
        read(folder / "piece.yaml", block.encode())
    except ScenarioError as error:
        pytest.fail(f"{name}: {error}\n{block}")


def test_every_selector_of_the_page_names_something() -> None:
    two, three = build(cluster_spec("azure-gb300")), build(cluster_spec("gb300-27k"))
    shared = build(cluster_spec("gb300-cdu"))
    section = TEXTS["docs/scenario.md"].partition("## Names and selectors")[2]
    rows = section.partition("All are counted")[0].splitlines()
    named = [text for row in rows if row.startswith("| `") for text in re.findall("`(.*?)`", row)]
    whole = [text for text in named if text not in ("nic-2", "cpu-1")]
    assert len(whole) > 20
    for text in whole:
        fabric = {"core-0": three, "cdu-0": shared}.get(text, two)
        assert select(fabric, text), text


@pytest.mark.parametrize("name", TEXTS)
def test_every_link_leads_somewhere(name: str) -> None:
    text = re.sub(r"^```.*?^```", "", TEXTS[name], flags=re.DOTALL | re.MULTILINE)
    folder = (ROOT / name).parent
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        file, _, section = target.partition("#")
        path = (folder / file).resolve() if file else ROOT / name
        where = path.relative_to(ROOT).as_posix()
        assert path.exists(), f"{name} links to {target}"
        if section:
            titles = re.findall(r"^#+ (.*)$", TEXTS[where], re.MULTILINE)
            assert section in [re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles]


@pytest.mark.parametrize("name", TEXTS)
def test_every_file_that_is_named_is_there(name: str) -> None:
    named = re.findall(r"`((?:scenarios|docs|assets|tests|gbviz)/[\w./*-]*)`", TEXTS[name])
    assert [one for one in named if not list(ROOT.glob(one.rstrip("/")))] == []


@pytest.mark.parametrize("name", TEXTS)
def test_python_that_is_shown_runs(name: str) -> None:
    for language, block in fences(TEXTS[name]):
        if language == "python":
            exec(compile(block, name, "exec"), {})


def test_what_is_no_command_line_is_found() -> None:
    with pytest.raises(click.UsageError):
        context("run").command.make_context("gbviz run", ["--no-such-option", "a.yaml"])


def test_the_tutorial_tells_what_its_files_say() -> None:
    text = TEXTS["docs/tutorial.md"]
    late, early = (
        json.loads(ask("run", "--json", f"{ROOT}/docs/tutorial/{name}.yaml").out)
        for name in ("leaf", "leaf-back")
    )
    held = document("whatif", f"{ROOT}/docs/tutorial/leaf.yaml", "--at", "1h")["jobs"][0]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    told = [
        f"{100 * late['totals']['goodput']['my-run']:.0f} %",
        f"{100 * early['totals']['goodput']['my-run']:.0f} %",
        f"{held['slowdown']:.1f} times",
        f"{late['totals']['lost_gpu_hours']:.0f} GPU-hours",
        f"{early['totals']['lost_gpu_hours']:.0f} GPU-hours",
        f"{late['totals']['lost_work_s']['my-run'] / 60:.0f} minutes",
    ]
    assert [number for number in told if number not in prose] == []
    assert [row["passed"] for row in late["expect"]] == [True, False]
    assert [row["passed"] for row in early["expect"]] == [True, True]
    assert late["totals"]["aborts"]["my-run"] == 1
