"""Hooks of modules: the dicts that hold them, those of all modules, and gradients at a module's edge."""

import collections
import types

from ... import _C
from ..._tensor import RemovableHandle, called_later
from ..._core.warnings import warn
from ...autograd import Function, graph


class Hooks:
    """Hooks by number, in the order of their calls."""

    def __init__(self):
        self.calls, self.with_kwargs, self.always = collections.OrderedDict(), {}, {}

    def add(self, hook, prepend=False, with_kwargs=False, always_call=False):
        return add(self.calls, hook, prepend, [(self.with_kwargs, with_kwargs), (self.always, always_call)])


def add(hooks, hook, prepend=False, marks=()):
    """Adds a hook to a dict; `marks`: (dict, whether the hook is to be marked in it)."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = called_later(hook)
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    for marked, wanted in marks:
        if wanted:
            marked[handle.id] = True
    return handle


forward_pre, forward, backward, backward_pre = (Hooks() for _ in range(4))
buffer_registration, module_registration, parameter_registration = (Hooks() for _ in range(3))
# Backward hooks of all modules are of one kind or the other, as those of one module.
backward_is_full = None


def _tell():
    """Lets calls of modules look into the dicts as they are now."""
    _C._set_module_hooks((forward_pre.calls, forward.calls, backward.calls, backward_pre.calls))


_tell()

# The names under which programs know the dicts, in nn.modules.module: whoever gives one another dict replaces the hooks.
NAMES = {"_global_forward_pre_hooks": (forward_pre, "calls"), "_global_forward_hooks": (forward, "calls"),
         "_global_forward_hooks_with_kwargs": (forward, "with_kwargs"),
         "_global_forward_hooks_always_called": (forward, "always"), "_global_backward_hooks": (backward, "calls"),
         "_global_backward_pre_hooks": (backward_pre, "calls"),
         "_global_buffer_registration_hooks": (buffer_registration, "calls"),
         "_global_module_registration_hooks": (module_registration, "calls"),
         "_global_parameter_registration_hooks": (parameter_registration, "calls"),
         "_global_is_full_backward_hook": (None, "backward_is_full")}


class ModuleOfHooks(types.ModuleType):
    """A module of Python's in which the dicts have those names."""

    def __getattr__(self, name):
        if name not in NAMES:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        holder, attribute = NAMES[name]
        return globals()[attribute] if holder is None else getattr(holder, attribute)

    def __setattr__(self, name, value):
        if name not in NAMES:
            return super().__setattr__(name, value)
        holder, attribute = NAMES[name]
        if holder is None:
            globals()[attribute] = value
        elif not isinstance(value, dict):
            raise TypeError(f"{name} must be a dict of hooks, but got {type(value)}")
        else:
            setattr(holder, attribute, value)
            _tell()


def register_module_forward_pre_hook(hook):
    """Has hook(module, args) called before every module's forward; what it returns takes the arguments' place."""
    return forward_pre.add(hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Has hook(module, args, output) called after every module's forward; what it returns takes the output's place."""
    return forward.add(hook, False, with_kwargs, always_call)


def register_module_full_backward_pre_hook(hook):
    """Has hook(module, grad_output) called before every module's backward."""
    return backward_pre.add(hook)


def register_module_full_backward_hook(hook):
    """Has hook(module, grad_input, grad_output) called after every module's backward."""
    _set_kind(True)
    return backward.add(hook)


def register_module_backward_hook(hook):
    """As register_module_full_backward_hook, with gradients of the last operation alone."""
    _set_kind(False)
    return backward.add(hook)


def _set_kind(full):
    global backward_is_full
    if backward_is_full is (not full):
        raise RuntimeError("Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
                           "Please use only one of them.")
    backward_is_full = full


def register_module_buffer_registration_hook(hook):
    """Has hook(module, name, buffer) called before a buffer is registered."""
    return buffer_registration.add(hook)


def register_module_module_registration_hook(hook):
    """Has hook(module, name, submodule) called before a module is registered."""
    return module_registration.add(hook)


def register_module_parameter_registration_hook(hook):
    """Has hook(module, name, parameter) called before a parameter is registered."""
    return parameter_registration.add(hook)


def registered(hooks, module, name, value):
    """What the hooks of a registration make of a value."""
    for hook in hooks.calls.values():
        replaced = hook(module, name, value)
        if replaced is not None:
            value = replaced
    return value


class _Edge(Function):
    """Tensors unchanged; the node is where their gradients meet."""

    @staticmethod
    def forward(ctx, *tensors):
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        ctx.set_materialize_grads(False)
        return tuple(t.view_as(t) for t in tensors)

    @staticmethod
    def backward(ctx, *grads):
        return grads


def _through_edge(values):
    """The tuple with its tensors led through one node, the node, and where the tensors stand; no node without gradients."""
    places = [i for i, v in enumerate(values) if isinstance(v, _C.TensorBase)]
    if not _C.is_grad_enabled() or not any(values[i].requires_grad for i in places):
        return values, None, places
    passed = _Edge.apply(*(values[i] for i in places))
    values = list(values)
    for i, tensor in zip(places, passed):
        values[i] = tensor
    return tuple(values), next(t.grad_fn for t in passed if t.requires_grad), places


def _spread(grads, places, count):
    out = [None] * count
    for i, grad in zip(places, grads):
        out[i] = grad
    return tuple(out)


def _replacement(replaced, given, kind, what):
    """What a hook gives in the place of gradients: as many."""
    replaced = replaced if isinstance(replaced, tuple) else (replaced,)
    if len(replaced) != len(given):
        raise RuntimeError(f"Backward {kind} returned an invalid number of {what}, got {len(replaced)}, but expected "
                           f"{len(given)}")
    return replaced


class BackwardHooks:
    """The backward hooks of one call of a module: those before see the outputs' gradients, the others those of inputs, too."""

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_output, self.has_inputs, self.count = None, False, 0

    def around_inputs(self, args):
        args, node, places = _through_edge(args)
        self.count = count = len(args)
        if node is None:
            return args
        self.has_inputs = True  # the node keeps what `call` refers to: no tensor, which would keep the node

        def call(grad_inputs, _):
            if self.grad_output is None:  # not by way of the output: a gradient of this module's own gradient
                return None
            grads = self._called(_spread(grad_inputs, places, count), grad_inputs, places)
            self.grad_output = None
            return grads
        graph.register_hook(node, call)
        return args

    def _called(self, grad_input, grads, places):
        for hook in self.hooks:
            replaced = hook(self.module, grad_input, self.grad_output)
            if replaced is None:
                continue
            grad_input = _replacement(replaced, grad_input, "hook", "grad_input")
            grads = tuple(grad_input[i] for i in places)
        return grads

    def around_output(self, output):
        if not isinstance(output, (tuple, _C.TensorBase)):
            warn("For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                 f"{type(output)}")
            return output
        single = not isinstance(output, tuple)
        values, node, places = _through_edge((output,) if single else output)
        if node is None:
            return output
        count = len(values)

        def call(grad_outputs):
            given = _spread(grad_outputs, places, count)
            for hook in self.pre_hooks:
                replaced = hook(self.module, given)
                if replaced is None:
                    continue
                given = _replacement(replaced, given, "pre hook", "grad_output")
            self.grad_output = given
            if not self.has_inputs:
                if self.hooks:
                    warn("Full backward hook is firing when gradients are computed with respect to module outputs since no "
                         "inputs require gradients.")
                self._called((None,) * self.count, (), ())
                self.grad_output = None
            return tuple(given[i] for i in places)
        graph.register_prehook(node, call)
        return values[0] if single else values


def take_off(module, kind, name, missing):
    """Removes the hook before forward that is of a class and for the parameter `name`. Gives the module; a ValueError that says
    `missing` where there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(missing)
