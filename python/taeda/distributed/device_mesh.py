"""Ranks in a grid, with a process group for each line of it: torch.distributed.device_mesh."""

import math

from .. import _C
from .groups import get_rank, get_world_size, init_process_group, is_initialized, new_group

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Ranks of the world in a tensor `mesh`, of any shape. All processes make it, in the same order; each line along a
    dimension is a group.

    A mesh that is taken out of another by the names of its dimensions has the groups of that one.

    >>> torch.distributed.DeviceMesh("cpu", [[0]]).shape
    (1, 1)
    """

    def __init__(self, device_type, mesh, *, mesh_dim_names=None):
        if not is_initialized():
            init_process_group()
        self.device_type = str(device_type)
        self.mesh = (mesh.detach() if isinstance(mesh, _C.TensorBase) else _C._tensor_from(mesh, None, None)).to(_C.int64).cpu()
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        ranks = self.mesh.flatten().tolist()
        if len(set(ranks)) != len(ranks) or not all(0 <= rank < get_world_size() for rank in ranks):
            raise RuntimeError(f"DeviceMesh cannot have ranks twice, or others than those of the world, but got {ranks}")
        if self.mesh_dim_names is not None:
            _check_names(self.mesh_dim_names, self.mesh.dim())
        self._groups = [self._make_groups(dim) for dim in range(self.mesh.dim())]

    def _make_groups(self, dim):
        """The group of this rank along a dimension; None for a rank that is not in the mesh."""
        if self.mesh.size(dim) == get_world_size() and self.mesh.flatten().tolist() == list(range(get_world_size())):
            from .groups import group
            return group.WORLD
        mine = None
        for line in self.mesh.movedim(dim, -1).reshape(-1, self.mesh.size(dim)).tolist():
            made = new_group(line)
            mine = made if get_rank() in line else mine
        return mine

    @property
    def shape(self):
        return tuple(self.mesh.shape)

    @property
    def ndim(self):
        return self.mesh.dim()

    def size(self, mesh_dim=None):
        """How many ranks there are, in all or along a dimension."""
        return self.mesh.numel() if mesh_dim is None else self.mesh.size(mesh_dim)

    def _place(self, mesh_dim):
        if mesh_dim is None:
            if self.ndim != 1:
                raise RuntimeError(f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to be "
                                   "specified when device_mesh.ndim > 1.")
            return 0
        if isinstance(mesh_dim, str):
            if self.mesh_dim_names is None or mesh_dim not in self.mesh_dim_names:
                raise KeyError(f"Mesh dimension '{mesh_dim}' does not exist. Available mesh dimensions are: "
                               f"mesh_dim_names={self.mesh_dim_names}")
            return self.mesh_dim_names.index(mesh_dim)
        return mesh_dim

    def get_group(self, mesh_dim=None):
        """The process group of this rank's line along a dimension, by number or name."""
        return self._groups[self._place(mesh_dim)]

    def get_all_groups(self):
        return list(self._groups)

    def get_rank(self):
        """This process's rank in the world."""
        return get_rank()

    def get_coordinate(self):
        """This rank's place in the mesh, or None."""
        found = (self.mesh == get_rank()).nonzero()
        return found[0].tolist() if len(found) else None

    def get_local_rank(self, mesh_dim=None):
        """This rank's place along a dimension."""
        place = self._place(mesh_dim)
        where = self.get_coordinate()
        if where is None:
            raise RuntimeError(f"rank {get_rank()} is not in the mesh {self}")
        return where[place]

    def __getitem__(self, mesh_dim_names):
        """The mesh of this rank's line, or plane, along the dimensions that are named."""
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if self.mesh_dim_names is None:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        places = [self._place(name) for name in names]
        where = self.get_coordinate()
        if where is None:
            raise RuntimeError(f"rank {get_rank()} is not in the mesh {self}")
        part = self.mesh[tuple(slice(None) if dim in places else where[dim] for dim in range(self.ndim))]
        kept = sorted(places)
        made = object.__new__(DeviceMesh)
        made.device_type, made.mesh_dim_names = self.device_type, names
        made.mesh = part.permute([kept.index(place) for place in places])
        made._groups = [self._groups[place] for place in places]
        return made

    def __eq__(self, other):
        return isinstance(other, DeviceMesh) and self.device_type == other.device_type and self.shape == other.shape \
            and self.mesh_dim_names == other.mesh_dim_names and _C.equal(self.mesh, other.mesh)

    def __hash__(self):
        return hash((self.device_type, self.shape, self.mesh_dim_names, tuple(self.mesh.flatten().tolist())))

    def __repr__(self):
        shape = ", ".join(f"{name}={n}" for name, n in zip(self.mesh_dim_names,
                                                           self.shape)) if self.mesh_dim_names else ", ".join(
            map(str, self.shape))
        return f"DeviceMesh(({shape}), '{self.device_type}', {self.mesh.tolist()})"


def _check_names(names, dims):
    if len(set(names)) != len(names):
        raise RuntimeError(f"Each mesh_dim_name must be unique. Found repeated mesh_dim_name in mesh_dim_names {tuple(names)}")
    if len(names) != dims:
        raise RuntimeError("mesh_shape and mesh_dim_names should have same length! Found "
                           f"len(mesh_dim_names): {len(names)} and len(mesh_shape):{dims}.")


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None):
    """The ranks 0, 1, ... in a grid of that shape, which has as many places as there are ranks.

    >>> torch.distributed.init_device_mesh("cpu", (1,), mesh_dim_names=("data",)).mesh
    tensor([0])
    """
    if mesh_dim_names is not None:
        _check_names(mesh_dim_names, len(mesh_shape))
    if not device_type.isalpha():
        raise RuntimeError(f"Device type with index is not supported but got {device_type}. If you maintained a 'torch.device' "
                           "object, it's recommended to pass in 'device.type'.")
    return DeviceMesh(device_type, _C.arange(math.prod(mesh_shape)).view(tuple(mesh_shape)), mesh_dim_names=mesh_dim_names)
