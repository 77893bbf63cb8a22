// Tensors on meta: what they have, what they lack, and who does not see the device.
#include <gmock/gmock.h>

#include <sstream>

#include "taeda/base/device_types.h"
#include "taeda/taeda.h"
#include "taeda/tensor/accessor.h"
#include "tests/error_of.h"
#include "tests/meta/memory.h"

namespace taeda {
namespace {

using meta_tests::allocations;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const TensorOptions kOnMeta = TensorOptions().device(kMeta);

TEST(Meta, TensorsTakeNoMemory) {
  const int64_t before = allocations();
  const Tensor t = empty({1 << 20, 1 << 20}, kOnMeta);
  const Tensor product = t.mm(t.t()).relu_().add(ones({1 << 20}, kOnMeta));
  EXPECT_EQ(product.sizes(), IntArrayRef({1 << 20, 1 << 20}));
  EXPECT_EQ(product.nbytes(), int64_t{1} << 42);
  EXPECT_EQ(product.storage().nbytes(), size_t{1} << 42);
  EXPECT_EQ(allocations(), before);
}

TEST(Meta, TensorsSayWhereTheyAre) {
  const Tensor t = rand({2, 3}, TensorOptions(kHalf).device("meta:1"));
  EXPECT_TRUE(t.is_meta());
  EXPECT_FALSE(t.is_cpu() || t.is_cuda() || t.is_sim() || t.is_pinned());
  EXPECT_EQ(t.device(), Device(kMeta));
  EXPECT_EQ(t.device().str(), "meta");
  EXPECT_EQ(t.get_device(), -1);
  EXPECT_EQ(t.toString(), "MetaHalfType");
  EXPECT_EQ(t.data_ptr(), nullptr);
  EXPECT_EQ(t[1].data_ptr(), nullptr);
  EXPECT_TRUE(ones({2}).meta().is_meta());
  EXPECT_TRUE(Device("meta").is_meta());
  EXPECT_FALSE(Device("meta").is_accelerator() || Device(kCPU).is_accelerator());
  EXPECT_TRUE(Device(kSim, 0).is_accelerator());
}

TEST(Meta, TensorsAreShownWithoutValues) {
  const Tensor t = empty({2, 3}, kOnMeta);
  std::ostringstream out;
  out << t;
  EXPECT_EQ(out.str(), "tensor(..., device='meta', size=(2, 3))");
  EXPECT_EQ(format_tensor(empty({2}, kOnMeta.dtype(kInt)), {}),
            "tensor(..., device='meta', size=(2,), dtype=taeda.int32)");
  EXPECT_EQ(format_tensor(empty({}, kOnMeta), {"requires_grad=True"}),
            "tensor(..., device='meta', size=(), requires_grad=True)");
}

TEST(Meta, ValuesThatAreNotThereAreNotImplemented) {
  const Tensor t = empty({2, 3}, kOnMeta), one = empty({}, kOnMeta);
  EXPECT_THROW(t.cpu(), NotImplementedError);
  EXPECT_EQ(error_of([&] { t.cpu(); }), "Cannot copy out of meta tensor; no data!");
  EXPECT_EQ(error_of([&] { t.to(kCPU, kDouble); }), "Cannot copy out of meta tensor; no data!");
  EXPECT_EQ(error_of([&] { ones({2, 3}).copy_(t); }), "Cannot copy out of meta tensor; no data!");
  EXPECT_EQ(error_of([&] { one.item(); }), "Tensor.item() cannot be called on meta tensors");
  EXPECT_EQ(error_of([&] { one.item<float>(); }), "Tensor.item() cannot be called on meta tensors");
  EXPECT_EQ(error_of([&] { one.is_nonzero(); }), "Tensor.item() cannot be called on meta tensors");
  EXPECT_EQ(error_of([&] { t.item(); }), "a Tensor with 6 elements cannot be converted to Scalar");
  EXPECT_THAT(error_of([&] { t.data_ptr<float>(); }), HasSubstr("its data is not allocated"));
  EXPECT_THAT(error_of([&] { t.accessor<float, 2>(); }), HasSubstr("its data is not allocated"));
  EXPECT_EQ(empty({0}, kOnMeta).data_ptr<float>(), nullptr);
  EXPECT_THAT(error_of([&] { t.pin_memory(); }), StartsWith("cannot pin 'meta'"));
}

TEST(Meta, ShapesThatDependOnValuesAreNotImplemented) {
  const Tensor t = empty({2, 3}, kOnMeta), list = empty({4}, kOnMeta.dtype(kLong));
  const auto refused = [](const char* name) {
    return StartsWith(std::string(name) + ": attempted to run this operator with Meta tensors");
  };
  EXPECT_THROW(t.nonzero(), NotImplementedError);
  EXPECT_THAT(error_of([&] { t.nonzero(); }), refused("nonzero"));
  EXPECT_THAT(error_of([&] { t.index({t.gt(0)}); }), refused("index"));
  EXPECT_THAT(error_of([&] { t.masked_select(t.gt(0)); }), refused("masked_select"));
  EXPECT_THAT(error_of([&] { unique(t); }), refused("unique"));
  EXPECT_THAT(error_of([&] { bincount(list); }), refused("bincount"));
  EXPECT_THAT(error_of([&] { equal(t, t); }), refused("equal"));
  EXPECT_THAT(error_of([&] { allclose(t, t); }), refused("allclose"));
  EXPECT_THAT(error_of([&] { one_hot(list); }), refused("one_hot"));
  EXPECT_EQ(one_hot(list, 5).sizes(), IntArrayRef({4, 5}));
  EXPECT_EQ(error_of([&] { repeat_interleave(list, list); }),
            "cannot repeat_interleave a meta tensor without output_size");
  EXPECT_EQ(repeat_interleave(list, list, {}, 9).sizes(), IntArrayRef({9}));
}

TEST(Meta, ShapesThatDoNotFitAreTheErrorsOfTheCpu) {
  const auto errors = [](Device device) {
    const TensorOptions o = TensorOptions().device(device);
    const Tensor a = ones({2, 3}, o), b = ones({2, 4}, o);
    return std::vector<std::string>{error_of([&] { a.add(b); }),
                                    error_of([&] { a.mm(b); }),
                                    error_of([&] { a.copy_(b); }),
                                    error_of([&] {
                                      cat({a, b});
                                    }),
                                    error_of([&] { a.view({7}); }),
                                    error_of([&] { a.select(0, 2); }),
                                    error_of([&] {
                                      a.add_(b.sum()).add_(ones({2, 2, 3}, o));
                                    }),
                                    error_of([&] { linalg::inv(a); }),
                                    error_of([&] { a.gather(0, b); }),
                                    error_of([&] { a.expand({2}); }),
                                    error_of([&] { a.as_strided({9}, {1}).add(1); }),
                                    error_of([&] {
                                      a.t().copy_(a.expand({4, 2, 3}));
                                    }),
                                    error_of([&] {
                                      a.expand({4, 2, 3}).add_(1);
                                    }),
                                    error_of([&] { a.narrow(1, 0, 2).copy_(a.narrow(1, 1, 2)); })};
  };
  const auto cpu = errors(kCPU), meta = errors(kMeta);
  for (size_t i = 0; i < cpu.size(); ++i) EXPECT_EQ(meta[i], cpu[i]) << i;
}

TEST(Meta, DifferentTensorsDoNotOverlap) {
  const Tensor a = empty({4}, kOnMeta), b = empty({4}, kOnMeta);
  EXPECT_NO_THROW(a.copy_(b));
  EXPECT_NO_THROW(a.add_(b));
  const Tensor part = a.narrow(0, 1, 3);
  EXPECT_NO_THROW(a.narrow(0, 0, 1).copy_(a.narrow(0, 3, 1)));
  EXPECT_THAT(error_of([&] { part.add_(a.narrow(0, 0, 3)); }),
              StartsWith("unsupported operation: some elements of the input tensor"));
}

TEST(Meta, ValuesThatComeAreForgotten) {
  const Tensor t = empty({2, 3}, kOnMeta);
  const auto version = t._version();
  EXPECT_TRUE(t.copy_(ones({3})).is_same(t));
  EXPECT_EQ(t._version(), version + 1);
  EXPECT_TRUE(ones({2}).to(kMeta).is_meta());
  EXPECT_EQ(tensor({1.0, 2.0}, kOnMeta).sizes(), IntArrayRef({2}));
  EXPECT_EQ(t.add(ones({})).sizes(), t.sizes());
  EXPECT_THAT(error_of([&] { t.add(ones({2, 3})); }), HasSubstr("on the same device"));
  EXPECT_NO_THROW(t.index_put_({t.gt(0)}, 1.0));
}

TEST(Meta, NothingIsDrawn) {
  manual_seed(5);
  const Tensor want = rand({3});
  manual_seed(5);
  Generator generator(kCPU, 1);
  const std::vector<uint8_t> state = generator.get_state();
  const Tensor t = empty({8}, kOnMeta).uniform_(0, 1, generator);
  randn({4}, kOnMeta), randperm(9, kOnMeta), randint(3, {2}, kOnMeta), dropout(t, 0.5, true);
  EXPECT_EQ(bernoulli(t).sizes(), t.sizes());
  EXPECT_EQ(multinomial(t, 3).dtype(), kLong);
  EXPECT_EQ(poisson(t).sizes(), t.sizes());
  EXPECT_EQ(normal(t, t).sizes(), t.sizes());
  EXPECT_EQ(generator.get_state(), state);
  EXPECT_TRUE(equal(rand({3}), want));
}

TEST(Meta, GradientsAreOnMetaToo) {
  const Tensor w = empty({3, 4}, kOnMeta).requires_grad_();
  const Tensor x = empty({2, 3}, kOnMeta);
  const Tensor loss = x.matmul(w).relu().log_softmax(-1).mean();
  const auto grads = autograd::grad({loss}, {w}, {}, /*retain_graph=*/true, /*create_graph=*/true);
  EXPECT_TRUE(grads[0].is_meta());
  grads[0].square().sum().backward();
  EXPECT_TRUE(w.grad().is_meta());
  EXPECT_EQ(w.grad().sizes(), w.sizes());
}

TEST(Meta, IsNoAccelerator) {
  EXPECT_EQ(device_count(kMeta), 0);
  EXPECT_THAT(device_types(), Contains(kMeta));
  EXPECT_THAT(accelerator::types(), Not(Contains(kMeta)));
  EXPECT_THAT(accelerator::devices(), Not(Contains(Device(kMeta))));
  EXPECT_FALSE(accelerator::is_available(kMeta));
  EXPECT_THAT(accelerator::unavailable_reason(kMeta), HasSubstr("shapes alone"));
  EXPECT_EQ(current_stream(Device(kMeta)), Stream());
  EXPECT_NO_THROW(synchronize(Device(kMeta)));
  { const DeviceGuard nothing_happens{Device(kMeta)}; }
  EXPECT_THAT(error_of([] { amp::autocast on(kMeta); }),
              HasSubstr("unsupported autocast device_type 'meta'"));
  EXPECT_THAT(error_of([] { allocator::memory_stats(Device(kMeta)); }),
              HasSubstr("no meta device is available"));
}

TEST(Meta, AGuardMakesWhatNamesNoDevice) {
  const int64_t before = allocations();
  {
    const MetaGuard guard;
    EXPECT_TRUE(MetaGuard::is_active());
    EXPECT_TRUE(rand({1 << 10, 1 << 20}).is_meta());
    EXPECT_TRUE(arange(5).is_meta() && eye(3).is_meta() && tensor({1.0}).is_meta());
    EXPECT_TRUE(randperm(4).is_meta() && full({2}, 1).is_meta() && hann_window(4).is_meta());
    EXPECT_TRUE(zeros({2}, kCPU).is_cpu());
    EXPECT_TRUE(zeros_like(zeros({2}, kCPU)).is_cpu());
    const MetaGuard again;
  }
  EXPECT_FALSE(MetaGuard::is_active());
  EXPECT_TRUE(zeros({2}).is_cpu());
  EXPECT_EQ(allocations(), before);
}

}  // namespace
}  // namespace taeda
