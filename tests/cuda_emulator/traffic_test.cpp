// How often kernels read and write device memory, in multiples of their operands' bytes: what
// decides most operations' speed on a GPU, counted where there is none. Bounds are what the design
// needs.
#include "tests/cuda_emulator/traffic.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <string>

#include "taeda/device/cuda.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/nn/embedding.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/nn/norm.h"
#include "taeda/ops/nn/pool.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/reduce/statistics.h"

namespace taeda {
namespace {

using emulator::Traffic;

/// What a function's kernels did, by their names.
struct Counts {
  std::map<std::string, Traffic> kernels;

  Traffic total() const {
    Traffic sum;
    for (const auto& [name, t] : kernels) {
      sum.launches += t.launches;
      sum.read += t.read;
      sum.written += t.written;
    }
    return sum;
  }
  double read(const Tensor& of) const { return times(total().read, of); }
  double written(const Tensor& of) const { return times(total().written, of); }
  int64_t launches() const { return total().launches; }
  bool ran(const std::string& kernel) const { return kernels.contains(kernel); }
  std::string text() const {
    std::string out;
    for (const auto& [name, t] : kernels)
      out += name + ": " + std::to_string(t.launches) + " launches, " + std::to_string(t.read) +
             " bytes read, " + std::to_string(t.written) + " written\n";
    return out;
  }

 private:
  static double times(int64_t bytes, const Tensor& of) {
    return static_cast<double>(bytes) / static_cast<double>(of.nbytes());
  }
};

class CudaTraffic : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(cuda::is_available()) << cuda::unavailable_reason();
    void* plugin = dlopen("libtaeda_cuda.so", RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(plugin, nullptr);
    start_ = reinterpret_cast<decltype(start_)>(dlsym(plugin, "emulator_start_counting"));
    stop_ = reinterpret_cast<decltype(stop_)>(dlsym(plugin, "emulator_stop_counting"));
    ASSERT_TRUE(start_ && stop_) << "this is not the emulated plug-in";
    manual_seed(3);
  }
  Counts count(const std::function<void()>& f) const {
    Counts counts;
    start_();
    f();
    stop_([](const char* kernel, const Traffic* t,
             void* to) { static_cast<Counts*>(to)->kernels[kernel] = *t; },
          &counts);
    return counts;
  }
  const TensorOptions options = TensorOptions(kFloat).device("cuda:0");
  const TensorOptions longs = TensorOptions(kLong).device("cuda:0");

 private:
  decltype(&emulator_start_counting) start_ = nullptr;
  decltype(&emulator_stop_counting) stop_ = nullptr;
};

/// A few bytes beside the operands: statistics of rows, partial sums.
constexpr double kLittle = 0.05;

#define EXPECT_TRAFFIC(counts, reads, writes, operand)                                 \
  do {                                                                                 \
    EXPECT_LE((counts).read(operand), (reads) * (1 + kLittle)) << (counts).text();     \
    EXPECT_LE((counts).written(operand), (writes) * (1 + kLittle)) << (counts).text(); \
  } while (false)

TEST_F(CudaTraffic, CountsWhatKernelsTouch) {
  const Tensor a = randn({1000}, options), b = randn({1000}, options);
  const Counts c = count([&] { a.add(b); });
  EXPECT_EQ(c.launches(), 1) << c.text();
  EXPECT_EQ(c.read(a), 2.0) << c.text();
  EXPECT_EQ(c.written(a), 1.0) << c.text();
  EXPECT_TRUE(c.ran("flat_kernel")) << c.text();
  EXPECT_EQ(count([&] { a.sum(); }).read(a), 1.0);
  EXPECT_EQ(count([] {}).launches(), 0);
}

// A block keeps 11,264 floats (Note [Elements that are read once] in taeda/cuda/kernels/kept.cuh).
TEST_F(CudaTraffic, SoftmaxReadsRowsOnce) {
  for (int64_t n : {100, 1000, 8000}) {
    const Tensor x = randn({20, n}, options), g = randn({20, n}, options);
    EXPECT_TRAFFIC(count([&] { x.softmax(-1); }), 1, 1, x);
    EXPECT_TRAFFIC(count([&] { x.log_softmax(-1); }), 1, 1, x);
    for (const bool log : {false, true}) {
      const Tensor leaf = x.detach().set_requires_grad(true);
      const Tensor y = log ? leaf.log_softmax(-1) : leaf.softmax(-1);
      const Counts c = count([&] { y.backward(g); });
      if (n < 5000) EXPECT_TRAFFIC(c, 2, 1, x);
      EXPECT_EQ(c.launches(), 1) << c.text();
    }
  }
  const Tensor classes = randn({2, 21, 50}, options);
  EXPECT_TRAFFIC(count([&] { classes.softmax(1); }), 1, 1, classes);
}

// Too long to be kept: the largest element and the sum are found together.
TEST_F(CudaTraffic, SoftmaxReadsLongRowsTwice) {
  const Tensor x = randn({4, 20000}, options);
  EXPECT_TRAFFIC(count([&] { x.softmax(-1); }), 2, 1, x);
  EXPECT_TRAFFIC(count([&] { x.t().contiguous().softmax(0); }), 2 + 1, 1 + 1, x);
}

TEST_F(CudaTraffic, LayerNormReadsRowsOnce) {
  for (int64_t n : {100, 1000, 8000}) {
    const Tensor x = randn({20, n}, options);
    EXPECT_TRAFFIC(count([&] { layer_norm(x, {n}); }), 1, 1.02, x);
    // Weights are read for each row, out of the cache.
    const Tensor w = ones({n}, options), b = zeros({n}, options);
    EXPECT_TRAFFIC(count([&] { layer_norm(x, {n}, w, b); }), 1 + 2, 1.02, x);
  }
  const Tensor x = randn({4, 20000}, options);
  EXPECT_TRAFFIC(count([&] { layer_norm(x, {20000}); }), 2, 1, x);
}

TEST_F(CudaTraffic, CrossEntropyReadsLogitsOnce) {
  for (int64_t n : {100, 1000, 50000}) {
    const Tensor x = randn({20, n}, options), t = randint(0, n, {20}, longs);
    EXPECT_TRAFFIC(count([&] { cross_entropy(x, t); }), 1, 0.02, x);
  }
}

// Of four bytes an element, its window's gradient is one, and half a byte is for looking at
// winners: four neighbours look at two windows of two.
TEST_F(CudaTraffic, PoolsReadWindowsOnceForFourNeighbours) {
  const Tensor x = randn({4, 8, 32, 32}, options).set_requires_grad(true);
  Tensor y;
  EXPECT_TRAFFIC(count([&] { y = max_pool2d(x, 2); }), 1, 0.25 + 1. / 16, x);
  const Tensor g = randn(y.sizes(), options);
  const Counts backward = count([&] { y.backward(g); });
  EXPECT_TRAFFIC(backward, 0.375, 1, x);
}

TEST_F(CudaTraffic, ReductionsReadOnce) {
  for (const auto& sizes : {DimVector{1000, 40}, DimVector{30, 3000}, DimVector{2, 70000}}) {
    const Tensor x = randn(sizes, options);
    EXPECT_TRAFFIC(count([&] { x.sum(); }), 1, 0.01, x);
    EXPECT_TRAFFIC(count([&] { x.sum(-1); }), 1, 0.03, x);
    EXPECT_TRAFFIC(count([&] { x.argmax(-1); }), 1, 0.06, x);
    EXPECT_TRAFFIC(count([&] { x.amax(); }), 1, 0.01, x);
    EXPECT_LE(count([&] { x.sum(-1); }).launches(), 2);
  }
  const Tensor x = randn({3000, 40}, options);
  EXPECT_TRAFFIC(count([&] { x.sum(0); }), 1, 0.02, x);
}

TEST_F(CudaTraffic, SelectionsDoNotSortLines) {
  // Of these a block keeps the keys: one pass, and what is selected.
  for (int64_t n : {1000, 8000}) {
    const Tensor x = randn({20, n}, options);
    const Counts top = count([&] { x.topk(5); }), middle = count([&] { x.median(-1); });
    EXPECT_TRAFFIC(top, 1.35, 0.35, x);
    EXPECT_TRAFFIC(middle, 1.05, 0.05, x);
    EXPECT_FALSE(middle.ran("cub::DeviceRadixSort")) << middle.text();
    EXPECT_TRAFFIC(count([&] { x.topk(1); }), 1.05, 0.05, x);
  }
  // One for each of three digits, to count and to pick.
  const Tensor x = randn({2, 100000}, options);
  const Counts top = count([&] { x.topk(50); }), middle = count([&] { x.median(-1); });
  EXPECT_TRAFFIC(top, 5.5, 0.2, x);
  EXPECT_TRAFFIC(middle, 5.5, 0.2, x);
  EXPECT_FALSE(middle.ran("cub::DeviceRadixSort")) << middle.text();
}

// Note [Long runs] in taeda/cuda/kernels/index_write.cu: in ten thousand entries of one index no
// thread adds more than a stretch and the sums of stretches. A serial run would be one launch and
// the values once.
TEST_F(CudaTraffic, EntriesOfOneIndexAreSharedByThreads) {
  const Tensor values = randn({10000, 16}, options), same = zeros({10000}, longs);
  const Tensor table = randn({10, 16}, options).set_requires_grad(true);
  const Tensor e = embedding(table, same);
  for (const Counts& c : {count([&] {
                            zeros({10, 16}, options).index_add_(0, same, values);
                          }),
                          count([&] { e.backward(values); })}) {
    EXPECT_TRUE(c.ran("add_stretches_kernel")) << c.text();
    EXPECT_GE(c.kernels.at("add_stretches_kernel").read, 0.95 * values.nbytes()) << c.text();
    EXPECT_LE(c.kernels.at("add_up_kernel").longest, 400) << c.text();
  }
}

TEST_F(CudaTraffic, OtherTypesAreConvertedWhereTheyAreRead) {
  const Tensor x = randn({100, 1000}, options), h = x.to(kHalf);
  const Tensor i = randint(1, 100, {100, 1000}, longs);
  const auto once = [](const Counts& c) {
    EXPECT_EQ(c.launches(), 1) << c.text();
    return c;
  };
  EXPECT_TRAFFIC(once(count([&] { x.add(h); })), 1.5, 1, x);
  EXPECT_TRAFFIC(once(count([&] { x.add(i); })), 3, 1, x);
  EXPECT_TRAFFIC(once(count([&] { x.add_(i); })), 3, 1, x);
  EXPECT_TRAFFIC(once(count([&] { i.lt(x); })), 3, 0.25, x);
  EXPECT_TRAFFIC(once(count([&] { i.floor_divide(i); })), 4, 2, x);
  EXPECT_TRAFFIC(once(count([&] { i.div(i); })), 4, 1, x);
}

}  // namespace
}  // namespace taeda
