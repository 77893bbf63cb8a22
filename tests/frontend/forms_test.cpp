// Functions that libtorch has in at::, and their forms with a result that exists.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/error_of.h"

namespace {

using taeda::error_of;

torch::Tensor image() { return torch::arange(16.).view({1, 1, 4, 4}); }

/// `name_out` gives its result what `name` gives, and is that result.
template <class Out, class Plain>
void expect_written(Out&& write, Plain&& plain) {
  torch::Tensor out = torch::empty({0});
  EXPECT_TRUE(write(out).is_same(out));
  EXPECT_TRUE(out.equal(plain()));
}

TEST(Forms, OfLayers) {
  const torch::Tensor x = image();
  expect_written(
      [&](torch::Tensor& o) -> at::Tensor& {
        return at::upsample_nearest2d_out(o, x, {8, 8});
      },
      [&] {
        return at::upsample_nearest2d(x, {8, 8});
      });
  expect_written(
      [&](torch::Tensor& o) -> at::Tensor& {
        return at::im2col_out(o, x, {2, 2}, {1, 1}, {0, 0}, {2, 2});
      },
      [&] {
        return at::im2col(x, {2, 2}, {1, 1}, {0, 0}, {2, 2});
      });
  expect_written([&](torch::Tensor& o) -> at::Tensor& { return at::pixel_unshuffle_out(o, x, 2); },
                 [&] { return at::pixel_unshuffle(x, 2); });
  expect_written(
      [&](torch::Tensor& o) -> at::Tensor& {
        return at::reflection_pad2d_out(o, x, {1, 1, 1, 1});
      },
      [&] {
        return at::reflection_pad2d(x, {1, 1, 1, 1});
      });
  expect_written(
      [&](torch::Tensor& o) -> at::Tensor& {
        return at::constant_pad_nd_outf(x, {1, 0}, 3, o);
      },
      [&] {
        return at::constant_pad_nd(x, {1, 0}, 3);
      });
  expect_written(
      [&](torch::Tensor& o) -> at::Tensor& {
        return at::frobenius_norm_out(o, x, {2, 3}, false);
      },
      [&] {
        return at::frobenius_norm(x, {2, 3});
      });
}

TEST(Forms, Convolution) {
  const torch::Tensor x = image(), w = torch::ones({1, 1, 2, 2});
  const auto call = [&](bool transposed) {
    return at::convolution(x, w, {}, {2, 2}, {0, 0}, {1, 1}, transposed, {0, 0}, 1);
  };
  EXPECT_TRUE(call(false).equal(at::conv2d(x, w, {}, 2)));
  EXPECT_TRUE(call(true).equal(at::conv_transpose2d(x, w, {}, 2)));
  EXPECT_EQ(error_of([&] {
              at::convolution(x[0], w, {}, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1);
            }),
            "Expected 4-dimensional input for 4-dimensional weight [1, 1, 2, 2], but got "
            "3-dimensional input of size [1, 4, 4] instead");
}

TEST(Forms, EmbeddingBag) {
  const torch::Tensor weight = torch::tensor({{1., 8.}, {2., 7.}, {3., 6.}, {4., 5.}});
  const torch::Tensor indices = torch::tensor({1, 3, 0}), offsets = torch::tensor({0, 2, 2});
  const auto [sum, bag, size, most] = at::embedding_bag(weight, indices, offsets);
  EXPECT_TRUE(sum.equal(torch::tensor({{6., 12.}, {0., 0.}, {1., 8.}})));
  EXPECT_TRUE(bag.equal(torch::tensor({0, 0, 2})));
  EXPECT_TRUE(size.equal(torch::tensor({2, 0, 1})));
  const auto [largest, bags, sizes, rows] = at::embedding_bag(weight, indices, offsets, false, 2);
  EXPECT_TRUE(largest.equal(torch::tensor({{4., 7.}, {0., 0.}, {1., 8.}})));
  EXPECT_TRUE(rows.equal(torch::tensor({{3, 1}, {0, 0}, {0, 0}})));
  const auto [without, b, counted, m] =
      at::embedding_bag(weight, indices, offsets, false, 1, false, {}, false, 3);
  EXPECT_TRUE(without[0].equal(weight[1]));
  EXPECT_TRUE(counted.equal(torch::tensor({1, 0, 1})));
}

TEST(Forms, OfMemory) {
  const torch::Tensor x = torch::arange(6.), y = torch::ones({6}, torch::kInt);
  EXPECT_TRUE(at::copy(x, y).equal(torch::ones({6})));
  EXPECT_EQ(at::copy(x, y).dtype(), torch::kFloat);
  EXPECT_EQ(at::resize(x, {2, 2}).sizes(), at::IntArrayRef({2, 2}));
  EXPECT_EQ(x.numel(), 6);
  EXPECT_EQ(at::set(x).numel(), 0);
  EXPECT_EQ(at::set(x, x).data_ptr(), x.data_ptr());
  EXPECT_TRUE(at::set(x, x.storage(), 2, {2}, {1}).equal(torch::tensor({2., 3.})));
  torch::Tensor out = torch::empty({0});
  EXPECT_TRUE(at::fill_out(out, x, 4).equal(torch::full({6}, 4.)));
  EXPECT_TRUE(at::zero_out(out, x).equal(torch::zeros({6})));
  const torch::Tensor& result = at::resize_out(out, x, {3});
  EXPECT_TRUE(result.equal(torch::arange(3.)));
  EXPECT_TRUE(at::new_full_out(out, x, {2}, 5).equal(torch::full({2}, 5.)));
  EXPECT_EQ(at::new_zeros_out(out, x, {3, 1}).sizes(), at::IntArrayRef({3, 1}));
  std::vector<float> memory = {0, 1, 2, 3, 4, 5};
  EXPECT_TRUE(at::from_blob(
                  memory.data(), {2, 2}, {2, 1}, 1, [](void*) {}, torch::kFloat,
                  std::optional<torch::Device>())
                  .equal(torch::tensor({{1., 2.}, {3., 4.}})));
  EXPECT_TRUE(at::for_blob(memory.data(), {2})
                  .strides(at::IntArrayRef{3})
                  .storage_offset(1)
                  .options(torch::kFloat)
                  .make_tensor()
                  .equal(torch::tensor({1., 4.})));
  const std::initializer_list<int> list = {1, 2};
  EXPECT_TRUE(torch::tensor(list).equal(torch::tensor({1, 2})));
  const torch::Tensor parts[] = {x.view({2, 3}), x};
  const torch::Tensor flat = at::flatten_dense_tensors(parts);
  EXPECT_EQ(flat.numel(), 12);
  EXPECT_TRUE(at::unflatten_dense_tensors(flat, parts)[0].equal(parts[0]));
}

TEST(Forms, OfDrawnNumbersAndOthers) {
  const torch::Tensor x = torch::zeros({4});
  torch::Tensor out = torch::empty({0});
  torch::manual_seed(1);
  const torch::Tensor expected = at::normal_functional(x, 2, 3);
  torch::manual_seed(1);
  EXPECT_TRUE(at::normal_out(out, x, 2, 3).equal(expected));
  EXPECT_TRUE(at::count_nonzero_out(out = torch::empty({0}, torch::kLong), torch::eye(2),
                                    std::optional<int64_t>(0))
                  .equal(torch::tensor({1, 1})));
  EXPECT_EQ(at::hann_window(4, torch::kDouble).dtype(), torch::kDouble);
  EXPECT_TRUE(at::mse_loss(x, x.add(2), at::Reduction::Sum).item<float>() == 16);
  EXPECT_EQ(at::mse_loss(x, x.add(2), int64_t{2}).item<float>(), 16);
  EXPECT_EQ(error_of([&] { at::mse_loss(x, x, int64_t{3}); }),
            "a reduction is 0 (none), 1 (mean) or 2 (sum), but got 3");
  EXPECT_TRUE(at::leaky_relu(x.sub(1), torch::Scalar(0.5)).equal(torch::full({4}, -0.5)));
  EXPECT_EQ(torch::eye(2)
                .m([](const torch::Tensor& t, int n) { return t.mul(n); }, 3)
                .sum()
                .item<float>(),
            6);
}

TEST(Forms, OfPackedSequences) {
  torch::manual_seed(2);
  torch::nn::LSTM layer(torch::nn::LSTMOptions(2, 3).num_layers(2).bidirectional(true));
  const auto x =
      torch::nn::utils::rnn::pack_padded_sequence(torch::randn({4, 2, 2}), torch::tensor({4, 2}));
  const auto expected = layer->forward_with_packed_input(x);
  const torch::Tensor states[] = {torch::zeros({4, 2, 3}), torch::zeros({4, 2, 3})};
  const auto [output, h, c] =
      at::lstm(x.data(), x.batch_sizes(), states, layer->all_weights(), true, 2, 0., false, true);
  EXPECT_TRUE(output.equal(std::get<0>(expected).data()));
  EXPECT_TRUE(h.equal(std::get<0>(std::get<1>(expected))));
  EXPECT_TRUE(c.equal(std::get<1>(std::get<1>(expected))));
  torch::nn::GRU other(2, 3);
  const auto [rows, last] = at::gru(x.data(), x.batch_sizes(), torch::zeros({1, 2, 3}),
                                    other->all_weights(), true, 1, 0., false, false);
  EXPECT_TRUE(rows.equal(std::get<0>(other->forward_with_packed_input(x)).data()));
  EXPECT_EQ(error_of([&] {
              at::gru(x.data(), x.batch_sizes(), last, layer->all_weights(), true, 1, 0., false,
                      false);
            }),
            "got an incorrect number of RNN parameters");
}

}  // namespace
