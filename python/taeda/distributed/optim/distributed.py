"""An optimizer for parameters at several workers."""

import threading
from collections import defaultdict

from .. import autograd, rpc
from ...futures import wait_all


class _LocalOptimizer:
    """At each owner: steps with the gradients of a context."""

    lock = threading.Lock()  # trainers share parameters

    def __init__(self, optim_cls, params, *args, **kwargs):
        self.params = [p.local_value() for p in params]
        self.optimizer = optim_cls(self.params, *args, **kwargs)

    def step(self, context_id):
        gradients = autograd.get_gradients(context_id)
        with _LocalOptimizer.lock:
            kept = [p.grad for p in self.params]
            try:
                for p in self.params:
                    p.grad = gradients.get(p)
                self.optimizer.step()
            finally:
                for p, grad in zip(self.params, kept):
                    p.grad = grad


class DistributedOptimizer:
    """Makes an optimizer of `optimizer_class` at each owner of `params_rref`, with the arguments that follow."""

    def __init__(self, optimizer_class, params_rref, *args, **kwargs):
        owned = defaultdict(list)
        for rref in params_rref:
            owned[rref.owner()].append(rref)
        self._optimizers = [rpc.remote(owner, _LocalOptimizer, (optimizer_class, rrefs) + args, kwargs)
                            for owner, rrefs in owned.items()]
        wait_all([rpc.rpc_async(rref.owner(), _is_there, (rref,)) for rref in self._optimizers])

    def step(self, context_id):
        """Steps everywhere with the gradients of a context; returns when all have."""
        autograd.get_gradients(context_id)  # raises for one that does not exist
        wait_all([rref.rpc_async().step(context_id) for rref in self._optimizers])


def _is_there(rref):
    rref.local_value()
