"""torchvision's networks: names and shapes of their parameters, first weights from a seed, outputs, addresses."""

import json
import os
import pathlib
import sys

import pytest

import taeda as torch
import taeda.vision.models as models

GOLDEN = pathlib.Path(__file__).parent / "golden"
EXPECTED = json.loads((GOLDEN / "vision_models.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def got(tmp_path_factory):
    return results("vision_models.py", tmp_path_factory)


def results(script, tmp_path_factory):
    """What a script of golden/ writes when Taeda runs it."""
    import subprocess
    out = tmp_path_factory.mktemp("models") / "ours.json"
    program = ("import runpy, sys, taeda.compat; taeda.compat.install(); sys.argv = sys.argv[1:]\n"
               "runpy.run_path(sys.argv[0], run_name='__main__')")
    done = subprocess.run([sys.executable, "-B", "-c", program, str(GOLDEN / script), str(out)],
                          capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(out.read_text())


def close(a, b, size=None, rounding=2e-3):
    """Whether numbers are the same but for what rounding makes of them in a deep network."""
    if isinstance(a, list):
        size = max((abs(v) for v in a if isinstance(v, float)), default=1)
        return isinstance(b, list) and len(a) == len(b) and all(close(x, y, size, rounding) for x, y in zip(a, b))
    return a == b if isinstance(a, (str, dict)) else abs(a - b) <= rounding * max(size or 1, abs(a)) + 2e-5


@pytest.mark.parametrize("name", EXPECTED)
def test_model(name, got):
    for what, wanted in EXPECTED[name].items():
        rounding = 1e-2 if what == "first" else 2e-3  # the gradient of a first layer, of float32 all the way back
        assert close(wanted, got[name][what], rounding=rounding), f"{what}: {got[name][what]} instead of {wanted}"


def test_names_of_old_files_are_taken():
    model = models.densenet121(num_classes=2)
    state = model.state_dict()
    old = {k.replace("norm1", "norm.1").replace("conv2", "conv.2"): v + 1 for k, v in state.items()}
    assert set(old) != set(state)
    model.load_state_dict(old)
    assert torch.equal(model.state_dict()["features.denseblock1.denselayer1.conv2.weight"],
                       old["features.denseblock1.denselayer1.conv.2.weight"])
    block = models.vision_transformer.MLPBlock(2, 3, 0.0)
    block.load_state_dict({"linear_1.weight": torch.ones(3, 2), "linear_1.bias": torch.zeros(3),
                           "linear_2.weight": torch.ones(2, 3), "linear_2.bias": torch.zeros(2)})
    assert block[0].weight.sum() == 6


def test_dense_blocks_that_compute_again():
    torch.manual_seed(0)
    plain = models.DenseNet(4, (2, 2), 8, num_classes=3)
    frugal = models.DenseNet(4, (2, 2), 8, num_classes=3, memory_efficient=True)
    frugal.load_state_dict(plain.state_dict())
    x = torch.rand(2, 3, 32, 32)
    for model in (plain, frugal):
        model(x).sum().backward()
    for a, b in zip(plain.parameters(), frugal.parameters()):
        assert torch.allclose(a.grad, b.grad, atol=1e-6)


def test_weights_that_need_another_model(monkeypatch):
    """Files of GoogLeNet have the parts that only training needs; a model without them loses them after loading."""
    whole = models.GoogLeNet(num_classes=1000, init_weights=False)
    monkeypatch.setattr(type(models.GoogLeNet_Weights.DEFAULT), "get_state_dict", lambda self, **_: whole.state_dict())
    model = models.googlenet(weights="DEFAULT")
    assert model.aux1 is None and not model.aux_logits and model.transform_input
    assert torch.equal(model.fc.weight, whole.fc.weight)
    assert models.googlenet(weights="DEFAULT", aux_logits=True).aux2 is not None


def test_networks_of_what_moves_are_listed():
    assert models.list_models(models.video) == ["mc3_18", "r2plus1d_18", "r3d_18", "s3d"]
    assert models.list_models(models.optical_flow) == ["raft_large", "raft_small"]
    with pytest.raises(TypeError, match="Invalid Weight class"):
        models.video.r3d_18(weights=models.video.S3D_Weights.DEFAULT)


def test_flow_of_a_given_network():
    raft = models.optical_flow.raft
    parts = {"corr_block": raft.CorrBlock(num_levels=2, radius=1), "mask_predictor": raft.MaskPredictor(in_channels=96,
                                                                                                        hidden_size=8)}
    model = models.optical_flow.raft_small(**parts)
    assert model.corr_block is parts["corr_block"] and model.mask_predictor is parts["mask_predictor"]
    flows = model(torch.rand(1, 3, 32, 40), torch.rand(1, 3, 32, 40), num_flow_updates=1)
    assert [flow.shape for flow in flows] == [(1, 2, 32, 40)]


def test_positions_for_pictures_of_another_size():
    small, large = models.vit_b_32(image_size=64, num_classes=2), models.vit_b_32(image_size=96, num_classes=2)
    state = models.vision_transformer.interpolate_embeddings(96, 32, small.state_dict())
    large.load_state_dict(state)
    assert large(torch.rand(1, 3, 96, 96)).shape == (1, 2)
    with pytest.raises(AssertionError, match="Wrong image height! Expected 96 but got 64!"):
        large(torch.rand(1, 3, 64, 64))


def test_what_is_known_of_weights():
    weights = models.get_model_weights("resnet50")
    assert weights is models.ResNet50_Weights and models.get_weight("ResNet50_Weights.IMAGENET1K_V2") is weights.DEFAULT
    assert weights.DEFAULT.meta["categories"][281] == "tabby" and weights.DEFAULT.meta["num_params"] == 25557032
    assert weights.DEFAULT.meta["_metrics"]["ImageNet-1K"]["acc@1"] == 80.858
    prepared = weights.DEFAULT.transforms()
    assert prepared(torch.zeros(3, 300, 400, dtype=torch.uint8)).shape == (3, 224, 224)
    assert prepared.resize_size == [232] and "resize_size=[232]" in str(prepared)
    assert models.list_models(models, include=["swin_v2*", "vit*"], exclude="*_h_*") == [
        "swin_v2_b", "swin_v2_s", "swin_v2_t", "vit_b_16", "vit_b_32", "vit_l_16", "vit_l_32"]


@pytest.mark.parametrize("call, kind, text", [
    (lambda: models.optical_flow.raft_small()(torch.rand(1, 3, 64, 60), torch.rand(1, 3, 64, 60)), ValueError,
     r"divisible by 8, instead got 64 \(h\) and 60 \(w\)"),
    (lambda: models.optical_flow.raft_small()(torch.rand(1, 3, 64, 64), torch.rand(1, 3, 64, 64)), ValueError,
     r"H and W of feature maps should be at least 16; got: .*8 \* 16 = 128"),
    (lambda: models.optical_flow.raft_small()(torch.rand(1, 3, 64, 64), torch.rand(1, 3, 64, 72)), ValueError, "same shape"),
    (lambda: models.SqueezeNet("2_0"), ValueError, "Unsupported SqueezeNet version 2_0"),
    (lambda: models.MobileNetV3([], 8), ValueError, "should not be empty"),
    (lambda: models.MobileNetV3([1], 8), TypeError, "List"),
    (lambda: models.VisionTransformer(30, 16, 1, 1, 4, 4), RuntimeError, "Input shape indivisible by patch size!"),
    (lambda: models.ShuffleNetV2([1], [1]), ValueError, "expected stages_repeats as list of 3 positive ints"),
    (lambda: models.MNASNet(0.0), ValueError, "alpha should be greater than 0.0 instead of 0.0"),
    (lambda: models.efficientnet_b0(weights="V9"), KeyError, "V9"),
    (lambda: models.resnet18(weights="DEFAULT", num_classes=3), ValueError,
     "The parameter 'num_classes' expected value 1000 but got 3 instead."),
    (lambda: models.RegNet(models.regnet.BlockParams.from_init_params(4, 47, 1.0, 2.0, 8)), ValueError,
     "Invalid RegNet settings"),
    (lambda: models.MaxVit((64, 64), 8, 7, [8], [1], 8, 0.0), ValueError, "is not divisible by partition size 7"),
    (lambda: models.swin_transformer.ShiftedWindowAttention(4, [2], [1], 2), ValueError, "must be of length 2"),
])
def test_wrong_calls(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_names_of_nodes():
    from taeda.vision.models import feature_extraction as features
    train, evaluated = features.get_graph_node_names(models.resnet18())
    assert train == evaluated and train[:6] == ["x", "conv1", "bn1", "relu", "maxpool", "layer1.0.conv1"]
    assert train[10:12] == ["layer1.0.add", "layer1.0.relu_1"] and train[-2:] == ["flatten", "fc"]

    class Twice(torch.nn.Module):
        def forward(self, x):
            return x + 1 + 2 * x
    assert features.get_graph_node_names(Twice())[0] == ["x", "add", "mul", "add_1"]
    with pytest.warns(UserWarning, match="not those of train mode"):
        features.get_graph_node_names(models.googlenet(init_weights=False))


def test_outputs_from_inside():
    from taeda.vision.models.feature_extraction import create_feature_extractor
    model = models.resnet18(num_classes=4).eval()
    inside = create_feature_extractor(model, {"layer1": "a", "layer3.1.bn2": "b", "flatten": "c"})
    x, seen = torch.rand(1, 3, 64, 64), {}
    model.layer1.register_forward_hook(lambda m, i, o: seen.update(a=o))
    model(x)
    made = inside(x)
    assert {k: tuple(v.shape) for k, v in made.items()} == {"a": (1, 64, 16, 16), "b": (1, 256, 4, 4), "c": (1, 512)}
    assert torch.equal(made["a"], seen["a"]) and not inside.training and inside.conv1.weight is model.conv1.weight
    assert [n for n, _ in inside.named_children()] == ["conv1", "bn1", "relu", "maxpool", "layer1", "layer2", "layer3",
                                                       "layer4",
                                                       "avgpool"]
    part = create_feature_extractor(model, ["layer2.0.relu_1"])
    assert [n for n, _ in part.named_children()] == ["conv1", "bn1", "relu", "maxpool", "layer1", "layer2"]
    drop = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(1.0))
    both = create_feature_extractor(drop, train_return_nodes=["1"], eval_return_nodes={"0": "linear"},
                                    suppress_diff_warning=True)
    assert list(both(torch.ones(1, 2))) == ["1"] and list(both.eval()(torch.ones(1, 2))) == ["linear"]
    both.train()(torch.ones(1, 2))["1"].sum().backward()
    with pytest.raises(ValueError, match="node: 'nope' is not present in model"):
        create_feature_extractor(model, ["nope"])
    with pytest.raises(ValueError, match="should be specified"):
        create_feature_extractor(model)
