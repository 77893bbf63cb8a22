// ATen/DLConvertor.h by libtorch's names.
#include <ATen/DLConvertor.h>
#include <ATen/dlpack.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace {

TEST(DLConvertor, ThereAndBackSharesMemory) {
  const at::Tensor t = torch::arange(6, torch::kDouble).view({2, 3});
  DLManagedTensor* const lent = at::toDLPack(t);
  EXPECT_EQ(lent->dl_tensor.dtype.code, kDLFloat);
  const at::Tensor back = at::fromDLPack(lent);
  back[1][2] = 50;
  EXPECT_EQ(t[1][2].item<double>(), 50);
  EXPECT_TRUE(at::fromDLPackVersioned(at::toDLPackVersioned(t)).equal(t));
  const DLManagedTensor* const constant = at::toDLPack(t);
  EXPECT_TRUE(at::fromDLPack(constant).equal(t));
}

TEST(DLConvertor, AnOwnDeleterTakesThePlaceOfTheStructures) {
  const at::Tensor t = torch::ones({3});
  DLManagedTensor* const lent = at::toDLPack(t);
  bool called = false;
  {
    const auto back = at::fromDLPack(lent, [&](void* p) { called = p == t.data_ptr(); });
  }
  EXPECT_TRUE(called);
  lent->deleter(lent);
}

TEST(DLConvertor, NamesDtypesAndDevices) {
  const at::Tensor t = torch::ones({3}, torch::kBFloat16);
  EXPECT_EQ(at::getDLDataType(t).bits, 16);
  EXPECT_EQ(at::toScalarType(at::getDLDataType(t)), at::kBFloat16);
  EXPECT_EQ(at::getDLContext(t, 3).device_type, kDLCPU);
  EXPECT_EQ(at::getDLContext(t, 3).device_id, 3);
}

}  // namespace
