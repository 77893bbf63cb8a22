"""Flattening and its inverse."""

from .module import Module


class Flatten(Module):
    """Makes the dimensions from start_dim to end_dim one.

    start_dim: the first of them; 1 unless given, which keeps a batch
    end_dim: the last of them; -1 unless given

    Shapes: input [*, S_start, ..., S_end, *], result [*, S_start ... S_end, *].

    >>> nn.Flatten()(torch.zeros(2, 3, 4)).shape
    torch.Size([2, 12])
    """

    __constants__ = ["start_dim", "end_dim"]

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Makes one dimension several.

    dim: the dimension, an int
    unflattened_size: sizes of those that take its place, a tuple, list or torch.Size of ints, one of which may be -1; others
        are a TypeError

    Shapes: input [*, S, *], result [*, U_1, ..., U_k, *] with S = U_1 ... U_k.

    >>> nn.Unflatten(1, (2, 3))(torch.zeros(4, 6)).shape
    torch.Size([4, 2, 3])
    """

    __constants__ = ["dim", "unflattened_size"]

    def __init__(self, dim, unflattened_size):
        super().__init__()
        if isinstance(dim, str):
            raise TypeError("unflattened_size must be a tuple of tuples, but found type " + type(unflattened_size).__name__)
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}")
        for at, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(f"unflattened_size must be tuple of ints, but found element of type {type(size).__name__} at "
                                f"pos {at}")
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self):
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
