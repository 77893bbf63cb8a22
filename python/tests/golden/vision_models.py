"""Makes vision_models.json: names and shapes, first weights and outputs of torchvision 0.29's networks, and how pictures are
prepared for their weights. Run by a Python with PyTorch 2.15 and torchvision."""

import hashlib
import json
import sys
import warnings

import torch
import torchvision.models as models

# name: side of the picture, and what else it is made with
MODELS = {
    "densenet121": (32, {}), "squeezenet1_0": (64, {}), "squeezenet1_1": (64, {}), "mobilenet_v3_large": (32, {}),
    "mobilenet_v3_small": (32, {"reduced_tail": True}), "efficientnet_b0": (32, {}), "efficientnet_b1": (32, {}),
    "efficientnet_v2_s": (32, {}), "vit_b_32": (64, {"image_size": 64}), "convnext_tiny": (32, {}),
    "shufflenet_v2_x0_5": (32, {}), "shufflenet_v2_x1_0": (32, {}), "mnasnet0_5": (32, {}), "mnasnet1_3": (32, {}),
    "googlenet": (64, {"init_weights": False}), "inception_v3": (299, {"init_weights": False}),
    "swin_t": (64, {}), "swin_v2_t": (72, {}), "regnet_y_400mf": (32, {}), "regnet_x_400mf": (32, {}), "maxvit_t": (224, {}),
}
# Too large to be made in a test: names and shapes alone, on the device meta.
SHAPES = ["densenet161", "densenet169", "densenet201", "efficientnet_b5", "efficientnet_b7", "efficientnet_v2_l", "vit_b_16",
          "vit_h_14", "convnext_base", "convnext_large", "shufflenet_v2_x2_0", "resnext101_32x8d", "resnext101_64x4d",
          "wide_resnet101_2", "mnasnet0_75", "swin_s", "swin_b", "swin_v2_s", "swin_v2_b"]
# Counted in numbers of any kind, so made on the CPU.
COUNTED = ["regnet_y_800mf", "regnet_y_1_6gf", "regnet_y_3_2gf", "regnet_x_800mf", "regnet_x_1_6gf", "regnet_x_3_2gf"]
URLS = ["DenseNet121_Weights", "DenseNet161_Weights", "DenseNet169_Weights", "DenseNet201_Weights", "SqueezeNet1_0_Weights",
        "SqueezeNet1_1_Weights", "MobileNet_V3_Large_Weights", "MobileNet_V3_Small_Weights", "EfficientNet_V2_S_Weights",
        "EfficientNet_V2_M_Weights", "EfficientNet_V2_L_Weights", "ViT_B_16_Weights", "ViT_B_32_Weights", "ViT_L_16_Weights",
        "ViT_L_32_Weights", "ViT_H_14_Weights", "ConvNeXt_Tiny_Weights", "ConvNeXt_Small_Weights", "ConvNeXt_Base_Weights",
        "ConvNeXt_Large_Weights", "ShuffleNet_V2_X0_5_Weights", "ShuffleNet_V2_X1_0_Weights", "ShuffleNet_V2_X1_5_Weights",
        "ShuffleNet_V2_X2_0_Weights", "GoogLeNet_Weights", "Inception_V3_Weights", "MNASNet0_5_Weights", "MNASNet0_75_Weights",
        "MNASNet1_0_Weights", "MNASNet1_3_Weights", "ResNeXt101_32X8D_Weights", "ResNeXt101_64X4D_Weights",
        "Wide_ResNet101_2_Weights", "Swin_T_Weights", "Swin_S_Weights", "Swin_B_Weights", "Swin_V2_T_Weights",
        "Swin_V2_S_Weights", "Swin_V2_B_Weights", "MaxVit_T_Weights", "VGG16_Weights", *(
            f"RegNet_{kind}GF_Weights" for kind in ("X_1_6", "X_3_2", "X_8", "X_16", "X_32", "Y_1_6", "Y_3_2", "Y_8", "Y_16",
                                                    "Y_32", "Y_128")), "RegNet_X_400MF_Weights", "RegNet_Y_800MF_Weights",
        *(f"EfficientNet_B{i}_Weights" for i in range(8))]


def some(tensor):
    flat = tensor.detach().flatten().to(torch.float64)
    return [round(v, 5) for v in flat[::max(1, flat.numel() // 5)].tolist()]


def shapes_of(model):
    names = [f"{name} {list(value.shape)}" for name, value in model.state_dict().items()]
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


def digest(name, side, options):
    torch.manual_seed(5)
    model = getattr(models, name)(num_classes=10, **options)
    state = model.state_dict()
    keys = [k for k in state if state[k].dim() > 1]
    picture = torch.rand(2, 3, side, side, generator=torch.Generator().manual_seed(4))
    out = {"shapes": shapes_of(model), "weights": [some(state[k]) for k in keys[:2] + keys[-2:]]}
    model.double()  # batches of two make much of rounding
    picture = picture.double()
    with torch.no_grad():
        for p in model.parameters():  # the last bits of normal numbers differ
            p.uniform_(-0.2, 0.3)
        torch.manual_seed(6)
        made = model.train()(picture)
        out["train"] = some(made if isinstance(made, torch.Tensor) else made[0])
        out["train_kind"] = type(made).__name__
        out["eval"] = some(model.eval()(picture))
    return out


def video(name):
    torch.manual_seed(5)
    model = getattr(models.video, name)(num_classes=10)
    out = {"shapes": shapes_of(model), "repr": hashlib.sha256(str(model).encode()).hexdigest()[:16],
           "weights": [some(v) for v in list(model.state_dict().values())[:8] if v.dim() > 1]}
    clip = torch.rand(2, 3, 8, 32, 32, generator=torch.Generator().manual_seed(4))
    with torch.no_grad():
        out["train"] = some(model.features(clip) if name == "s3d" else model(clip))  # S3D's last pool wants large pictures
    return out


def flow(name):
    torch.manual_seed(5)
    model = getattr(models.optical_flow, name)()
    g = torch.Generator().manual_seed(4)
    flows = model(*(torch.rand(2, 3, 128, 136, generator=g) for _ in range(2)), num_flow_updates=2)
    sum(f.abs().mean() for f in flows).backward()
    return {"shapes": shapes_of(model), "repr": hashlib.sha256(str(model).encode()).hexdigest()[:16],
            "flows": [some(f) for f in flows], "grad": some(model.update_block.flow_head.conv2.weight.grad),
            "first": some(model.feature_encoder.convnormrelu[0].weight.grad)}


VIDEO, FLOW = ["r3d_18", "mc3_18", "r2plus1d_18", "s3d"], ["raft_small", "raft_large"]
MOVING_URLS = {"video": ["R3D_18_Weights", "MC3_18_Weights", "R2Plus1D_18_Weights", "S3D_Weights"],
               "optical_flow": ["Raft_Small_Weights", "Raft_Large_Weights"]}


def prepared_clips():
    """What weights of networks for videos and for flow are given."""
    clip = (torch.rand(2, 3, 150, 180, generator=torch.Generator().manual_seed(4)) * 255).to(torch.uint8)
    out = {}
    for module, kinds in MOVING_URLS.items():
        for kind in kinds:
            for w in getattr(getattr(models, module), kind):
                made = w.transforms()(clip) if module == "video" else w.transforms()(clip[0], clip[1])[1]
                out[f"{kind}.{w.name}"] = [w.url, str(w.transforms()), w.meta["num_params"], len(w.meta["categories"] or ())
                                           if "categories" in w.meta else 0, list(made.shape), *some(made)]
    return out


def compute():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    made = {name: digest(name, *how) for name, how in MODELS.items()}
    with torch.device("meta"):
        made.update({name: {"shapes": shapes_of(getattr(models, name)(num_classes=10))} for name in SHAPES})
    made.update({name: {"shapes": shapes_of(getattr(models, name)(num_classes=10))} for name in COUNTED})
    made.update({name: video(name) for name in VIDEO})
    made.update({name: flow(name) for name in FLOW})
    made["prepared_clips"] = prepared_clips()
    made["urls"] = {kind: {w.name: w.url for w in getattr(models, kind)} for kind in URLS}
    made["defaults"] = {kind: getattr(models, kind).DEFAULT.name for kind in URLS}
    made["prepared"] = {kind: [[str(w.transforms()), w.meta["num_params"], len(w.meta["categories"] or ())] for w in
                               getattr(models, kind)] for kind in URLS}
    return made


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        file.write("{" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in compute().items()) + "}\n")
