// Memory that other libraries lend, described wrongly.
#include "taeda/io/dlpack.h"
#include "taeda/taeda.h"
#include "tests/wrong_calls.h"

namespace taeda::wrong {
namespace {

Tensor longs(std::vector<int64_t> v) { return tensor(v, kLong); }
Tensor sparse_vector() { return sparse_coo_tensor(longs({0, 1}).view({1, 2}), ones({2}), {4}); }
/// Memory that begins at an odd address.
char* odd_bytes() {
  alignas(16) static char bytes[64];
  return bytes + 1;
}
/// A tensor that another library lends, with something wrong in it.
struct Lent {
  template <class F>
  static void go(F change) {
    static Lent lent;
    DLTensor& t = lent.managed.dl_tensor;
    t = {lent.data, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, lent.shape, lent.strides, 0};
    lent.shape[0] = lent.shape[1] = lent.strides[0] = 2;
    change(t);
    from_dlpack(&lent.managed).sum();
  }
  DLManagedTensor managed{};
  int64_t shape[2] = {2, 2}, strides[2] = {2, 1};
  float data[4] = {};
};

const std::vector<Row> wrong_io = {
    REFUSED(Error, to_dlpack(sparse_vector()),
            "Can't export tensors with layout other than strided"),
    REFUSED(Error, to_dlpack(zeros({2}, Device("meta"))), "Cannot pack tensors on meta"),
    REFUSED(Error, from_dlpack(static_cast<DLManagedTensor*>(nullptr)),
            "from_dlpack: expected a tensor, got a null pointer"),
    REFUSED(Error, from_dlpack(static_cast<DLManagedTensorVersioned*>(nullptr)),
            "from_dlpack: expected a tensor, got a null pointer"),
    REFUSED(ValueError, Lent::go([](DLTensor& t) { t.data = nullptr; }),
            "from_blob: the data pointer is null for sizes [2, 2]"),
    REFUSED(Error, Lent::go([](DLTensor& t) { t.ndim = -1; }),
            "from_dlpack: expected a shape of ndim = -1 sizes"),
    REFUSED(Error, Lent::go([](DLTensor& t) { t.ndim = INT32_MAX; }),
            "from_dlpack: a tensor has at most 64 dimensions, got ndim = 2147483647"),
    REFUSED(Error, Lent::go([](DLTensor& t) {
              t.ndim = 65;
              static int64_t s[65];
              t.shape = s;
              t.strides = nullptr;
            }),
            "from_dlpack: a tensor has at most 64 dimensions, got ndim = 65"),
    REFUSED(Error, Lent::go([](DLTensor& t) { t.shape = nullptr; }),
            "from_dlpack: expected a shape of ndim = 2 sizes"),
    REFUSED(Error, Lent::go([](DLTensor& t) { t.shape[0] = -1; }),
            "from_dlpack: sizes must not be negative, got [-1, 2]"),
    REFUSED(Error, Lent::go([](DLTensor& t) {
              t.shape[0] = kHuge;
              t.shape[1] = 4;
              t.strides = nullptr;
            }),
            "numel: integer multiplication overflow"),
    REFUSED(Error, Lent::go([](DLTensor& t) {
              t.shape[0] = 2;
              t.shape[1] = 2;
              t.strides[0] = kHuge;
            }),
            "Storage size calculation overflowed with sizes=[2, 2] and"),
    REFUSED(Error, Lent::go([](DLTensor& t) { t.strides[0] = -1; }),
            "from_dlpack: strides must not be negative, got [-1, 1]"),
    REFUSED(Error, Lent::go([](DLTensor& t) { t.dtype.bits = 7; }),
            "from_dlpack: no dtype has code 2 and 7 bits"),
    REFUSED(Error, Lent::go([](DLTensor& t) { t.dtype.bits = 128; }),
            "from_dlpack: no dtype has code 2 and 128 bits"),
    REFUSED(Error, Lent::go([](DLTensor& t) { t.dtype.lanes = 4; }),
            "from_dlpack: expected lanes = 1, got 4"),
    REFUSED(Error, Lent::go([](DLTensor& t) { t.dtype.lanes = 0; }),
            "from_dlpack: expected lanes = 1, got 0"),
    REFUSED(Error, Lent::go([](DLTensor& t) { t.dtype.code = 200; }),
            "from_dlpack: no dtype has code 200 and 32 bits"),
    REFUSED(Error, Lent::go([](DLTensor& t) {
              t.dtype = {kDLFloat4_e2m1fn, 4, 1};
            }),
            "from_dlpack: no dtype has code 17 and 4 bits"),
    REFUSED(Error, Lent::go([](DLTensor& t) {
              t.dtype = {kDLUInt, 128, 1};
            }),
            "from_dlpack: no dtype has code 1 and 128 bits"),
    REFUSED(Error,
            Lent::go([](DLTensor& t) { t.device.device_type = static_cast<DLDeviceType>(99); }),
            "Unsupported device_type: 99"),
    REFUSED(Error, Lent::go([](DLTensor& t) {
              t.device = {kDLCUDA, -1};
            }),
            "from_dlpack: there is no CUDA device -1"),
    REFUSED(Error, Lent::go([](DLTensor& t) {
              t.device = {kDLCUDA, 300};
            }),
            "Device index must be below 128, got 300"),
    REFUSED(Error, Lent::go([](DLTensor& t) {
              t.device = {kDLCUDA, 0};
            }),
            "no cuda device is available: "),
    REFUSED(ValueError, Lent::go([](DLTensor& t) { t.byte_offset = 1; }),
            "from_blob: the first Float is not at a multiple of 4 bytes"),
    REFUSED(Error, Lent::go([](DLTensor& t) { t.byte_offset = UINT64_MAX; }),
            "from_dlpack: byte_offset = 18446744073709551615 leads beyond all memory"),
    REFUSED(Error, Lent::go([](DLTensor& t) { t.byte_offset = UINT64_MAX - 3; }),
            "from_dlpack: byte_offset = 18446744073709551612 leads beyond all memory"),
    REFUSED(Error, Lent::go([](DLTensor& t) {
              t.dtype = {kDLBool, 1, 1};
            }),
            "from_dlpack: no dtype has code 6 and 1 bits"),
    REFUSED(Error, ([] {
              DLManagedTensorVersioned v{};
              v.version = {9, 0};
              from_dlpack(&v);
            }()),
            "from_dlpack: expected version 1 of DLPack, got 9.0"),
    REFUSED(Error, ([] {
              DLManagedTensorVersioned v{};
              v.version = {1, 99};
              from_dlpack(&v);
            }()),
            "from_dlpack: expected lanes = 1, got 0"),
    REFUSED(Error, ([] {
              DLManagedTensorVersioned v{};
              v.version = {1, 0};
              v.flags = ~0ull;
              v.dl_tensor.ndim = 3;
              from_dlpack(&v);
            }()),
            "from_dlpack: expected lanes = 1, got 0"),
    REFUSED(Error, to_dlpack(Tensor()),
            "to_dlpack(): Expected a tensor, but got an undefined Tensor"),
    REFUSED(ValueError, from_blob(nullptr, {4}),
            "from_blob: the data pointer is null for sizes [4]"),
    REFUSED(ValueError, from_blob(odd_bytes(), {2}, kDouble),
            "from_blob: the first Double is not at a multiple of 8 bytes"),
    REFUSED(ValueError, from_blob(odd_bytes(), {2}, kComplexDouble),
            "from_blob: the first ComplexDouble is not at a multiple of 8 bytes"),
    REFUSED(ValueError, from_blob(odd_bytes(), {16}, kByte).view(kInt),
            "view: the first Int is not at a multiple of 4 bytes"),
    REFUSED(ValueError, empty({0}).set_(from_blob(odd_bytes(), {16}, kByte).storage()),
            "set_: the first Float is not at a multiple of 4 bytes"),
    REFUSED(
        Error,
        [] {
          static float d[4];
          from_blob(d, IntArrayRef({kHuge, 4}));
        }(),
        "numel: integer multiplication overflow"),
    REFUSED(
        Error,
        [] {
          static float d[4];
          from_blob(d, IntArrayRef({4}), IntArrayRef({kHuge}));
        }(),
        "Storage size calculation overflowed with sizes=[4] and"),
    REFUSED(
        Error,
        [] {
          static float d[4];
          from_blob(d, IntArrayRef({4}), IntArrayRef({-1}));
        }(),
        "from_blob: strides must not be negative, got [-1]"),
    REFUSED(
        Error,
        [] {
          static float d[4];
          from_blob(d, {-4});
        }(),
        "Trying to create tensor with negative dimension -4: [-4]"),
    REFUSED(
        Error,
        [] {
          static float d[4];
          from_blob(d, IntArrayRef({2, 2}), IntArrayRef({1}));
        }(),
        "mismatch in length of strides and shape"),
    REFUSED(
        TypeError,
        [] {
          static float d[4];
          from_blob(
              d, {4}, [](void*) {}, TensorOptions(ScalarType::Undefined));
        }(),
        "from_blob: expected a dtype, got Undefined"),
};

TEST(WrongLoans, AreRefused) { check(wrong_io); }

}  // namespace
}  // namespace taeda::wrong
