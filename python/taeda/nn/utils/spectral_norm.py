"""Weights divided by their largest singular value, by a hook (Miyato et al. 2018, arXiv:1802.05957)."""

from ... import _C
from ...autograd.modes import no_grad
from ..._tensors.parameter import Parameter, UninitializedParameter
from ..modules._hooks import take_off

_F = _C._functional


class SpectralNorm:
    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name, self.dim, self.n_power_iterations, self.eps = name, dim, n_power_iterations, eps

    def compute_weight(self, module, do_power_iteration):
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        steps = self.n_power_iterations if do_power_iteration else 0
        return _F.weight_of_spectral_norm(weight, u, v, steps, self.dim, self.eps)

    def remove(self, module):
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for end in ("_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        made = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if isinstance(weight, UninitializedParameter):
            raise ValueError("The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the "
                             "dummy forward before applying spectral normalization")
        u, v = _F.first_singular_vectors(weight, dim, eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(made)
        return made


def default_dim(module):
    """The dimension of a weight's outputs: the second one of transposed convolutions, the first one otherwise."""
    from ..modules.conv import _ConvTransposeNd
    return 1 if isinstance(module, _ConvTransposeNd) else 0


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Replaces a parameter by `name_orig`, from which, divided by its largest singular value, it is computed before each
    forward; the former form of parametrizations.spectral_norm. Gives the module.

    name, n_power_iterations, eps, dim: as there

    Shapes: the weight's stays.

    >>> nn.utils.spectral_norm(nn.Linear(3, 2)).weight_orig.shape
    torch.Size([2, 3])
    """
    SpectralNorm.apply(module, name, n_power_iterations, default_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module, name="weight"):
    """Makes the parameter one again, with the value it has. Gives the module; a ValueError where there is no spectral norm.

    Shapes: the weight's stays.

    >>> nn.utils.remove_spectral_norm(nn.utils.spectral_norm(nn.Linear(3, 2))).weight.shape
    torch.Size([2, 3])
    """
    return take_off(module, SpectralNorm, name, f"spectral_norm of '{name}' not found in {module}")
