import torch
from vector_quantize_pytorch import FSQ, LFQ, ResidualVQ, VectorQuantize

from .common import copied_by_file, losses, numbers


def forward(folder):
    x = torch.randn(2, 6, 8)
    found, indices, loss = VectorQuantize(dim=8, codebook_size=16).eval()(x)
    levels, codes = FSQ([4, 4, 3], dim=8)(x)
    return numbers(found, indices, loss, levels, codes, LFQ(codebook_size=16, dim=8).eval()(x).indices)


def training(folder):
    x, inner, outer = torch.randn(2, 6, 8), torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)
    quantize = VectorQuantize(dim=8, codebook_size=8, kmeans_init=True, threshold_ema_dead_code=1, rotation_trick=True)

    def loss_of():
        found, _, loss = quantize(inner(x))
        return (outer(found) - x).square().mean() + loss.sum()
    return losses([*inner.parameters(), *outer.parameters()], loss_of)


def saving(folder):
    made = [ResidualVQ(dim=8, num_quantizers=2, codebook_size=16) for _ in range(2)]
    made[0](torch.randn(2, 6, 8))
    found, indices, _ = copied_by_file(*made, folder)(torch.ones(1, 3, 8))
    return numbers(found, indices)
