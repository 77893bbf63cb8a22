"""torch.quasirandom: points that fill a cube more evenly than random ones."""

import os

from . import _C
from ._operations.written import into
from .autograd.modes import no_grad

_BITS = 30


def _degrees(count):
    """How many primitive polynomials over two elements have each degree from 1 on: phi(2^s - 1) / s."""
    for degree in range(1, count + 1):
        number, totient, divisor = 2 ** degree - 1, 2 ** degree - 1, 3
        while number > 1:
            if number % divisor == 0:
                totient -= totient // divisor
                while number % divisor == 0:
                    number //= divisor
            divisor += 2
        yield degree, totient // degree


def _rows(count):
    """Degree, inner coefficients and initial numbers of the first `count` dimensions after the first.

    `sobol_numbers.bin` holds those of S. Joe and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional
    projections, SIAM J. Sci. Comput. 30 (2008), 2635-2654 (new-joe-kuo-6), for all polynomials of degree up to 16, as one row
    of bits: for each polynomial x^s + a_1 x^(s-1) + ... + 1 in order its s - 1 inner coefficients, and of its numbers
    m_1 ... m_s, of which m_i is odd and below 2^i, what is above the lowest bit, in i - 1 bits.
    """
    with open(os.path.join(os.path.dirname(__file__), "sobol_numbers.bin"), "rb") as file:
        data = file.read()
    at = 0
    for degree, polynomials in _degrees(16):
        size = (degree - 1) * (degree + 2) // 2
        for _ in range(min(polynomials, count)):
            row = int.from_bytes(data[at // 8:(at + size + 7) // 8], "big") >> -(at + size) % 8
            numbers = []
            for bits in range(degree - 1, -1, -1):
                numbers.append((row & (1 << bits) - 1) << 1 | 1)
                row >>= bits
            yield degree, row & (1 << degree - 1) - 1, numbers[::-1]
            at += size
        count -= min(polynomials, count)


def _directions(dimension):
    """Direction numbers (dimension, bits): column j is added to a point where bit j of its Gray code changes."""
    out = [[1 << _BITS - 1 - j for j in range(_BITS)]]
    for degree, inner, numbers in _rows(dimension - 1):
        row = [number << _BITS - 1 - j for j, number in enumerate(numbers)]
        for j in range(degree, _BITS):
            value = row[j - degree] ^ row[j - degree] >> degree
            for k in range(1, degree):
                if inner >> degree - 1 - k & 1:
                    value ^= row[j - k]
            row.append(value)
        out.append(row)
    return _C._tensor_from(out, _C.int64, None)


class SobolEngine:
    """Points of a Sobol sequence in the unit cube of `dimension` dimensions, scrambled on request by a random matrix and shift.

    Without `scramble` the first point is zero, as in PyTorch, whose points these are.
    """

    MAXBIT, MAXDIM = _BITS, 5715

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self.sobolstate = _directions(dimension)
        self.shift = _C.zeros(dimension, dtype=_C.int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2 ** self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self):
        generator = _C.Generator()
        if self.seed is None:
            generator.seed()
        else:
            generator.manual_seed(self.seed)
        weights = _C.pow(2, _C.arange(self.MAXBIT))
        self.shift = (_C.randint(2, (self.dimension, self.MAXBIT), generator=generator) * weights).sum(1)
        mixing = _C.randint(2, (self.dimension, self.MAXBIT, self.MAXBIT), generator=generator).tril()
        mixing.diagonal(dim1=1, dim2=2).fill_(1)
        descending = weights.flip(0)
        bits = (self.sobolstate.unsqueeze(1) & descending.view(-1, 1)).ne(0)
        mixed = _C.matmul(mixing.to(_C.float32), bits.to(_C.float32)).to(_C.int64) & 1
        self.sobolstate = (mixed * descending.view(-1, 1)).sum(1)

    def _points(self, begin, count):
        """Points as integers (count, dimension), from the one that `begin` others precede."""
        at = _C.arange(begin, begin + count)
        gray = (at ^ at >> 1).unsqueeze(1)
        out = self.shift.expand(count, self.dimension).clone()
        for bit in range((begin + count).bit_length()):
            out ^= (gray >> bit & 1) * self.sobolstate[:, bit]
        return out

    def _check(self, n):
        new = n if self.num_generated else n - 1  # the first point is there without a step
        if new < 0:
            raise ValueError(f"n must be non-negative, but got {new}")
        if self.num_generated + n > 2 ** self.MAXBIT:
            raise ValueError(f"SobolEngine can generate at most {2 ** self.MAXBIT} points")

    def draw(self, n=1, out=None, dtype=None):
        """The next `n` points, of shape (n, dimension)."""
        dtype = _C.get_default_dtype() if dtype is None else dtype
        self._check(n)
        if dtype not in (_C.float32, _C.float64):
            raise NotImplementedError(f'"_sobol_engine_draw" not implemented for {dtype}')
        with no_grad():
            points = self._points(self.num_generated, n)
            result = points.to(dtype) * 2.0 ** -self.MAXBIT
            if n and self.num_generated == 0:
                result[:1] = self._first_point
            if n:
                self.quasi = points[-1].clone()
            self.num_generated += n
            return into(out, result)

    def draw_base2(self, m, out=None, dtype=None):
        """The next 2^m points; ValueError unless the points so far are a power of two then."""
        n = 2 ** m
        total = self.num_generated + n
        if total & total - 1:
            raise ValueError(
                f"The balance properties of Sobol' points require n to be a power of 2. {self.num_generated} points have been "
                f"previously generated, then: n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead.")
        return self.draw(n, out=out, dtype=dtype)

    def reset(self):
        """Begins anew."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        """Leaves out the next `n` points."""
        self._check(n)
        self.num_generated += n
        if self.num_generated:
            self.quasi = self._points(self.num_generated - 1, 1)[0]
        return self

    def __repr__(self):
        words = [f"dimension={self.dimension}"]
        if self.scramble:
            words.append("scramble=True")
        if self.seed is not None:
            words.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(words)})"


__all__ = ["SobolEngine"]
