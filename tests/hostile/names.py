"""Names that are no harm to anybody, and names that no file may have."""

from __future__ import annotations

from tests.hostile.making import HEAD, Cases, as_json, jobs


def _named(name: str) -> bytes:
    return as_json(name=name)


def _job_named(name: str) -> bytes:
    return as_json(jobs=[{"name": name, "kind": "traffic", "vms": 1}])


REFUSED_NAMES: Cases = {
    "name-nul.json": (_named("a\0b"), "name: holds control characters"),
    "name-newline.json": (_named("a\nb"), "name: holds control characters"),
    "name-return.json": (_named("a\rb"), "name: holds control characters"),
    "name-tab.json": (_named("a\tb"), "name: holds control characters"),
    "name-escape.json": (_named("\x1b[31mred\x1b[0m"), "name: holds control characters"),
    "name-title.json": (_named("\x1b]0;owned\x07"), "name: holds control characters"),
    "name-c1.json": (_named("\x9b2J"), "name: holds control characters"),
    "name-delete.json": (_named("a\x7f"), "name: holds control characters"),
    "name-next-line.yaml": (HEAD + b'name: "a\\Nb"', "name: holds control characters"),
    "name-empty.json": (_named(""), "name: must not be empty"),
    "name-201.json": (_named("x" * 201), "more than 200 characters"),
    "name-10-kB.json": (_named("\u0301" * 10_000), "more than 200 characters"),
    "name-number.yaml": (HEAD + b"name: 2024", 'quote it: "2024"'),
    "name-list.yaml": (HEAD + b"name: [a]", "name: must be text"),
    "name-true.yaml": (HEAD + b"name: true", "name: must be text"),
    "job-name-nul.json": (_job_named("a\0"), "jobs[0].name: holds control characters"),
    "job-name-escape.json": (_job_named("\x1b[2J"), "jobs[0].name: holds control characters"),
    "job-name-newline.json": (_job_named("a\nb: c"), "jobs[0].name: holds control characters"),
    "job-name-empty.yaml": (jobs("{name: '', kind: traffic}"), "jobs[0].name: must not be empty"),
    "description-escape.json": (as_json(description="a\x1b[2Jb"), "holds control characters"),
    "description-nul.json": (as_json(description="a\0b"), "holds control characters"),
    "description-c1.json": (as_json(description="\x85"), "holds control characters"),
}

# Each stands in every output as itself, or spelt out, and does nothing there.
NAMES = {
    "emoji": "\U0001f525 job \U0001f680",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "flag": "\U0001f1e9\U0001f1ea",
    "right-to-left": "\u05e9\u05dc\u05d5\u05dd \u0639\u0644\u064a\u0643\u0645",
    "override": "abc\u202ecba",
    "isolate": "\u2066a\u2069\u2067b",
    "combining": "Z\u0337\u0353a\u0334\u0355l\u0338\u0359g\u0336\u0308\u0301o",
    "wide": "\uff46\uff55\uff4c\uff4c\u3000\uff57\uff49\uff44\uff54\uff48",
    "zero-width": "a\u200bb\u2060c",
    "byte-order-mark": "a\ufeffb",
    "soft-hyphen": "a\xadb",
    "line-separator": "a\u2028b\u2029c",
    "tag-characters": "a\U000e0041\U000e0042",
    "private": "\ue000\U000f0000",
    "no-character": "a\uffffb\ufffe",
    "script": "<script>alert(1)</script>",
    "image": '"><img src=x onerror=alert(1)>',
    "entity": "&amp;&lt;&#x202e;",
    "cdata": "]]><!-- -->",
    "doctype": "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]>",
    "formula": "=cmd|' /C calc'!A0",
    "plus": "+1+1",
    "minus": "-1",
    "at": "@SUM(A1)",
    "link": "[link=https://example.org]click[/link]",
    "markup": "[bold red]a[/bold red][/]",
    "markdown": "`a` | **b** | [c](d) ![](e)",
    "template": "{{7*7}} ${7*7} %(a)s %s %n {0}",
    "shell": "$(reboot) `reboot`; reboot & | > a",
    "sql": "'; DROP TABLE jobs; --",
    "quotes": '"a\' \\" \\',
    "comma": 'a,b;c\t"d"'.replace("\t", " "),
    "up": "../../../etc/passwd",
    "absolute": "/etc/passwd",
    "windows": "C:\\CON\\nul.txt:stream",
    "dots": "..",
    "space": " ",
    "spaces-around": "  a  ",
    "hash": "# no comment",
    "dash": "- a: b",
    "norway": "no",
    "null": "null",
    "tilde": "~",
    "number": "1e5",
    "value": "value",
    "200": "x" * 200,
}
