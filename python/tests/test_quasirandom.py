"""Sobol points: PyTorch 2.15's, scrambled or not."""

import copy

import pytest

import taeda as torch
from taeda.quasirandom import SobolEngine


def test_first_points():
    engine = SobolEngine(3)
    assert engine.draw(5).tolist() == [
        [0, 0, 0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75], [0.375, 0.375, 0.625]]
    assert engine.draw(dtype=torch.double).dtype == torch.double and engine.num_generated == 6
    assert repr(engine) == "SobolEngine(dimension=3)"


def test_many_dimensions():
    last = SobolEngine(SobolEngine.MAXDIM).fast_forward(99).draw(1)
    assert last[0, [1, 5000, 5714]].tolist() == [0.8828125, 0.8828125, 0.8984375]


def test_scrambled():
    engine = SobolEngine(40, scramble=True, seed=7)
    assert engine.draw(3)[:, [0, 1, 39]].tolist() == [
        [0.19947312772274017, 0.17093220353126526, 0.27737584710121155],
        [0.7511051297187805, 0.9514392614364624, 0.8932633399963379],
        [0.5522671937942505, 0.3657824695110321, 0.17483341693878174]]
    assert engine.quasi[[0, 39]].tolist() == [592992399, 187725945]
    assert engine.fast_forward(100).draw(1, dtype=torch.double)[0, [0, 39]].tolist() == [
        0.00048412661999464035, 0.6459161238744855]
    assert repr(engine) == "SobolEngine(dimension=40, scramble=True, seed=7)"


def test_points_do_not_depend_on_how_they_are_drawn():
    once = SobolEngine(4, scramble=True, seed=1).draw(64)
    engine, other = SobolEngine(4, scramble=True, seed=1), SobolEngine(4, scramble=True, seed=1)
    assert torch.equal(torch.cat([engine.draw(1), engine.draw(30), copy.deepcopy(engine).draw(33)]), once)
    assert torch.equal(other.fast_forward(5).draw(3), once[5:8])
    assert torch.equal(other.reset().draw_base2(6), once)
    out = torch.empty(0)
    assert other.reset().draw(2, out=out) is out and torch.equal(out, once[:2])
    # Each of 64 intervals has one point in each dimension.
    assert torch.equal((once * 64).long().sort(0).values, torch.arange(64).unsqueeze(1).expand(64, 4))


@pytest.mark.parametrize("call, text", [
    (lambda: SobolEngine(0), "Supported range of dimensionality"),
    (lambda: SobolEngine(5716), r"Supported range of dimensionality for SobolEngine is \[1, 5715\]"),
    (lambda: SobolEngine(2).draw(-1), "n must be non-negative"),
    (lambda: SobolEngine(2).draw(2 ** 30 + 1), "at most 1073741824 points"),
    (lambda: SobolEngine(2).fast_forward(3).draw_base2(1), r"then: n=3\+2\*\*1=5"),
])
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()
