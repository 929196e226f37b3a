"""Pieces that hostile files are made of."""

from __future__ import annotations

import json

HEAD = b"gbviz: 1\ncluster: {preset: gb300-su}\n"
AZURE = b"gbviz: 1\ncluster: {preset: azure-gb300}\n"
LARGEST = b"gbviz: 1\ncluster: {preset: gb300-100k}\n"
JOB = "{name: a, kind: training, model: llama3-8b, parallelism: {dp: 576}, batch: {global: 576}}"
CHAT = (
    "{name: a, kind: inference, model: llama3-8b, prefill: {gpus: 288}, decode: {gpus: 288},"
    " racks: 'rack-[0-7]'}"
)
RING = "{name: a, kind: collective, op: all_reduce, size: 1GB}"

# What a file holds, and a piece of what is said of it.
Cases = dict[str, tuple[bytes, str]]


def events(text: str, head: bytes = HEAD) -> bytes:
    return head + f"events: [{text}]\n".encode()


def jobs(text: str, head: bytes = HEAD) -> bytes:
    return head + f"jobs: [{text}]\n".encode()


def traffic(text: str, head: bytes = HEAD) -> bytes:
    """A traffic job with some fields more."""
    return jobs("{name: a, kind: traffic, " + text + "}", head)


def cluster(text: str) -> bytes:
    return f"gbviz: 1\ncluster: {{racks: 8, {text}}}\n".encode()


def expect(text: str) -> bytes:
    return jobs(RING) + f"expect: [{text}]\n".encode()


def as_json(**fields: object) -> bytes:
    return json.dumps({"gbviz": 1, "cluster": {"preset": "gb300-su"}, **fields}).encode()


def raw_json(text: str) -> bytes:
    """A JSON file with more fields, to the letter."""
    return f'{{"gbviz": 1, "cluster": {{"preset": "gb300-su"}}, {text}}}'.encode()
