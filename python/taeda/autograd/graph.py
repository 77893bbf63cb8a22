"""Nodes of the graph, and what becomes of saved tensors."""

import collections.abc
import contextlib
import threading

from .. import _C

Node = _C._Node

_refusals = threading.local()  # `said`: why no hooks may be set on this thread, innermost last; `entered`: how many are set


class saved_tensors_hooks:
    """Operations in the block keep pack_hook(tensor) of what they save, and get it back by unpack_hook."""

    def __init__(self, pack_hook, unpack_hook):
        self.hooks = pack_hook, unpack_hook

    def __enter__(self):
        if getattr(_refusals, "said", None):
            raise RuntimeError(_refusals.said[-1])
        self.guard = self._enter()
        _refusals.entered = getattr(_refusals, "entered", 0) + 1

    def __exit__(self, *error):
        self.guard = None
        _refusals.entered -= 1

    def _enter(self):
        return _C._enter_saved_tensors_hooks(*self.hooks)


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors of accelerators wait in host memory."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(tensor):
            host = tensor.cpu()
            return tensor.device, host.pin_memory() if pin_memory else host

        def unpack(packed):
            device, host = packed
            return host.to(device, non_blocking=pin_memory)
        super().__init__(pack, unpack)


class disable_saved_tensors_hooks(contextlib.ContextDecorator):
    """Within the block saved_tensors_hooks are an error of these words, and so is the block within theirs."""

    def __init__(self, error_message):
        self.error_message = error_message

    def __enter__(self):
        if getattr(_refusals, "entered", 0):
            raise RuntimeError(self.error_message)
        if not hasattr(_refusals, "said"):
            _refusals.said = []
        _refusals.said.append(self.error_message)

    def __exit__(self, *error):
        _refusals.said.pop()


class _SavedCopies:
    """What allow_mutation_on_saved_tensors gives."""

    def clear(self):
        """Nothing to forget: copies live as long as what saved them."""


class allow_mutation_on_saved_tensors(contextlib.ContextDecorator):
    """Tensors that operations of the block save may be changed in place: gradients are those of the values that were saved, of
    which copies are kept."""

    def __enter__(self):
        self.hooks = saved_tensors_hooks(lambda tensor: tensor.clone(), lambda copy: copy)
        self.hooks.__enter__()
        return _SavedCopies()

    def __exit__(self, *error):
        self.hooks.__exit__(*error)


def increment_version(tensor):
    """Counts a change in place of a tensor, or of each of several, that was made behind autograd's back: what saved it refuses
    to compute gradients."""
    several = (tensor,) if isinstance(tensor, _C.TensorBase) else tensor
    if not isinstance(several, collections.abc.Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for each in several:
        _C._increment_version(each)


class _Handle:
    def __init__(self, node, number):
        self.node, self.number = node, number

    def remove(self):
        self.node._remove_hook(self.number)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


def register_hook(node, hook):
    """Has hook(grad_inputs, grad_outputs) called behind a node."""
    return _Handle(node, node._add_post_hook(hook))


def register_prehook(node, hook):
    """Has hook(grad_outputs) called before a node."""
    return _Handle(node, node._add_pre_hook(hook))


Node.register_hook = register_hook
Node.register_prehook = register_prehook


class GradientEdge(collections.namedtuple("GradientEdge", ["node", "output_nr", "ownership_token"], defaults=[None])):
    """Where a gradient goes: a node, and which of the outputs of what it stands for."""

    __slots__ = ()


def get_gradient_edge(tensor):
    """Where a tensor's gradient goes; of a leaf, the node that adds to its `grad`."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    if tensor.grad_fn is not None:
        return GradientEdge(tensor.grad_fn, tensor.output_nr)
    return GradientEdge(tensor.view_as(tensor).grad_fn.next_functions[0][0], 0)


def queue_callback(callback):
    """Has callback() called at the end of the backward pass that runs."""
    if _C._current_graph_task_id() == -1:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    _C._queue_callback(callback)


class _Handles:
    """Hooks that are removed together."""

    def __init__(self, handles):
        self.handles = tuple(handles)

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Has fn called once in each pass that gives any of the tensors a gradient: for "all" with their gradients when the last
    has come, None for those that the pass does not reach, for "any" with the first gradient alone."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    passes, lock = {}, threading.Lock()  # what has come so far, by pass

    def ended(number):
        with lock:
            grads = passes.pop(number)
        if mode == "all" and any(grad is None for grad in grads):
            fn(grads)

    def hook_of(i):
        def hook(grad):
            number = _C._current_graph_task_id()
            with lock:
                first = number not in passes
                grads = passes.setdefault(number, [None] * len(tensors))
                grads[i] = grad
                complete = all(grad is not None for grad in grads)
            if first:
                _C._queue_callback(lambda: ended(number))
            if first if mode == "any" else complete:
                fn(grad if mode == "any" else grads)
        return hook

    return _Handles([tensor.register_hook(hook_of(i)) for i, tensor in enumerate(tensors)])
