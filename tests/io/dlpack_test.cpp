// DLPack: what another library sees of a tensor, what a tensor sees of another library's memory,
// and when each side lets go.
#include "taeda/io/dlpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "taeda/autograd/engine.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, byte_offset) == 40 &&
              offsetof(DLTensor, dtype) == 20 && offsetof(DLTensor, shape) == 24);
static_assert(sizeof(DLManagedTensor) == 64 && offsetof(DLManagedTensor, deleter) == 56);
static_assert(sizeof(DLManagedTensorVersioned) == 80 &&
              offsetof(DLManagedTensorVersioned, dl_tensor) == 32 &&
              offsetof(DLManagedTensorVersioned, flags) == 24);

/// A consumer as C has it: adds up floats by the structure alone, and gives the loan back.
extern "C" float consume_floats_of_dlpack(DLManagedTensor* lent) {
  const DLTensor& t = lent->dl_tensor;
  const char* const data = static_cast<const char*>(t.data) + t.byte_offset;
  float sum = 0;
  std::vector<int64_t> at(static_cast<size_t>(t.ndim), 0);
  int64_t left = 1;
  for (int i = 0; i < t.ndim; ++i) left *= t.shape[i];
  for (; left > 0; --left) {
    int64_t offset = 0;
    for (size_t i = 0; i < at.size(); ++i) offset += at[i] * t.strides[i];
    sum += reinterpret_cast<const float*>(data)[offset] * static_cast<float>(left);
    for (size_t i = at.size(); i-- > 0 && ++at[i] == t.shape[i];) at[i] = 0;
  }
  lent->deleter(lent);
  return sum;
}

/// Another library's array, which counts how often it is given back.
template <class Managed>
struct Producer {
  explicit Producer(std::vector<int64_t> sizes, std::vector<int64_t> steps = {})
      : shape(std::move(sizes)), strides(std::move(steps)) {
    for (size_t i = 0; i < 12; ++i) numbers[i] = static_cast<float>(i);
    DLTensor& t = managed.dl_tensor;
    t = {numbers,
         {kDLCPU, 0},
         static_cast<int32_t>(shape.size()),
         {kDLFloat, 32, 1},
         shape.data(),
         strides.empty() ? nullptr : strides.data(),
         0};
    managed.manager_ctx = &returned;
    managed.deleter = [](Managed* self) { ++*static_cast<int*>(self->manager_ctx); };
  }
  alignas(16) float numbers[12];
  std::vector<int64_t> shape, strides;
  int returned = 0;
  Managed managed{};
};
using OldProducer = Producer<DLManagedTensor>;

struct NewProducer : Producer<DLManagedTensorVersioned> {
  using Producer::Producer;
  explicit NewProducer(std::vector<int64_t> sizes, uint64_t flags = 0)
      : Producer(std::move(sizes)) {
    managed.version = {1, 0};
    managed.flags = flags;
  }
};

TEST(DlpackExport, StructureDescribesAView) {
  const Tensor t = arange(12, kFloat).reshape({3, 4}).t().narrow(0, 1, 2);
  DLManagedTensor* const lent = to_dlpack(t);
  const DLTensor& d = lent->dl_tensor;
  EXPECT_EQ(d.data, t.data_ptr());
  EXPECT_EQ(d.byte_offset, 0u);
  EXPECT_EQ(d.device.device_type, kDLCPU);
  EXPECT_EQ(d.device.device_id, 0);
  EXPECT_THAT(std::vector<int64_t>(d.shape, d.shape + d.ndim), ElementsAre(2, 3));
  EXPECT_THAT(std::vector<int64_t>(d.strides, d.strides + d.ndim), ElementsAre(1, 4));
  // 1 5 9 2 6 10, with weights 6 to 1.
  EXPECT_EQ(consume_floats_of_dlpack(lent), 6 * 1 + 5 * 5 + 4 * 9 + 3 * 2 + 2 * 6 + 10);
}

TEST(DlpackExport, StridesOfSingleElementsAreOneAndNothingHasNoAddress) {
  DLManagedTensor* lent = to_dlpack(zeros({4, 6}).narrow(0, 2, 1));
  EXPECT_THAT(std::vector<int64_t>(lent->dl_tensor.strides, lent->dl_tensor.strides + 2),
              ElementsAre(1, 1));
  lent->deleter(lent);
  lent = to_dlpack(zeros({0, 3}));
  EXPECT_EQ(lent->dl_tensor.data, nullptr);
  lent->deleter(lent);
  lent = to_dlpack(scalar_tensor(2.0));
  EXPECT_EQ(lent->dl_tensor.ndim, 0);
  lent->deleter(lent);
}

TEST(DlpackExport, KeepsTheMemoryAndSharesIt) {
  Tensor t = ones({200, 200});
  const Storage storage = t.storage();
  const uint32_t users = storage.use_count();
  DLManagedTensorVersioned* const lent = to_dlpack_versioned(t);
  EXPECT_EQ(lent->version.major, 1u);
  EXPECT_EQ(lent->flags, 0u);
  EXPECT_EQ(storage.use_count(), users + 1);
  static_cast<float*>(lent->dl_tensor.data)[7] = 5;
  EXPECT_EQ(t[0][7].item<float>(), 5);
  t = Tensor();
  EXPECT_EQ(static_cast<float*>(lent->dl_tensor.data)[7], 5);
  std::thread([lent] { lent->deleter(lent); }).join();
  EXPECT_EQ(storage.use_count(), 1u);
}

TEST(DlpackExport, ReadOnlyIsAFlag) {
  DLManagedTensorVersioned* const lent = to_dlpack_versioned(ones({2}), true);
  EXPECT_EQ(lent->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  lent->deleter(lent);
}

TEST(DlpackExport, DevicesWithoutANameAreRefused) {
  EXPECT_EQ(error_of([] { to_dlpack(zeros({2}, TensorOptions(Device("sim:0")))); }),
            "Cannot pack tensors on sim:0");
  EXPECT_NE(error_of([] { to_dlpack(Tensor()); }), "no error");
}

TEST(Dlpack, EveryDtypeThereAndBack) {
  std::vector<ScalarType> dtypes(std::begin(kAllDtypes), std::end(kAllDtypes));
  dtypes.insert(dtypes.end(), std::begin(kStoredDtypes), std::end(kStoredDtypes));
  for (const ScalarType dtype : dtypes) {
    const Tensor t = arange(6).to(dtype).reshape({2, 3}).t();
    const Tensor old = from_dlpack(to_dlpack(t));
    const Tensor fresh = from_dlpack(to_dlpack_versioned(t));
    for (const Tensor& back : {old, fresh}) {
      EXPECT_EQ(back.dtype(), dtype);
      EXPECT_EQ(back.data_ptr(), t.data_ptr());
      EXPECT_EQ(back.sizes(), t.sizes());
      EXPECT_EQ(back.strides(), t.strides());
    }
  }
  const auto codes = [](ScalarType t) {
    const DLDataType d = to_dlpack_dtype(t);
    return std::vector<int>{d.code, d.bits, d.lanes};
  };
  EXPECT_THAT(codes(kBool), ElementsAre(6, 8, 1));
  EXPECT_THAT(codes(kBFloat16), ElementsAre(4, 16, 1));
  EXPECT_THAT(codes(kComplexFloat), ElementsAre(5, 64, 1));
  EXPECT_THAT(codes(kByte), ElementsAre(1, 8, 1));
  EXPECT_THAT(codes(kLong), ElementsAre(0, 64, 1));
}

TEST(DlpackImport, ReadsWritesAndGivesBackOnce) {
  OldProducer array({2, 2}, {1, 4});
  array.managed.dl_tensor.byte_offset = 2 * sizeof(float);
  {
    Tensor t = from_dlpack(&array.managed);
    const Tensor row = t[1];
    EXPECT_EQ(row[0].item<float>(), 3);
    EXPECT_EQ(row[1].item<float>(), 7);
    t.add_(100);
    t = Tensor();
    EXPECT_EQ(array.returned, 0);
  }
  EXPECT_EQ(array.returned, 1);
  EXPECT_EQ(array.numbers[6], 106);
}

TEST(DlpackImport, WithoutStridesItIsRowMajorAndWithoutADeleterNothingIsCalled) {
  OldProducer array({2, 3});
  EXPECT_EQ(from_dlpack(&array.managed).strides(), IntArrayRef({3, 1}));
  EXPECT_EQ(array.returned, 1);
  array.managed.deleter = nullptr;
  EXPECT_EQ(from_dlpack(&array.managed).sum().item<float>(), 15);
  void* given = nullptr;
  from_dlpack(&array.managed, [&](void* p) { given = p; });
  EXPECT_EQ(given, array.numbers);
}

TEST(DlpackImport, TakesPartInGraphs) {
  OldProducer array({3});
  Tensor t = from_dlpack(&array.managed);
  t.set_requires_grad(true);
  t.mul(t).sum().backward();
  EXPECT_TRUE(t.grad().equal(t.detach().mul(2)));
}

TEST(DlpackImport, ReadOnlyIsCopied) {
  NewProducer array({3}, DLPACK_FLAG_BITMASK_READ_ONLY);
  Tensor t = from_dlpack(&array.managed);
  EXPECT_EQ(array.returned, 1);
  t.fill_(9);
  EXPECT_EQ(array.numbers[1], 1);
}

TEST(DlpackImport, PinnedMemoryOfOthersIsTheHosts) {
  NewProducer array({3});
  array.managed.dl_tensor.device = {kDLCUDAHost, 0};
  EXPECT_EQ(from_dlpack(&array.managed).device(), Device(kCPU));
}

/// What `spoil` does to an array must be an error that holds `text`, and leaves the loan open.
template <class F>
void expect_refusal(F&& spoil, const char* text) {
  NewProducer array({2, 3});
  array.strides = {3, 1};
  array.managed.dl_tensor.strides = array.strides.data();
  spoil(array);
  EXPECT_THAT(error_of([&] { from_dlpack(&array.managed); }), HasSubstr(text));
  EXPECT_EQ(array.returned, 0);
}

TEST(DlpackImport, BadInputIsRefusedAndStaysTheCallers) {
  const auto tensor = [](auto f) { return [f](NewProducer& a) { f(a.managed.dl_tensor); }; };
  expect_refusal(tensor([](DLTensor& t) { t.device.device_type = kDLMetal; }),
                 "Unsupported device_type: 8");
  expect_refusal(tensor([](DLTensor& t) { t.device = {kDLCUDA, -1}; }), "no CUDA device -1");
  expect_refusal(tensor([](DLTensor& t) { t.dtype.lanes = 4; }), "expected lanes = 1, got 4");
  expect_refusal(tensor([](DLTensor& t) { t.dtype = {kDLUInt, 4, 1}; }), "code 1 and 4 bits");
  expect_refusal(tensor([](DLTensor& t) { t.strides[0] = -3; }),
                 "strides must not be negative, got [-3, 1]");
  expect_refusal(tensor([](DLTensor& t) { t.shape[1] = -1; }),
                 "sizes must not be negative, got [2, -1]");
  expect_refusal(tensor([](DLTensor& t) { t.ndim = -1; }), "ndim = -1");
  expect_refusal(tensor([](DLTensor& t) { t.shape = nullptr; }), "ndim = 2");
  expect_refusal(tensor([](DLTensor& t) { t.byte_offset = 2; }), "multiple of 4 bytes");
  expect_refusal(tensor([](DLTensor& t) { t.data = nullptr; }), "data pointer is null");
  expect_refusal(tensor([](DLTensor& t) { t.shape[0] = t.strides[0] = INT64_MAX; }), "overflow");
  expect_refusal([](NewProducer& a) { a.managed.version.major = 2; },
                 "expected version 1 of DLPack, got 2.0");
  DLManagedTensor* const none = nullptr;
  EXPECT_THAT(error_of([&] { from_dlpack(none); }), HasSubstr("null pointer"));
}

}  // namespace
}  // namespace taeda
