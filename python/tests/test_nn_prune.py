"""nn.utils.prune: masks of parameters."""

import pytest

import taeda as torch
from taeda import nn
from taeda.nn.utils import prune


@pytest.fixture
def layer():
    layer = nn.Linear(4, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, -2.0, 3.0, -4.0], [5.0, 6.0, -7.0, 8.0]]))
    return layer


def test_the_smallest_are_pruned_until_removal_makes_it_lasting(layer):
    prune.l1_unstructured(layer, "weight", amount=3)
    assert layer.weight.tolist() == [[0, 0, 0, -4], [5, 6, -7, 8]] and prune.is_pruned(layer)
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_orig"]
    layer(torch.ones(4)).sum().backward()
    assert layer.weight_orig.grad.tolist() == [[0, 0, 0, 1], [1, 1, 1, 1]]
    prune.remove(layer, "weight")
    assert layer.weight.tolist() == [[0, 0, 0, -4], [5, 6, -7, 8]] and not prune.is_pruned(layer)
    assert set(layer.state_dict()) == {"bias", "weight"} and isinstance(layer.weight, nn.Parameter)


def test_pruning_again_counts_what_is_left(layer):
    prune.l1_unstructured(layer, "weight", amount=0.25)
    prune.l1_unstructured(layer, "weight", amount=0.5)
    assert layer.weight.tolist() == [[0, 0, 0, 0], [0, 6, -7, 8]]
    assert len(layer._forward_pre_hooks) == 1 and len(list(layer._forward_pre_hooks.values())[0]) == 2


def test_channels_and_masks_and_chance(layer):
    prune.ln_structured(layer, "weight", amount=1, n=2, dim=0)
    assert layer.weight.tolist() == [[0, 0, 0, 0], [5, 6, -7, 8]]
    prune.custom_from_mask(layer, "bias", torch.tensor([0, 1]))
    assert layer.bias[0] == 0 and layer.bias[1] != 0
    other = prune.random_unstructured(nn.Linear(10, 10), "weight", amount=0.3)
    assert (other.weight == 0).sum() == 30
    other = prune.random_structured(nn.Linear(10, 10), "weight", amount=0.3, dim=1)
    assert (other.weight == 0).all(0).sum() == 3


def test_several_parameters_as_one():
    small, large = nn.Linear(2, 2), nn.Linear(2, 2)
    with torch.no_grad():
        small.weight.fill_(0.1)
        large.weight.fill_(10)
    prune.global_unstructured([(small, "weight"), (large, "weight")], pruning_method=prune.L1Unstructured, amount=0.5)
    assert (small.weight == 0).all() and (large.weight != 0).all()


def test_what_is_refused(layer):
    with pytest.raises(ValueError, match="should be smaller than the number of parameters to prune=8"):
        prune.l1_unstructured(layer, "weight", amount=9)
    with pytest.raises(ValueError, match="float in the range"):
        prune.random_unstructured(layer, "weight", amount=1.5)
    with pytest.raises(ValueError, match="has to be pruned before"):
        prune.remove(nn.Linear(2, 2), "weight")
