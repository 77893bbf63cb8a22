import segmentation_models_pytorch as smp
import torch

from .common import losses, numbers


def unet():
    return smp.Unet("resnet18", encoder_weights=None, in_channels=1, classes=2, decoder_channels=(16, 16, 8, 8, 8))


def forward(folder):
    return numbers(unet().eval()(torch.randn(1, 1, 64, 64)), each=8)


def training(folder):
    model, x = smp.FPN("mobilenet_v2", encoder_weights=None, in_channels=1, classes=1).eval(), torch.randn(2, 1, 64, 64)
    y, dice = (torch.rand(2, 1, 64, 64) > 0.5).float(), smp.losses.DiceLoss("binary")
    torch.manual_seed(1)
    return losses(model.parameters(), lambda: dice(model(x), y), lr=1e-3, steps=3)


def saving(folder):
    unet().save_pretrained(folder)
    out = smp.from_pretrained(folder).eval()(torch.ones(1, 1, 64, 64))
    tp, fp, fn, tn = smp.metrics.get_stats(out.sigmoid(), torch.ones(1, 2, 64, 64).long(), mode="multilabel", threshold=0.5)
    return numbers(out, smp.metrics.iou_score(tp, fp, fn, tn, reduction="micro"))
