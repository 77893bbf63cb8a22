#include "taeda/device/generator.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/kernels/philox.h"
#include "tests/device/generator_golden.h"

namespace taeda {
namespace {

constexpr int64_t kKept[] = {8, 24};  // of long golden results: the first and the last numbers

template <class T>
std::vector<double> draw(const golden::Draw& d) {
  const Generator g(kCPU, d.seed);
  const std::string kind = d.kind;
  std::vector<T> out(static_cast<size_t>(d.n));
  if (kind == "Uniform")
    g.fill_uniform(out.data(), d.n);
  else
    g.fill_normal(out.data(), d.n);
  std::vector<double> all;
  for (int64_t i = 0; i < d.n; ++i)
    if (d.n <= kKept[0] + kKept[1] || i < kKept[0] || i >= d.n - kKept[1])
      all.push_back(static_cast<double>(out[static_cast<size_t>(i)]));
  return all;
}

std::vector<double> draw_integers(const golden::Draw& d) {
  const Generator g(kCPU, d.seed);
  const std::string kind = d.kind;
  std::vector<int64_t> out(static_cast<size_t>(d.n));
  if (kind == "Int10")
    g.fill_randint(out.data(), d.n, 0, 10);
  else if (kind == "IntNegative")
    g.fill_randint(out.data(), d.n, -5, (uint64_t{1} << 31) + 5);
  else if (kind == "IntLarge")
    g.fill_randint(out.data(), d.n, -7, (uint64_t{1} << 40) + 7);
  else
    g.fill_permutation(out.data(), d.n);
  return {out.begin(), out.end()};
}

TEST(CpuGenerator, GivesPyTorchsNumbers) {
  for (const golden::Draw& d : golden::kDraws) {
    std::vector<double> got;
    double tolerance = 0;  // uniform numbers and integers are exact
    const bool normal = std::string(d.kind) == "Normal";
    switch (d.dtype) {
      case kFloat: got = draw<float>(d), tolerance = normal ? 1e-6 : 0; break;
      case kDouble: got = draw<double>(d), tolerance = normal ? 1e-15 : 0; break;
      case kHalf: got = draw<Half>(d); break;
      case kBFloat16: got = draw<BFloat16>(d); break;
      default: got = draw_integers(d);
    }
    ASSERT_EQ(got.size(), d.values.size());
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], d.dtype == kFloat ? static_cast<float>(d.values[i]) : d.values[i],
                  tolerance * std::max(1.0, std::fabs(d.values[i])))
          << d.kind << ' ' << d.dtype << " seed " << d.seed << " n " << d.n << " element " << i;
  }
}

TEST(CpuGenerator, KeepsTheSecondNormalNumber) {
  const Generator a(kCPU, 3), b(kCPU, 3);
  double one[2], two[2];
  a.fill_normal(one, 2);
  b.fill_normal(two, 1);
  b.fill_normal(two + 1, 1);
  EXPECT_EQ(one[0], two[0]);
  EXPECT_EQ(one[1], two[1]);
}

TEST(CpuGenerator, RangeMeanAndStd) {
  const Generator g(kCPU, 5);
  std::vector<float> x(100000);
  g.fill_uniform(x.data(), 100000, -2, 3);
  EXPECT_GE(*std::min_element(x.begin(), x.end()), -2.0f);
  EXPECT_LT(*std::max_element(x.begin(), x.end()), 3.0f);
  EXPECT_NEAR(std::accumulate(x.begin(), x.end(), 0.0) / 1e5, 0.5, 0.02);
  g.fill_normal(x.data(), 100000, 4, 0.5);
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / 1e5;
  double variance = 0;
  for (float v : x) variance += (v - mean) * (v - mean) / 1e5;
  EXPECT_NEAR(mean, 4, 0.01);
  EXPECT_NEAR(variance, 0.25, 0.005);
}

TEST(CpuGenerator, StateHasPyTorchsLayout) {
  const Generator g(kCPU, 42);
  float x[3];
  g.fill_normal(x, 3);
  const std::vector<uint8_t> state = g.get_state();
  ASSERT_EQ(state.size(), 5056u);
  EXPECT_EQ(std::vector<uint8_t>(state.begin(), state.begin() + 32), golden::kStateHead);
  EXPECT_EQ(std::vector<uint8_t>(state.end() - 48, state.end()), golden::kStateTail);
}

TEST(CpuGenerator, StateCanBeSavedAndRestoredAnywhere) {
  for (int drawn : {0, 1, 5, 623, 624, 625, 2000}) {
    const Generator a(kCPU, 9);
    for (int i = 0; i < drawn; ++i) a.random();
    a.normal();
    const Generator b(kCPU, 1);
    b.set_state(a.get_state());
    EXPECT_EQ(b.current_seed(), 9u);
    const Generator c = a.clone();
    EXPECT_EQ(a.normal(), b.normal());  // the kept one
    c.normal();
    for (int i = 0; i < 1300; ++i) {
      const uint32_t expected = a.random();
      ASSERT_EQ(b.random(), expected);
      ASSERT_EQ(c.random(), expected);
    }
  }
  const Generator g;
  EXPECT_THROW(g.set_state(std::vector<uint8_t>(10)), Error);
  EXPECT_THROW(g.set_state(std::vector<uint8_t>(5056)), Error);
}

TEST(CpuGenerator, BulkDrawsAreTheSameSequence) {
  const Generator a(kCPU, 8), b(kCPU, 8);
  std::vector<uint32_t> x(1500);
  a.fill_random(x.data(), 700);
  a.fill_random(x.data() + 700, 800);
  for (uint32_t v : x) ASSERT_EQ(v, b.random());
  uint64_t y[3];
  a.fill_random64(y, 3);
  for (uint64_t v : y) ASSERT_EQ(v, b.random64());
  EXPECT_EQ(a.uniform(), b.uniform());
}

TEST(CpuGenerator, EveryIntegerTypeCanBeFilled) {
  const Generator g;
  uint8_t bytes[64];
  bool flags[64];
  g.fill_randint(bytes, 64, 250, 6);
  g.fill_randint(flags, 64, 0, 2);
  for (uint8_t b : bytes) EXPECT_GE(b, 250);
  EXPECT_TRUE(std::any_of(flags, flags + 64, [](bool f) { return f; }));
  EXPECT_TRUE(std::any_of(flags, flags + 64, [](bool f) { return !f; }));
  const Generator a(kCPU, 2), b(kCPU, 2);
  int64_t any;
  a.fill_randint(&any, 1, -1, 0);  // of all 2^64
  EXPECT_EQ(static_cast<uint64_t>(any), b.random64() - 1);
}

TEST(CpuGenerator, ThreadsGetDisjointStretches) {
  const Generator g(kCPU, 4);
  std::vector<std::vector<uint32_t>> parts(4, std::vector<uint32_t>(1000));
  std::vector<std::thread> threads;
  for (auto& part : parts) threads.emplace_back([&] { g.fill_random(part.data(), 1000); });
  for (auto& t : threads) t.join();
  const Generator reference(kCPU, 4);
  std::vector<std::vector<uint32_t>> expected(4, std::vector<uint32_t>(1000));
  for (auto& part : expected) reference.fill_random(part.data(), 1000);
  EXPECT_THAT(parts, testing::UnorderedElementsAreArray(expected));
}

TEST(AcceleratorGenerator, CountsKernels) {
  const Generator g(Device("sim:1"), 7);
  EXPECT_EQ(g.device(), Device("sim:1"));
  EXPECT_EQ(g.next_philox().offset, 0u);
  const PhiloxState second = g.next_philox();
  EXPECT_EQ(second.seed, 7u);
  EXPECT_EQ(second.offset, 1u);
  const std::vector<uint8_t> state = g.get_state();
  EXPECT_EQ(state.size(), 16u);
  g.manual_seed(11);
  EXPECT_EQ(g.next_philox().offset, 0u);
  g.set_state(state);
  EXPECT_EQ(g.current_seed(), 7u);
  EXPECT_EQ(g.next_philox().offset, 2u);
  EXPECT_THROW(g.set_state(std::vector<uint8_t>(8)), Error);
  EXPECT_THROW(g.random(), Error);
  EXPECT_THROW(Generator().next_philox(), Error);
}

TEST(DefaultGenerator, OneSeedSetsAllOfThem) {
  Generator& sim = default_generator(Device("sim:0"));
  sim.next_philox();
  manual_seed(123);
  EXPECT_EQ(default_generator(kCPU).current_seed(), 123u);
  EXPECT_EQ(sim.current_seed(), 123u);
  EXPECT_EQ(sim.next_philox().offset, 0u);
  EXPECT_EQ(default_generator(Device("cuda:3")).current_seed(), 123u);  // made after the call
  EXPECT_EQ(&default_generator(kCPU), &default_generator(Device("cpu:0")));
  manual_seed(kDefaultSeed);
  const uint64_t chosen = default_generator(kCPU).seed();
  EXPECT_EQ(default_generator(kCPU).current_seed(), chosen);
  manual_seed(kDefaultSeed);
}

// The known-answer vectors of the authors' Random123 distribution.
TEST(Philox, KnownAnswers) {
  const auto check = [](uint64_t seed, uint64_t high, uint64_t low,
                        std::vector<uint32_t> expected) {
    const philox::Words x = philox::words(seed, high, low);
    EXPECT_EQ(std::vector<uint32_t>(x.w, x.w + 4), expected);
  };
  check(0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  check(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  check(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88,
        {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Philox, ElementsShareCountersAndStayInRange) {
  const philox::Words x = philox::words(5, 6, 7);
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(philox::bits32(5, 6, 28 + i), x.w[i]);
  EXPECT_EQ(philox::bits64(5, 6, 15), uint64_t{x.w[3]} << 32 | x.w[2]);
  EXPECT_EQ(philox::to_uniform(~uint32_t{0}), 1.0f - 0x1p-24f);
  EXPECT_EQ(philox::to_uniform(~uint64_t{0}), 1.0 - 0x1p-53);
  double sum = 0, squares = 0;
  for (uint64_t i = 0; i < 20000; i += 2) {
    float a, b;
    philox::to_normal(philox::bits32(1, 0, i), philox::bits32(1, 0, i + 1), &a, &b);
    sum += a + b;
    squares += a * a + b * b;
  }
  EXPECT_NEAR(sum / 20000, 0, 0.02);
  EXPECT_NEAR(squares / 20000, 1, 0.03);
}

}  // namespace
}  // namespace taeda
