"""Gradients of each sample of a batch: the module is mapped over samples, each of which has parameters of its own."""

from ... import _C
from ..._core.pytree import tree_flatten, tree_map, tree_unflatten
from ...func import functional_call, vmap
from ..modules.module import Module

__all__ = ["call_for_per_sample_grads"]


def _size_of_batch(tensors, at):
    sizes = list(dict.fromkeys(tensor.size(at) for tensor in tensors))
    if not sizes:
        raise RuntimeError("Unable to find a tensor in the passed args and kwargs. They may not be pytree-able and so "
                           "ExpandedWeights cannot compute the batch size from the inputs. Please specify it explicitly")
    if len(sizes) > 1:
        raise RuntimeError(f"When computing batch size, found at least one input with batch size {sizes[0]} and one with batch "
                           f"size {sizes[1]}. Please specify it explicitly using the batch size kwarg in "
                           "call_for_per_sample_grads")
    return sizes[0]


def _rows(parameter, count, scale):
    """A copy of the parameter for each sample, without memory of its own, whose gradient becomes `grad_sample`."""
    rows = parameter.detach().expand((count, *parameter.shape)).requires_grad_()

    def keep(gradient):
        parameter.grad_sample = gradient * scale
    rows.register_hook(keep)
    return rows


def _check(module, batch_size, loss_reduction):
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(f"Expected loss_reduction argument to be sum or mean, got {loss_reduction}")
    if not isinstance(module, Module):
        raise RuntimeError(f"Module passed must be nn.Module, got {type(module).__name__}")
    if not (batch_size is None or isinstance(batch_size, int)):
        raise RuntimeError(f"Batch size passed must be None or an integer, got {type(batch_size).__name__}")
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"Batch size must be positive, got {batch_size}")
    for weight in module.parameters():
        if getattr(weight, "grad_sample", None) is not None:
            raise RuntimeError("Current Expanded Weights accumulates the gradients, which will be incorrect for multiple calls "
                               f"without clearing gradients. Please clear out the grad_sample parameter of {weight}.")


def call_for_per_sample_grads(module, *, batch_size=None, loss_reduction="sum", batch_first=True):
    """The module as a function, after whose backward each parameter that wants a gradient has a `grad_sample`.

    batch_size: how many samples there are; found in the arguments unless given
    loss_reduction: "sum", or "mean" where the loss divides by their number, else RuntimeError
    batch_first: whether samples lie along dimension 0 of arguments and results, else along 1

    Shapes: `grad_sample` of a parameter [*p] is [batch, *p].

    >>> from torch.nn.utils._per_sample_grad import call_for_per_sample_grads
    >>> layer = torch.nn.Linear(2, 3)
    >>> call_for_per_sample_grads(layer)(torch.ones(4, 2)).sum().backward()
    >>> layer.weight.grad_sample.shape
    torch.Size([4, 3, 2])
    """
    _check(module, batch_size, loss_reduction)
    at = 0 if batch_first else 1

    def call(*args, **kwargs):
        leaves, spec = tree_flatten((args, kwargs))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, _C.TensorBase)]
        tensors = [leaves[i] for i in places]
        count = batch_size or _size_of_batch(tensors, at)
        scale = count if loss_reduction == "mean" else 1
        wanted = {name: _rows(p, count, scale) for name, p in module.named_parameters() if p.requires_grad}

        def of_one(parameters, sample):
            given = list(leaves)
            for i, tensor in zip(places, sample):
                given[i] = tensor.unsqueeze(at)
            args, kwargs = tree_unflatten(given, spec)
            return functional_call(module, parameters, args, kwargs)
        found = vmap(of_one, in_dims=(0, at), randomness="different")(wanted, tensors)
        return tree_map(lambda out: out.squeeze(at + 1).movedim(0, at), found)
    return call
