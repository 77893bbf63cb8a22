"""Names that are not public in PyTorch, and that programs use all the same."""

import importlib

import pytest

import taeda as torch


def test_flat_tensors():
    from taeda._utils import _flatten_dense_tensors, _take_tensors, _unflatten_dense_tensors
    tensors = [torch.rand(2, 3), torch.rand(4), torch.rand(1, 1)]
    flat = _flatten_dense_tensors(tensors)
    assert flat.shape == (11,)
    assert all(torch.equal(a, b) for a, b in zip(_unflatten_dense_tensors(flat, tensors), tensors))
    groups = list(_take_tensors([*tensors, torch.ones(2).double(), torch.ones(9)], 40))
    assert [[t.numel() for t in group] for group in groups] == [[6, 4], [1, 9], [2]]


def test_a_compiler_is_set_up():
    torch._dynamo.config.suppress_errors = True
    torch._dynamo.config.cache_size_limit = 64
    torch._inductor.config.triton.unique_kernel_names = True
    torch._inductor.config.coordinate_descent_tuning = True
    torch._dynamo.reset()
    assert not isinstance(torch.nn.Linear(1, 1), torch._dynamo.eval_frame.OptimizedModule)
    assert torch._dynamo.disable(len) is len and torch._dynamo.optimize("inductor")(len) is len
    assert torch._dynamo.list_backends() == [] and not torch._dynamo.is_dynamo_supported()


def test_what_runs_here():
    assert torch.__version__ in torch.__config__.show() and "threads" in torch.__config__.parallel_info()
    assert torch._C._log_api_usage_once("program") is None and torch._C._get_tracing_state() is None
    assert torch.hub.HASH_REGEX.search("resnet18-f37072fd.pth")[1] == "f37072fd"
    assert torch.hub.get_dir() == torch.hub._get_torch_home() + "/hub"


def test_parts_of_layers():
    from taeda.nn.modules.module import _IncompatibleKeys
    from taeda.nn.modules.transformer import _get_clones
    from taeda.nn.modules.utils import _ntuple
    assert _ntuple(3)(2) == (2, 2, 2) and _ntuple(2, "_pair").__name__ == "_pair"
    copies = _get_clones(torch.nn.Linear(1, 1), 2)
    assert len(copies) == 2 and copies[0].weight is not copies[1].weight
    assert repr(_IncompatibleKeys([], [])) == "<All keys matched successfully>"


def test_iterators_of_loaders():
    from taeda.utils.data.dataloader import (
        _BaseDataLoaderIter, _MultiProcessingDataLoaderIter, _SingleProcessDataLoaderIter)
    assert isinstance(iter(torch.utils.data.DataLoader(range(3))), _SingleProcessDataLoaderIter)
    assert issubclass(_MultiProcessingDataLoaderIter, _BaseDataLoaderIter)


def test_pictures():
    from taeda import vision
    from taeda.vision.models import _api, _meta, _utils
    assert len(_meta._IMAGENET_CATEGORIES) == 1000 and len(_meta._VOC_CATEGORIES) == 21
    assert _meta._COCO_CATEGORIES[1] == "person"
    assert _meta._COCO_PERSON_KEYPOINT_NAMES[0] == "nose"
    assert _utils._make_divisible(30, 8) == 32 and _utils._make_divisible(3, 8, 16) == 16
    assert vision.version.__version__ == vision.__version__ and vision.extension._has_ops() and not vision._is_tracing()
    vision.utils._log_api_usage_once(vision)

    @_api.register_model(name="of_ones_own")
    def build():
        return 3
    assert vision.models.get_model("of_ones_own") == 3 and "of_ones_own" in vision.models.list_models()
    with pytest.raises(ValueError, match="An entry is already registered under the name 'of_ones_own'."):
        _api.register_model("of_ones_own")(build)
    _api._BUILDERS.pop("of_ones_own")
    with pytest.raises(AttributeError, match="has no attribute '_NOTHING'"):
        importlib.import_module("taeda.vision.models._meta")._NOTHING
