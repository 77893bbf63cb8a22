"""Nodes of the graph, and what becomes of saved tensors."""

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
