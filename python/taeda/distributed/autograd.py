"""torch.distributed.autograd: gradients through calls of other workers."""

from ._rpc import rpc as _rpc


class context:
    """While it lasts, calls of this thread, and what they call, record how results depend on tensors that want a gradient.

    `with dist_autograd.context() as context_id:`; gradients are kept in the context, not in `grad`.
    """

    def __enter__(self):
        self._context = _rpc.Context()
        return self._context.id()

    def __exit__(self, *error):
        self._context = None


def backward(context_id, roots, retain_graph=False):
    """Gradients of tensors of one element, at all workers that had part in them."""
    _rpc.backward(context_id, list(roots), retain_graph)


def get_gradients(context_id):
    """{leaf: gradient} of this worker's leaves."""
    return dict(_rpc.get_gradients(context_id))
