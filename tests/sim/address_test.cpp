// Addresses that no kernel and no copy may follow: the simulator names them.
#include <gmock/gmock.h>

#include "taeda/device/sim.h"
#include "taeda/device/transfer.h"
#include "taeda/kernels/join.h"
#include "taeda/kernels/optim.h"
#include "taeda/kernels/rnn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "tests/error_of.h"
#include "tests/sim/devices.h"

namespace taeda {
namespace {

using sim_tests::kDevice, sim_tests::kPeer;
using testing::AllOf;
using testing::HasSubstr;

/// A tensor of `n` floats at an address of the user's choice, said to be on the device.
Tensor floats_at(void* p, int64_t n, Device device = kDevice) {
  Storage storage = Storage::from_user(p, static_cast<size_t>(n) * sizeof(float), device, {});
  return Tensor(make_intrusive<TensorImpl>(std::move(storage), Layout::contiguous({n}), kFloat));
}
char* at(const Tensor& t) { return static_cast<char*>(t.data_ptr()); }

// What a slot refuses as an argument: `RnnSpace*`, which the caller reads afterwards, is none.
static_assert(detail::kIsBareAddress<char*> && detail::kIsBareAddress<const double*> &&
              detail::kIsBareAddress<void*> && !detail::kIsBareAddress<RnnSpace*> &&
              !detail::kIsBareAddress<Numbers>);

class SimAddresses : public testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(ones({3}, kDevice).sum().item<float>(), 3) << "the device goes on";
  }
};

TEST_F(SimAddresses, HostMemoryInAnIterator) {
  const Tensor host = ones({8}), lie = floats_at(host.data_ptr(), 8);
  EXPECT_THAT(error_of([&] { lie + ones({8}, kDevice); }),
              AllOf(HasSubstr("argument 0 (input 0) of kernel 'add'"), HasSubstr("32 bytes at 0x"),
                    HasSubstr("which is not memory of sim:0")));
  EXPECT_THAT(error_of([&] { lie.mul_(2); }), HasSubstr("(output 0) of kernel 'mul'"));
  EXPECT_EQ(host.sum().item<float>(), 8);
}

TEST_F(SimAddresses, MemoryOfAPeer) {
  const Tensor there = ones({8}, kPeer), lie = floats_at(there.data_ptr(), 8);
  EXPECT_THAT(error_of([&] { lie.sum(); }), HasSubstr("which is memory of sim:1, not of sim:0"));
  EXPECT_THAT(error_of([&] {
                matmul(lie.reshape({2, 4}), ones({4, 2}, kDevice));
              }),
              AllOf(HasSubstr("argument 1 (tensor 0)"), HasSubstr("memory of sim:1")));
}

TEST_F(SimAddresses, MemoryThatWasGivenBackAndMemoryBeyondABlock) {
  // Large blocks are segments of their own.
  constexpr int64_t kFloats = int64_t{8} << 20;
  Tensor x = zeros({kFloats}, kDevice);
  const Tensor same = floats_at(x.data_ptr(), kFloats);
  EXPECT_EQ(same.add(1).select(0, kFloats - 1).item<float>(), 1);
  const Tensor longer = floats_at(x.data_ptr(), kFloats + 1);
  EXPECT_THAT(error_of([&] { longer.add_(1); }),
              HasSubstr("which reach beyond a live allocation of sim:0"));
  EXPECT_THAT(error_of([&] { longer.slice(0, kFloats - 4).add_(1); }), HasSubstr("20 bytes at"));
  x.reset();
  allocator::empty_cache(kDevice);
  EXPECT_THAT(error_of([&] { same.add_(1); }),
              HasSubstr("which reach beyond a live allocation of sim:0"));
}

TEST_F(SimAddresses, ALayoutLargerThanItsStorage) {
  const Tensor x = ones({4}, kDevice);
  const Tensor wide(make_intrusive<TensorImpl>(x.storage(), Layout::contiguous({2, 4}), kFloat));
  EXPECT_THAT(error_of([&] { wide.sum(); }),
              HasSubstr("which reach beyond the tensor's storage of 16 bytes on sim:0"));
  EXPECT_THAT(error_of([&] { wide + 1; }),
              HasSubstr("add: a tensor of sizes [2, 4], strides [4, 1] and offset 0 reaches beyond "
                        "its storage of 16 bytes"));
  EXPECT_THAT(error_of([&] {
                wide.transpose(0, 1).add(ones({4, 1}, kDevice));
              }),
              HasSubstr("strides [1, 4] and offset 0 reaches beyond its storage"));
}

TEST_F(SimAddresses, ATensorElsewhereIsAnErrorOfTheCall) {
  const Tensor out = zeros({4}, kDevice), in = ones({4}, kDevice);
  const auto flip = [](DeviceType type, const Tensor& to, const Tensor& from) {
    return error_of([&] { flip_slot(type, to, from, 1); });
  };
  const char* const two = "Expected all tensors to be on the same device, but found at least two ";
  EXPECT_EQ(flip(kSim, out, ones({4})),
            two + std::string("devices, sim:0 and cpu! (when checking argument 1 of kernel flip)"));
  EXPECT_EQ(
      flip(kSim, out, ones({4}, kPeer)),
      two + std::string("devices, sim:0 and sim:1! (when checking argument 1 of kernel flip)"));
  EXPECT_EQ(flip(kCPU, out, in),
            two + std::string("devices, cpu and sim:0! (when checking argument 0 of kernel flip)"));
  EXPECT_EQ(flip(kSim, out, in), "no error");
}

TEST_F(SimAddresses, ListsOfParametersAndNumbers) {
  const Tensor host = ones({2}), x = ones({2}, kDevice);
  const Tensor lie = floats_at(host.data_ptr(), 2);
  ParamList list(kDevice, kFloat);
  list.add({.param = x, .grad = lie});
  EXPECT_THAT(error_of([&] {
                formula_step_slot(kSim, list, step_values<SgdFormula>({{1, 0}, 0.1}));
              }),
              HasSubstr("argument 0 (gradient 0) of kernel 'formula_step'"));
  const Tensor numbers = zeros({3}, TensorOptions(kDouble).device(kDevice));
  EXPECT_THAT(error_of([&] {
                ScaleUpdate(Numbers(numbers), Numbers(numbers.slice(0, 0, 2)), Numbers(numbers));
              }),
              HasSubstr("the factors of a gradient scale: expected 3 numbers on sim:0, but got 2"));
  EXPECT_THAT(error_of([&] { Numbers(numbers.slice(0, 0, 3, 2)); }),
              HasSubstr("must be contiguous"));
  EXPECT_THAT(error_of([&] { Numbers n(x); }), HasSubstr("Float"));
  EXPECT_THAT(error_of([&] { list.set_skip(Numbers(zeros({2}, kDouble))); }),
              HasSubstr("expected 2 numbers on sim:0, but got 2 on cpu"));
  ParamList more(kDevice, kFloat);
  EXPECT_THAT(error_of([&] { more.add({.op = "SGD", .param = x, .grad = ones({2})}); }),
              HasSubstr("SGD: expected the gradient of parameter 0 of group 0 to be Float [2] on "
                        "sim:0 like the parameter, but got Float [2] on cpu"));
  EXPECT_THAT(error_of([&] { more.add_gradient(ones({2})); }),
              HasSubstr("expected parameters of Float on sim:0"));
  EXPECT_THAT(error_of([&] { more.add_gradient(ones({4}, kDevice).slice(0, 0, 4, 2)); }),
              HasSubstr("there are gaps between the elements"));
}

TEST_F(SimAddresses, Copies) {
  const Tensor host = ones({8}), x = ones({8}, kDevice), there = ones({8}, kPeer);
  EXPECT_THAT(error_of([&] { transfer(x.data_ptr(), kDevice, host.data_ptr(), kDevice, 32); }),
              HasSubstr("(source 0) of kernel 'copy' has 32 bytes at 0x"));
  EXPECT_THAT(error_of([&] { transfer(host.data_ptr(), kCPU, x.data_ptr(), kPeer, 32); }),
              HasSubstr("which is memory of sim:0, not of sim:1"));
  EXPECT_THAT(error_of([&] { transfer(x.data_ptr(), kCPU, there.data_ptr(), kPeer, 32); }),
              HasSubstr("(destination 0) of kernel 'copy'"));
  EXPECT_THAT(error_of([&] { fill_zero(host.data_ptr(), kDevice, 32); }),
              HasSubstr("kernel 'fill with zeros'"));
  EXPECT_THAT(error_of([&] { transfer(at(x), kDevice, host.data_ptr(), kCPU, size_t{1} << 30); }),
              HasSubstr("which reach beyond a live allocation of sim:0"));
  EXPECT_THAT(error_of([&] { sim::host_view(kDevice, host.data_ptr()); }),
              HasSubstr("which is not memory of sim:0"));
}

TEST_F(SimAddresses, SegmentsThatGrow) {
  sim::set_allocator_settings("expandable_segments:True");
  allocator::empty_cache(kDevice);
  {
    constexpr int64_t kFloats = int64_t{8} << 20;
    Tensor a = zeros({kFloats}, kDevice), b = zeros({kFloats}, kDevice);
    const Tensor second = floats_at(b.data_ptr(), kFloats);
    EXPECT_EQ(second.add(1).sum().item<float>(), kFloats);
    b.reset();
    allocator::empty_cache(kDevice);
    EXPECT_THAT(error_of([&] { second.add_(1); }), HasSubstr("live allocation of sim:0"));
    EXPECT_EQ(a.sum().item<float>(), 0);
  }
  sim::set_allocator_settings("");
  allocator::empty_cache(kDevice);
}

}  // namespace
}  // namespace taeda
