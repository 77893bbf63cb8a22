"""A stage whose activations are computed again in backward instead of kept."""

from .... import _C
from ....autograd.function import Function
from ....autograd.modes import enable_grad, no_grad
from ....autograd.passes import backward


class Again(Function):
    """Runs `stage(*values)`; in backward it runs once more, with the random numbers of the first time."""

    @staticmethod
    def forward(ctx, stage, generators, *values):
        ctx.stage, ctx.generators = stage, generators
        ctx.states = [g.get_state() for g in generators]
        ctx.places = [i for i, v in enumerate(values) if isinstance(v, _C.TensorBase)]
        ctx.wants = [values[i].requires_grad for i in ctx.places]
        ctx.others = [None if isinstance(v, _C.TensorBase) else v for v in values]
        ctx.save_for_backward(*(values[i] for i in ctx.places))
        with no_grad():
            out = stage(*values)
        return tuple(out) if isinstance(out, (list, tuple)) else out

    @staticmethod
    def backward(ctx, *grads):
        values = list(ctx.others)
        for place, tensor, wants in zip(ctx.places, ctx.saved_tensors, ctx.wants):
            values[place] = tensor.detach().requires_grad_(wants)
        now = [g.get_state() for g in ctx.generators]
        try:
            for generator, state in zip(ctx.generators, ctx.states):
                generator.set_state(state)
            with enable_grad():
                out = ctx.stage(*values)
        finally:
            for generator, state in zip(ctx.generators, now):
                generator.set_state(state)
        out = out if isinstance(out, (list, tuple)) else (out,)
        pairs = [(o, g) for o, g in zip(out, grads) if isinstance(o, _C.TensorBase) and o.requires_grad and g is not None]
        if pairs:
            backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None) + tuple(v.grad if isinstance(v, _C.TensorBase) else None for v in values)
