"""Prints the values, shapes and errors that tests/ops/index_test.cpp expects. Run with PyTorch 1.13."""
import torch

x = torch.arange(24).view(2, 3, 4)
L = torch.tensor
MASK = L([[True, False, True], [False, True, False]])

CASES = {
    "x[None, 1, ..., None, 2]": lambda: x[None, 1, ..., None, 2].shape,
    "x[True]": lambda: x[True].shape,
    "x[False]": lambda: x[False].shape,
    "x[:, [0, 2]]": lambda: x[:, [0, 2]],
    "x[[0, 1], :, [1, 2]]": lambda: x[[0, 1], :, [1, 2]],
    "x[0, [0, 2], [1, 3]]": lambda: x[0, [0, 2], [1, 3]],
    "x[..., [[0, 1], [2, 3]]]": lambda: x[..., L([[0, 1], [2, 3]])].shape,
    "x[[0, 1], None, [1, 2]]": lambda: x[L([0, 1]), None, L([1, 2])].shape,
    "x[[-1, 0], [-1, 0]]": lambda: x[L([-1, 0]), L([-1, 0])],
    "x.T[[3, 0], 1]": lambda: x.transpose(0, 2)[L([3, 0]), 1],
    "x[x % 5 == 0]": lambda: x[x % 5 == 0],
    "x[mask]": lambda: x[MASK],
    "x[mask, [0, 1, 2]]": lambda: x[MASK, L([0, 1, 2])],
    "x[5]": lambda: x[5],
    "x[0, [3]]": lambda: x[0, L([3])],
    "x[[0, 1], [0, 1, 2]]": lambda: x[L([0, 1]), L([0, 1, 2])],
    "x[0, 0, 0, 0]": lambda: x[0, 0, 0, 0],
    "x[[True]]": lambda: x[L([True])],
    "zeros(0, 3)[[0]]": lambda: torch.zeros(0, 3)[L([0])],
    "index_put_ accumulate": lambda: x.clone().index_put_(
        (L([0, 0]), L([1, 1]), L([2, 2])), L([5, 6]), True
    )[0, 1],
    "index_put_ dtype": lambda: x.clone().index_put_((L([0]),), L([1.0])),
    "index_put_ shape": lambda: x.clone().index_put_((L([0, 1]),), torch.zeros(3, dtype=torch.long)),
    "gather range": lambda: x.gather(0, L([[[5]]])),
    "gather dims": lambda: x.float().gather(0, L([0])),
    "scatter dtype": lambda: x.scatter(0, L([[[0]]]), L([[[1.0]]])),
    "masked_fill 2.5": lambda: x.masked_fill(x > 3, 2.5)[0],
}

for name, make in CASES.items():
    try:
        result = make()
        print(f"{name}: {result.tolist() if isinstance(result, torch.Tensor) else result}")
    except (RuntimeError, IndexError) as error:
        print(f"{name}: {type(error).__name__}: {error}")
