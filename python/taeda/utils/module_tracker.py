"""Which modules are running, forward or backward, by their names."""

import weakref

from .. import _C
from ..autograd import graph
from ..nn.modules import module as _module
from .._core.pytree import tree_flatten

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """`with ModuleTracker() as tracker:` keeps in `tracker.parents` the names of the modules that are running: "Net",
    "Net.body.0" for what `Net` is made of, and always "Global".

    A module runs backward from when its outputs' gradients are there until those of its inputs are, or until the pass ends.
    """

    def __init__(self):
        self.parents = {"Global"}
        self._names, self._seen = weakref.WeakKeyDictionary(), weakref.WeakSet()
        self._hooks, self._resets_at_end = [], False

    @property
    def is_bw(self):
        """Whether this thread is in a backward pass."""
        return _C._current_graph_task_id() != -1

    def _name(self, module):
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._seen:
            self._seen.add(module)
            for child_name, child in module.named_children():
                self._names[child] = f"{name}.{child_name}"
                self._name(child)
        return name

    def _changed(self):
        """Called when `parents` has changed."""

    def _enter(self, name):
        self.parents.add(name)
        self._changed()

    def _leave(self, name):
        self.parents.discard(name)
        self._changed()

    def _enter_backward(self, name):
        if not self._resets_at_end:
            self._resets_at_end = True
            graph.queue_callback(self._end_backward)
        self._enter(name)

    def _end_backward(self):
        self.parents, self._resets_at_end = {"Global"}, False
        self._changed()

    def _when_gradients_come(self, values, call):
        tensors = [v for v in tree_flatten(values)[0] if isinstance(v, _C.TensorBase) and v.requires_grad]
        if tensors:
            self._hooks.append(graph.register_multi_grad_hook(tensors, lambda _: call()))

    def _before(self, module, args):
        name = self._name(module)
        self._enter(name)
        self._when_gradients_come(args, lambda: self._leave(name))

    def _behind(self, module, args, output):
        name = self._name(module)
        self._leave(name)
        self._when_gradients_come(output, lambda: self._enter_backward(name))

    def __enter__(self):
        self._handles = [_module.register_module_forward_pre_hook(self._before),
                         _module.register_module_forward_hook(self._behind)]
        return self

    def __exit__(self, *error):
        for hook in [*self._handles, *self._hooks]:
            hook.remove()
        self._hooks.clear()
