// Indexing: numpy's rules, writing, errors in PyTorch's words. Expected values come from PyTorch
// (tests/golden/indexing.py).
#include "taeda/ops/index/index.h"

#include <gtest/gtest.h>

#include "taeda/autograd/engine.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/embedding.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using namespace testing;
using Sizes = std::vector<int64_t>;
using autograd::gradcheck;
using autograd::gradgradcheck;
using Tensors = std::vector<Tensor>;

Tensor cube() { return arange(24).view({2, 3, 4}); }

TEST(Index, NumbersSlicesNoneEllipsis) {
  const Tensor x = cube();
  EXPECT_EQ(x.index({-1, -1, -1}).item<int64_t>(), 23);
  EXPECT_EQ(longs(x.index({0, Slice(1, None), Slice(None, None, 2)})), (Sizes{4, 6, 8, 10}));
  EXPECT_EQ(shape(x.index({None, 1, "...", None, 2})), (Sizes{1, 3, 1}));
  EXPECT_EQ(shape(x.index({Ellipsis, 0})), (Sizes{2, 3}));
  EXPECT_EQ(shape(x.index({true})), (Sizes{1, 2, 3, 4}));
  EXPECT_EQ(shape(x.index({false})), (Sizes{0, 2, 3, 4}));
  EXPECT_EQ(x.index({indexing::Slice(), 1}).storage()->data(), x.storage()->data());
  EXPECT_EQ(shape(x.index({tensor(1)})), (Sizes{3, 4}));
}

TEST(Index, Tensors) {
  const Tensor x = cube();
  EXPECT_EQ(longs(x.index({Slice(), tensor({0, 2})})),
            (Sizes{0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23}));
  EXPECT_EQ(longs(x.index({tensor({0, 1}), Slice(), tensor({1, 2})})),
            (Sizes{1, 5, 9, 14, 18, 22}));
  EXPECT_EQ(longs(x.index({0, tensor({0, 2}), tensor({1, 3})})), (Sizes{1, 11}));
  EXPECT_EQ(shape(x.index({"...", tensor({{0, 1}, {2, 3}})})), (Sizes{2, 3, 2, 2}));
  EXPECT_EQ(shape(x.index({tensor({0, 1}), None, tensor({1, 2})})), (Sizes{2, 1, 4}));
  EXPECT_EQ(longs(x.index({tensor({-1, 0}), tensor({-1, 0})})),
            (Sizes{20, 21, 22, 23, 0, 1, 2, 3}));
  EXPECT_EQ(longs(x.transpose(0, 2).index({tensor({3, 0}), 1})), (Sizes{7, 19, 4, 16}));
  EXPECT_EQ(longs(x[tensor({1})].select(1, 0)), (Sizes{12, 13, 14, 15}));
}

TEST(Index, Masks) {
  const Tensor x = cube();
  EXPECT_EQ(longs(x.index({x.remainder(5).eq(0)})), (Sizes{0, 5, 10, 15, 20}));
  EXPECT_EQ(shape(x.index({Slice(), tensor({true, false, true})})), (Sizes{2, 2, 4}));
  const Tensor mask = tensor({{true, false, true}, {false, true, false}});
  EXPECT_EQ(longs(x.index({mask})), (Sizes{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19}));
  EXPECT_EQ(longs(x.index({mask, tensor({0, 1, 2})})), (Sizes{0, 9, 18}));
  EXPECT_EQ(longs(x.masked_select(x.gt(20))), (Sizes{21, 22, 23}));
  EXPECT_EQ(longs(mask.nonzero()), (Sizes{0, 0, 0, 2, 1, 1}));
  EXPECT_EQ(longs(where(mask)[1]), (Sizes{0, 2, 1}));
  EXPECT_EQ(x.index({zeros({2, 3, 4}, kBool)}).numel(), 0);
}

TEST(Index, Errors) {
  const Tensor x = cube();
  EXPECT_EQ(error_of([&] { x.index({5}); }),
            "index 5 is out of bounds for dimension 0 with size 2");
  EXPECT_EQ(error_of([&] {
              x.index({0, tensor({3})});
            }),
            "index 3 is out of bounds for dimension 0 with size 3");
  EXPECT_EQ(
      error_of([&] {
        x.index({tensor({0, 1}), tensor({0, 1, 2})});
      }),
      "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]");
  EXPECT_EQ(error_of([&] { x.index({0, 0, 0, 0}); }), "too many indices for tensor of dimension 3");
  EXPECT_EQ(error_of([&] {
              x.index({"...", "..."});
            }),
            "an index can only have a single ellipsis ('...')");
  EXPECT_EQ(error_of([&] { x.index({tensor({true})}); }),
            "The shape of the mask [1] at index 0 does not match the shape of the indexed tensor "
            "[2, 3, 4] at index 0");
  EXPECT_EQ(error_of([&] { x.index({tensor({0.5})}); }),
            "tensors used as indices must be long, int, byte or bool tensors");
  EXPECT_EQ(error_of([] {
              zeros({0, 3}).index({tensor({0})});
            }),
            "index is out of bounds for dimension with size 0");
  EXPECT_EQ(error_of([&] { x.index({".."}); }),
            "Expected \"...\" to represent an ellipsis index, but got \"..\"");
  EXPECT_THROW(Slice(0, 1, -1), ValueError);
  EXPECT_EQ(error_of([] { Slice(0, 1, 0); }), "slice step cannot be zero");
}

TEST(IndexPut, NumbersAndSlices) {
  Tensor x = cube();
  x.index_put_({0, Slice(0, 2), 1}, 7);
  EXPECT_EQ(longs(x[0].select(1, 1)), (Sizes{7, 7, 9}));
  x.index_put_({1}, arange(4));
  EXPECT_EQ(longs(x.index({1, 2})), (Sizes{0, 1, 2, 3}));
  x.index_put_({"..."}, zeros({1, 1, 2, 3, 4}, kLong));
  EXPECT_EQ(x.sum().item<int64_t>(), 0);
}

TEST(IndexPut, TensorsAndMasks) {
  Tensor x = cube();
  x.index_put_({tensor({0, 0}), tensor({1, 1}), tensor({2, 2})}, tensor({5, 6}), true);
  EXPECT_EQ(longs(x.index({0, 1})), (Sizes{4, 5, 17, 7}));
  x.index_put_({tensor({0, 0}), tensor({1, 1}), tensor({2, 2})}, tensor({5, 6}));
  EXPECT_EQ(x.index({0, 1, 2}).item<int64_t>(), 6);
  x.index_put_({x.gt(10)}, -1);
  EXPECT_EQ(x.max().item<int64_t>(), 10);
  x.index_put_({Slice(), tensor({0, 1})}, tensor({{1}, {2}}));
  EXPECT_EQ(longs(x.index({1, Slice(), 3})), (Sizes{1, 2, -1}));
}

TEST(IndexPut, Errors) {
  const Tensor x = cube();
  EXPECT_EQ(error_of([&] { x.index_put_({tensor({0})}, tensor({1.0})); }),
            "Index put requires the source and destination dtypes match, got Long for the "
            "destination and Float for the source.");
  EXPECT_EQ(error_of([&] {
              x.index_put_({tensor({0, 1})}, zeros({3}, kLong));
            }),
            "shape mismatch: value tensor of shape [3] cannot be broadcast to indexing result of "
            "shape [2, 3, 4]");
  const Tensor leaf = ones({3}, requires_grad());
  EXPECT_EQ(error_of([&] { leaf.index_put_({0}, 1.0); }),
            "a leaf Variable that requires grad is being used in an in-place operation. "
            "(in index_put_)");
}

TEST(IndexSelect, RowsAndErrors) {
  const Tensor x = cube();
  EXPECT_EQ(longs(x.index_select(1, tensor({2, 0})).select(0, 1)),
            (Sizes{20, 21, 22, 23, 12, 13, 14, 15}));
  EXPECT_EQ(longs(x.index_select(-1, tensor({1}, kInt)).flatten()), (Sizes{1, 5, 9, 13, 17, 21}));
  EXPECT_EQ(error_of([&] { x.index_select(1, tensor({3})); }), "index out of range in self");
  EXPECT_EQ(error_of([&] { x.index_select(0, tensor({{0}})); }),
            "index_select(): Index is supposed to be a vector");
  EXPECT_EQ(error_of([&] { x.index_select(0, tensor({0.0})); }),
            "index_select(): Expected dtype int32 or int64 for index");
}

TEST(IndexAdd, AddsRepeatedRowsInOrder) {
  const Tensor x = zeros({3, 2});
  x.index_add_(0, tensor({2, 0, 2}), ones({3, 2}), 2);
  EXPECT_EQ(floats(x), (std::vector<float>{2, 2, 0, 0, 4, 4}));
  x.index_copy_(1, tensor({1}), full({3, 1}, 9.0));
  EXPECT_EQ(floats(x), (std::vector<float>{2, 9, 0, 9, 4, 9}));
  x.index_fill_(0, tensor({0, 1}), -1);
  EXPECT_EQ(floats(x), (std::vector<float>{-1, -1, -1, -1, 4, 9}));
  EXPECT_EQ(error_of([&] { x.index_add(0, tensor({0}), x); }),
            "index_add_(): Number of indices (1) should be equal to source.size(dim): (3), for "
            "dim: 0");
}

TEST(Gather, AndScatter) {
  const Tensor x = cube()[0];
  EXPECT_EQ(longs(x.gather(1, tensor({{3, 0}, {1, 1}, {2, 2}}))), (Sizes{3, 0, 5, 5, 10, 10}));
  EXPECT_EQ(longs(x.gather(0, tensor({{2, 0}}))), (Sizes{8, 1}));
  Tensor y = zeros({2, 3}, kLong);
  y.scatter_(1, tensor({{2, 2}, {0, 1}}), tensor({{1, 2}, {3, 4}}));
  EXPECT_EQ(longs(y), (Sizes{0, 0, 2, 3, 4, 0}));
  y.scatter_add_(1, tensor({{2, 2}}), tensor({{5, 6}}));
  EXPECT_EQ(longs(y), (Sizes{0, 0, 13, 3, 4, 0}));
  EXPECT_EQ(longs(y.scatter(0, tensor({{1, 0, 1}}), 9)), (Sizes{0, 9, 13, 9, 4, 9}));
  EXPECT_EQ(tensor(5).gather(0, tensor(0)).item<int64_t>(), 5);
  EXPECT_EQ(longs(take_along_dim(x, x.argsort(1, true), 1)).front(), 3);
  EXPECT_EQ(longs(take_along_dim(x, tensor({{-1}}), 1)).front(), 3);
}

TEST(Gather, Errors) {
  const Tensor x = cube();
  EXPECT_EQ(error_of([&] { x.gather(0, tensor({{{5}}})); }),
            "index 5 is out of bounds for dimension 0 with size 2");
  EXPECT_EQ(error_of([&] { take_along_dim(x, x > 0, 0); }),
            "torch.take_along_dim(): dtype of indices should be Long but got Bool");
  EXPECT_EQ(error_of([&] { take_along_dim(x, x > 0); }),
            "gather(): Expected dtype int32/int64 for index");
  EXPECT_EQ(error_of([&] { x.gather(0, tensor({0})); }),
            "Index tensor must have the same number of dimensions as input tensor");
  EXPECT_EQ(error_of([&] {
              x.scatter(0, tensor({{{0}}}), ones({1, 1, 1}));
            }),
            "scatter(): Expected self.dtype to be equal to src.dtype");
  EXPECT_EQ(error_of([&] {
              x.gather(0, zeros({1, 1, 5}, kLong));
            }),
            "Size does not match at dimension 2 expected index [1, 1, 5] to be no larger than self "
            "[2, 3, 4] apart from dimension 0");
}

TEST(Masked, FillAndSelect) {
  const Tensor x = arange(4);
  EXPECT_EQ(longs(x.masked_fill(x.gt(1), 2.5)), (Sizes{0, 1, 2, 2}));
  EXPECT_EQ(shape(x.masked_fill(zeros({2, 1}, kBool), 1)), (Sizes{2, 4}));
  const Tensor t = arange(6).view({2, 3}).t();
  t.masked_fill_(tensor({true, false}), tensor(9));
  EXPECT_EQ(longs(t), (Sizes{9, 3, 9, 4, 9, 5}));
  EXPECT_EQ(error_of([&] {
              x.masked_fill(tensor({1, 0, 1, 0}), 1);
            }),
            "masked_fill_ only supports boolean masks, but got mask with dtype long int");
  EXPECT_EQ(error_of([&] {
              x.masked_fill(x.gt(1), tensor({1, 2}));
            }),
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 "
            "dimension(s).");
  EXPECT_EQ(error_of([&] { x.masked_select(x); }), "masked_select: expected BoolTensor for mask");
}

TEST(Take, FlatIndices) {
  EXPECT_EQ(longs(cube().take(tensor({{0, -1}, {5, 6}}))), (Sizes{0, 23, 5, 6}));
  EXPECT_THROW(cube().take(tensor({30})), IndexError);
}

TEST(Embedding, PaddingAndFrequency) {
  const Tensor w = arange(6, kFloat).view({3, 2}).requires_grad_();
  const Tensor y = embedding(w, tensor({{0, 2}, {2, 1}}), 1);
  EXPECT_EQ(shape(y), (Sizes{2, 2, 2}));
  y.sum().backward();
  EXPECT_EQ(floats(w.grad()), (std::vector<float>{1, 1, 0, 0, 2, 2}));
  w.mutable_grad().reset();
  embedding(w, tensor({2, 2, 0}), -1, true).sum().backward();
  EXPECT_EQ(floats(w.grad()), (std::vector<float>{1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(error_of([&] { embedding(w, tensor({5})); }), "index out of range in self");
  EXPECT_EQ(error_of([&] { embedding(w, tensor({5}), 7); }),
            "Padding_idx must be within num_embeddings");
}

TEST(OneHot, ClassesAndErrors) {
  EXPECT_EQ(longs(one_hot(tensor({0, 2}))), (Sizes{1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(shape(one_hot(tensor({{1}}), 4)), (Sizes{1, 1, 4}));
  EXPECT_EQ(error_of([] { one_hot(tensor({-1})); }), "Class values must be non-negative.");
  EXPECT_EQ(error_of([] { one_hot(tensor({3}), 2); }),
            "Class values must be smaller than num_classes.");
  EXPECT_EQ(error_of([] { one_hot(tensor({1.0})); }),
            "one_hot is only applicable to index tensor of type LongTensor.");
}

/// A float64 leaf.
Tensor leaf(IntArrayRef sizes) { return randn(sizes, dtype(kDouble).requires_grad(true)); }

void check_gradients(const autograd::GradcheckFn& f, const Tensors& inputs) {
  EXPECT_TRUE(gradcheck(f, inputs));
  EXPECT_TRUE(gradgradcheck(f, inputs));
}

TEST(IndexGradients, Reading) {
  manual_seed(1);
  const Tensor i = tensor({{0, 2}, {2, 1}});
  check_gradients(
      [&](const Tensors& t) {
        return Tensors{t[0].index({i, Slice(), 1}).square()};
      },
      {leaf({3, 2, 2})});
  check_gradients([&](const Tensors& t) { return Tensors{t[0].index_select(1, i[0]).square()}; },
                  {leaf({2, 3})});
  check_gradients([&](const Tensors& t) { return Tensors{t[0].gather(0, i).square()}; },
                  {leaf({3, 2})});
  check_gradients([&](const Tensors& t) { return Tensors{t[0].take(i).square()}; }, {leaf({5})});
  check_gradients([&](const Tensors& t) { return Tensors{t[0].masked_select(i.gt(0)).square()}; },
                  {leaf({2, 2})});
  check_gradients([&](const Tensors& t) { return Tensors{embedding(t[0], i).square()}; },
                  {leaf({3, 2})});
}

TEST(IndexGradients, Writing) {
  manual_seed(2);
  const Tensor i = tensor({2, 0});
  for (const bool accumulate : {false, true})
    check_gradients(
        [&](const Tensors& t) {
          const Tensor x = t[0].mul(2);
          x.index_put_({i, Slice(1, None)}, t[1], accumulate);
          return Tensors{x.square()};
        },
        {leaf({3, 3}), leaf({2})});
  check_gradients([&](const Tensors& t) { return Tensors{t[0].index_add(0, i, t[1], 3).square()}; },
                  {leaf({3, 2}), leaf({2, 2})});
  check_gradients([&](const Tensors& t) { return Tensors{index_copy(t[0], 0, i, t[1]).square()}; },
                  {leaf({3, 2}), leaf({2, 2})});
  check_gradients([&](const Tensors& t) { return Tensors{index_fill(t[0], 0, i, 3).square()}; },
                  {leaf({3, 2})});
  const Tensor j = tensor({{0, 2}, {1, 0}});
  check_gradients([&](const Tensors& t) { return Tensors{t[0].scatter(0, j, t[1]).square()}; },
                  {leaf({3, 2}), leaf({2, 3})});
  check_gradients([&](const Tensors& t) { return Tensors{t[0].scatter_add(0, j, t[1]).square()}; },
                  {leaf({3, 2}), leaf({3, 2})});
  const Tensor mask = tensor({true, false});
  check_gradients([&](const Tensors& t) { return Tensors{t[0].masked_fill(mask, t[1]).square()}; },
                  {leaf({3, 2}), leaf({})});
  check_gradients(
      [&](const Tensors& t) {
        const Tensor x = t[0].mul(1);
        x.masked_fill_(mask, 2).scatter_(0, j, 5);
        return Tensors{x.square()};
      },
      {leaf({3, 2})});
}

TEST(Index, ColumnsOfWhatIsNotZero) {
  const std::vector<Tensor> places = nonzero_numpy(tensor({{0.0F, 2.0F}, {3.0F, 0.0F}}));
  ASSERT_EQ(places.size(), 2u);
  EXPECT_TRUE(places[0].equal(tensor({0, 1})));
  EXPECT_TRUE(places[1].equal(tensor({1, 0})));
  EXPECT_TRUE(tensor(5.0F).nonzero_numpy()[0].equal(tensor({0})));
}

TEST(Index, ANumberTakesRowsOfOneElement) {
  const Tensor twice = tensor({0, 0}), values = tensor({1.0F, 2.0F});
  EXPECT_TRUE(zeros({}).index_fill(0, twice, 2.5).equal(tensor(2.5F)));
  EXPECT_TRUE(zeros({}).index_fill(0, twice.narrow(0, 0, 0), 2.5).equal(tensor(0.0F)));
  EXPECT_TRUE(index_copy(zeros({}), 0, twice, values).equal(tensor(2.0F)));
  EXPECT_TRUE(zeros({}).index_add(0, twice, values).equal(tensor(3.0F)));
  EXPECT_TRUE(zeros({}).index_select(0, twice.narrow(0, 0, 1)).equal(tensor(0.0F)));
  EXPECT_EQ(error_of([&] { zeros({}).index_select(0, twice); }),
            "index_select(): Index to scalar can have only 1 value, got 2 value(s)");
  EXPECT_NE(error_of([&] { zeros({}).index_fill(0, tensor({0, 1}), 2.5); }), "no error");
  const Tensor leaf = values.clone().requires_grad_();
  zeros({}).index_add(0, twice, leaf).mul(3).backward();
  EXPECT_TRUE(leaf.grad().equal(tensor({3.0F, 3.0F})));
}

// Lent memory, views of bytes and new memory hold any byte as a bool; all but 0 are true.
TEST(BoolBytes, CountAsOne) {
  const Tensor bytes = tensor({190, 0, 1, 2}, kByte).repeat({16});
  const Tensor mask = bytes.view(kBool);
  EXPECT_EQ(mask.nonzero().sizes(), IntArrayRef({48, 1}));
  EXPECT_EQ(arange(64).index({mask}).numel(), 48);
  EXPECT_EQ(arange(64).masked_select(mask).numel(), 48);
  EXPECT_EQ(mask.sum().item<int64_t>(), 48);
  EXPECT_EQ(mask.view({16, 4}).sum(0).sum().item<int64_t>(), 48);
  EXPECT_EQ(mask.view({16, 4}).select(1, 0).sum().item<int64_t>(), 16);
  EXPECT_EQ(mask.cumsum(0)[-1].item<int64_t>(), 48);
  for (const ScalarType dtype : {kByte, kLong, kFloat, kDouble, kInt})
    EXPECT_TRUE(mask.to(dtype).equal(bytes.ne(0).to(dtype))) << dtype;
  EXPECT_EQ((mask + 1).max().item<int64_t>(), 2);
  EXPECT_EQ(mask.amax().view(kByte).item<int64_t>(), 1);
  EXPECT_EQ(mask.any().view(kByte).item<int64_t>(), 1);
  EXPECT_EQ(mask[0].item().to<int64_t>(), 1);
  EXPECT_EQ(mask.slice(0, 0, 2).repr(), "tensor([ True, False])");
}

TEST(BoolBytes, AreCountedPastWhatAByteHolds) {
  for (const int64_t n : {1, 63, 64, 65, 255 * 64, 255 * 64 + 1, 256 * 64, 600 * 64 + 5, 100003}) {
    const Tensor mask = ones({n}, kBool);
    EXPECT_EQ(mask.sum().item<int64_t>(), n);
    EXPECT_EQ(mask.unsqueeze(1).expand({n, 3}).contiguous().t().sum(1).sum().item<int64_t>(),
              3 * n);
    mask.slice(0, n / 2, n).fill_(false);
    EXPECT_EQ(mask.sum().item<int64_t>(), n / 2);
  }
}

TEST(Index, PlacesOfAnyShapeAreThoseOfALoop) {
  manual_seed(4);
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{1},
                                                             {1023},
                                                             {1024},
                                                             {1025},
                                                             {3000},
                                                             {5, 1},
                                                             {1, 1, 7},
                                                             {3, 2050},
                                                             {4, 3, 2, 5},
                                                             {2, 1, 1100}}) {
    const Tensor values = randint(0, 3, sizes, kInt).mul(randint(0, 2, sizes, kInt));
    std::vector<int64_t> want, at(sizes.size());
    for (int64_t i = 0; i < values.numel(); ++i) {
      if (values.data_ptr<int32_t>()[i] != 0) want.insert(want.end(), at.begin(), at.end());
      for (size_t d = sizes.size(); d-- > 0;) {
        if (++at[d] < sizes[d]) break;
        at[d] = 0;
      }
    }
    const Tensor places = values.nonzero();
    ASSERT_EQ(places.sizes(), IntArrayRef({static_cast<int64_t>(want.size() / sizes.size()),
                                           static_cast<int64_t>(sizes.size())}));
    EXPECT_EQ(longs(places), want) << IntArrayRef(sizes);
  }
}

}  // namespace
}  // namespace taeda
