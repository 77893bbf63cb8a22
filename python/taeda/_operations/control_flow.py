"""torch.cond and torch.while_loop: branches and loops as functions. They call what they are given, once for each turn."""

from .. import _C

__all__ = ["cond", "while_loop"]


def _is_predicate(pred):
    return isinstance(pred, (bool, _C.TensorBase))


def cond(pred, true_fn, false_fn, operands=()):
    """true_fn(*operands) where `pred` holds, else false_fn(*operands). Gradients pass.

    pred: a bool or a tensor of one element

    Shapes: as the functions take and give them.

    >>> torch.cond(torch.tensor(True), lambda x: x + 1, lambda x: x - 1, (torch.tensor([1.0]),))
    tensor([2.])
    """
    if not _is_predicate(pred):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, _C.TensorBase) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    from .._core import pytree as _pytree
    if not isinstance(operands, (tuple, list)) or not all(isinstance(leaf, (_C.TensorBase, int))
                                                          for leaf in _pytree.tree_leaves(operands)):
        raise RuntimeError("Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor "
                           f"leaves, but got {operands}.")
    return true_fn(*operands) if bool(pred) else false_fn(*operands)


def while_loop(cond_fn, body_fn, carried_inputs):
    """carried = body_fn(*carried) while cond_fn(*carried), a bool or a tensor of one element, holds; what is carried then. The
    body gives as many tensors as it takes, of the same shapes and dtypes."""
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError("Expect carried_inputs to be a tuple of possibly nested dict/list/tuple that only consists of "
                           f"tensor leaves, but got {carried_inputs}.")
    carried = tuple(carried_inputs)
    while True:
        pred = cond_fn(*carried)
        if not _is_predicate(pred) or isinstance(pred, _C.TensorBase) and pred.numel() != 1:
            raise RuntimeError(f"cond_fn must return a boolean scalar tensor or a bool, but got {pred}")
        if not bool(pred):
            return carried
        made = body_fn(*carried)
        if not isinstance(made, (tuple, list)):
            raise RuntimeError(f"body_fn should return a tuple, but got {type(made)}")
        if len(made) != len(carried):
            raise RuntimeError(f"body_fn should return as many elements as carried_inputs, but got {len(made)} and "
                               f"{len(carried)}")
        carried = tuple(made)
