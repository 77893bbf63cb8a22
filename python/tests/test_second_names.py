"""Switches, names that nothing is an instance of, and functions of modules that programs call in passing."""

import mmap

import pytest

import taeda as torch


def test_a_module_that_programs_script():
    class Cell(torch.jit.ScriptModule):
        def __init__(self):
            super().__init__()
            self.scale = torch.jit.Attribute(2.0, float)
            self.weight = torch.nn.Parameter(torch.ones(2))

        @torch.jit.script_method
        def forward(self, x):
            return x * self.weight * self.scale

    cell = Cell()
    assert cell(torch.ones(2)).tolist() == [2, 2] and list(dict(cell.named_parameters())) == ["weight"]
    assert not isinstance(torch.nn.Linear(1, 1), torch.jit.ScriptModule)
    assert not isinstance(print, torch.jit.ScriptFunction) and not isinstance(3, (torch.SymInt, torch.SymFloat, torch.SymBool))
    assert torch.jit.isinstance([1], list) and not torch.jit.isinstance({}, (list, tuple))
    import typing
    assert torch.jit.isinstance([1], typing.List[int])
    torch.jit.enable_onednn_fusion(True)
    assert torch.jit.set_fusion_strategy([("STATIC", 2)]) == [] and not torch.jit.onednn_fusion_enabled()
    future = torch.jit.fork(lambda x: x + 1, 2)
    assert torch.jit.wait(future) == 3


def test_autocast_of_the_cpu_by_its_old_name():
    with torch.cpu.amp.autocast():
        made = torch.ones(2, 2) @ torch.ones(2, 2)
    assert made.dtype == torch.bfloat16
    for dtype in (None, torch.bfloat16):
        with torch.cpu.amp.autocast(dtype=dtype), torch.cpu.amp.autocast(False):
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
    assert torch.cuda.amp.autocast().arguments[0].type == "cuda"
    assert torch.cuda.amp.GradScaler(2.0, enabled=False).get_scale() == 1
    from taeda.cpu.amp.autocast_mode import autocast
    assert autocast is torch.cpu.amp.autocast and isinstance(torch.cpu.amp.GradScaler(enabled=False), torch.amp.GradScaler)
    event = torch.cpu.Event()
    event.record()
    assert event.query()


def test_switches_of_backends():
    backends = torch.backends
    backends.mha.set_fastpath_enabled(False)
    assert backends.mha.get_fastpath_enabled() is False
    backends.mha.set_fastpath_enabled(True)
    with backends.cuda.sdp_kernel(enable_flash=False):
        assert not backends.cuda.flash_sdp_enabled() and backends.cuda.math_sdp_enabled()
    assert backends.cuda.flash_sdp_enabled() and backends.cuda.cufft_plan_cache.size == 0
    backends.cuda.cufft_plan_cache.clear()
    backends.cuda.preferred_linalg_library("magma")
    with pytest.raises(RuntimeError, match="Unknown input value"):
        backends.cuda.preferred_linalg_library("blas")
    with backends.mkl.verbose(backends.mkl.VERBOSE_ON):
        pass
    assert not backends.opt_einsum.is_available() and not backends.nnpack.is_available()


def test_where_loaded_storages_go(tmp_path):
    from taeda import serialization
    from taeda._files import load_options
    torch.save({"a": torch.arange(3)}, tmp_path / "x.pt")
    loaded = torch.load(tmp_path / "x.pt", map_location=lambda s, loc: serialization.default_restore_location(s, "cpu"))
    assert loaded["a"].tolist() == [0, 1, 2]
    storage = torch.arange(2).storage()
    assert serialization.location_tag(storage) == "cpu" and serialization.default_restore_location(storage, "cpu") is storage
    with pytest.raises(RuntimeError, match="torch.cuda.is_available|not there"):
        serialization.default_restore_location(storage, "cuda:9")
    seen = []
    serialization.register_package(1, lambda s: None, lambda s, loc: seen.append(loc))
    try:
        assert serialization.default_restore_location(storage, "cpu") is storage and seen == ["cpu"]
    finally:
        load_options._registered.clear()
    with serialization.set_default_mmap_options(mmap.MAP_SHARED):
        assert serialization.get_default_mmap_options() == mmap.MAP_SHARED
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    with pytest.raises(ValueError, match="expected mmap.MAP_PRIVATE or mmap.MAP_SHARED"):
        serialization.set_default_mmap_options(0)
    with pytest.raises(NotImplementedError, match="little-endian"):
        serialization.set_default_load_endianness(serialization.LoadEndianness.BIG)
    assert issubclass(serialization.SourceChangeWarning, Warning)
    assert serialization.check_module_version_greater_or_equal(pytest, (7, 0))


def test_parts_of_checkpoints():
    from taeda.utils import checkpoint
    x = torch.ones(2, requires_grad=True)
    made, other = checkpoint.detach_variable((x * 2, "text"))
    assert made.is_leaf and made.requires_grad and other == "text"
    with pytest.raises(RuntimeError, match="Only tuple of tensors is supported"):
        checkpoint.detach_variable([x])
    with pytest.warns(UserWarning, match="Gradients will be None"):
        checkpoint.check_backward_validity((torch.ones(1), 3))
    assert checkpoint.get_device_states(x) == ([], [])
    if torch.sim.is_available():
        tensor = torch.ones(1, device="sim:0")
        checkpoint.DefaultDeviceType.set_device_type("sim")
        try:
            states = checkpoint.get_device_states({"a": tensor})
            before = torch.rand(2, device="sim:0").tolist()
            checkpoint.set_device_states(*states)
            assert torch.rand(2, device="sim:0").tolist() == before
        finally:
            checkpoint.DefaultDeviceType.set_device_type("cuda")


def test_modules_of_devices():
    assert torch.get_device_module("cpu") is torch.cpu and torch.get_device_module(torch.device("cuda", 1)) is torch.cuda
    assert torch.get_device_module() in (torch.cpu, torch.cuda)
    with pytest.raises(RuntimeError):
        torch.get_device_module("nothing")


def test_sizes_that_are_known():
    torch.sym_constrain_range(3, min=1, max=4)
    with pytest.raises(RuntimeError, match="Invalid value range"):
        torch.sym_constrain_range_for_size(5, max=4)
    for name in ("lstsq", "eig", "solve", "matrix_rank"):
        with pytest.raises(RuntimeError, match=f"in favor of `torch.linalg.{name}`"):
            getattr(torch, name)(torch.eye(2))


def test_files_by_address(tmp_path):
    import hashlib
    source, target = tmp_path / "a.bin", tmp_path / "b.bin"
    source.write_bytes(b"weights")
    digest = hashlib.sha256(b"weights").hexdigest()
    torch.hub.download_url_to_file(source.as_uri(), str(target), digest[:8])
    assert target.read_bytes() == b"weights"
    with pytest.raises(RuntimeError, match="invalid hash value"):
        torch.hub.download_url_to_file(source.as_uri(), str(tmp_path / "c.bin"), "0123")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.bin", "b.bin"]


def double(x):
    return x * 2


def test_pools_and_queues():
    from taeda.multiprocessing.pool import Pool
    from taeda.multiprocessing.queue import ConnectionWrapper, Queue
    with Pool(2) as pool:
        assert [t.tolist() for t in pool.map(double, [torch.ones(2), torch.zeros(1)])] == [[2, 2], [0]]
    a, b = torch.multiprocessing.Pipe()
    a, b = ConnectionWrapper(a), ConnectionWrapper(b)
    a.send(torch.ones(2))
    assert b.recv().tolist() == [1, 1] and not a.closed and Queue is not None
    a.close()


@pytest.mark.parametrize("name", ["torch.nn.attention.flex_attention", "torch.optim.functional", "torch.distributions.utils",
                                  "torch.distributions.constraint_registry", "torch.distributed.nn.functional",
                                  "torch.multiprocessing.queue", "torch.cpu.amp", "torchvision.datasets.utils",
                                  "torchvision.models.efficientnet"])
def test_modules_under_pytorchs_names(name, run_python):
    printed = run_python(f"import taeda.compat; taeda.compat.install(); import {name} as m; print(m.__name__)")
    assert printed.startswith("taeda.")


def test_small_functions_of_tensors():
    z = torch.tensor([1 + 2j])
    assert torch.conj_physical_(z) is z and z.tolist() == [1 - 2j] and torch.conj_physical_(torch.ones(1)).tolist() == [1]
    x = torch.arange(6.0)
    part = torch.slice_copy(x, 0, 1, None, 2)
    part.zero_()
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    assert torch.slice_inverse(x[1::2], x, 0, 1, None, 2).tolist() == x.tolist()
    s = torch.eye(2).to_sparse()
    assert torch.values_copy(s).tolist() == [1, 1] and torch.indices_copy(s).tolist() == [[0, 1], [0, 1]]
    assert not torch.is_distributed(x) and torch.dsmm(torch.eye(2), torch.eye(2)).tolist() == [[1, 0], [0, 1]]
    assert torch.from_dlpack(torch.to_dlpack(x)).tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="expected sum, mean, max, min or prod"):
        torch.segment_reduce(x, "median", lengths=torch.tensor([6]))
    with pytest.raises(RuntimeError, match="Either lengths or offsets"):
        torch.segment_reduce(x, "sum")
    with pytest.raises(RuntimeError, match="conv_tbc: expected input and weight of 3 dimensions"):
        torch.conv_tbc(x, x, x)


def test_what_factories_are_given():
    assert torch.nn.factory_kwargs({"dtype": torch.float64, "factory_kwargs": {"device": "cpu"}}) == {
        "dtype": torch.float64, "device": "cpu"}
    with pytest.raises(TypeError, match="unexpected kwargs {'bias'}"):
        torch.nn.factory_kwargs({"bias": True})
    with pytest.raises(TypeError, match="dtype specified twice"):
        torch.nn.factory_kwargs({"dtype": 1, "factory_kwargs": {"dtype": 2}})
    assert torch.nn.factory_kwargs(None) == {}


def test_marks_for_profilers():
    with torch.cuda.profiler.profile():
        torch.cuda.nvtx.range_end(torch.cuda.nvtx.range_start("part"))
    assert torch.version.rocm is None
