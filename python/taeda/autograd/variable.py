"""torch.autograd.variable."""

from .. import autograd

Variable = autograd.Variable

__all__ = ["Variable"]
