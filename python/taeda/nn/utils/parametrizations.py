"""Parametrizations that are known by name."""

from ... import _C
from ...autograd.modes import no_grad
from .. import functional as F
from ..modules.module import Module
from .parametrize import register_parametrization
from .spectral_norm import default_dim

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

_F = _C._functional


class _WeightNorm(Module):
    """original0: norms along `dim`, original1: directions."""

    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return _F.weight_of_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        return _C.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """A weight as a length times a direction: w = g v / |v| (Salimans and Kingma 2016, arXiv:1602.07868). Gives the module.

    name: of the parameter; "weight" unless given
    dim: along which there is a length for each index; 0 unless given, None for one length

    Shapes: g has size 1 but in `dim`, v has the weight's shape.

    >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    >>> layer.parametrizations.weight.original0.shape
    torch.Size([2, 1])
    """
    module._register_load_state_dict_pre_hook(_OldNames(name))
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _OldNames:
    """Reads `weight_g` and `weight_v` of files that were written with torch.nn.utils.weight_norm."""

    def __init__(self, name):
        self.name = name

    def __call__(self, state_dict, prefix, *args):
        old = [f"{prefix}{self.name}_{end}" for end in "gv"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{self.name}.original{i}"] = state_dict.pop(key)


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        if dim >= weight.dim() or dim < -weight.dim():
            raise IndexError(f"Dimension out of range (expected to be in range of [-{weight.dim()}, {weight.dim() - 1}] but "
                             f"got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim = dim if dim >= 0 else dim + weight.dim()
        self.eps = eps
        if weight.dim() > 1:
            self.n_power_iterations = n_power_iterations
            u, v = _F.first_singular_vectors(weight, self.dim, eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            with no_grad():
                _F.weight_of_spectral_norm(weight, u, v, 15, self.dim, eps)

    def forward(self, weight):
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        steps = self.n_power_iterations if self.training else 0
        return _F.weight_of_spectral_norm(weight, self._u, self._v, steps, self.dim, self.eps)

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """A weight divided by its largest singular value, which power iterations find (Miyato et al. 2018, arXiv:1802.05957). Gives
    the module.

    name: of the parameter; "weight" unless given
    n_power_iterations: in each forward while training; 1 unless given; not positive is a ValueError
    eps: 1e-12 unless given
    dim: which dimension the rows of the matrix are; 0 unless given, 1 of transposed convolutions

    Shapes: the weight's stays.

    >>> nn.utils.parametrizations.spectral_norm(nn.Linear(3, 2)).weight.shape
    torch.Size([2, 3])
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.TensorBase):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    made = _SpectralNorm(weight, n_power_iterations, default_dim(module) if dim is None else dim, eps)
    return register_parametrization(module, name, made)


class _Orthogonal(Module):
    """A product of reflections, or the exponential or Cayley map of a skew-symmetric matrix times a base."""

    def __init__(self, weight, how, use_trivialization):
        super().__init__()
        if weight.is_complex() and how == "householder":
            raise ValueError("Householder parametrization does not support complex tensors.")
        self.shape, self.how = weight.shape, how
        if use_trivialization and how != "householder":
            self.register_buffer("base", None)

    def forward(self, x):
        turned = x.size(-2) < x.size(-1)
        x = x.mT if turned else x
        rows, columns = x.size(-2), x.size(-1)
        if self.how == "householder":
            reflectors = x.tril(-1)
            tau = 2.0 / (1.0 + (reflectors * reflectors).sum(-2))
            q = _C._linalg.householder_product(reflectors, tau) * x.diagonal(0, -2, -1).sign().detach().unsqueeze(-2)
            return q.mT if turned else q
        low = x.tril()
        if rows != columns:
            low = _C.cat([low, low.new_zeros(*x.shape[:-2], rows, rows - columns)], -1)
        skew = low - low.mH
        if self.how == "matrix_exp":
            q = _C._linalg.matrix_exp(skew)
        else:
            unit = _C.eye(rows, dtype=x.dtype, device=x.device)
            q = _C._linalg.solve(unit + skew / -2, unit + skew / 2)
        q = q[..., :columns]
        if getattr(self, "base", None) is not None:
            q = self.base @ q
        return q.mT if turned else q

    def right_inverse(self, value):
        """Zero with the matrix's orthogonal factor as the base."""
        if value.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape "
                             f"{value.shape}.")
        tall = value.mT if value.size(-2) < value.size(-1) else value
        if self.how == "householder":
            reflectors, tau = _C.geqrf(tall)
            signs = reflectors.diagonal(0, -2, -1).sign()
            signs = _C.where(tau == 0, -signs, signs)
            made = reflectors.tril(-1) + _C.diag_embed(signs) if tall.size(-2) == tall.size(-1) else (
                reflectors.tril(-1) + _C.cat([_C.diag_embed(signs), reflectors.new_zeros(
                    *tall.shape[:-2], tall.size(-2) - tall.size(-1), tall.size(-1))], -2))
            return made.mT if tall is not value else made
        if not hasattr(self, "base"):
            raise NotImplementedError("It is not possible to assign to the matrix exponential or the Cayley parametrizations "
                                      "when use_trivialization=False.")
        q, r = _C._linalg.qr(tall, "complete" if tall.size(-2) != tall.size(-1) else "reduced")
        signs = r.diagonal(0, -2, -1).sgn()
        q = _C.cat([q[..., :tall.size(-1)] * signs.unsqueeze(-2), q[..., tall.size(-1):]], -1)
        self.base = q
        return _C.zeros_like(value)


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """A weight with orthonormal rows or columns, whichever are fewer. Gives the module.

    name: of the parameter; "weight" unless given
    orthogonal_map: "matrix_exp", "cayley" or "householder", else ValueError; unless given, the first for square matrices and
        the last for others
    use_trivialization: whether the map is one from a fixed matrix on; True unless given

    Shapes: the weight's stays; fewer than two dimensions are a ValueError.

    >>> w = nn.utils.parametrizations.orthogonal(nn.Linear(4, 4)).weight
    >>> torch.allclose(w @ w.T, torch.eye(4), atol=1e-5)
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.TensorBase):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map not in (None, "matrix_exp", "cayley", "householder"):
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: ' + str(orthogonal_map))
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) or weight.is_complex() else "householder"
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
