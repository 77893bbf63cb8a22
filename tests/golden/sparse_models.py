"""Writes tests/optim/sparse_models.inc: losses and gradients of models with sparse tensors, from PyTorch.

Run: python3 -B tests/golden/sparse_models.py > tests/optim/sparse_models.inc
PyTorch 1.13 and 2.15 give the same numbers.
"""
import textwrap

import torch
from torch import optim

torch.set_default_dtype(torch.double)


def row(name, values):
    numbers = ", ".join(f"{float(torch.as_tensor(v).detach()):.12g}" for v in values)
    print(textwrap.fill(f'{{"{name}", {{{numbers}}}}},', 98, initial_indent="    ", subsequent_indent="     "))


def waves(rows, columns, a, b):
    i, j = torch.arange(rows).reshape(-1, 1), torch.arange(columns)
    return torch.sin(a * i + b * j + 0.3)


def graph():
    """The normalised adjacency of a ring of seven nodes with two chords, itself learnable."""
    edges = [(i, (i + 1) % 7) for i in range(7)] + [(0, 3), (2, 5)]
    rows = [a for a, b in edges] + [b for a, b in edges] + list(range(7))
    columns = [b for a, b in edges] + [a for a, b in edges] + list(range(7))
    weights = torch.cos(0.3 * torch.arange(len(rows)).double()).abs() + 0.1
    return torch.tensor([rows, columns]), weights


def convolution():
    """Two graph convolutions (Kipf and Welling 2017), trained with SGD; weights of edges learn, too."""
    indices, weights = graph()
    x, y = waves(7, 3, 0.7, 1.3), waves(7, 2, 1.1, 0.4)
    params = [weights.requires_grad_(), waves(3, 4, 0.9, 2.1).requires_grad_(),
              waves(4, 2, 1.7, 0.6).requires_grad_()]
    optimizer = optim.SGD(params, lr=0.05, momentum=0.9)
    losses = []
    for _ in range(20):
        a = torch.sparse_coo_tensor(indices, params[0], (7, 7))
        hidden = torch.tanh(torch.sparse.mm(a, x @ params[1]))
        loss = ((torch.sparse.mm(a, hidden @ params[2]) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    row("convolution", losses)
    row("convolution edges", params[0].grad)


def embedding(name, make, **options):
    """Words whose vectors predict numbers; some words are rare, and one is the padding."""
    table = torch.nn.Embedding(9, 3, sparse=True, **options)
    with torch.no_grad():
        table.weight.copy_(waves(9, 3, 0.9, 2.1))
    optimizer = make(table.parameters())
    losses = []
    for step in range(20):
        words = torch.tensor([[step % 9, 3, 1], [(2 * step) % 5, 3, (step * step) % 9]])
        target = waves(2, 3, 0.3 * step, 0.5)
        loss = ((table(words).tanh().sum(1) - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    row(name, losses)
    row(name + " weight", table.weight.flatten())


def bags():
    """Means of bags of words, of which one is empty."""
    table = torch.nn.EmbeddingBag(6, 2, mode="mean", sparse=True)
    with torch.no_grad():
        table.weight.copy_(waves(6, 2, 0.9, 2.1))
    optimizer = optim.SparseAdam(list(table.parameters()), lr=0.1)
    for step in range(10):
        words = torch.tensor([0, 1, step % 6, 3, 3, 5])
        loss = (table(words, torch.tensor([0, 2, 2, 4])) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    row("bags weight", table.weight.flatten())


def spread():
    """softmax of sparse rows, as attention over edges has it."""
    indices, weights = graph()
    weights = (3 * weights).requires_grad_()
    a = torch.sparse_coo_tensor(indices, weights, (7, 7)).coalesce()
    out = torch.sparse.mm(torch.sparse.softmax(a, 1), waves(7, 2, 0.7, 1.3))
    (out ** 2).sum().backward()
    row("spread", out.flatten())
    row("spread gradient", weights.grad)


def main():
    print(f"// Written by tests/golden/sparse_models.py from PyTorch {torch.__version__.split('+')[0]}.")
    print("inline const std::map<std::string, std::vector<double>> sparse_models = {")
    convolution()
    embedding("sparse adam", lambda p: optim.SparseAdam(list(p), lr=0.05))
    embedding("sparse adam betas", lambda p: optim.SparseAdam(list(p), lr=0.05, betas=(0.7, 0.9), eps=1e-4))
    embedding("adagrad", lambda p: optim.Adagrad(p, lr=0.3, lr_decay=0.1, initial_accumulator_value=0.1))
    embedding("sgd", lambda p: optim.SGD(p, lr=0.3))
    embedding("sgd momentum", lambda p: optim.SGD(p, lr=0.1, momentum=0.8))
    embedding("padding", lambda p: optim.SparseAdam(list(p), lr=0.05), padding_idx=3)
    bags()
    spread()
    print("};")


main()
