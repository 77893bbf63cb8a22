"""Weights as a length times a direction, by a hook (Salimans and Kingma 2016, arXiv:1602.07868)."""


from ... import _C
from ..._tensors.parameter import Parameter, UninitializedParameter
from ..modules._hooks import take_off
from ..._core.warnings import warn


class WeightNorm:
    def __init__(self, name, dim):
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module):
        v, g = (getattr(module, self.name + end) for end in ("_v", "_g"))
        return _C._functional.weight_of_norm(v, g, self.dim)

    @staticmethod
    def apply(module, name, dim):
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        made = WeightNorm(name, dim)
        weight = getattr(module, name)
        if isinstance(weight, UninitializedParameter):
            raise ValueError("The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the "
                             "dummy forward before applying weight normalization")
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(_C.norm_except_dim(weight, 2, made.dim).data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, made.compute_weight(module))
        module.register_forward_pre_hook(made)
        return made

    def remove(self, module):
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name="weight", dim=0):
    """Replaces a parameter by its norms `name_g` along `dim` and `name_v`, from which it is computed before each forward; the
    former form of parametrizations.weight_norm. Gives the module.

    name, dim: as there

    Shapes: g has size 1 but in `dim`, v has the weight's shape.

    >>> nn.utils.weight_norm(nn.Linear(3, 2)).weight_g.shape
    torch.Size([2, 1])
    """
    warn("`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
         FutureWarning)
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name="weight"):
    """Makes the parameter one again, with the value it has. Gives the module; a ValueError where there is no weight norm.

    Shapes: the weight's stays.

    >>> nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Linear(3, 2))).weight.shape
    torch.Size([2, 3])
    """
    return take_off(module, WeightNorm, name, f"weight_norm of '{name}' not found in {module}")
