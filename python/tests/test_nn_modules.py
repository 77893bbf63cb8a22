"""Modules against PyTorch's values, kept in golden/nn.json."""

import json
import pathlib

import pytest

import taeda as torch
from cases import nn as cases

GOLDEN = json.loads((pathlib.Path(__file__).parent / "golden" / "nn.json").read_text())


def _flat(value):
    if isinstance(value, list):
        return [x for v in value for x in _flat(v)]
    return [value]


def _compare(given, expected, what):
    """Numbers to 2e-5, everything else exactly."""
    given, expected = _flat(given), _flat(expected)
    assert len(given) == len(expected), what
    for a, b in zip(given, expected):
        assert a == (b if isinstance(b, str) else pytest.approx(b, rel=2e-5, abs=2e-5, nan_ok=True)), what


@pytest.mark.parametrize("made,inputs", cases.MODULES, ids=lambda text: text.replace(" ", ""))
def test_module(made, inputs):
    expected = GOLDEN["modules"][f"{made} | {inputs}"]
    given = cases.forward(torch, made, inputs)
    assert given["repr"] == expected["repr"]
    assert given["state"] == expected["state"]
    for what in ("outputs", "grads", "evaluated", "values"):
        _compare(given[what], expected[what], what)


def test_every_module_is_compared():
    tested = {made.split("(")[0] for made, _ in cases.MODULES} | {"Container", "Module", "ModuleDict", "ModuleList",
                                                                 "ParameterDict", "ParameterList"}
    bases = {"RNNBase", "RNNCellBase", "NonDynamicallyQuantizableLinear"}
    assert set(torch.nn.modules.__all__) - tested - bases == {"CrossMapLRN2d"}


@pytest.mark.parametrize("statement", GOLDEN["inits"])
def test_first_values(statement):
    _compare(cases.inits(torch)[statement], GOLDEN["inits"][statement], statement)


def test_errors_are_pytorchs():
    assert cases.errors(torch) == GOLDEN["errors"]


def test_containers_print_and_list_as_pytorchs():
    assert cases.containers(torch) == GOLDEN["containers"]


def test_hooks_are_called_as_pytorchs():
    assert cases.hooks(torch) == GOLDEN["hooks"]


def test_copies():
    assert cases.copies(torch) == GOLDEN["copies"]


def test_dropout_keeps_its_share():
    torch.manual_seed(0)
    layer = torch.nn.Dropout(0.3)
    x = torch.ones(20000)
    out = layer(x)
    assert float((out == 0).float().mean()) == pytest.approx(0.3, abs=0.02)
    assert torch.equal(out[out != 0], torch.full_like(out[out != 0], 1 / 0.7))
    assert torch.equal(layer.eval()(x), x)
    y = x.clone()
    assert torch.nn.Dropout(0.5, inplace=True)(y) is y and bool((y == 0).any())
