// Concatenation and splitting.
#include "taeda/ops/shape/join.h"

#include <gtest/gtest.h>

#include <functional>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/out_forms.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;
using Sizes = std::vector<int64_t>;

TEST(Join, AnOutOfWholeNumbersIsATypeError) {
  const std::vector<Tensor> both = {ones({2}), ones({2})};
  Tensor out = empty({0}, kLong);
  const std::string words =
      "torch.cat(): input types can't be cast to the desired output type Long";
  for (const auto& call : std::vector<std::function<void()>>{
           [&] { cat_out(out, both); }, [&] { concat_out(out, both); },
           [&] { stack_out(out, both); }, [&] { hstack_out(out, both); },
           [&] { vstack_out(out, both); }, [&] { dstack_out(out, both); },
           [&] { column_stack_out(out, both); }}) {
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const TypeError& e) {
      EXPECT_EQ(std::string_view(e.what()).substr(0, words.size()), words);
    }
  }
}

TEST(Cat, AlongEachDimension) {
  const Tensor a = arange(4).view({2, 2}), b = arange(10, 12).view({1, 2});
  EXPECT_EQ(longs(cat({a, b})), (Sizes{0, 1, 2, 3, 10, 11}));
  EXPECT_EQ(longs(cat({a, b.t()}, -1)), (Sizes{0, 1, 10, 2, 3, 11}));
  EXPECT_EQ(longs(cat({a.t(), a}, 1)), (Sizes{0, 2, 0, 1, 1, 3, 2, 3}));
  EXPECT_EQ(longs(cat({a.t(), a}, 0)), (Sizes{0, 2, 1, 3, 0, 1, 2, 3}));
}

TEST(Cat, PromotesAndSkipsEmptyVectors) {
  const Tensor out = cat({arange(2), tensor({}), tensor({0.5})});
  EXPECT_EQ(floats(out), (std::vector<float>{0, 1, 0.5}));
  EXPECT_EQ(shape(cat({tensor({}), ones({2, 3})}, 1)), (Sizes{2, 3}));
  EXPECT_EQ(shape(cat({zeros({0, 3}), ones({2, 3})})), (Sizes{2, 3}));
}

TEST(Cat, LargeAndMany) {
  std::vector<Tensor> parts;
  for (int i = 0; i < 100; ++i) parts.push_back(full({1000}, i));
  const std::vector<int64_t> flat = longs(cat(parts));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(flat[i * 1000 + 999], i);
  const Tensor side = stack(parts, 1);
  EXPECT_EQ(longs(side[7])[42], 42);
}

TEST(Cat, Errors) {
  const Tensor x = zeros({3, 4});
  EXPECT_EQ(error_of([] { cat({}); }), "torch.cat(): expected a non-empty list of Tensors");
  EXPECT_EQ(error_of([&] {
              cat({x, zeros({2, 3})});
            }),
            "Sizes of tensors must match except in dimension 0. Expected size 4 but got size 3 for "
            "tensor number 1 in the list.");
  EXPECT_EQ(error_of([&] {
              cat({x, zeros({3})});
            }),
            "Tensors must have same number of dimensions: got 2 and 1");
  EXPECT_EQ(error_of([&] {
              cat({tensor(1.0), x});
            }),
            "zero-dimensional tensor (at position 0) cannot be concatenated");
  EXPECT_EQ(error_of([&] {
              stack({x, x.t()});
            }),
            "stack expects each tensor to be equal size, but got [3, 4] at entry 0 and [4, 3] at "
            "entry 1");
  EXPECT_EQ(error_of([&] { hstack({}); }), "hstack expects a non-empty TensorList");
}

TEST(Stack, Shapes) {
  const Tensor x = arange(2);
  EXPECT_EQ(longs(stack({x, x}, -1)), (Sizes{0, 0, 1, 1}));
  EXPECT_EQ(shape(hstack({x, x})), (Sizes{4}));
  EXPECT_EQ(shape(vstack({x, x})), (Sizes{2, 2}));
  EXPECT_EQ(shape(dstack({x, x})), (Sizes{1, 2, 2}));
}

TEST(Split, PartsAreViews) {
  const Tensor x = arange(7);
  const std::vector<Tensor> parts = x.split(3);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(longs(parts[2]), (Sizes{6}));
  EXPECT_EQ(parts[1].data_ptr(), x.slice(0, 3).data_ptr());
  EXPECT_EQ(x.split({2, 5})[1].numel(), 5);
  EXPECT_EQ(x.chunk(4).size(), 4u);
  EXPECT_EQ(x.chunk(5).size(), 4u);
  EXPECT_EQ(tensor_split(x, 3)[0].numel(), 3);
  EXPECT_EQ(longs(tensor_split(x, IntArrayRef{1, 4})[1]), (Sizes{1, 2, 3}));
  EXPECT_EQ(x.unbind().size(), 7u);
  EXPECT_EQ(x.unbind()[3].item<int64_t>(), 3);
}

TEST(Split, Errors) {
  const Tensor x = zeros({3, 4});
  EXPECT_EQ(error_of([&] { x.chunk(0); }), "chunk expects `chunks` to be greater than 0, got: 0");
  EXPECT_EQ(error_of([&] { x.split(-1); }),
            "split expects split_size be non-negative, but got split_size=-1");
  EXPECT_EQ(error_of([&] {
              x.split({1, 1});
            }),
            "split_with_sizes expects split_sizes to sum exactly to 3 (input tensor's size at "
            "dimension 0), but got split_sizes=[1, 1]");
  EXPECT_EQ(error_of([] { tensor(1.0).unbind(); }),
            "Dimension specified as 0 but tensor has no dimensions");
  EXPECT_EQ(error_of([&] { tensor_split(x, 0); }),
            "number of sections must be larger than 0, got 0");
}

TEST(Split, InPlaceOnOnePartIsRejected) {
  const Tensor x = ones({4}, requires_grad()).mul(2);
  EXPECT_EQ(
      error_of([&] { x.split(2)[0].fill_(0); }),
      "Output 0 of SplitBackward0 is a view and is being modified inplace. This view is the "
      "output of a function that returns multiple views. Such functions do not allow the output "
      "views to be modified inplace. You should replace the inplace operation by an "
      "out-of-place one. (in fill_)");
}

TEST(Meshgrid, BothIndexings) {
  const std::vector<Tensor> ij = meshgrid({arange(2), arange(3)});
  EXPECT_EQ(longs(ij[0]), (Sizes{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(longs(ij[1]), (Sizes{0, 1, 2, 0, 1, 2}));
  const std::vector<Tensor> xy = meshgrid({arange(2), arange(3)}, "xy");
  EXPECT_EQ(shape(xy[0]), (Sizes{3, 2}));
  EXPECT_EQ(longs(xy[0]), (Sizes{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(error_of([] { meshgrid({arange(2)}, "yx"); }),
            "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: yx");
}

}  // namespace
}  // namespace taeda
