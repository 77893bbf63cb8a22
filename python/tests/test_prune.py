"""nn.utils.prune: what is pruned, under which names, and what remains."""

import pytest

import taeda as torch
from taeda import nn
from taeda.nn.utils import prune


def _layer():
    layer = nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, -6, 3], [-2, 5, 4]]))
    return layer


def test_smallest_elements_go():
    layer = _layer()
    assert prune.l1_unstructured(layer, "weight", amount=2) is layer
    assert layer.weight.tolist() == [[0, -6, 3], [0, 5, 4]] and layer.weight_mask.tolist() == [[0, 1, 1], [0, 1, 1]]
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_mask"] and prune.is_pruned(layer)
    layer(torch.ones(1, 3)).sum().backward()
    assert layer.weight_orig.grad.tolist() == [[0, 1, 1], [0, 1, 1]]


def test_pruning_goes_on_where_it_stopped_and_becomes_final():
    layer = _layer()
    prune.l1_unstructured(layer, "weight", amount=1)
    prune.l1_unstructured(layer, "weight", amount=0.4)  # of the five that are left
    assert layer.weight.tolist() == [[0, -6, 0], [0, 5, 4]]
    assert len(layer._forward_pre_hooks) == 1
    prune.ln_structured(layer, "weight", amount=1, n=2, dim=0)
    assert layer.weight.tolist() == [[0, 0, 0], [0, 5, 4]] or layer.weight.tolist() == [[0, -6, 0], [0, 0, 0]]
    prune.remove(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter) and sorted(dict(layer.named_parameters())) == ["bias", "weight"]
    assert not prune.is_pruned(layer) and not list(layer.buffers())


def test_several_parameters_as_one():
    first, second = _layer(), _layer()
    with torch.no_grad():
        second.weight.mul_(10)
    prune.global_unstructured([(first, "weight"), (second, "weight")], pruning_method=prune.L1Unstructured, amount=0.5)
    assert first.weight.abs().sum() == 0 and second.weight_mask.sum() == 6


def test_masks_and_channels():
    layer = prune.custom_from_mask(_layer(), "weight", torch.tensor([[0, 1, 1], [1, 1, 0]]))
    assert layer.weight.tolist() == [[0, -6, 3], [-2, 5, 0]]
    layer = prune.random_structured(_layer(), "weight", amount=1, dim=1)
    assert (layer.weight == 0).all(0).sum() == 1
    assert prune.random_unstructured(_layer(), "weight", 0.5).weight_mask.sum() == 3
    assert prune.identity(_layer(), "weight").weight_mask.sum() == 6


def test_wrong_calls():
    with pytest.raises(ValueError, match="has to be pruned before"):
        prune.remove(_layer(), "weight")
    with pytest.raises(ValueError, match="range"):
        prune.l1_unstructured(_layer(), "weight", 1.5)
    with pytest.raises(ValueError, match="smaller than the number"):
        prune.l1_unstructured(_layer(), "weight", 7)
    with pytest.raises(TypeError, match="Invalid type for amount"):
        prune.random_unstructured(_layer(), "weight", "all")
