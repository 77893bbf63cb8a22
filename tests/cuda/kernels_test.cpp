// Kernels at sizes where they cut work into blocks and segments, compared with the CPU's. The op
// table compares small ones.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>

#include "taeda/autograd/engine.h"
#include "taeda/device/backends.h"
#include "taeda/device/cuda.h"
#include "taeda/device/registry.h"
#include "taeda/kernels/attention.h"
#include "taeda/nn/utils.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/nn/attention.h"
#include "taeda/ops/nn/conv.h"
#include "taeda/ops/nn/dropout.h"
#include "taeda/ops/nn/embedding.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/nn/norm.h"
#include "taeda/ops/nn/pool.h"
#include "taeda/ops/nn/rnn.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/scan.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/ops/spectral/fft.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/sgd.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using Tensors = std::vector<Tensor>;
using Function = std::function<Tensor(const Tensors&)>;

class CudaKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << cuda::unavailable_reason();
    manual_seed(3);
    backends::cudnn::allow_tf32 = false;  // the CPU's results are of full precision
  }
  const Device device = Device("cuda:0");

  void expect_close(const Tensor& got, const Tensor& want, double tolerance) const {
    ASSERT_EQ(got.sizes(), want.sizes());
    ASSERT_EQ(got.dtype(), want.dtype());
    const Tensor g = got.detach().cpu().to(kDouble), w = want.detach().to(kDouble);
    const double scale = std::max(1.0, w.abs().max().item<double>());
    EXPECT_LE((g - w).abs().max().item<double>(), tolerance * scale);
  }
  /// Values and gradients of all floating inputs agree with the CPU's; two runs give equal bits.
  void expect_same(const Function& f, const Tensors& inputs, double tolerance) const {
    Tensors host, moved;
    for (const Tensor& t : inputs) {
      const bool grad = is_floating_point(t.dtype());
      host.push_back(t.detach().clone().set_requires_grad(grad));
      moved.push_back(t.detach().to(device).set_requires_grad(grad));
    }
    const Tensor want = f(host), got = f(moved), again = f(moved);
    expect_close(got, want, tolerance);
    EXPECT_TRUE(got.equal(again));
    if (!want.requires_grad()) return;
    const Tensor weights = randn(want.sizes(), want.options().requires_grad(false));
    want.backward(weights);
    got.backward(weights.to(device));
    for (size_t i = 0; i < host.size(); ++i)
      if (host[i].grad().defined()) expect_close(moved[i].grad(), host[i].grad(), tolerance);
  }
};

TEST_F(CudaKernels, BroadcastAndSlicedOperands) {
  const Tensor mask = rand({37, 1, 129}).lt(0.5);
  for (const ScalarType dtype : {kFloat, kHalf, kDouble}) {
    const Tensor x = randn({37, 5, 129}).to(dtype), y = randn({5, 1}).to(dtype);
    const auto formulas = [&](const Tensor& a, const Tensor& b, const Tensor& m) {
      Tensor sliced = a.clone();
      sliced.slice(2, 1, 129, 2).mul_(b);
      return Tensors{a.add(b, 0.5), where(m, a, b), a.slice(0, 0, 37, 3).mul(2.5), sliced,
                     a.transpose(0, 2).eq(b)};
    };
    const Tensors want = formulas(x, y, mask),
                  got = formulas(x.to(device), y.to(device), mask.to(device));
    for (size_t i = 0; i < want.size(); ++i) expect_close(got[i], want[i], 1e-3);
  }
}

TEST_F(CudaKernels, CopiesOfRuns) {
  for (const ScalarType dtype : {kByte, kHalf, kFloat, kComplexFloat, kComplexDouble})
    for (const int64_t width : {1, 2, 3, 4, 6, 8, 16, 17})
      for (const int64_t first : {0, 1, 8}) {  // where the first run lies in a word
        const int64_t n = 3 * 4 * 5 * width;
        const auto copies = [&](const Tensor& numbers) {
          const Tensor x = numbers.narrow(0, first, n).view({3, 4, 5, width});
          Tensor wide = zeros({3, 4, 5, 2 * width + first}, x.options());
          wide.narrow(3, first, width).copy_(x);
          return Tensors{x.permute({2, 0, 1, 3}).contiguous(), wide,
                         x.unsqueeze(1).expand({3, 2, 4, 5, width}).contiguous()};
        };
        const Tensor numbers = arange(n + first).remainder(100).to(dtype);
        const Tensors want = copies(numbers), got = copies(numbers.to(device));
        for (size_t i = 0; i < want.size(); ++i)
          EXPECT_TRUE(got[i].cpu().equal(want[i])) << dtype << ' ' << width << ' ' << first;
      }
}

TEST_F(CudaKernels, Reductions) {
  const Tensor x = randn({37, 5003}), wide = randn({3001, 67}), cube = randn({9, 130, 33});
  for (const bool keep : {false, true}) {
    expect_same([=](const Tensors& t) { return t[0].sum(1, keep); }, {x}, 1e-5);
    expect_same([=](const Tensors& t) { return t[0].mean(0, keep); }, {wide}, 1e-5);
    expect_same([=](const Tensors& t) { return t[0].sum({0, 2}, keep); }, {cube}, 1e-5);
    expect_same([=](const Tensors& t) { return t[0].var({0, 1}, true, keep); }, {cube}, 1e-5);
  }
  expect_same([](const Tensors& t) { return t[0].sum(); }, {x}, 1e-5);
  expect_same([](const Tensors& t) { return t[0].transpose(0, 2).amax({0, 1}); }, {cube}, 0);
  expect_same([](const Tensors& t) { return t[0].norm(); }, {wide}, 1e-5);
  expect_same([](const Tensors& t) { return t[0].argmax(1); }, {x}, 0);
  expect_same([](const Tensors& t) { return t[0].argmin(0); }, {wide}, 0);
  const Tensor ties = randint(3, {200000});
  expect_same([](const Tensors& t) { return t[0].argmax(); }, {ties}, 0);
  expect_same([](const Tensors& t) { return t[0].sum(); }, {ties}, 0);
  expect_same([](const Tensors& t) { return t[0].eq(1).any(); }, {ties}, 0);
  const Tensor half = randn({64, 3000}).to(kHalf);
  expect_same([](const Tensors& t) { return t[0].sum(1); }, {half}, 1e-3);
}

/// Sizes that end within tiles and go over several, each family of kernels with its widths.
TEST_F(CudaKernels, Attention) {
  const auto heads = [](int64_t h, int64_t rows, int64_t width, ScalarType dtype) {
    return randn({2, rows, h, width}).to(dtype).transpose(1, 2);
  };
  const auto attend = [](bool causal, bool shared, double dropout = 0) {
    return [=](const Tensors& t) {
      manual_seed(4);
      return scaled_dot_product_attention(t[0], t[1], t[2], t.size() > 3 ? t[3].detach() : Tensor(),
                                          dropout, causal, {}, shared);
    };
  };
  const Tensor mask = rand({2, 1, 70, 90}).lt(0.8), added = randn({90});
  const struct {
    ScalarType dtype;
    double tolerance;
  } types[] = {{kFloat, 1e-5}, {kDouble, 1e-12}, {kHalf, 4e-3}, {kBFloat16, 3e-2}};
  for (const auto& [dtype, tolerance] : types) {
    const Tensor q = heads(2, 70, 24, dtype), k = heads(2, 90, 24, dtype),
                 v = heads(2, 90, 20, dtype);
    expect_same(attend(false, false), {q, k, v}, tolerance);
    expect_same(attend(true, false), {q, k, v}, tolerance);
    expect_same(attend(false, false), {q, k, v, mask}, tolerance);
    expect_same(attend(false, false), {q, k, v, added.to(dtype)}, tolerance);
    expect_same(attend(true, true),
                {heads(4, 70, 100, dtype), heads(2, 40, 100, dtype), heads(2, 40, 80, dtype)},
                tolerance);
  }
  expect_same(attend(true, false),
              {heads(1, 70, 200, kFloat), heads(1, 30, 200, kFloat), heads(1, 30, 160, kFloat)},
              1e-5);
}

/// Sizes that go to cuDNN where it is used: Note [Attention by cuDNN].
TEST_F(CudaKernels, AttentionOfTheLibrarysSizes) {
  const auto heads = [](int64_t h, int64_t rows, int64_t width, ScalarType dtype) {
    return randn({1, rows, h, width}).to(dtype).transpose(1, 2);
  };
  const auto attend = [](bool causal) {
    return [=](const Tensors& t) {
      return scaled_dot_product_attention(t[0], t[1], t[2], {}, 0, causal, 0.2, true);
    };
  };
  for (const bool any_order : {false, true}) {
    backends::cudnn::benchmark = any_order;
    expect_same(attend(true),
                {heads(2, 136, 64, kHalf), heads(2, 129, 64, kHalf), heads(2, 129, 64, kHalf)},
                4e-3);
    expect_same(
        attend(false),
        {heads(2, 130, 40, kBFloat16), heads(1, 150, 40, kBFloat16), heads(1, 150, 72, kBFloat16)},
        3e-2);
  }
  backends::cudnn::benchmark = false;
}

/// Whoever computes it, the logarithm of a row's sum is the same, so that gradients may be
/// another's.
TEST_F(CudaKernels, AttentionHasOneLogarithmOfSums) {
  const TensorOptions floats = TensorOptions(device).dtype(kFloat);
  for (const bool causal : {false, true}) {
    const Tensor q = randn({1, 4, 192, 64}, floats).to(kHalf),
                 k = randn({1, 2, 256, 64}, floats).to(kHalf),
                 v = randn({1, 2, 256, 64}, floats).to(kHalf);
    Tensors outs, logs;
    for (const bool library : {true, false}) {
      backends::cuda::enable_cudnn_sdp(library);
      outs.push_back(empty({1, 4, 192, 64}, q.options()));
      logs.push_back(empty({1, 4, 192}, floats));
      attention_slot(kCUDA, outs.back(), logs.back(), q, k, v, Tensor(),
                     AttentionSpec{.scale = 0.125, .causal = causal, .dropout = 0}, PhiloxState(),
                     Tensor());
    }
    backends::cuda::enable_cudnn_sdp(true);
    expect_close(outs[0], outs[1].cpu(), 4e-3);
    expect_close(logs[0], logs[1].cpu(), 1e-3);
  }
}

TEST_F(CudaKernels, AttentionDropsLikeDropout) {
  const auto leaf = [&](ScalarType dtype) {
    return randn({2, 2, 70, 16}).to(dtype).to(device).requires_grad_(true);
  };
  for (const ScalarType dtype : {kFloat, kHalf}) {
    const Tensor q = leaf(dtype), k = leaf(dtype), v = leaf(dtype);
    manual_seed(4);
    const Tensor got = scaled_dot_product_attention(q, k, v, {}, 0.3);
    const auto fused = autograd::grad({got.sum()}, {q, k, v});
    manual_seed(4);
    const Tensor weights = q.matmul(k.transpose(-2, -1)).div(4).softmax(-1);
    const Tensor want = dropout(weights, 0.3).matmul(v);
    const auto composed = autograd::grad({want.sum()}, {q, k, v});
    const double tolerance = dtype == kHalf ? 1e-2 : 1e-5;
    expect_close(got, want.cpu(), tolerance);
    for (size_t i = 0; i < 3; ++i) expect_close(fused[i], composed[i].cpu(), tolerance);
  }
}

TEST_F(CudaKernels, Scans) {
  const Tensor line = randn({70001}), lines = rand({3, 9000}), many = randn({2, 7, 5000});
  expect_same([](const Tensors& t) { return t[0].cumsum(0); }, {line}, 1e-5);
  expect_same([](const Tensors& t) { return t[0].cumsum(1); }, {lines}, 1e-5);
  expect_same([](const Tensors& t) { return t[0].cumsum(1); }, {many}, 1e-5);
  const Tensor ties = randint(1000, {70001});
  expect_same([](const Tensors& t) { return std::get<1>(cummax(t[0], 0)); }, {ties}, 0);
  // Its gradient adds up long runs of one index.
  expect_same([](const Tensors& t) { return std::get<0>(cummin(t[0], 1)); }, {lines}, 1e-5);
  expect_same([](const Tensors& t) { return t[0].nonzero(); }, {randint(2, {300, 70})}, 0);
}

TEST_F(CudaKernels, Sorting) {
  const Tensor ties = randint(50, {13, 700}), numbers = randn({4, 3001}).to(kDouble);
  for (const bool descending : {false, true}) {
    const auto order = [=](const Tensors& t) { return t[0].argsort(1, descending); };
    expect_same(order, {ties}, 0);
    expect_same(order, {numbers}, 0);
    expect_same([=](const Tensors& t) { return std::get<0>(t[0].sort(0, descending)); },
                {ties.to(kHalf)}, 0);
  }
  expect_same([](const Tensors& t) { return std::get<0>(t[0].topk(7, 1)); }, {numbers}, 0);
  expect_same([](const Tensors& t) { return std::get<1>(median(t[0], 1)); }, {ties}, 0);
  Tensor with_nan = randn({6, 500});
  with_nan.index_put_({3, 77}, Scalar(NAN));
  expect_same([](const Tensors& t) { return std::get<1>(median(t[0], 1)); }, {with_nan.detach()},
              0);
}

TEST_F(CudaKernels, WritesThatMeet) {
  const Tensor weight = randn({50, 33}), tokens = randint(50, {40, 25});
  expect_same([](const Tensors& t) { return embedding(t[0], t[1]); }, {weight, tokens}, 1e-5);
  const Tensor index = randint(20, {700, 30}), values = randn({700, 30});
  expect_same(
      [](const Tensors& t) {
        return zeros({20, 30}, t[1].options().requires_grad(false)).scatter_add(0, t[0], t[1]);
      },
      {index, values}, 1e-5);
  expect_same(
      [](const Tensors& t) {
        return zeros({20, 30}, t[1].options().requires_grad(false))
            .scatter_(0, t[0], t[1].detach());
      },
      {index, values}, 0);
  const Tensor rows = randint(60, {900});
  const auto put = [](const Tensor& t, const Tensor& at, const Tensor& from) {
    Tensor out = t.detach().clone();
    out.index_put_({at}, from.detach());
    return out;
  };
  expect_same([&](const Tensors& t) { return put(t[0], t[1], t[2]); },
              {randn({60, 17}), rows, randn({900, 17})}, 0);
  expect_same([](const Tensors& t) { return t[0].gather(0, t[1]); }, {weight, randint(50, {9, 33})},
              1e-5);
}

/// n indices: `of(i)` for entry i.
template <class Of>
Tensor places(int64_t n, Of of) {
  const Tensor out = zeros({n}, kLong);
  for (int64_t i = 0; i < n; ++i) out.data_ptr<int64_t>()[i] = of(i);
  return out;
}

TEST_F(CudaKernels, LongRunsAddUp) {
  const auto add = [](const Tensors& t) {
    return zeros({5000}, t[1].options().requires_grad(false)).scatter_add(0, t[0], t[1]);
  };
  const int64_t n = 100001;
  const Tensor values = rand({n}).to(kDouble);
  const std::vector<Tensor> patterns{
      places(n, [](int64_t) { return 7; }),
      places(n, [](int64_t i) { return i % 3 == 0 ? i % 5000 : 4999; }),
      places(n, [](int64_t i) { return i / 255; }),
      places(n, [](int64_t i) { return i / 256; }),
      places(n, [](int64_t i) { return i / 257; }),
      places(n, [](int64_t i) { return i % 5000; }),
      places(n, [](int64_t i) { return i < 100     ? i
                                       : i < 99000 ? 100
                                                   : i - 98000; })};
  for (const Tensor& at : patterns) {
    expect_same(add, {at, values}, 1e-12);
    // A whole number has no rounding, so every element counts exactly once.
    expect_same(add, {at, values.mul(1000).to(kLong)}, 0);
  }
  expect_same(add, {patterns[0], values.to(kFloat)}, 1e-4);
  expect_same(add, {places(1, [](int64_t) { return 3; }), rand({1})}, 0);
  const Tensor none = zeros({0}, kLong), nothing = rand({0});
  EXPECT_TRUE(add({none.to(device), nothing.to(device)}).cpu().equal(zeros({5000})));
}

TEST_F(CudaKernels, LongRunsOfRowsAddUp) {
  const int64_t n = 3000;
  const auto add = [](const Tensors& t) {
    return ones({4, 5}, t[1].options().requires_grad(false)).index_add(1, t[0], t[1]);
  };
  const Tensor at = places(n, [](int64_t i) { return i % 4 == 0 ? i % 5 : 2; });
  expect_same(add, {at, rand({4, n}).to(kDouble)}, 1e-12);
  expect_same(add, {at, rand({n, 4}).t()}, 1e-5);
  // In half the CPU rounds each sum.
  const Tensor halves = rand({4, n}).to(kHalf);
  const Tensor want = add({at, halves.to(kDouble)}).to(kHalf);
  expect_close(add({at.to(device), halves.to(device)}), want, 1e-3);
}

TEST_F(CudaKernels, ShortRunsAddUpInTheirOrder) {
  const int64_t n = 255, runs = 40;
  const Tensor at = places(n * runs, [](int64_t i) { return i % runs; });
  const Tensor values = rand({n * runs}).mul(1e4);
  const Tensor sums = zeros({runs}).to(device).scatter_add(0, at.to(device), values.to(device));
  EXPECT_TRUE(sums.cpu().equal(zeros({runs}).scatter_add(0, at, values)));
}

TEST_F(CudaKernels, RowsAndClasses) {
  const Tensor x = randn({11, 3000}), classes = randint(3000, {11}), planes = randn({3, 7, 19, 23});
  for (const int64_t dim : {0, 1}) {
    expect_same([=](const Tensors& t) { return softmax(t[0], dim); }, {x}, 1e-5);
    expect_same([=](const Tensors& t) { return log_softmax(t[0], dim); }, {x}, 1e-5);
  }
  expect_same([](const Tensors& t) { return cross_entropy(t[0], t[1]); }, {x, classes}, 1e-5);
  expect_same([](const Tensors& t) { return cross_entropy(t[0], t[1]); },
              {planes, randint(7, {3, 19, 23})}, 1e-5);
  expect_same([](const Tensors& t) { return layer_norm(t[0], {3000}, t[1], t[2]); },
              {x, randn({3000}), randn({3000})}, 1e-4);
  expect_same([](const Tensors& t) { return rms_norm(t[0], {200}, t[1]); },
              {randn({600, 200}), randn({200})}, 1e-4);
  expect_same([](const Tensors& t) { return group_norm(t[0], 2, t[1], t[2]); },
              {randn({3, 6, 19, 23}), randn({6}), randn({6})}, 1e-4);
}

TEST_F(CudaKernels, BatchNorm) {
  const auto normalise = [](const Tensors& t) {
    return batch_norm(t[0], t[1], t[2], Tensor(), Tensor(), true);
  };
  const Tensor x = randn({6, 5, 31, 33}) + 100, w = randn({5}), b = randn({5});
  expect_same(normalise, {x, w, b}, 1e-4);
  expect_same(normalise, {randn({700, 5}), w, b}, 1e-4);
  expect_same(normalise, {x.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2}), w, b}, 1e-4);
  Tensor means[2];
  for (int i = 0; i < 2; ++i) {
    const Device d = i == 0 ? Device(kCPU) : device;
    means[i] = zeros({5}).to(d);
    batch_norm(x.to(d), w.to(d), b.to(d), means[i], ones({5}).to(d), true);
  }
  expect_close(means[1], means[0], 1e-5);
}

TEST_F(CudaKernels, Products) {
  const Tensor a = randn({130, 77}), b = randn({77, 150});
  expect_same([](const Tensors& t) { return t[0].mm(t[1]); }, {a, b}, 1e-4);
  expect_same([](const Tensors& t) { return t[0].t().mm(t[1].t()); }, {b, a}, 1e-4);
  expect_same([](const Tensors& t) { return linear(t[0], t[1], t[2]); },
              {randn({9, 4000}), randn({20, 4000}), randn({20})}, 1e-4);
  expect_same([](const Tensors& t) { return t[0].bmm(t[1].transpose(1, 2)); },
              {randn({5, 33, 65}), randn({5, 70, 65})}, 1e-4);
  expect_same([](const Tensors& t) { return addmm(t[0], t[1], t[2], 0.5, 2); },
              {randn({130, 150}), a, b}, 1e-4);
  expect_same([](const Tensors& t) { return t[0].mm(t[1]); }, {a.to(kDouble), b.to(kDouble)},
              1e-12);
  expect_same([](const Tensors& t) { return t[0].mm(t[1]); }, {a.to(kHalf), b.to(kHalf)}, 1e-2);
  expect_same([](const Tensors& t) { return t[0].mm(t[1]); },
              {randint(9, {70, 300}), randint(9, {300, 40})}, 0);
}

TEST_F(CudaKernels, Convolutions) {
  const Tensor x = randn({3, 6, 29, 31}), w = randn({8, 6, 3, 3}), b = randn({8});
  expect_same([](const Tensors& t) { return conv2d(t[0], t[1], t[2], 1, 1); }, {x, w, b}, 1e-4);
  expect_same(
      [](const Tensors& t) {
        return conv2d(t[0], t[1], t[2], 2, {1, 2}, {2, 1}, 2);
      },
      {x, randn({8, 3, 3, 5}), b}, 1e-4);
  expect_same([](const Tensors& t) { return conv_transpose2d(t[0], t[1], t[2], 2, 1, 1); },
              {x, randn({6, 4, 3, 3}), randn({4})}, 1e-4);
  expect_same([](const Tensors& t) { return conv1d(t[0], t[1], t[2], 3); },
              {randn({2, 5, 301}), randn({7, 5, 11}), randn({7})}, 1e-4);
  const Tensor last = x.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2});
  expect_same([](const Tensors& t) { return conv2d(t[0], t[1], t[2], 1, 1); }, {last, w, b}, 1e-4);
}

TEST_F(CudaKernels, ConvolutionsOfFewChannels) {
  struct Case {
    int64_t images, in, rows, columns, out, down, across, padding;
  };
  for (const Case& c : {Case{130, 1, 28, 28, 6, 5, 5, 0}, Case{1100, 6, 12, 12, 12, 5, 5, 1},
                        Case{70, 16, 33, 31, 3, 3, 3, 1}, Case{90, 3, 30, 29, 16, 2, 7, 3},
                        Case{2, 2, 250, 270, 5, 3, 3, 0}}) {
    const Tensor x = randn({c.images, c.in, c.rows, c.columns}),
                 w = randn({c.out, c.in, c.down, c.across}), b = randn({c.out});
    const Function f = [&](const Tensors& t) { return conv2d(t[0], t[1], t[2], 1, c.padding); };
    expect_same(f, {x, w, b}, 2e-4);
    expect_same(f, {x.contiguous(MemoryFormat::ChannelsLast), w, b}, 2e-4);
    expect_same(f, {x.to(kHalf), w.to(kHalf), b.to(kHalf)}, 1e-2);
  }
  const Tensor x = randn({40, 2, 2000}), w = randn({4, 2, 5}), b = randn({4});
  expect_same([](const Tensors& t) { return conv1d(t[0], t[1], t[2], 1, 2); }, {x, w, b}, 2e-4);
}

TEST_F(CudaKernels, RandomNumbersAreThoseOfTheSimulator) {
  if (device_count(kSim) == 0) GTEST_SKIP() << "no simulated device";
  const auto expect_equal_draws = [&](const std::function<Tensor(Device)>& draw, double tolerance) {
    manual_seed(11);
    const Tensor want = draw(Device("sim:0")).cpu();
    manual_seed(11);
    expect_close(draw(device), want, tolerance);
  };
  for (const ScalarType t : {kFloat, kDouble, kHalf, kBFloat16}) {
    expect_equal_draws([=](Device d) { return rand({10007}, TensorOptions(d).dtype(t)); }, 0);
    expect_equal_draws([=](Device d) { return randn({10007}, TensorOptions(d).dtype(t)); },
                       t == kBFloat16 ? 1e-2
                       : t == kHalf   ? 1e-3
                                      : 1e-6);
  }
  expect_equal_draws([](Device d) { return randint(-9, 1000, {10007}, TensorOptions(d)); }, 0);
  expect_equal_draws([](Device d) { return randperm(1000, TensorOptions(d)); }, 0);
  expect_equal_draws([](Device d) { return dropout(ones({10007}, TensorOptions(d)), 0.3); }, 0);
}

TEST_F(CudaKernels, OptimizersTakeManyParameters) {
  Tensors got[2];
  double norms[2];
  for (int i = 0; i < 2; ++i) {
    manual_seed(5);
    for (int64_t k = 0; k < 120; ++k) {
      Tensor p = randn({k % 7 + 1, k * 50 + 3}), g = randn(p.sizes());
      p = p.to(i == 0 ? Device(kCPU) : device).set_requires_grad(true);
      p.mutable_grad() = g.to(p.device());
      got[i].push_back(p);
    }
    norms[i] = nn::utils::clip_grad_norm_(got[i], 10);
    optim::AdamW adam(got[i], optim::AdamWOptions(0.01));
    optim::SGD sgd(got[i], optim::SGDOptions(0.1).momentum(0.9).nesterov(true));
    for (int step = 0; step < 2; ++step) {
      adam.step();
      sgd.step();
    }
  }
  EXPECT_NEAR(norms[1], norms[0], 1e-6 * norms[0]);
  for (size_t k = 0; k < got[0].size(); ++k) expect_close(got[1][k], got[0][k], 1e-5);
}

/// Dimensions with others before and behind them, more than a plan takes, and real numbers that
/// begin where no complex number could.
TEST_F(CudaKernels, FourierTransforms) {
  const Tensor x = randn({5, 9, 32, 7}), line = randn({4097});
  for (const std::vector<int64_t>& dims :
       std::vector<std::vector<int64_t>>{{1}, {2}, {3}, {1, 2}, {0, 2}, {3, 1}, {0, 1, 2, 3}}) {
    expect_same([=](const Tensors& t) { return view_as_real(fft::rfftn(t[0], {}, dims)); }, {x},
                1e-5);
    expect_same([=](const Tensors& t) { return fft::irfftn(t[0], {}, dims, "ortho"); }, {x}, 1e-5);
    expect_same([=](const Tensors& t) { return fft::fftn(t[0], {}, dims).abs(); }, {x}, 1e-5);
  }
  expect_same([](const Tensors& t) { return fft::rfft(t[0].narrow(0, 1, 1024)).abs(); }, {line},
              1e-5);
  expect_same([](const Tensors& t) { return fft::ifft(t[0]).abs(); }, {line}, 1e-5);
}

TEST_F(CudaKernels, FourierTransformsCanBeTurnedOff) {
  const Tensor x = ones({4}, TensorOptions(device));
  setenv("TAEDA_CUDA_FFT", "0", 1);
  const std::string error = error_of([&] { fft::fft(x); });
  unsetenv("TAEDA_CUDA_FFT");
  EXPECT_EQ(error, "Fourier transforms on cuda need cuFFT, which TAEDA_CUDA_FFT=0 turns off");
  EXPECT_EQ(fft::rfft(x).abs().sum().item<float>(), 4);
}

TEST_F(CudaKernels, ChannelsLastImages) {
  const auto last = [](IntArrayRef sizes) {
    return randn(sizes).contiguous(MemoryFormat::ChannelsLast);
  };
  const Tensor x = last({3, 24, 17, 19}), w = last({32, 24, 3, 3}), b = randn({32});
  expect_same([](const Tensors& t) { return conv2d(t[0], t[1], t[2], 2, 1); }, {x, w, b}, 1e-4);
  // A weight that was left contiguous, and a gradient that comes so.
  expect_same([](const Tensors& t) { return conv2d(t[0], t[1], {}, 1, 1).contiguous(); },
              {x, w.contiguous()}, 1e-4);
  expect_same([](const Tensors& t) { return max_pool2d(t[0], 3, 2, 1); }, {x}, 1e-6);
  expect_same([](const Tensors& t) { return avg_pool2d(t[0], 3, 2, 1); }, {x}, 1e-5);
  expect_same([](const Tensors& t) { return adaptive_avg_pool2d(t[0], {5, 4}); }, {x}, 1e-5);
  const Tensor moved = x.to(device), y = conv2d(moved, w.to(device));
  EXPECT_TRUE(moved.is_contiguous(MemoryFormat::ChannelsLast));
  EXPECT_TRUE(y.is_contiguous(MemoryFormat::ChannelsLast));
}

/// By cuDNN, where it is, and step by step.
TEST_F(CudaKernels, RecurrentNetworks) {
  const auto operands = [](int64_t states, int64_t gates) {
    Tensors in{randn({7, 33, 40})};
    for (int64_t i = 0; i < states; ++i) in.push_back(randn({4, 33, 50}));
    for (int64_t i = 0; i < 4; ++i) {
      in.push_back(randn({gates * 50, i < 2 ? 40 : 100}).mul(0.1));
      in.push_back(randn({gates * 50, 50}).mul(0.1));
      for (int k = 0; k < 2; ++k) in.push_back(randn({gates * 50}));
    }
    return in;
  };
  const Function run_lstm = [](const Tensors& t) {
    const auto [y, h, c] = lstm(t[0], TensorList(t.data() + 1, 2), TensorList(t.data() + 3, 16),
                                true, 2, 0, true, true, false);
    return cat({y.flatten(), h.flatten(), c.flatten()});
  };
  const Function run_gru = [](const Tensors& t) {
    const auto [y, h] =
        gru(t[0], t[1], TensorList(t.data() + 2, 16), true, 2, 0, true, true, false);
    return cat({y.flatten(), h.flatten()});
  };
  for (const bool library : {true, false}) {
    backends::cudnn::enabled = library;
    expect_same(run_lstm, operands(2, 4), 1e-4);
    expect_same(run_gru, operands(1, 3), 1e-4);
  }
  backends::cudnn::enabled = true;
}

TEST_F(CudaKernels, ReportIndicesOutOfRange) {
  const Tensor x = zeros({4, 5}, TensorOptions(device));
  EXPECT_THAT(error_of([&] {
                x.index_select(0, tensor({1, 4}).to(device)).cpu();
              }),
              HasSubstr("index out of range in self"));
  EXPECT_THAT(error_of([&] {
                x.gather(1, tensor({{0, 9}}).to(device)).cpu();
              }),
              HasSubstr("index 9 is out of bounds for dimension 1 with size 5"));
  EXPECT_THAT(error_of([&] {
                cross_entropy(x, tensor({0, 1, 2, 5}).to(device)).item();
              }),
              HasSubstr("Target 5 is out of bounds."));
  EXPECT_EQ(x.sum().item<float>(), 0);  // the device goes on
}

}  // namespace
}  // namespace taeda
