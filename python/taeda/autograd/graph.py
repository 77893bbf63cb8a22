"""Nodes of the graph, and what becomes of saved tensors."""

import threading

from .. import _C

Node = _C._Node


class saved_tensors_hooks:
    """Operations in the block keep pack_hook(tensor) of what they save, and get it back by unpack_hook."""

    def __init__(self, pack_hook, unpack_hook):
        self.hooks = pack_hook, unpack_hook

    def __enter__(self):
        self.guard = _C._enter_saved_tensors_hooks(*self.hooks)

    def __exit__(self, *error):
        self.guard = None


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


def get_gradient_edge(tensor):
    """Where a tensor's gradient goes: its node and the number of the node's input."""
    return tensor.grad_fn, tensor.output_nr


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
