"""Files that would take for ever, or all memory, if they were read as they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.hostile.making import (
    AZURE,
    HEAD,
    LARGEST,
    as_json,
    events,
    jobs,
    raw_json,
    traffic,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def _laughs(levels: int = 9) -> bytes:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines).encode()


def _nested(depth: int) -> bytes:
    return "\n".join(" " * level + "a:" for level in range(depth)).encode()


def _one_gpu_each(count: int) -> str:
    """Jobs of one GPU each."""
    places = (f"rack-{n // 72}/tray-{n % 72 // 4}/gpu-{n % 4}" for n in range(count))
    return ", ".join(f"{{name: j{n}, kind: traffic, gpus: {p}}}" for n, p in enumerate(places))


def _keys(count: int) -> str:
    return ", ".join(f'"k{number}": 1' for number in range(count))


# Made when they are needed: together they are half a gigabyte.
BOMBS: dict[str, tuple[Callable[[], bytes], str]] = {
    "billion-laughs.yaml": (lambda: _laughs(), "anchors (&) are not allowed"),
    "quadratic.yaml": (
        lambda: b"a: &a '" + b"x" * 100_000 + b"'\nb: [" + b"*a," * 10_000 + b"]",
        "anchors (&) are not allowed",
    ),
    "self-alias.yaml": (lambda: b"&a [*a]", "aliases (*) are not allowed"),
    "merge-bomb.yaml": (
        lambda: b"a: &a {x: 1}\nb: {<<: [*a, *a]}",
        "merge keys (<<) are not allowed",
    ),
    "brackets.yaml": (lambda: b"[" * 200_000, "nest"),
    "braces.yaml": (lambda: b"{a: " * 200_000, "nest"),
    "dashes.yaml": (lambda: b"- " * 200_000, "is nested more than 32 deep"),
    "maps.yaml": (lambda: _nested(3000), "is nested more than 32 deep"),
    "brackets.json": (lambda: b"[" * 200_000, "is nested more than 32 deep"),
    "closed-brackets.json": (
        lambda: b"[" * 100_000 + b"]" * 100_000,
        "is nested more than 32 deep",
    ),
    "braces.json": (lambda: b'{"a":' * 100_000, "is nested more than 32 deep"),
    "questions.yaml": (lambda: b"? " * 10_000, "keys are text"),
    "values.json": (lambda: b"[" + b"1," * 510_000 + b"1]", "holds more than 500,000 values"),
    "lists.json": (lambda: b"[" + b"[]," * 510_000 + b"1]", "holds more than 500,000 values"),
    "one-text.yaml": (lambda: b"a: " + b"x" * 10_000_000, "gbviz: is missing"),
    "one-key.yaml": (lambda: b"x" * 1_000_000 + b": 1", "cannot be read as YAML"),
    "quotes.yaml": (lambda: b'"' + b'\\"' * 3_000_000, "cannot be read as YAML"),
    "quotes.json": (lambda: b'"' + b'\\"' * 3_000_000, "cannot be read as JSON"),
    "open-quotes.json": (lambda: b"[" + b'"\\",' * 2_000_000, "cannot be read as JSON"),
    "comments.yaml": (lambda: b"#\n" * 5_000_000, "the file is empty"),
    "blank.yaml": (lambda: b"\n" * 5_000_000, "the file is empty"),
    "many-documents.yaml": (lambda: b"---\na: 1\n" * 100_000, "a second document is not allowed"),
    "many-refusals.yaml": (lambda: b"- no\n" * 100_000, "and 80 more faults"),
    "many-duplicates.json": (lambda: b"{" + b'"a":1,' * 100_000 + b'"a":1}', "duplicate key 'a'"),
    "unknown-keys.yaml": (
        lambda: HEAD + b"".join(f"key{number}: 1\n".encode() for number in range(9_000)),
        "more faults",
    ),
    "wrong-events.yaml": (lambda: events(", ".join(["{at: x, fial: y}"] * 20_000)), "more faults"),
    "wrong-jobs.yaml": (
        lambda: jobs(", ".join(["{name: a, kind: training, model: 5}"] * 9_000)),
        "more",
    ),
    "long-union.yaml": (
        lambda: jobs("{name: a, kind: traffic, gpus: [" + "1, " * 50_000 + "]}"),
        "must be text",
    ),
    "huge-int.yaml": (
        lambda: HEAD + b"seed: " + b"9" * 1_000_000,
        "an integer of more than 30 digits",
    ),
    "huge-int.json": (
        lambda: b'{"gbviz": ' + b"9" * 1_000_000 + b"}",
        "an integer of more than 30 digits",
    ),
    "huge-hex.yaml": (
        lambda: HEAD + b"seed: 0x" + b"f" * 1_000_000,
        "an integer of more than 30 digits",
    ),
    "huge-float.yaml": (
        lambda: HEAD + b"seed: 1." + b"9" * 1_000_000,
        "a number of more than 100 digits",
    ),
    "huge-exponent.yaml": (lambda: HEAD + b"duration: 1e" + b"9" * 50, "is too large"),
    "megabytes.yaml": (
        lambda: HEAD + b"description: " + b"x" * 33_000_000,
        "more than 100,000 characters",
    ),
    "megabytes.json": (
        lambda: as_json(description="x" * 33_000_000),
        "more than 100,000 characters",
    ),
    "line-of-comment.yaml": (lambda: b"# " + b"x" * 33_000_000, "the file is empty"),
    "spaces.yaml": (lambda: b" " * 20_000_000 + b"a: 1", "gbviz: is missing"),
    "spaces.json": (lambda: b" " * 33_000_000, "the file is empty"),
    "lines.json": (lambda: b"\n" * 30_000_000 + b'{"a": 1, "a": 2}', "30000001:10: duplicate key"),
    "spaces-behind.json": (
        lambda: b'{"a": 1, "a": 2' + b" " * 30_000_000 + b"#",
        "cannot be read as JSON",
    ),
    "refused-then-spaces.json": (
        lambda: b'[{"a": 1, "a": 2}, ' + b" " * 30_000_000 + b"#",
        "duplicate key 'a'",
    ),
    "long-list.yaml": (lambda: b"- 1\n" * 260_000, "holds more than 250,000 values"),
    "flow-list.yaml": (lambda: HEAD + b"x: [" + b"1, " * 240_000 + b"1]", "x: is not known"),
    "flow-keys.yaml": (lambda: HEAD + b"x: {" + b"a: 1, " * 90_000 + b"}", "more faults"),
    "wide.yaml": (
        lambda: HEAD + b"x: {" + b"".join(b"k%d: 1, " % n for n in range(11_000)) + b"}",
        "is one of more than 10,000 keys",
    ),
    "wide.json": (
        lambda: raw_json('"x": {' + _keys(11_000) + "}"),
        "is one of more than 10,000 keys",
    ),
    "wide-last.json": (
        lambda: raw_json('"x": [' + "1, " * 470_000 + '1], "y": {' + _keys(11_000) + "}"),
        "is one of more than 10,000 keys",
    ),
    "wide-events.json": (
        lambda: raw_json('"events": [' + ", ".join(["{" + _keys(9_990) + "}"] * 49) + "]"),
        "more faults",
    ),
    "many-keys-of-many-events.json": (
        lambda: raw_json('"events": [' + ", ".join(["{" + _keys(60) + "}"] * 8_000) + "]"),
        "more faults",
    ),
    "far-unknown.json": (
        lambda: raw_json('"x": [' + "1, " * 480_000 + '1], "y": 1'),
        "y: is not known",
    ),
    "far-duplicate.json": (
        lambda: raw_json('"x": [' + '"a", ' * 480_000 + '1], "y": 1, "y": 2'),
        "duplicate key 'y'",
    ),
    "far-number.json": (
        lambda: raw_json('"x": [' + "1, " * 480_000 + "1e400]"),
        "1e400 is too large",
    ),
    "refused-then-open.json": (lambda: b'[1e400, "' + b'\\"' * 3_000_000, "1e400 is too large"),
    "many-surrogates.json": (lambda: b"[" + b'"\\ud800", ' * 400_000 + b"1]", "and 80 more faults"),
    "many-events.json": (
        lambda: raw_json('"events": [' + ", ".join(["{}"] * 100_001) + "]"),
        "has more than 100,000 entries",
    ),
    "many-jobs.json": (
        lambda: raw_json('"jobs": [' + ", ".join(["{}"] * 10_001) + "]"),
        "10,000 entries",
    ),
    "many-expected.json": (
        lambda: raw_json('"expect": [' + ", ".join(["{}"] * 10_001) + "]"),
        "has more than 10,000 entries",
    ),
    "empty-events.json": (
        lambda: raw_json('"events": [' + ", ".join(["{}"] * 99_000) + "]"),
        "more faults",
    ),
    "numbers-for-gpus.json": (
        lambda: raw_json(
            '"jobs": [{"name": "a", "kind": "traffic", "gpus": [' + "1, " * 480_000 + "1]}]"
        ),
        "jobs[0].gpus[0]: must be text",
    ),
    "all-racks-often.yaml": (
        lambda: traffic("gpus: [" + "'rack-*', " * 50_000 + "]", AZURE),
        "names rack-0/tray-0/gpu-0 more than once",
    ),
    "whole-clusters.yaml": (
        lambda: jobs(", ".join(f"{{name: j{n}, kind: traffic}}" for n in range(9_000)), AZURE),
        "already runs j0",
    ),
    "many-and-overlapping.yaml": (
        lambda: jobs(
            _one_gpu_each(4_608)
            + "".join(f", {{name: k{n}, kind: traffic, gpus: rack-0}}" for n in range(300)),
            AZURE,
        ),
        "more faults",
    ),
    "many-machines.yaml": (
        lambda: jobs(
            ", ".join(
                f"{{name: j{n}, kind: training, model: llama{n}, parallelism: {{}},"
                f" batch: {{global: 1}}, vms: 1}}"
                for n in range(9_000)
            )
        ),
        "more faults",
    ),
    "unknown-leaves.yaml": (
        lambda: events(", ".join(f"{{at: 0, fail: lef-{n}}}" for n in range(30_000))),
        "more faults",
    ),
    "unknown-figures.yaml": (
        lambda: (
            HEAD
            + b"expect: ["
            + b", ".join(b"{fabric: live_gpu%d, value: '<= 1'}" % n for n in range(9_000))
            + b"]"
        ),
        "more faults",
    ),
    "unknown-pairs.yaml": (
        lambda: traffic("pattern: pairs, pairs: [" + "'a>b', " * 90_000 + "]"),
        "more faults",
    ),
    "all-links.yaml": (
        lambda: events("{at: 0, fail: 'rack-*/tray-*/gpu-*~rack-*/nvswitch-*'}", LARGEST),
        "more than 120,000",
    ),
    "all-gpus-often.yaml": (
        lambda: events(
            ", ".join(f"{{at: 0, fail: 'rack-[0-{1439 - n}]/tray-*/gpu-*'}}" for n in range(40)),
            LARGEST,
        ),
        "events up to here name more than",
    ),
    "all-flows.yaml": (
        lambda: traffic("pattern: all-to-all", LARGEST),
        "a pattern has 1 to 3,000,000 flows",
    ),
    "many-pairs.yaml": (
        lambda: traffic("pattern: random-pairs, argument: 9999999"),
        "3,000,000 flows",
    ),
    "long-order.yaml": (
        lambda: traffic("order: '" + "tp-" * 1_000_000 + "'"),
        "more than 200 characters",
    ),
    "long-argument.yaml": (
        lambda: traffic("pattern: shift, argument: '" + "9x" * 40_000 + "'"),
        "takes a whole number",
    ),
    "long-loop.yaml": (
        lambda: HEAD + b"expect: [{cooling: " + b"x" * 1_000_000 + b", heat_kw: '< 1'}]",
        "there is no component",
    ),
    "long-figure.yaml": (
        lambda: HEAD + b"expect: [{fabric: " + b"x" * 1_000_000 + b", value: '< 1'}]",
        "the fabric has no figure",
    ),
    "long-limit.yaml": (
        lambda: HEAD + b"expect: [{fabric: live_gpus, value: '< " + b"1" * 1_000_000 + b"'}]",
        "must be an operator and a number",
    ),
    "long-preset.yaml": (
        lambda: b"gbviz: 1\ncluster: {preset: " + b"x" * 1_000_000 + b"}",
        "no preset",
    ),
    "long-kind.yaml": (lambda: jobs("{name: a, kind: " + "x" * 1_000_000 + "}"), "no kind of job"),
    "long-extends.yaml": (lambda: b"gbviz: 1\nextends: " + b"x/" * 500_000 + b"a.yaml", "extends"),
    "long-version.yaml": (
        lambda: b"gbviz: '" + b"1" * 1_000_000 + b"'",
        "must be the format version",
    ),
    "huge-layers.yaml": (
        lambda: jobs(
            "{name: a, kind: training, parallelism: {dp: 576}, batch: {global: 576}, model: {"
            "layers: 10000000, hidden: 10000000, heads: 1, ffn: 10000000, vocab: 10000000}}"
        ),
        "a GPU would hold",
    ),
}
