// Backward passes of several threads that end in the same leaves, and leaves that die meanwhile.
#include <gtest/gtest.h>

#include <barrier>
#include <thread>
#include <vector>

#include "taeda/autograd/meta.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "tests/threads/together.h"

namespace taeda {
namespace {

TEST(SharedLeaves, GradientsOfAllThreadsAreSummed) {
  const Tensor x = ones({64}).requires_grad_(), y = ones({64}).requires_grad_();
  constexpr int kThreads = 4, kRounds = 200;
  together(kThreads, [&](int thread) {
    for (int i = 0; i < kRounds; ++i) (x * (thread + 1.) + y).sum().backward();
  });
  EXPECT_TRUE(x.grad().eq(kRounds * (1 + 2 + 3 + 4)).all().item<bool>());
  EXPECT_TRUE(y.grad().eq(kRounds * kThreads).all().item<bool>());
}

TEST(SharedLeaves, OneGraphMayBeRunByAll) {
  const Tensor x = ones({16}).requires_grad_(), h = x * 3;
  h.retain_grad();
  const Tensor loss = (h * h).sum();
  together(4, [&](int) {
    for (int i = 0; i < 50; ++i) loss.backward({}, true);
  });
  EXPECT_TRUE(x.grad().eq(200 * 18).all().item<bool>());
  EXPECT_TRUE(h.grad().eq(200 * 6).all().item<bool>());
}

TEST(SharedLeaves, APostAccumulateHookSeesItsOwnPassAdded) {
  const Tensor x = zeros({1}).requires_grad_();
  int calls = 0;
  double stepped = 0;  // neither is guarded: the leaf's hooks run one at a time
  x.register_post_accumulate_grad_hook([&](const Tensor& t) {
    ++calls;
    stepped += t.grad().item<double>();
    t.mutable_grad().reset();
  });
  together(4, [&](int thread) {
    for (int i = 0; i < 100; ++i) (x * (thread + 1.)).sum().backward();
  });
  EXPECT_EQ(calls, 400);
  EXPECT_EQ(stepped, 1000);
  EXPECT_FALSE(x.grad().defined());
}

TEST(SharedLeaves, APostAccumulateHookMayRunAPassOfItsOwn) {
  const Tensor x = ones({1}).requires_grad_();
  bool inner = false;
  x.register_post_accumulate_grad_hook([&](const Tensor& t) {
    if (std::exchange(inner, true)) return;
    const AutoGradMode recording(true);
    (t * 5).sum().backward();
  });
  (x * 2).sum().backward();
  EXPECT_EQ(x.grad().item<double>(), 7);
}

// The last handle of a leaf goes while another thread's pass reaches its accumulator: either the
// pass finds it alive and keeps it, or it does nothing. What must not happen is a use after free.
TEST(SharedLeaves, ALeafMayDieWhileAPassReachesIt) {
  for (int round = 0; round < 300; ++round) {
    Tensor x = ones({8}).requires_grad_();
    const Tensor loss = (x * 2).sum();
    std::barrier start(2);
    std::thread dropping([&] {
      start.arrive_and_wait();
      x.reset();
    });
    start.arrive_and_wait();
    loss.backward();
    dropping.join();
  }
}

TEST(WeakPromotion, FailsOnceTheLastReferenceIsGone) {
  struct Counted : RefCounted {};
  Counted object;
  object.retain();
  object.allow_promotion();
  EXPECT_EQ(object.use_count(), 1u);
  EXPECT_TRUE(object.retain_if_alive());
  EXPECT_EQ(object.use_count(), 2u);
  EXPECT_FALSE(object.release());
  EXPECT_TRUE(object.release());
  EXPECT_EQ(object.use_count(), 0u);
  EXPECT_FALSE(object.retain_if_alive());
}

// Of an owner who lets go and many who claim, exactly one ends the object.
TEST(WeakPromotion, ExactlyOneEndsTheObject) {
  struct Counted : RefCounted {};
  for (int round = 0; round < 500; ++round) {
    Counted object;
    object.retain();
    object.allow_promotion();
    std::atomic<int> ended{0};
    together(3, [&](int thread) {
      if (thread == 0 || object.retain_if_alive()) ended += object.release();
    });
    EXPECT_EQ(ended, 1);
    EXPECT_FALSE(object.retain_if_alive());
  }
}

/// The strides of the gradient of a parameter that was multiplied with itself in another layout.
IntArrayRef strides(const Tensor& t) { return t.strides(); }

TEST(GradientLayout, FollowsADenseParameter) {
  const Tensor last =
      ones({2, 3, 4, 5}).contiguous(MemoryFormat::ChannelsLast).detach().requires_grad_();
  (last * ones({2, 3, 4, 5})).sum().backward();
  EXPECT_EQ(strides(last.grad()), strides(last));
  const Tensor turned = ones({4, 3}).t().detach().requires_grad_();
  ones({2, 3}).matmul(turned).sum().backward();
  EXPECT_EQ(strides(turned.grad()), strides(turned));
  turned.mutable_grad().reset();
  ones({2, 3}).matmul(turned).sum().backward({}, {}, true);
  EXPECT_EQ(strides(turned.grad()), strides(turned));
}

TEST(GradientLayout, IsRowMajorForAParameterWithGaps) {
  const Tensor gaps = ones({4, 6}).t().slice(0, 0, 6, 2).detach().requires_grad_();
  const Tensor one = ones({1}).expand({3}).detach().requires_grad_();
  ASSERT_FALSE(gaps.layout().is_non_overlapping_and_dense());
  (gaps * ones({4, 3}).t()).sum().backward();
  EXPECT_EQ(strides(gaps.grad()), IntArrayRef({4, 1}));
  one.sum().backward();
  EXPECT_EQ(strides(one.grad()), IntArrayRef({1}));
  one.grad().mul_(2);
  EXPECT_TRUE(one.grad().eq(2).all().item<bool>());
}

TEST(GradientLayout, ASumIsLeftAsItIs) {
  const Tensor x = ones({2, 3}).t().detach().requires_grad_();
  x.mutable_grad() = ones({3, 2});
  (x * 2).sum().backward();
  EXPECT_EQ(strides(x.grad()), IntArrayRef({2, 1}));
}

}  // namespace
}  // namespace taeda
