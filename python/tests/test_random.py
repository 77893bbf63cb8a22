"""Generators and seeds: numbers are those of PyTorch's CPU generator."""

import copy
import pickle

import pytest
import taeda as torch


def test_seeds_repeat():
    torch.manual_seed(5)
    a = torch.rand(3)
    torch.manual_seed(5)
    assert torch.equal(a, torch.rand(3))
    assert torch.initial_seed() == 5
    assert torch.manual_seed(7) is torch.default_generator
    torch.manual_seed(-1)
    assert torch.initial_seed() == 2 ** 64 - 1
    assert isinstance(torch.seed(), int)


def test_generators():
    g = torch.Generator()
    g.manual_seed(3)
    a = torch.rand(2, generator=g)
    g.manual_seed(3)
    assert torch.equal(a, torch.rand(2, generator=g))
    state = g.get_state()
    b = torch.randn(2, generator=g)
    g.set_state(state)
    assert torch.equal(b, torch.randn(2, generator=g))
    assert g.initial_seed() == 3 and g.device == torch.device("cpu")
    assert torch.Generator(device="cpu").device.type == "cpu"
    torch.manual_seed(0)
    before = torch.get_rng_state()
    torch.rand(2, generator=g)
    assert torch.equal(before, torch.get_rng_state())


def test_states():
    torch.manual_seed(1)
    state = torch.get_rng_state()
    a = torch.randn(5)
    torch.set_rng_state(state)
    assert torch.equal(a, torch.randn(5)) and state.dtype == torch.uint8
    with pytest.raises((TypeError, RuntimeError)):
        torch.set_rng_state(torch.ones(3))


def test_fork_rng():
    torch.manual_seed(1)
    with torch.random.fork_rng(devices=[]):
        torch.rand(10)
    a = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(a, torch.rand(1))


def test_known_numbers():
    """What PyTorch 2.15 draws from the same seed."""
    torch.manual_seed(0)
    assert torch.allclose(torch.rand(2), torch.tensor([0.49625658988952637, 0.7682217955589294]))
    torch.manual_seed(0)
    assert torch.randint(0, 100, (4,)).tolist() == [44, 39, 33, 60]
    torch.manual_seed(0)
    assert torch.randperm(5).tolist() == [4, 0, 1, 3, 2]


def test_layout_of_parameters_does_not_move_draws():
    """PyTorch 2.15 draws in the order of elements, and gives contiguous tensors."""
    turned = torch.zeros(4, 5).t()
    first = torch.tensor([-1.1258398294448853, -1.152360200881958, -0.2505785822868347, -0.4338788092136383])
    for draw in (lambda: torch.normal(turned, 1.0), lambda: torch.normal(0.0, turned + 1)):
        torch.manual_seed(0)
        drawn = draw()
        assert torch.allclose(drawn[0], first) and drawn.stride() == (4, 1)
    torch.manual_seed(0)
    drawn = torch.bernoulli(turned, 0.5)
    assert drawn[0].tolist() == [0, 0, 1, 0] and drawn.stride() == (4, 1)


def test_uniform_complex_numbers():
    """PyTorch 2.15's: real and imaginary parts in turn."""
    torch.manual_seed(0)
    assert torch.allclose(torch.rand(2, dtype=torch.complex64), torch.tensor(
        [0.49625658988952637 + 0.7682217955589294j, 0.08847743272781372 + 0.13203048706054688j]))
    number = torch.zeros(1, dtype=torch.complex128).uniform_(2, 5).item()
    assert abs(number - (3.3781488293823525 + 4.762243052365881j)) < 1e-12
    assert torch.nn.Linear(2, 2, dtype=torch.complex64).weight.imag.abs().max() > 0


def test_bits_of_uniform_numbers():
    """PyTorch 2.15's, which rounds u (to - from) + from once."""
    for dtype, first, total in ((torch.float32, -0.3668450117111206, -2.7108285887225065),
                                (torch.float64, -0.34475993521861487, -10.00282234210324),
                                (torch.float16, -0.366943359375, -2.711897611618042)):
        torch.manual_seed(3)
        drawn = torch.empty(1000, dtype=dtype).uniform_(-0.37, 0.37)
        assert drawn[0].item() == first and abs(drawn.double().sum().item() - total) < 1e-12
    torch.manual_seed(3)
    assert abs(torch.nn.Linear(40, 30).weight.double().sum().item() - 0.24927339391433634) < 1e-12


def test_generators_are_copied_with_their_state():
    generator = torch.Generator().manual_seed(3)
    torch.rand(5, generator=generator)
    copies = [copy.copy(generator), copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))]
    expected = torch.rand(3, generator=generator)
    for made in copies:
        assert torch.equal(torch.rand(3, generator=made), expected)
    module = torch.nn.Linear(1, 1)
    module.generator = generator
    assert torch.equal(torch.rand(2, generator=copy.deepcopy(module).generator), torch.rand(2, generator=generator))
