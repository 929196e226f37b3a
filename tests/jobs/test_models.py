from __future__ import annotations

import pytest

from gbviz.errors import GbvizError, InputError
from gbviz.jobs.models import ModelPreset, model_named, models, parse_models
from gbviz.jobs.transformer import parameters
from gbviz.topology.catalogue import catalogue
from tests.validation_lines import machines

SHAPE = "{layers = 2, hidden = 8, heads = 2, ffn = 16, vocab = 10}"
HEAD = '[a]\ntitle = "A"\nsource = "why"\n'


@pytest.mark.parametrize("preset", models().values(), ids=lambda preset: preset.name)
def test_weights_are_those_published(preset: ModelPreset) -> None:
    counted = parameters(preset.shape)
    assert counted.total / 1e9 == pytest.approx(preset.total_billions, rel=0.01)
    if preset.shape.experts:
        assert counted.active / 1e9 == pytest.approx(preset.active_billions, rel=0.02)
    else:
        assert preset.active_billions == preset.total_billions
    assert preset.title
    assert len(preset.source) > 20


def test_the_promised_models_are_there() -> None:
    published = {
        "llama3-8b": 8.03e9,
        "llama3-70b": 70.6e9,
        "llama3-405b": 405.85e9,
        "gpt3-175b": 174.6e9,
        "dense-1t": 1008e9,
        "deepseek-v3": 671e9,
        "mixtral-8x22b": 140.6e9,
    }
    for name, total in published.items():
        assert parameters(model_named(name)).total == pytest.approx(total, rel=0.01)
    assert parameters(model_named("deepseek-v3")).active == pytest.approx(37e9, abs=0.5e9)


def test_an_unknown_model_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'deepseek-v3'"):
        model_named("deepseek")
    with pytest.raises(InputError, match="choose one of: llama3-8b, "):
        model_named("zzz")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a", "models.toml"),
        ("a = 1", "a: must have title, source, total_billions and shape"),
        (f"{HEAD}total_billions = 1", "must have title"),
        (f"{HEAD}total_billions = 1\nshape = {SHAPE}\nx = 1", "has an unknown key 'x'"),
        (f"{HEAD}total_billions = 1\nshape = {{layers = 0}}", "a: shape.layers: "),
    ],
)
def test_a_damaged_file(text: str, message: str) -> None:
    with pytest.raises(GbvizError, match=message):
        parse_models(text)


def test_a_dense_model_is_all_active() -> None:
    found = parse_models(f"{HEAD}total_billions = 2\nshape = {SHAPE}")
    assert found["a"].active_billions == 2.0
    assert found["a"].shape.layers == 2


def test_every_machine_says_the_same_things() -> None:
    names = {
        machine: set(machines().section(machine))
        for machine in ("a100", "h100", "h200", "b200", "gb200", "gb300")
    }
    always = set.intersection(*names.values())
    assert {"hbm_GBps", "nvlink_GBps", "ring_GBps", "nic_GBps", "domain_gpus", "t0_s"} <= always
    for machine, found in names.items():
        peaks = [name for name in found if name.endswith("_dense_pflops")]
        assert peaks, machine
        assert machines().value(f"{machine}.ring_GBps") < machines().value(f"{machine}.nvlink_GBps")


def test_machines_agree_with_the_catalogue() -> None:
    pairs = {
        "gb300.fp8_dense_pflops": "gpu.fp8_dense_pflops",
        "gb300.fp4_dense_pflops": "gpu.fp4_dense_pflops",
        "gb300.bf16_dense_pflops": "gpu.bf16_dense_pflops",
        "gb300.hbm_GBps": "gpu.hbm_GBps",
        "gb300.nvlink_GBps": "nvlink.gpu_GBps",
        "gb300.ring_GBps": "nvlink.collective_GBps",
        "gb300.nic_GBps": "nic.line_GBps",
        "gb300.nic_efficiency": "nic.efficiency",
        "model.eta_x": "collectives.eta_x",
        "model.eta_x_2_racks": "collectives.eta_x_2_racks",
        "model.eta_x_20_racks": "collectives.eta_x_20_racks",
        "model.alpha_nvlink_s": "collectives.alpha_nvlink_s",
        "model.alpha_network_s": "collectives.alpha_network_s",
        "model.alpha_nvls_s": "collectives.alpha_nvls_s",
    }
    for one, other in pairs.items():
        assert machines().value(one) == catalogue().value(other), one
    # 840 GB/s of bus bandwidth on 72 GPUs.
    wire = machines().value("gb300.nvls_wire_GBps")
    busbw = catalogue().value("nvlink.nvls_busbw_GBps")
    assert wire * 142 / 73 == pytest.approx(busbw, rel=1e-4)
