"""How a tensor would lie on the devices along one dimension of a mesh: values that programs put into their plans."""

import dataclasses


class Placement:
    """The base of the three."""

    def is_shard(self, dim=None):
        """Whether it cuts the tensor, along a dimension where one is given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self):
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op=None):
        """Whether each device has a part of a reduction, of a kind where one is given."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclasses.dataclass(frozen=True)
class Shard(Placement):
    """Cut along a dimension of the tensor, a piece on each device."""

    dim: int


@dataclasses.dataclass(frozen=True)
class _StridedShard(Shard):
    """Cut along a dimension that another dimension of the mesh cuts, too, into `split_factor` pieces, afterwards."""

    split_factor: int = dataclasses.field(kw_only=True)


@dataclasses.dataclass(frozen=True)
class Replicate(Placement):
    """Whole on each device."""


@dataclasses.dataclass(frozen=True)
class Partial(Placement):
    """On each device a part of a reduction that has still to be made."""

    reduce_op: str = "sum"

    def __repr__(self):
        return f"Partial({self.reduce_op})"
