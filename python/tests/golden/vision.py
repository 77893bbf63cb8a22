"""Makes vision.json: what torchvision 0.29 gives for fixed seeds. Run by a Python with PyTorch 2.15 and torchvision."""

import json
import sys

import torch
import torchvision.models as models
import torchvision.transforms as T
import torchvision.transforms.functional as F
import torchvision.utils


def picture(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(4))


def digest(tensor):
    """Shape, dtype, and some of its numbers."""
    flat = tensor.flatten().to(torch.float64)
    step = max(1, flat.numel() // 20)
    return {"shape": list(tensor.shape), "dtype": str(tensor.dtype), "sum": flat.sum().item(),
            "some": [round(v, 6) for v in flat[::step].tolist()]}


RANDOM = {
    "crop": lambda: T.RandomCrop(7, padding=2), "crop_reflect": lambda: T.RandomCrop((6, 9), 3, padding_mode="reflect"),
    "crop_needed": lambda: T.RandomCrop(20, pad_if_needed=True, fill=1), "hflip": lambda: T.RandomHorizontalFlip(),
    "vflip": lambda: T.RandomVerticalFlip(), "resized": lambda: T.RandomResizedCrop(8),
    "resized_wide": lambda: T.RandomResizedCrop((5, 9), scale=(0.5, 1.0), ratio=(0.5, 2.0)),
    "jitter": lambda: T.ColorJitter(0.4, 0.3, 0.2, 0.1), "jitter_range": lambda: T.ColorJitter((0.5, 0.9), 0, (1, 2), 0),
    "rotation": lambda: T.RandomRotation(30), "rotation_bilinear": lambda: T.RandomRotation(
        (10, 60), interpolation=T.InterpolationMode.BILINEAR, expand=True, fill=0.5),
    "affine": lambda: T.RandomAffine(20, (0.1, 0.2), (0.8, 1.2), 10), "affine_4": lambda: T.RandomAffine(
        5, shear=(-5, 5, -8, 8), interpolation=T.InterpolationMode.BILINEAR, fill=1),
    "gray": lambda: T.RandomGrayscale(0.5), "erasing": lambda: T.RandomErasing(0.8),
    "erasing_random": lambda: T.RandomErasing(1.0, value="random"), "erasing_colour": lambda: T.RandomErasing(
        1.0, value=(0.1, 0.2, 0.3)), "blur": lambda: T.GaussianBlur(5), "blur_wide": lambda: T.GaussianBlur((3, 5), (1.0, 2.0)),
    "perspective": lambda: T.RandomPerspective(0.5, 1.0), "apply": lambda: T.RandomApply([T.Pad(1)], 0.5),
    "invert": lambda: T.RandomInvert(), "solarize": lambda: T.RandomSolarize(0.5),
    "sharp": lambda: T.RandomAdjustSharpness(2, 1.0),
    "contrast": lambda: T.RandomAutocontrast(1.0), "five": lambda: T.Compose([T.FiveCrop(6), T.Lambda(torch.stack)]),
    "ten": lambda: T.Compose([T.TenCrop((5, 6)), T.Lambda(torch.stack)]),
}
FIXED = {
    "resize": lambda x: F.resize(x, 8), "resize_up": lambda x: F.resize(x, [30, 20]),
    "resize_plain": lambda x: F.resize(x, [7, 9], antialias=False), "resize_max": lambda x: F.resize(x, 10, max_size=12),
    "resize_nearest": lambda x: F.resize(x, [9, 7], T.InterpolationMode.NEAREST),
    "resize_bicubic": lambda x: F.resize(x, [9, 7], T.InterpolationMode.BICUBIC),
    "center": lambda x: F.center_crop(x, 7), "center_large": lambda x: F.center_crop(x, [21, 9]),
    "pad": lambda x: F.pad(x, [1, 2, 3, 4], 0.5), "pad_edge": lambda x: F.pad(x, [2, 1], padding_mode="edge"),
    "pad_reflect": lambda x: F.pad(x, 3, padding_mode="reflect"),
    "pad_symmetric": lambda x: F.pad(x, 3, padding_mode="symmetric"),
    "crop_outside": lambda x: F.crop(x, -2, 3, 8, 30), "brightness": lambda x: F.adjust_brightness(x, 1.7),
    "contrast": lambda x: F.adjust_contrast(x, 0.4), "saturation": lambda x: F.adjust_saturation(x, 2.5),
    "hue": lambda x: F.adjust_hue(x, 0.3), "gamma": lambda x: F.adjust_gamma(x, 2.2),
    "gray": lambda x: F.rgb_to_grayscale(x, 3),
    "rotate": lambda x: F.rotate(x, 33, expand=True, fill=[0.1, 0.2, 0.3]), "rotate_center": lambda x: F.rotate(
        x, -45, T.InterpolationMode.BILINEAR, center=[3, 4]), "affine": lambda x: F.affine(x, 15, [1, 2], 1.3, [5.0]),
    "perspective": lambda x: F.perspective(x, [[0, 0], [14, 0], [14, 11], [0, 11]], [[1, 2], [12, 0], [14, 9], [0, 11]]),
}
# Chosen changes, each of a picture of bytes.
CHOSEN = {
    "imagenet": lambda: T.AutoAugment(), "cifar10": lambda: T.AutoAugment(T.AutoAugmentPolicy.CIFAR10, fill=100),
    "svhn": lambda: T.AutoAugment(T.AutoAugmentPolicy.SVHN, T.InterpolationMode.BILINEAR, [10, 20, 30]),
    "rand": lambda: T.RandAugment(), "rand_strong": lambda: T.RandAugment(4, 20, 25, fill=7),
    "trivial": lambda: T.TrivialAugmentWide(), "mix": lambda: T.AugMix(), "mix_deep": lambda: T.AugMix(
        7, 2, 4, 0.5, False, T.InterpolationMode.NEAREST, 50),
}
BYTES = {"posterize": lambda x: F.posterize(x, 3), "equalize": F.equalize, "to_float": F.convert_image_dtype}


def compute():
    out = {}
    image = picture(3, 12, 15)
    small = (image * 255.999).to(torch.uint8)
    for name, make in RANDOM.items():
        transform = make()
        for seed in range(3):
            torch.manual_seed(seed)
            out[f"random_{name}_{seed}"] = digest(transform(image))
    for name, make in CHOSEN.items():
        transform = make()
        for seed in range(12):
            torch.manual_seed(seed)
            out[f"bytes_{name}_{seed}"] = digest(transform(small))
    for name, change in FIXED.items():
        out[f"fixed_{name}"] = digest(change(image))
        if name not in ("perspective", "rotate_center", "rotate", "resize_bicubic"):
            out[f"bytes_{name}"] = digest(change(small))
    for name, change in BYTES.items():
        out[f"bytes_{name}"] = digest(change(small))
    out["normalize"] = digest(F.normalize(image, (0.4, 0.5, 0.6), (0.2, 0.3, 0.4)))
    out["grid"] = digest(torchvision.utils.make_grid(picture(5, 3, 6, 4), 3, 1, pad_value=0.5))
    out["grid_normalized"] = digest(torchvision.utils.make_grid(picture(3, 1, 6, 4), normalize=True, scale_each=True))
    for name in ("resnet18", "resnet50", "vgg11_bn", "mobilenet_v2", "alexnet", "resnext50_32x4d"):
        torch.manual_seed(1)
        model = getattr(models, name)(num_classes=5).eval()
        state = model.state_dict()
        out[f"model_{name}"] = {"names": list(state), "shapes": [list(v.shape) for v in state.values()],
                                "first": digest(next(iter(state.values()))), "last": digest(list(state.values())[-2]),
                                "output": digest(model(picture(1, 3, 64, 64)).detach())}
    return out


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump(compute(), file)
