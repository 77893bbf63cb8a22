// How the memory of tensors lies, and that what is written is made of what was there before.
#include "taeda/tensor/overlap.h"

#include <gmock/gmock.h>

#include <functional>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/index/scatter.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

TEST(Overlaps, AreToldByPlacesAndDistances) {
  const Tensor x = zeros({4, 6}), z = zeros({5}, kComplexFloat);
  EXPECT_EQ(overlap_of(x, x.clone()), Overlap::Apart);
  EXPECT_EQ(overlap_of(x, x.view({4, 6})), Overlap::Same);
  EXPECT_EQ(overlap_of(x, x.view(kInt)), Overlap::Same);
  EXPECT_EQ(overlap_of(x, x[1]), Overlap::Partial);
  EXPECT_EQ(overlap_of(x.flatten().narrow(0, 0, 9), x.flatten().narrow(0, 8, 9)), Overlap::Partial);
  EXPECT_EQ(overlap_of(x[0], x[1]), Overlap::Apart);
  EXPECT_EQ(overlap_of(x, x.t()), Overlap::Partial);
  EXPECT_EQ(overlap_of(x, x.select(1, 0)), Overlap::Open);
  EXPECT_EQ(overlap_of(x.select(1, 0), x.select(1, 1)), Overlap::Apart) << "columns";
  EXPECT_EQ(overlap_of(x.slice(1, 0, 3), x.slice(1, 3)), Overlap::Open) << "halves of rows";
  EXPECT_EQ(overlap_of(real(z), imag(z)), Overlap::Apart);
  EXPECT_EQ(overlap_of(real(z), z), Overlap::Open);
  EXPECT_EQ(overlap_of(z, view_as_real(z).select(1, 0)), Overlap::Open);
  EXPECT_EQ(overlap_of(x, x.narrow(0, 0, 0)), Overlap::Apart) << "no elements";
  const Tensor twice = x.view(kDouble);
  EXPECT_EQ(overlap_of(twice.slice(1, 0, 1), x.slice(1, 2, 3)), Overlap::Apart);
  EXPECT_EQ(overlap_of(twice.slice(1, 0, 1), x.slice(1, 1, 2)), Overlap::Open);
}

/// `change(to, from)` on views of one memory gives what it gives with a copy of `from`.
template <class Change>
void expect_as_with_a_copy(const Tensor& memory, const Tensor& to, const Tensor& from,
                           Change change) {
  const Tensor before = memory.clone(), other = from.clone();
  change(to, other);
  const Tensor expected = to.clone();
  memory.copy_(before);
  change(to, from);
  EXPECT_TRUE(to.equal(expected)) << to.repr() << "is not" << expected.repr();
  memory.copy_(before);
}

TEST(Overlaps, WhatIsReadIsWhatWasThere) {
  const auto copy = [](const Tensor& to, const Tensor& from) { to.copy_(from); };
  const auto add = [](const Tensor& to, const Tensor& from) { to.add_(from); };
  for (const int64_t n : {8, 5000}) {
    const Tensor x = arange(1, 2 * n + 1, kDouble), z = x.view(kComplexDouble), f = x.view(kFloat);
    const Tensor even = x.slice(0, 0, std::nullopt, 2), odd = x.slice(0, 1, std::nullopt, 2);
    for (const auto& [to, from] : std::initializer_list<std::pair<Tensor, Tensor>>{
             {even, x.narrow(0, 0, n)},
             {even, x.narrow(0, n, n)},
             {x.narrow(0, 1, n), odd},
             {odd, even},
             {real(z), x.narrow(0, 0, n)},
             {imag(z), x.narrow(0, n - 1, n)},
             {real(z), f.slice(0, 1, 2 * n + 1, 2)},
             {f.slice(0, 0, 2 * n, 2), x.narrow(0, 0, n)},
             {x.narrow(0, 0, n), f.slice(0, 3, 2 * n + 3, 2)},
             {z, even},
             {x, x.narrow(0, 2, 1).view(kLong)}}) {
      expect_as_with_a_copy(x, to, from, copy);
      if (from.numel() == to.numel()) expect_as_with_a_copy(x, to, from, add);
    }
  }
}

TEST(Overlaps, PartsAreRefused) {
  const Tensor x = arange(6, kFloat);
  const std::string refused =
      "unsupported operation: some elements of the input tensor and the written-to tensor refer to "
      "a single memory location. Please clone() the tensor before performing the operation.";
  EXPECT_EQ(error_of([&] { x.narrow(0, 1, 5).copy_(x.narrow(0, 0, 5)); }), refused);
  EXPECT_EQ(error_of([&] { x.add_(x[2]); }), refused);
  EXPECT_EQ(error_of([&] { x.view(kComplexFloat).mul_(x.narrow(0, 0, 3)); }), refused);
}

TEST(Overlaps, WhatIsWrittenByIndexIsApartFromWhatItReads) {
  const Tensor x = zeros({4}), index = tensor({0, 1}),
               mask = x.view(kByte).narrow(0, 0, 4).view(kBool);
  const Tensor part = x.narrow(0, 0, 2), places = zeros({4}, kLong);
  for (const auto& change : std::initializer_list<std::function<void()>>{
           [&] { x.put_(index, part); }, [&] { places.put_(places.narrow(0, 0, 2), index); },
           [&] { x.index_reduce_(0, index, part, "amax"); },
           [&] { x.scatter_reduce_(0, index, part, "sum"); }, [&] { x.index_put_({index}, part); },
           [&] { x.masked_fill_(mask, 1); }, [&] { x.masked_fill_(mask, tensor(1.f)); }})
    EXPECT_THAT(error_of(change), ::testing::HasSubstr("some elements of the input tensor"));
  const Tensor truth = tensor({1, 0, 1}, kBool);
  EXPECT_TRUE(truth.masked_fill_(truth, 0).equal(zeros({3}, kBool))) << "the mask itself";
}

}  // namespace
}  // namespace taeda
