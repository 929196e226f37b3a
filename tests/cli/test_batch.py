"""Batches of files: any number of workers, bad ones among them, stopped, killed and resumed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gbviz.cli.batch import Batch
from tests.cli import GBVIZ, ask, refusal, shell
from tests.cli.test_run import GOOD

# Of a batch that is killed; `python -m tests.cli.test_batch 50` tries more moments.
_KILLS = 2


def files(folder: Path, count: int = 4) -> list[str]:
    """Small scenarios of different faults."""
    folder.mkdir(exist_ok=True)
    paths = []
    for number in range(count):
        path = folder / f"file-{number}.yaml"
        path.write_text(GOOD.replace("leaf-0", f"leaf-{number % 8}"))
        paths.append(str(path))
    return paths


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_any_number_of_workers_gives_the_same_bytes(tmp_path: Path) -> None:
    paths = files(tmp_path / "in", 3)
    found = []
    for workers in ("1", "2", "3"):
        out = tmp_path / workers
        ran = ask("run", *paths, "-o", str(out), "--workers", workers, "--json")
        assert ran.code == 0
        found.append((ran.out, tree(out)))
    assert found[0] == found[1] == found[2]
    documents = json.loads(found[0][0])["runs"]
    assert [one["scenario"]["file"] for one in documents] == [f"file-{n}.yaml" for n in range(3)]
    # One file alone is the document itself.
    assert json.loads(ask("run", paths[1], "--json").out) == documents[1]


def test_resume_runs_what_is_missing_or_changed(tmp_path: Path) -> None:
    paths, out = files(tmp_path / "in", 4), tmp_path / "out"
    assert ask("run", *paths, "-o", str(out)).code == 0
    before = tree(out)
    times = {name: (out / name).stat().st_mtime_ns for name in before}
    # Cut off, missing, changed by hand, of another scenario.
    report = out / "file-0/report.html"
    report.write_bytes(report.read_bytes()[:-10])
    (out / "file-1/links.csv").unlink()
    changed = Path(paths[2])
    changed.write_text(changed.read_text().replace("leaf-2", "leaf-7"))
    ran = ask("run", *paths, "-o", str(out), "--resume")
    assert ran.code == 0
    assert "4 reports (1 there already)" in ran.err
    after = tree(out)
    assert {name for name in after if name.startswith(("file-0", "file-1", "file-3"))} == {
        name for name in before if name.startswith(("file-0", "file-1", "file-3"))
    }
    for name, data in before.items():
        if name.startswith(("file-0", "file-1", "file-3")):
            assert after[name] == data
    kept = [name for name in times if (out / name).stat().st_mtime_ns == times[name]]
    assert {name.partition("/")[0] for name in kept} == {"file-3"}
    assert b"leaf-7 failed" in after["file-2/report.html"]
    # Another time is another question.
    assert "already" not in ask("run", *paths, "-o", str(out), "--resume", "--at", "1min").err


def test_resume_needs_a_folder(tmp_path: Path) -> None:
    assert "--resume: goes with -o" in refusal("run", *files(tmp_path), "--resume")


def test_bad_files_are_in_the_index(tmp_path: Path) -> None:
    paths, out = files(tmp_path / "in", 2), tmp_path / "out"
    bad = tmp_path / "bad<b>.yaml"
    bad.write_text(GOOD.replace("leaf-0", "leaf-999"))
    failing = tmp_path / "failing.yaml"
    failing.write_text(GOOD + 'expect:\n  - {job: a, slowdown: "<= 1.1"}\n')
    ran = ask("run", str(bad), *paths, str(failing), str(tmp_path / "none.yaml"), "-o", str(out))
    assert ran.code == 2
    index = (out / "index.html").read_text()
    assert "bad&lt;b&gt;.yaml:6:" in index
    assert "there is no leaf-999" in index
    assert "none.yaml" in index
    assert "✗ 1 of 1 failed" in index
    assert "5 files: 2 as expected, 1 with a failed expectation, 2 that could not be run" in index
    assert sorted(path.name for path in out.glob("*/")) == ["failing", "file-0", "file-1"]


def test_the_first_failure_is_named(tmp_path: Path) -> None:
    paths = []
    for name in "ab":
        path = tmp_path / f"{name}.yaml"
        path.write_text(GOOD + 'expect:\n  - {job: a, slowdown: "<= 1.1"}\n')
        paths.append(str(path))
    ran = ask("run", *paths)
    assert ran.code == 1
    assert ran.err.splitlines()[-1].startswith(f"2 files failed an expectation, first {paths[0]}:")


def test_two_batches_in_one_folder(tmp_path: Path) -> None:
    from gbviz.report.shelf import shelf

    paths = files(tmp_path / "in", 1)
    with shelf(tmp_path / "out"):
        assert "another run is writing here" in refusal("run", *paths, "-o", str(tmp_path / "out"))


def test_a_full_disk_leaves_no_half_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths, out = files(tmp_path / "in", 1), tmp_path / "out"
    write, left = os.write, [60_000]

    def full(handle: int, data: bytes) -> int:
        left[0] -= len(data)
        if left[0] < 0 and handle > 2:
            raise OSError(28, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr(os, "write", full)
    ran = ask("run", *paths, "-o", str(out))
    monkeypatch.undo()
    assert ran.code == 2
    assert "No space left" in ran.err
    assert [path for path in out.rglob("*") if path.is_file() and path.parent != out] == []
    assert ask("run", *paths, "-o", str(out), "--resume").code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir(mode=0o500)
    assert "out" in refusal("run", *files(tmp_path / "in", 1), "-o", str(out))


def start(paths: list[str], out: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gbviz", "run", *paths, "-o", str(out), "--workers", "2"]
    pipe = subprocess.PIPE
    return subprocess.Popen([*command, *more], stdout=pipe, stderr=pipe, text=True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full")
@pytest.mark.parametrize(
    ("streams", "code"),
    [
        ("| head -c 1", 2),  # the reader leaves
        ("2>&-", 2),
        ("2> /dev/full", 2),
        ("> /dev/null 2>&- <&-", 2),
        (">&- 2>&-", 2),
        ("> /dev/full", 3),
    ],
)
def test_a_batch_does_its_work_whatever_becomes_of_its_words(
    tmp_path: Path, streams: str, code: int
) -> None:
    paths, out = files(tmp_path / "in", 3), tmp_path / "out"
    (tmp_path / "in/bad.yaml").write_text("gbviz: 2\n")
    words = [*paths, str(tmp_path / "in/bad.yaml"), "-o", str(out), "--json", "--workers", "2"]
    ran = shell(f"{GBVIZ} run {' '.join(words)} {streams}; exit ${{PIPESTATUS[0]}}")
    assert ran.returncode == code
    assert "Traceback" not in ran.stderr
    if ran.stdout and "head" not in streams:
        found = json.loads(ran.stdout)
        assert (len(found["runs"]), len(found["errors"])) == (3, 1)
    assert all((out / f"file-{number}/made.json").exists() for number in range(3))
    assert "not run yet" not in (out / "index.html").read_text()


def test_folders_that_are_removed_meanwhile_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths, out = files(tmp_path / "in", 3), tmp_path / "out"
    tell = Batch._tell_rest

    def remove(batch: Batch) -> None:
        shutil.rmtree(out / "file-1")
        tell(batch)

    monkeypatch.setattr(Batch, "_tell_rest", remove)
    ran = ask("run", *paths, "-o", str(out), "--workers", "1")
    assert ran.code == 3
    assert f"gbviz: {out / 'file-1'}: was removed while others were run" in ran.err
    assert ran.err.splitlines()[-1] == f"{out / 'index.html'}: 2 reports"
    assert "was removed" in (out / "index.html").read_text()


def test_links_among_the_results_are_replaced_not_followed(tmp_path: Path) -> None:
    """Whoever owns what they lead to did not ask for it to be overwritten."""
    paths, out = files(tmp_path / "in", 1), tmp_path / "out"
    assert ask("run", *paths, "-o", str(out)).code == 0
    mine = tmp_path / "mine"
    mine.write_text("mine")
    links = [out / "index.html", out / "junit.xml", out / "file-0/jobs.csv"]
    for link in links:
        link.unlink()
        link.symlink_to(mine)
    assert ask("run", *paths, "-o", str(out), "--resume").code == 0
    assert mine.read_text() == "mine"
    assert all(link.is_file() and not link.is_symlink() for link in links)


def test_an_output_that_is_no_folder(tmp_path: Path) -> None:
    paths = files(tmp_path / "in", 1)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "nowhere").symlink_to(tmp_path / "nothing")
    for name in ("loop", "nowhere"):
        message = refusal("run", *paths, "-o", str(tmp_path / name))
        assert f"{tmp_path / name}: cannot be made: it is there already and no folder" in message
    for words in (["run", *paths], ["whatif"], ["picture"], ["compare", paths[0], paths[0]]):
        assert "'-o' / '--output': is empty" in refusal(*words, "-o", "")


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_is_done(tmp_path: Path, sign: signal.Signals) -> None:
    paths, out = files(tmp_path / "in", 12), tmp_path / "out"
    with start(paths, out) as one:
        until = time.monotonic() + 60
        while not (out / "file-0/made.json").exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        one.send_signal(sign)
        _, err = one.communicate(timeout=60)
    assert one.returncode == 130
    assert "interrupted; not run: " in err
    assert "and " in err.partition("not run")[2]
    assert "Traceback" not in err
    index = (out / "index.html").read_text()
    assert "not run yet" in index
    assert 'href="file-0/report.html"' in index
    assert not list(out.rglob("*.tmp"))


def kill_and_resume(paths: list[str], out: Path, after_s: float) -> None:
    """A batch that is killed after a time, then resumed to its end."""
    with start(paths, out) as one:
        time.sleep(after_s)
        one.kill()
        one.communicate(timeout=60)
    with start(paths, out, "--resume") as one:
        _, err = one.communicate(timeout=120)
    assert one.returncode == 0, err


def moments(folder: Path, count: int, seed: int) -> None:
    """Kill a batch at random moments; resumed, each folder is that of an undisturbed one."""
    paths = files(folder / "in", 4)
    begin = time.monotonic()
    with start(paths, folder / "whole") as one:
        one.communicate(timeout=120)
    takes = time.monotonic() - begin
    whole, rng = tree(folder / "whole"), random.Random(seed)
    for number in range(count):
        out = folder / f"out-{number}"
        kill_and_resume(paths, out, rng.uniform(0.2, takes))
        assert tree(out) == whole


def test_a_killed_batch_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    moments(tmp_path, _KILLS, seed=1)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        moments(Path(place), int(sys.argv[1]), seed=2)
        sys.stdout.write(f"{sys.argv[1]} kills: every folder is that of an undisturbed batch\n")
