"""Published training rows against the step model."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gbviz.jobs.collectives import transfer_s, two_tier
from gbviz.jobs.models import model_named
from gbviz.jobs.spec import Parallelism, Precision, Transformer
from gbviz.jobs.step import (
    StepInputs,
    StepTime,
    bubble_ratio,
    dp_window_s,
    elementwise_s,
    optimiser_s,
    step_time,
)
from gbviz.jobs.transformer import rank_parameters, training_flops
from gbviz.jobs.volumes import dp_collectives, volumes
from tests.oracle_cases import cases
from tests.validation_lines import Line, fact

if TYPE_CHECKING:
    from gbviz.jobs.transformer import Recompute

# The row whose published figure sets the efficiency of a machine and recipe.
FIRST_ROWS = {
    ("h100", "bf16"): "llama3_t4_8192_8192",
    ("h200", "fp8"): "mlperf51_nebius_h200_512",
    ("b200", "fp8"): "mlperf51_uf_b200_256",
    ("gb200", "nvfp4"): "mlperf51_tyche_gb200_512",
    ("gb200", "fp8"): "bridge2606_405B_GB200_FP8",
    ("gb200", "mxfp8"): "bridge2606_405B_GB200_MXFP8",
    ("gb300", "nvfp4"): "mlperf51_theia_gb300_512",
    ("gb300", "fp8"): "bridge2606_405B_GB300_FP8",
    ("gb300", "mxfp8"): "bridge2606_405B_GB300_MXFP8",
    # The H200 is the same chip with other memory.
    ("h100", "fp8"): "mlperf51_nebius_h200_512",
}
# t0 was fitted on these; the first of them sets the efficiency too.
T0_ROWS = ("mlperf51_tyche_gb200_512", "mlperf51_hsg_gb200_2560", "mlperf51_hsg_gb200_5120")
ARCHITECTURES = {
    "llama3-405b": "llama3-405b",
    "llama3.1-405b": "llama3-405b",
    "llama3-70b": "llama3-70b",
    "DeepSeek-V3": "deepseek-v3",
    "qwen3-235b-a22b": "qwen3-235b-a22b",
}
PRECISIONS: dict[str, Precision] = {
    "bf16": "bf16",
    "fp8": "fp8",
    "mxfp8": "fp8",
    "nvfp4": "fp4",
}
RECOMPUTES: dict[str, Recompute] = {"full": "full", "seq+sel": "selective"}
# What models of the same run on more GPUs promise, where the file is more generous.
SCALING = 0.03
METRICS = ("iter_time_s", "step_time_s", "tok_s_gpu", "tflops_per_gpu")


@dataclass(frozen=True)
class Run:
    """What a row says about its run."""

    machine: str
    recipe: str
    model: Transformer
    degrees: Parallelism
    total: int
    micro: int
    seq: int
    recompute: Recompute
    sequence_parallel: bool
    causal: bool
    zero: int

    @property
    def microbatches(self) -> int:
        return self.total // (self.degrees.dp * self.micro)

    @property
    def tokens(self) -> int:
        return self.total * self.seq

    def __str__(self) -> str:
        degrees = {name: size for name, size in self.degrees.model_dump().items() if size > 1}
        split = " ".join(f"{name}{size}" for name, size in degrees.items())
        rest = f"b{self.micro} gbs{self.total} s{self.seq}"
        return f"{self.machine} {self.recipe} {split} {rest} {self.recompute}"


def run_of(row: dict[str, Any]) -> Run:
    """Read the inputs of a row, which has one of four spellings."""
    said = row["inputs"]
    machine = said["gpu"].lower().removesuffix("-80g")
    old = machine == "a100"
    degrees = {name: said.get(name, 1) for name in ("tp", "cp", "pp", "ep")}
    # The source does not say how Llama 3 was interleaved: eight chunks as in MLPerf's recipes.
    vpp = said.get("vp", 8)
    gpus = said.get("gpus", 0)
    dp = said.get("dp") or gpus // (degrees["tp"] * degrees["cp"] * degrees["pp"])
    sequences = said["gbs"] if "gbs" in said else dp * said["batch_per_dp"]
    return Run(
        machine=machine,
        recipe=said.get("precision", "bf16").lower(),
        model=_model(said),
        degrees=Parallelism(**degrees, dp=dp, vpp=vpp),
        total=sequences,
        micro=said.get("mbs", 1),
        seq=said.get("seq", said.get("s")),
        recompute=RECOMPUTES.get(said.get("recompute", ""), "none"),
        sequence_parallel=said.get("recompute") != "full",
        causal=not old,
        zero=said.get("zero", int(fact(machine, "zero"))),
    )


def _model(said: dict[str, Any]) -> Transformer:
    if "arch" in said:
        return model_named(ARCHITECTURES[said["arch"]])
    return Transformer(
        layers=said["L"],
        hidden=said["h"],
        heads=said.get("heads", said.get("nh")),
        ffn=4 * said["h"],
        gated=False,
        vocab=said["V"],
        seq=said["s"],
        tied_embeddings=True,
    )


def predicted(run: Run, efficiency: float, overlap: float | None = None) -> StepTime:
    """Time of the step of a run; `overlap` None takes the machine's."""
    degrees, machine = run.degrees, run.machine
    tokens = run.micro * run.seq / degrees.cp
    layers = run.model.layers / degrees.pp
    hbm = fact(machine, "hbm_GBps") * fact("model", "hbm_efficiency")
    nic = fact(machine, "nic_GBps") * fact(machine, "nic_efficiency")
    per_token = training_flops(run.model, run.seq, recompute=run.recompute, causal=run.causal)
    flops = per_token * run.micro * run.seq / (degrees.tp * degrees.cp * degrees.pp)
    peak = fact(machine, f"{PRECISIONS[run.recipe]}_dense_pflops") * 1e15
    hbm_s = elementwise_s(
        tokens,
        run.model.hidden,
        layers,
        degrees.tp,
        hbm,
        recompute=run.recompute,
        sequence_parallel=run.sequence_parallel,
        accesses=fact("model", "hbm_accesses"),
    )
    sent = volumes(
        run.model,
        degrees,
        micro=run.micro,
        seq=run.seq,
        recompute=run.recompute,
        zero=run.zero,
        microbatches=run.microbatches,
        precision=PRECISIONS[run.recipe],
        sequence_parallel=run.sequence_parallel,
    )
    backward_s = (flops / (peak * efficiency) + hbm_s) * 2 / 3
    window_s = dp_window_s(backward_s, run.microbatches, degrees.pp, degrees.vpp)
    held = rank_parameters(run.model, degrees)
    shards = degrees.cp * degrees.dp
    mine = (
        held.total if run.zero == 0 else held.common / shards + held.experts * degrees.ep / shards
    )
    return step_time(
        StepInputs(
            flops=flops,
            peak_flops=peak,
            efficiency=efficiency,
            microbatches=run.microbatches,
            tokens=run.tokens,
            pp=degrees.pp,
            vpp=degrees.vpp,
            hbm_s=hbm_s,
            tp_s=transfer_s(sent.tp, _rate(machine, degrees.tp)),
            cp_s=transfer_s(sent.cp, _rate(machine, degrees.tp * degrees.cp)),
            ep_s=transfer_s(sent.ep, _rate(machine, degrees.tp * degrees.cp * degrees.ep)),
            pp_s=transfer_s(sent.pp, nic) * fact(machine, "pp_exposed"),
            overlap=fact(machine, "overlap") if overlap is None else overlap,
            dp_s=_dp_s(run, held.common, shards, degrees.tp)
            + _dp_s(run, held.experts, shards // degrees.ep, degrees.tp * degrees.ep),
            window_s=window_s * fact(machine, "dp_overlap"),
            optimiser_s=optimiser_s(mine, hbm),
            fixed_s=fact(machine, "t0_s"),
        )
    )


def _rate(machine: str, gpus: int) -> float:
    """GB/s among so many neighbours: NVLink where they fit one domain."""
    if gpus <= fact(machine, "domain_gpus"):
        return fact(machine, "ring_GBps")
    return fact(machine, "nic_GBps") * fact(machine, "nic_efficiency")


def _dp_s(run: Run, weights: float, ranks: int, apart: int) -> float:
    """Seconds of data parallelism over ranks that stand `apart` GPUs from each other."""
    room = int(fact(run.machine, "dp_domain_gpus")) // apart
    g = max(size for size in range(1, max(room, 1) + 1) if ranks % size == 0)
    nic = fact(run.machine, "nic_GBps") * fact(run.machine, "nic_efficiency")
    ring = fact(run.machine, "ring_GBps")
    return sum(
        two_tier(op, g, ranks // g, size, ring, nic).overlap_s
        for op, size in dp_collectives(weights, run.zero, microbatches=run.microbatches)
    )


def published_s(run: Run, metric: str, value: float) -> float:
    """Seconds of the step that a published figure means; the same turns seconds into the figure."""
    if metric == "tok_s_gpu":
        return run.tokens / (run.degrees.gpus * value)
    if metric == "tflops_per_gpu":
        per_token = training_flops(run.model, run.seq, recompute=run.recompute, causal=run.causal)
        return per_token * run.tokens / (run.degrees.gpus * value * 1e12)
    return value


@functools.cache
def rows() -> dict[str, dict[str, Any]]:
    """All rows by their names, in the order of the files."""
    return {row["id"]: row for file in ("rows", "more") for row in cases(f"training_step_{file}")}


def metric_of(row: dict[str, Any]) -> str:
    return next(metric for metric in METRICS if metric in row["expected"])


@functools.cache
def efficiency_of(machine: str, recipe: str, overlap: float | None = None) -> float:
    """Efficiency of a recipe: of the A100 as fitted, of others from their first row."""
    if machine == "a100":
        return fact("a100", "efficiency_bf16")
    row = rows()[FIRST_ROWS[machine, recipe]]
    run, metric = run_of(row), metric_of(row)
    goal = published_s(run, metric, row["expected"][metric])
    low, high = 0.01, 2.0
    for _ in range(60):
        middle = (low + high) / 2
        slow = predicted(run, middle, overlap).step_s > goal
        low, high = (middle, high) if slow else (low, middle)
    return (low + high) / 2


def ours_s(name: str, overlap: float | None = None) -> float:
    """Our time of the step of a row."""
    run = run_of(rows()[name])
    return predicted(run, efficiency_of(run.machine, run.recipe, overlap), overlap).step_s


def line_of(row: dict[str, Any], overlap: float | None = None) -> Line:
    """The line of one row that describes a run."""
    expected, name = row["expected"], row["id"]
    if "unpredicted" in row:
        metric, value = next(iter(expected.items()))
        said = ", ".join(str(part) for part in row["inputs"].values())
        return Line(name, said, metric, value, None, None, "-", row["unpredicted"])
    run, metric = run_of(row), metric_of(row)
    ours = published_s(run, metric, ours_s(name, overlap))
    inside = name in (*T0_ROWS, *FIRST_ROWS.values()) or name.startswith("sc21_t1")
    sample, tolerance = "in" if inside else "out", row["tolerance"]
    if name in scaled_from():
        tolerance = min(tolerance, SCALING)
    why = row.get("unpromised", "")
    return Line(name, str(run), metric, expected[metric], ours, tolerance, sample, why, not why)


@functools.cache
def scaled_from() -> dict[str, str]:
    """Rows that differ from an earlier one in GPUs and microbatches only, and that one."""
    first: dict[tuple[object, ...], str] = {}
    found = {}
    for name, row in rows().items():
        if name.startswith(("sc21_t2", "llama3", "mlperf")) and "gpu" in row["inputs"]:
            run = run_of(row)
            split = run.degrees.model_copy(update={"dp": 1})
            key = (run.machine, run.recipe, str(run.model), str(split), run.micro, run.seq)
            if first.setdefault(key, name) != name:
                found[name] = first[key]
    return found


def ratio_error(name: str, other: str) -> float:
    """Error of our ratio of two rows of the same metric."""
    one, two = line_of(rows()[name]), line_of(rows()[other])
    assert one.ours is not None
    assert two.ours is not None
    return one.ours / two.ours / (one.published / two.published) - 1


def training_lines() -> list[Line]:
    """All rows, in the order of the files."""
    special = {
        "mlperf51_gb200_scaling_fit": _scaling_fit,
        "mlperf51_h200_strong_ratio": _strong_ratio,
        "mlperf51_b200_weak_dp4_to_7": _weak_ratio,
    }
    lines: list[Line] = []
    for name, row in rows().items():
        lines += special[name](row) if name in special else [line_of(row)]
    return lines


def _scaling_fit(row: dict[str, Any]) -> list[Line]:
    """Least squares, relative, of T = t_mb (M + 7/8) + t0 on our three times."""
    runs = [run_of(rows()[name]) for name in T0_ROWS]
    times = [ours_s(name) for name in T0_ROWS]
    ideal = [run.microbatches * (1 + bubble_ratio(8, 8, run.microbatches)) for run in runs]
    a, b = ([x / t for x, t in zip(ideal, times, strict=True)], [1 / t for t in times])
    aa, ab, bb = (
        sum(x * y for x, y in zip(*pair, strict=True)) for pair in ((a, a), (a, b), (b, b))
    )
    det = aa * bb - ab * ab
    found = {
        "t_mb": (bb * sum(a) - ab * sum(b)) / det,
        "t0": (aa * sum(b) - ab * sum(a)) / det,
    }
    said = "gb200 nvfp4, our three rows fitted alike"
    return [
        Line(row["id"], said, name, row["expected"][name], ours, row["tolerance"], "in")
        for name, ours in found.items()
    ]


def _strong_ratio(row: dict[str, Any]) -> list[Line]:
    ours = ours_s("mlperf51_nebius_h200_512") / ours_s("mlperf51_nebius_h200_1024")
    return [_ratio(row, "h200 fp8, 512 to 1024 GPUs", row["expected"]["measured"], ours)]


def _weak_ratio(row: dict[str, Any]) -> list[Line]:
    ours = ours_s("mlperf51_uf_b200_448") / ours_s("mlperf51_uf_b200_256")
    return [_ratio(row, "b200 fp8, dp 4 to 7", row["expected"]["measured_ratio"], ours)]


def _ratio(row: dict[str, Any], said: str, published: float, ours: float) -> Line:
    return Line(row["id"], said, "ratio of times", published, ours, row["tolerance"], "out")
