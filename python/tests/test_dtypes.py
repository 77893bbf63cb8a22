"""Dtypes that are kept and converted, and not computed with: 16- to 64-bit unsigned integers and 8-bit floats."""

import io
import math

import numpy
import pytest

import taeda as torch

UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)
FLOATS = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu)
NAN, INF = math.nan, math.inf
# What PyTorch 2.15 makes of these numbers, as codes.
NUMBERS = [0.0, -0.0, 1e-9, 448.0, 464.0, 465.0, 1e9, INF, -INF, NAN, 240.0, 247.0, 248.0, 57344.0, 61439.0, 61440.0, 1.5, -3.0]
CODES = {
    torch.float8_e4m3fn: "00 80 00 7e 7e 7e 7e 7e fe 7f 77 77 78 7e 7e 7e 3c c4",
    torch.float8_e5m2: "00 80 00 5f 5f 5f 7c 7c fc 7f 5c 5c 5c 7b 7b 7c 3e c2",
    torch.float8_e4m3fnuz: "00 00 00 80 80 80 80 80 80 80 7f 7f 80 80 80 80 44 cc",
    torch.float8_e5m2fnuz: "00 00 00 63 63 63 80 80 80 80 60 60 60 7f 7f 80 42 c6",
    torch.float8_e8m0fnu: "00 00 61 88 88 88 9d ff ff ff 87 87 87 8f 8f 8f 80 81",
}


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_round_as_in_pytorch(dtype):
    codes = torch.tensor(NUMBERS).to(dtype).view(torch.uint8).tolist()
    assert " ".join(f"{code:02x}" for code in codes) == CODES[dtype]
    every = torch.arange(256).to(torch.uint8).view(dtype).float()
    known = every[~every.isnan()]
    assert known.to(dtype).float().equal(known) and every.to(torch.float64).to(dtype).float().isnan().equal(every.isnan())


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_integers_wrap_around(dtype):
    largest = torch.iinfo(dtype).max
    assert largest == 2 ** (8 * dtype.itemsize) - 1 and torch.iinfo(dtype).min == 0
    given = torch.tensor([-1, 0, 70000, 2 ** 40 + 5])
    assert given.to(dtype).tolist() == [n % (largest + 1) for n in given.tolist()]
    assert torch.tensor([-1.0, 300.0, 1.9]).to(dtype).tolist() == [largest, 300, 1]
    whole = torch.tensor([largest], dtype=dtype)
    assert whole.tolist() == [largest] and whole.item() == largest
    assert torch.tensor([largest], dtype=dtype).to(torch.float64).item() == float(largest)
    assert torch.full((1,), largest, dtype=dtype).item() == largest
    if dtype is not torch.uint64:
        assert torch.tensor([-1], dtype=dtype).item() == largest
        return
    for wrong, error in ((-1, OverflowError), (2 ** 64, OverflowError), (1.5, TypeError)):
        with pytest.raises(error):
            torch.tensor([wrong], dtype=dtype)


@pytest.mark.parametrize("dtype", (*UNSIGNED, *FLOATS, torch.complex32))
def test_elements_are_made_moved_and_compared(dtype):
    x = torch.tensor([1, 2, 4]).to(dtype)
    assert x.dtype is dtype and x.tolist() == [1, 2, 4] and x[1].item() == 2 and x.element_size() == dtype.itemsize
    assert torch.tensor([1, 2, 4], dtype=dtype).equal(x) and torch.full((3,), 4, dtype=dtype).tolist() == [4] * 3
    assert torch.ones(2, dtype=dtype).tolist() == [1, 1] and torch.empty_like(x).fill_(2).tolist() == [2] * 3
    assert torch.cat([x, x]).tolist() == [1, 2, 4] * 2 and torch.stack([x, x])[1].tolist() == [1, 2, 4]
    at = torch.tensor([2, 0])
    assert x[at].tolist() == [4, 1] and x.index_select(0, at).tolist() == [4, 1] and x.gather(0, at).tolist() == [4, 1]
    assert x[torch.tensor([True, False, True])].tolist() == [1, 4] and x.flip(0).tolist() == [4, 2, 1]
    assert torch.where(torch.tensor([True, False, True]), x, x.flip(0)).tolist() == [1, 2, 4]
    y = x.clone()
    y[1:] = 1
    assert y.tolist() == [1, 1, 1] and (x == y).tolist() == [True, False, False] and (x != 2).tolist() == [True, False, True]
    y.copy_(torch.tensor([4.0, 2.0, 1.0]))
    assert y.tolist() == [4, 2, 1] and x.repeat(2).tolist() == [1, 2, 4] * 2
    assert x[None].expand(2, 3).contiguous().tolist() == [[1, 2, 4]] * 2
    assert x.view(torch.uint8).view(dtype).equal(x) and repr(x).endswith(f"dtype={dtype})")
    assert torch.from_dlpack(x).equal(x) and bool(x[0]) and float(x[1]) == 2.0


@pytest.mark.parametrize("dtype", UNSIGNED + FLOATS)
def test_what_computes_is_refused(dtype):
    x = torch.tensor([1, 2, 4]).to(dtype)
    name = "UI" + repr(dtype)[8:] if dtype in UNSIGNED else "F" + repr(dtype)[7:]
    for call in (lambda: x + x, lambda: x + 1, lambda: x < x):
        with pytest.raises(NotImplementedError, match=f"not implemented for '{name}'"):
            call()
    kind = "uint16, uint32, uint64 types" if dtype in UNSIGNED else "Float8 Types"
    for other in (torch.int64, torch.bool):
        with pytest.raises(RuntimeError, match=f"Promotion for {kind} is not supported, attempted to promote {name}"):
            torch.promote_types(dtype, other)
    with pytest.raises(RuntimeError, match=f"Unknown Complex ScalarType for {name}"):
        dtype.to_complex()
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        torch.set_default_dtype(dtype)


def test_unsigned_integers_are_promoted_to_floats():
    x = torch.tensor([1, 2, 4], dtype=torch.uint16)
    assert torch.promote_types(torch.uint16, torch.float16) is torch.float16
    assert (x * 2.0).tolist() == [2, 4, 8] and (x + torch.ones(3, dtype=torch.half)).dtype is torch.float16


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_unsigned_integers_are_summed_and_sorted(dtype):
    x = torch.tensor([3, 1, 65535], dtype=dtype)
    assert x.sum().dtype is torch.int64 and x.sum().item() == 65539
    values, indices = x.sort(descending=True)
    assert values.dtype is dtype and values.tolist() == [65535, 3, 1] and indices.tolist() == [2, 0, 1]
    assert x.unique().tolist() == [1, 3, 65535]


def test_real_numbers_have_no_imaginary_part():
    for call in (lambda: torch.imag(torch.ones(2)), lambda: torch.ones(2).imag):
        with pytest.raises(TypeError, match="imag is not implemented for tensors with non-complex dtypes."):
            call()


def test_out_is_converted_to_by_some_operations_alone():
    x = torch.tensor([1.5, 2.5])
    assert torch.add(x, x, out=torch.empty(2, dtype=torch.float64)).tolist() == [3, 5]
    assert torch.sum(x, 0, out=torch.empty((), dtype=torch.int64)).item() == 3
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double instead"):
        torch.where(x > 2, x, x, out=torch.empty(2, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor refer"):
        torch.exp(x[:1], out=x)


def test_gradients_go_through_8_bits():
    x = torch.tensor([1.0, 3.3], requires_grad=True)
    y = x.to(torch.float8_e4m3fn).to(torch.float32)
    assert y.tolist() == [1.0, 3.25]
    (y * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_arrays_share_memory(dtype):
    array = numpy.array([1, 2, 3], dtype=repr(dtype)[6:])
    x = torch.from_numpy(array)
    array[0] = 7
    assert x.dtype is dtype and x.tolist() == [7, 2, 3] and x.numpy().dtype == array.dtype


def test_no_array_holds_8_bit_floats():
    with pytest.raises(TypeError, match="Got unsupported ScalarType Float8_e5m2"):
        torch.zeros(2, dtype=torch.float8_e5m2).numpy()


def test_limits():
    e4m3, e5m2 = torch.finfo(torch.float8_e4m3fn), torch.finfo(torch.float8_e5m2)
    assert (e4m3.max, e4m3.eps, e4m3.tiny, e4m3.bits) == (448, 0.125, 0.015625, 8)
    assert (e5m2.max, e5m2.min, e5m2.eps) == (57344, -57344, 0.25)
    assert repr(e4m3) == ("finfo(resolution=1, min=-448, max=448, eps=0.125, smallest_normal=0.015625, tiny=0.015625, "
                          "dtype=float8_e4m3fn)")
    assert torch.finfo(torch.float8_e8m0fnu).min == 2.0 ** -127 and not torch.uint16.is_signed
    assert torch.float8_e5m2.is_floating_point and torch.float8_e5m2.itemsize == 1 and not torch.uint64.is_floating_point


@pytest.mark.parametrize("dtype", (*UNSIGNED, *FLOATS, torch.complex32))
def test_files(dtype):
    x = torch.tensor([[1, 2, 4], [8, 16, 32]]).to(dtype)
    file = io.BytesIO()
    torch.save({"x": x, "row": x[1], "dtype": dtype}, file)
    file.seek(0)
    found = torch.load(file)
    assert found["x"].equal(x) and found["row"].equal(x[1]) and found["dtype"] is dtype
    assert found["row"].untyped_storage().data_ptr() == found["x"].untyped_storage().data_ptr()


@pytest.mark.parametrize("value", (1e20, -1e20, float("nan"), float("inf")))
def test_what_no_integer_is_makes_no_integer(value):
    for dtype in (torch.int64, torch.int32, torch.uint8):
        for make in (torch.tensor, torch.as_tensor):
            with pytest.raises(RuntimeError, match="cannot be converted to type .* without overflow"):
                make([1, value], dtype=dtype)


def test_what_is_beyond_floating_numbers_is_infinite():
    assert torch.tensor([-1e9, 65519.0, 65520.0], dtype=torch.float16).tolist() == [-float("inf"), 65504, float("inf")]
    assert torch.tensor(1e39 + 1j, dtype=torch.complex64).item() == complex(float("inf"), 1)
