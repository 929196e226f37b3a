"""`python -m tests.validation`: published training and collective figures against gbviz.

One table has every row of the oracle files. Constants belong to a machine (`assets/machines.toml`),
or to a machine and its number format, where the first published row sets the efficiency; no row is
tuned by itself. The exit code is 1 where a row is outside its tolerance.
"""

from __future__ import annotations

import sys

from tests.validation_collectives import collective_lines
from tests.validation_lines import Line, table, worst
from tests.validation_training import (
    FIRST_ROWS,
    efficiency_of,
    line_of,
    ratio_error,
    rows,
    scaled_from,
    training_lines,
)

OVERLAPS = (0.0, 0.5, 0.8)


def report(lines: list[Line]) -> str:
    """The table, the constants that rows set, what overlap changes, and the worst errors."""
    efficiencies = ", ".join(
        f"{machine} {recipe} {efficiency_of(machine, recipe):.3f}" for machine, recipe in FIRST_ROWS
    )
    parts = [
        table(lines),
        "",
        f"Efficiency that first rows set: {efficiencies}",
        *_overlaps(),
        *_ratios(),
    ]
    for sample in ("in", "out"):
        line = worst(lines, sample)
        if line is not None and line.error is not None:
            parts.append(f"Worst {sample} of sample: {line.row} {100 * line.error:+.1f} %")
    beyond = [line for line in lines if line.row.startswith("bridge2602")]
    errors = sorted(line.error for line in beyond if line.error is not None)
    parts.append(f"Older release, not judged: {100 * errors[0]:+.0f} to {100 * errors[-1]:+.0f} %")
    outside = [line.row for line in lines if not line.passed]
    counts = f"{len(lines)} figures, {sum(line.judged for line in lines)} judged"
    parts.append(f"{counts}, outside: {', '.join(outside) or 'none'}")
    return "\n".join(parts)


def _overlaps() -> list[str]:
    """Errors out of sample if another share of communication were hidden: it was not tuned."""
    found = []
    for name, row in rows().items():
        if name.startswith(("bridge", "llama3")) and not {"unpredicted", "unpromised"} & row.keys():
            each = [line_of(row, overlap) for overlap in OVERLAPS]
            if each[0].sample == "out":
                errors = " / ".join(f"{100 * (line.error or 0):+.1f}" for line in each)
                found.append(f"{name} with overlap 0 / 0.5 / 0.8: {errors} %")
    return found


def _ratios() -> list[str]:
    return [
        f"{name} over {other}: ratio off by {100 * ratio_error(name, other):+.1f} %"
        for name, other in scaled_from().items()
    ]


def main() -> int:
    lines = [*training_lines(), *collective_lines()]
    sys.stdout.write(report(lines) + "\n")
    return 0 if all(line.passed for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
