"""Files that nobody writes in good faith, or that somebody's tool has damaged.

`CASES` maps a file's name to what it holds and a piece of what is said of it. Those that are large
are made here rather than stored.
"""

from __future__ import annotations

import json
import struct

HEAD = b"gbviz: 1\ncluster: {preset: gb300-su}\n"
JOB = "{name: a, kind: training, model: llama3-8b, parallelism: {dp: 576}, batch: {global: 576}}"


def _events(text: str) -> bytes:
    return HEAD + f"events: [{text}]\n".encode()


def _jobs(text: str) -> bytes:
    return HEAD + f"jobs: [{text}]\n".encode()


def _laughs(levels: int = 9) -> bytes:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines).encode()


def _nested(depth: int) -> bytes:
    return "\n".join(" " * level + "a:" for level in range(depth)).encode()


def _json(**fields: object) -> bytes:
    return json.dumps({"gbviz": 1, "cluster": {"preset": "gb300-su"}, **fields}).encode()


BOMBS: dict[str, tuple[bytes, str]] = {
    "billion-laughs.yaml": (_laughs(), "anchors (&) are not allowed"),
    "quadratic.yaml": (
        b"a: &a '" + b"x" * 100_000 + b"'\nb: [" + b"*a," * 10_000 + b"]",
        "anchors (&) are not allowed",
    ),
    "self-alias.yaml": (b"&a [*a]", "aliases (*) are not allowed"),
    "merge-bomb.yaml": (b"a: &a {x: 1}\nb: {<<: [*a, *a]}", "merge keys (<<) are not allowed"),
    "brackets.yaml": (b"[" * 200_000, "nest"),
    "braces.yaml": (b"{a: " * 200_000, "nest"),
    "dashes.yaml": (b"- " * 200_000, "is nested more than 32 deep"),
    "maps.yaml": (_nested(3000), "is nested more than 32 deep"),
    "brackets.json": (b"[" * 200_000, "is nested more than 32 deep"),
    "closed-brackets.json": (b"[" * 100_000 + b"]" * 100_000, "is nested more than 32 deep"),
    "braces.json": (b'{"a":' * 100_000, "is nested more than 32 deep"),
    "questions.yaml": (b"? " * 10_000, "keys are text"),
    "values.json": (b"[" + b"1," * 510_000 + b"1]", "holds more than 500,000 values"),
    "lists.json": (b"[" + b"[]," * 510_000 + b"1]", "holds more than 500,000 values"),
    "one-text.yaml": (b"a: " + b"x" * 10_000_000, "gbviz: is missing"),
    "one-key.yaml": (b"x" * 1_000_000 + b": 1", "cannot be read as YAML"),
    "quotes.yaml": (b'"' + b'\\"' * 3_000_000, "cannot be read as YAML"),
    "quotes.json": (b'"' + b'\\"' * 3_000_000, "cannot be read as JSON"),
    "open-quotes.json": (b"[" + b'"\\",' * 2_000_000, "cannot be read as JSON"),
    "comments.yaml": (b"#\n" * 5_000_000, "the file is empty"),
    "blank.yaml": (b"\n" * 5_000_000, "the file is empty"),
    "many-documents.yaml": (b"---\na: 1\n" * 100_000, "a second document is not allowed"),
    "many-refusals.yaml": (b"- no\n" * 100_000, "and 80 more faults"),
    "many-duplicates.json": (b"{" + b'"a":1,' * 100_000 + b'"a":1}', "duplicate key 'a'"),
    "unknown-keys.yaml": (
        HEAD + b"".join(f"key{number}: 1\n".encode() for number in range(9_000)),
        "more faults",
    ),
    "wrong-events.yaml": (_events(", ".join(["{at: x, fial: y}"] * 20_000)), "more faults"),
    "wrong-jobs.yaml": (_jobs(", ".join(["{name: a, kind: training, model: 5}"] * 9_000)), "more"),
    "long-union.yaml": (_jobs("{name: a, kind: traffic, gpus: [" + "1, " * 50_000 + "]}"), "must be text"),
    "huge-int.yaml": (HEAD + b"seed: " + b"9" * 1_000_000, "an integer of more than 30 digits"),
    "huge-int.json": (b'{"gbviz": ' + b"9" * 1_000_000 + b"}", "an integer of more than 30 digits"),
    "huge-hex.yaml": (HEAD + b"seed: 0x" + b"f" * 1_000_000, "an integer of more than 30 digits"),
    "huge-float.yaml": (HEAD + b"seed: 1." + b"9" * 1_000_000, "a number of more than 100 digits"),
    "huge-exponent.yaml": (HEAD + b"duration: 1e" + b"9" * 50, "is too large"),
}

ENCODINGS: dict[str, tuple[bytes, str]] = {
    "bad-utf8.yaml": (HEAD + b"name: \xff\xfe", "byte 0xff is not UTF-8"),
    "overlong.yaml": (HEAD + b"name: \xc0\xaf", "byte 0xc0 is not UTF-8"),
    "encoded-surrogate.yaml": (HEAD + b"name: \xed\xa0\xbd", "byte 0xed is not UTF-8"),
    "cut-off.yaml": (HEAD + b"name: \xf0\x9f\x98", "byte 0xf0 is not UTF-8"),
    "utf16.yaml": (HEAD.decode().encode("utf-16"), "is not UTF-8"),
    "utf32.json": ("{}".encode("utf-32"), "is not UTF-8"),
    "nul.yaml": (HEAD + b"name: a\x00b", "the character U+0000 is not allowed"),
    "nul.json": (b'{"gbviz": 1, "name": "a\x00b"}', "cannot be read as JSON"),
    "escaped-nul.yaml": (HEAD + b'name: "a\\0b"', "name: holds control characters"),
    "escaped-nul.json": (_json(name="a\0b"), "name: holds control characters"),
    "escape.yaml": (HEAD + b"name: \x1b[2J", "the character U+001B is not allowed"),
    "zeros.yaml": (b"\0" * 100_000, "the character U+0000 is not allowed"),
    "machine-code.yaml": (b"\x7fELF" + struct.pack("<8Q", *range(8)), "is not allowed"),
    "picture.json": (b"\x89PNG\r\n\x1a\n", "is not UTF-8"),
    "pickle.yaml": (b"\x80\x04\x95\x00.", "is not UTF-8"),
    "surrogate.yaml": (HEAD + b'name: "\\ud83d"', "case"),
    "surrogate.json": (b'{"gbviz": 1, "name": "\\ud83d"}', "half of a surrogate pair"),
    "surrogate-key.json": (b'{"gbviz": 1, "\\udc00": 1}', "half of a surrogate pair"),
    "far-character.yaml": (HEAD + b'name: "\\U00110000"', "cannot be read as YAML"),
    "inner-bom.yaml": (HEAD + b"\xef\xbb\xbfseed: 1", "the character U+FEFF is not allowed"),
    "tabs.yaml": (b"gbviz: 1\ncluster:\n\tpreset: gb300-su", "indent with spaces, not tabs"),
    "override.yaml": (HEAD + "\u202eedes: 7".encode(), "\\u202eedes: is not known"),
}

SYNTAX: dict[str, tuple[bytes, str]] = {
    "python-object.yaml": (b"!!python/object/apply:os.system ['true']", "tags (!) are not allowed"),
    "tag.yaml": (HEAD + b"seed: !!int 7", "tags (!) are not allowed"),
    "include-tag.yaml": (HEAD + b"jobs: !include /etc/passwd", "tags (!) are not allowed"),
    "local-tag.yaml": (HEAD + b"seed: !", "tags (!) are not allowed"),
    "tag-directive.yaml": (b"%TAG ! tag:x,2000:\n---\ngbviz: 1", "directives (%) are not allowed"),
    "version-directive.yaml": (b"%YAML 1.1\n---\ngbviz: 1", "directives (%) are not allowed"),
    "future-directive.yaml": (b"%YAML 9.9\n---\ngbviz: 1", "cannot be read as YAML"),
    "duplicate.yaml": (HEAD + b"seed: 1\nseed: 2", "duplicate key 'seed'"),
    "duplicate.json": (b'{"gbviz": 1, "gbviz": 1}', "duplicate key 'gbviz'"),
    "duplicate-inside.yaml": (_events("{at: 1, at: 2, fail: a}"), "duplicate key 'at'"),
    "number-key.yaml": (HEAD + b"1: a", "keys are text"),
    "null-key.yaml": (HEAD + b"~: a", "keys are text"),
    "list-key.yaml": (HEAD + b"? [a, b]\n: c", "keys are text"),
    "norway.yaml": (HEAD + b"name: no", "an unquoted no"),
    "on-key.yaml": (HEAD + b"on: 1", "an unquoted on"),
    "nan.yaml": (HEAD + b"seed: .nan", "is not a finite number"),
    "inf.yaml": (HEAD + b"duration: -.inf", "is not a finite number"),
    "nan.json": (b'{"gbviz": NaN}', "is not a finite number"),
    "inf.json": (b'{"gbviz": -Infinity}', "is not a finite number"),
    "1e400.yaml": (HEAD + b"duration: 1e400", "is too large"),
    "1e400.json": (b'{"gbviz": 1e400}', "is too large"),
    "1e308-days.yaml": (HEAD + b"duration: 1e308d", "must be finite"),
    "unclosed.yaml": (HEAD + b"jobs: [", "cannot be read as YAML"),
    "unclosed-quote.yaml": (HEAD + b"name: 'x", "cannot be read as YAML"),
    "two-roots.json": (b"{} {}", "cannot be read as JSON"),
    "trailing-comma.json": (b'{"gbviz": 1,}', "cannot be read as JSON"),
    "comment.json": (b'{"gbviz": 1} // x', "cannot be read as JSON"),
    "yaml-as.json": (HEAD, "cannot be read as JSON"),
    "xml-as.yaml": (b"<?xml version='1.0'?>\n<!DOCTYPE a>\n<a b='c'/>", "case"),
    "empty.yaml": (b"", "the file is empty"),
    "empty.json": (b"", "the file is empty"),
    "only-start.yaml": (b"---\n", "does not hold fields"),
    "scalar.yaml": (b"gbviz", "does not hold fields"),
    "list.yaml": (b"- gbviz: 1", "does not hold fields"),
    "null.json": (b"null", "does not hold fields"),
    "number.json": (b"7", "does not hold fields"),
}

MEANING: dict[str, tuple[bytes, str]] = {
    "no-version.yaml": (b"cluster: {racks: 8}", "gbviz: is missing"),
    "future.yaml": (b"gbviz: 999999999999", "was made by a newer gbviz"),
    "version-list.yaml": (b"gbviz: [1]", "must be the format version"),
    "no-cluster.yaml": (b"gbviz: 1", "cluster: is missing"),
    "million-racks.yaml": (b"gbviz: 1\ncluster: {racks: 1000000}", "must be at most 100000"),
    "many-racks.yaml": (b"gbviz: 1\ncluster: {racks: 100000}", "are more than 1,000,000"),
    "no-racks.yaml": (b"gbviz: 1\ncluster: {racks: 0}", "must be at least 1"),
    "negative-racks.yaml": (b"gbviz: 1\ncluster: {racks: -1}", "must be at least 1"),
    "odd-trays.yaml": (b"gbviz: 1\ncluster: {racks: 1, trays_per_rack: 10000000}", "cluster."),
    "no-radix.yaml": (b"gbviz: 1\ncluster: {racks: 1, radix: -5}", "cluster.radix"),
    "no-capacity.yaml": (b"gbviz: 1\ncluster: {racks: 1, port_GBps: 0}", "must be above 0"),
    "bool-racks.yaml": (b"gbviz: 1\ncluster: {racks: true}", "must be a whole number"),
    "text-cluster.yaml": (b"gbviz: 1\ncluster: azure-gb300", "cluster: must hold fields"),
    "events-map.yaml": (HEAD + b"events: {a: 1}", "events: must be a list"),
    "events-null.yaml": (HEAD + b"events:", "events: must be a list"),
    "jobs-text.yaml": (HEAD + b"jobs: all", "jobs: must be a list"),
    "event-list.yaml": (_events("[1, 2]"), "events[0]: must hold fields"),
    "event-time.yaml": (_events("{at: [], fail: hxu-0}"), "events[0].at"),
    "event-nan.yaml": (_events('{at: "nan", fail: hxu-0}'), "events[0].at: must be a number"),
    "event-past.yaml": (_events("{at: -0.001, fail: hxu-0}"), "events[0].at: must be at least 0"),
    "event-late.yaml": (_events("{at: 1e11, fail: hxu-0}"), "must be at most 10000000000"),
    "event-selector.yaml": (_events("{at: 0, fail: {a: b}}"), "events[0].fail: must be text"),
    "long-selector.yaml": (_events(f'{{at: 0, fail: "{"*" * 10_000}"}}'), "500 characters"),
    "stars.yaml": (_events('{at: 0, fail: "' + "*a" * 200 + '"}'), "events[0].fail"),
    "regex.yaml": (_events('{at: 0, fail: "(a+)+$"}'), "events[0].fail"),
    "path-selector.yaml": (_events('{at: 0, fail: "../../etc/passwd"}'), "events[0].fail"),
    "wide-range.yaml": (_events('{at: 0, fail: "rack-[0-999999999999]"}'), "events[0].fail"),
    "back-range.yaml": (_events('{at: 0, fail: "rack-[3-0]"}'), "runs backwards"),
    "html.yaml": (_events('{at: 0, fail: "<script>alert(1)</script>"}'), "events[0].fail"),
    "factor.yaml": (_events("{at: 0, degrade: hxu-0, to: -0.5}"), "must be at least 0"),
    "job-number.yaml": (_jobs("7"), "jobs[0]: must hold fields"),
    "job-kind.yaml": (_jobs("{name: a, kind: [training]}"), "there is no kind of job"),
    "job-name.yaml": (
        _jobs(f"{{name: {'x' * 10_000}, kind: traffic}}"),
        "more than 200 characters",
    ),
    "job-count.yaml": (_jobs("{name: a, kind: traffic, vms: 1e3}"), "must be a whole number"),
    "job-gpus.yaml": (_jobs("{name: a, kind: traffic, gpus: []}"), "names no GPU"),
    "job-spares.yaml": (_jobs("{name: a, kind: traffic, spares: 99999999}"), "leave none of its"),
    "job-model.yaml": (_jobs(JOB.replace("llama3-8b", '"../llama"')), "there is no model"),
    "job-product.yaml": (_jobs(JOB.replace("dp: 576", "dp: 10000000, tp: 10000000")), "ranks, but"),
    "job-batch.yaml": (_jobs(JOB.replace("global: 576", "global: 577")), "are not divisible by"),
    "job-size.yaml": (
        _jobs("{name: a, kind: collective, op: all_reduce, size: 1e300PB}"),
        "must be finite",
    ),
    "same-jobs.yaml": (
        _jobs(", ".join(["{name: a, kind: traffic}"] * 500)),
        "is the name of jobs[0] too",
    ),
    "same-gpus.yaml": (
        _jobs(", ".join(f"{{name: a{n}, kind: traffic}}" for n in range(150))),
        "already runs a0",
    ),
    "expect-code.yaml": (
        HEAD + b'expect: [{fabric: live_gpus, value: "__import__(1)"}]',
        "must be an operator and a number",
    ),
    "expect-inf.yaml": (
        HEAD + b'expect: [{fabric: live_gpus, value: "<= 1e999"}]',
        "must be an op",
    ),
    "expect-list.yaml": (HEAD + b"expect: [[1]]", "expect[0]: must hold fields"),
    "extends-url.yaml": (b"gbviz: 1\nextends: http://example.org/a.yaml", "is not relative"),
    "extends-home.yaml": (b"gbviz: 1\nextends: ~/a.yaml", "extends"),
    "extends-variable.yaml": (b"gbviz: 1\nextends: $HOME/a.yaml", "extends"),
    "extends-up.yaml": (b"gbviz: 1\nextends: ../../../../etc/passwd.yaml", "is outside the folder"),
    "extends-itself.yaml": (b"gbviz: 1\nextends: extends-itself.yaml", "a circle"),
}

CASES = BOMBS | ENCODINGS | SYNTAX | MEANING
