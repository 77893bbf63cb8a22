"""Trades time for memory: what a part of the program computed is not kept, but computed again when gradients need it."""

import contextlib

from .. import _C
from ..autograd import Function, backward, graph
from ..autograd.modes import enable_grad, no_grad
from .._core import pytree as _pytree
from .._core.warnings import warn
from .._tensor import Tensor
from .._tensors.parameter import Parameter

__all__ = ["checkpoint", "checkpoint_sequential", "CheckpointError", "CheckpointFunction", "DefaultDeviceType",
           "check_backward_validity", "detach_variable", "get_device_states", "noop_context_fn",
           "set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "set_device_states"]


CheckpointError = _C._CheckpointError


def set_checkpoint_debug_enabled(enabled):
    """Accepted for programs that call it; CheckpointError says in any case what differs."""
    return contextlib.nullcontext()


_early_stop = None


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """Whether parts that begin within this context end early when they are computed again, whatever they were told."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


def noop_context_fn():
    """What checkpoint computes in unless it is told: nothing around the call, nor around the one in backward."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def detach_variable(inputs):
    """Detached tensors that require what the given ones do; what is no tensor stays. Of a tuple, as one."""
    if not isinstance(inputs, tuple):
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: ", type(inputs).__name__)
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, _C.TensorBase) else x for x in inputs)


def check_backward_validity(inputs):
    """Warns where none of the inputs has a gradient to give."""
    if not any(x.requires_grad for x in inputs if isinstance(x, _C.TensorBase)):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


class DefaultDeviceType:
    """The accelerator whose random numbers a checkpoint without tensors on one keeps."""

    _kind = "cuda"

    @staticmethod
    def set_device_type(device="cuda"):
        DefaultDeviceType._kind = device

    @staticmethod
    def get_device_type():
        return DefaultDeviceType._kind


def _module_of(kind):
    from .._devices.modules import get_device_module
    return get_device_module(kind)


def get_device_states(*args):
    """(numbers, states) of the generators of all devices that tensors in the arguments lie on, the CPU apart."""
    found = []

    def look(x):
        if isinstance(x, _C.TensorBase) and x.device.type not in ("cpu", "meta"):
            found.append((x.device.type, x.get_device()))
        return x
    _pytree.tree_map(look, args)
    kind = found[0][0] if found else DefaultDeviceType.get_device_type()
    numbers = sorted({number for of, number in found if of == kind})
    return numbers, [_module_of(kind).get_rng_state(number) for number in numbers]


def set_device_states(devices, states, *, device_type=None):
    """Puts the states of generators back."""
    for number, state in zip(devices, states):
        _module_of(device_type or DefaultDeviceType.get_device_type()).set_rng_state(state, number)


class _Reentrant(Function):
    """Computes without a history, and again with one in backward, within a backward pass of its own."""

    @staticmethod
    def forward(ctx, run_function, preserve, *args):
        ctx.run_function = run_function
        ctx.state = _C._ForwardState([a for a in args if isinstance(a, _C.TensorBase)], preserve)
        ctx.args = [None if isinstance(a, _C.TensorBase) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, _C.TensorBase)]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        args = list(ctx.args)
        for i, saved in zip(ctx.places, ctx.saved_tensors):
            args[i] = saved.detach().requires_grad_(saved.requires_grad)
        scope = ctx.state.again()
        try:
            with enable_grad():
                outputs = ctx.run_function(*args)
        finally:
            del scope
        outputs = (outputs,) if isinstance(outputs, _C.TensorBase) else tuple(outputs)
        wanted = [(o, g) for o, g in zip(outputs, grads) if isinstance(o, _C.TensorBase) and o.requires_grad]
        if not wanted:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward([o for o, _ in wanted], [g for _, g in wanted])
        return (None, None, *(a.grad if isinstance(a, _C.TensorBase) else None for a in args))


CheckpointFunction = _Reentrant


class _FirstRun(graph.saved_tensors_hooks):
    """Operations in the block keep nothing: `function` runs again, within `again`, when one asks for what it saved."""

    def __init__(self, function, args, kwargs, again, *options):
        values, spec = _pytree.tree_flatten((args, kwargs))
        places = [i for i, x in enumerate(values) if isinstance(x, _C.TensorBase)]
        tensors = [values[i] for i in places]
        # What is of another class stays as it is: the graph keeps no classes.
        values = [None if type(x) in (Tensor, Parameter) else x for x in values]

        def run(tensors):
            given = list(values)
            for i, tensor in zip(places, tensors):
                given[i] = tensor if given[i] is None else given[i]
            args, kwargs = _pytree.tree_unflatten(given, spec)
            with again:
                function(*args, **kwargs)
        self.arguments = run, tensors, *options

    def _enter(self):
        return _C._begin_checkpoint(*self.arguments)


def checkpoint(function, *args, use_reentrant=None, context_fn=None, determinism_check="default", debug=False,
               early_stop=True, **kwargs):
    """function(*args, **kwargs), without keeping what its gradient needs: that is computed again, with the same random
    numbers unless preserve_rng_state=False, and with `early_stop` only until all of it is there.

    With `use_reentrant` the gradient is a backward pass of its own, and keyword arguments are refused.
    """
    if use_reentrant is None:
        warn("torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. In a future release, calling "
             "checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to "
             "preserve the current default behavior, you can pass use_reentrant=True.")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if _C.is_grad_enabled() and not any(isinstance(a, _C.TensorBase) and a.requires_grad for a in args):
            warn("None of the inputs have requires_grad=True. Gradients will be None")
        return _Reentrant.apply(function, preserve, *args)
    if not _C.is_grad_enabled():
        return function(*args, **kwargs)
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
    first, again = (context_fn or noop_context_fn)()
    early_stop = early_stop if _early_stop is None else _early_stop
    with _FirstRun(function, args, kwargs, again, preserve, early_stop, determinism_check == "default"), first:
        return function(*args, **kwargs)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Runs modules one after the other in so many segments, of which all but the last are checkpoints."""
    if use_reentrant is None:
        warn("torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In a "
             "future release, we will raise an exception if use_reentrant is not passed. use_reentrant=False is recommended.")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(functions) // segments

    def part(begin, end):
        def run(x):
            for function in functions[begin:end]:
                x = function(x)
            return x
        return run
    begin = 0
    for _ in range(segments - 1):
        input = checkpoint(part(begin, begin + size), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
        begin += size
    return part(begin, len(functions))(input)
