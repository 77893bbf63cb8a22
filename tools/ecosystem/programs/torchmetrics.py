import torch
from torchmetrics import Accuracy, AUROC, F1Score, MeanMetric, MetricCollection
from torchmetrics.regression import R2Score
from torchmetrics.image import StructuralSimilarityIndexMeasure

from .common import losses, numbers, points, small_net


def forward(folder):
    scores, y = torch.randn(64, 3).softmax(-1), torch.randint(0, 3, (64,))
    pictures = torch.rand(2, 3, 32, 32)
    similarity = StructuralSimilarityIndexMeasure(data_range=1.0)
    return numbers(F1Score("multiclass", num_classes=3)(scores, y), AUROC("multiclass", num_classes=3)(scores, y),
                   similarity(pictures, pictures * 0.9), R2Score()(scores[:, 0], scores[:, 1]))


def training(folder):
    (x, y), net, mean = points(), small_net(), MeanMetric()
    accuracy = MetricCollection({"top1": Accuracy("multiclass", num_classes=3)})

    def loss_of():
        out = net(x)
        loss = torch.nn.functional.cross_entropy(out, y)
        accuracy.update(out, y)
        mean.update(loss)
        return loss
    return losses(net.parameters(), loss_of) + numbers(accuracy.compute()["top1"], mean.compute())


def saving(folder):
    metric, other = (Accuracy("multiclass", num_classes=3) for _ in range(2))
    metric.persistent(True)
    metric.update(torch.randn(16, 3), torch.randint(0, 3, (16,)))
    torch.save(metric.state_dict(), f"{folder}/metric.pt")
    other.load_state_dict(torch.load(f"{folder}/metric.pt"))
    return numbers(metric.compute(), other.compute())
