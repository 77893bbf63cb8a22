"""Prints the random numbers that tests/ops/random_test.cpp expects. Run with PyTorch 1.13 (CPU)."""
import torch

CASES = {
    "rand({3})": lambda: torch.rand(3),
    "rand({3}, kDouble)": lambda: torch.rand(3, dtype=torch.float64),
    "randn({5})": lambda: torch.randn(5),
    "randn({17}) from element 12": lambda: torch.randn(17)[12:],
    "randint(0, 100, {5})": lambda: torch.randint(0, 100, (5,)),
    "randint(2**40, {3})": lambda: torch.randint(0, 2**40, (3,)),
    "randperm(8)": lambda: torch.randperm(8),
    "random_, int64": lambda: torch.empty(3, dtype=torch.long).random_(),
    "random_, float32": lambda: torch.empty(3).random_(),
    "bernoulli_(0.5)": lambda: torch.empty(8).bernoulli_(0.5),
    "bernoulli(full({8}, 0.5))": lambda: torch.bernoulli(torch.full((8,), 0.5)),
    "exponential_(2)": lambda: torch.empty(4).exponential_(2.0),
    "normal(mean, 2)": lambda: torch.normal(torch.tensor([1.0, 2, 3]), 2.0),
    "normal(mean, std)": lambda: torch.normal(torch.tensor([1.0, 2, 3]), torch.tensor([1.0, 0.1, 3])),
    "multinomial(w, 3)": lambda: torch.multinomial(torch.tensor([0.1, 0.2, 0.3, 0.4]), 3),
    "multinomial(w, 8, true)": lambda: torch.multinomial(torch.tensor([0.1, 0.2, 0.3, 0.4]), 8, True),
    "multinomial(matrix, 1)": lambda: torch.multinomial(
        torch.tensor([[0.1, 0.2, 0.3, 0.4], [1, 1, 1, 1]]), 1
    ),
}

for name, make in CASES.items():
    torch.manual_seed(0)
    print(f"{name}: {make().tolist()}")
