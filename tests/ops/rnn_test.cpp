// Recurrent networks beyond the op table: sizes where kernels cut work, what is asked of a device's
// own networks, autocast, errors.
#include "taeda/ops/nn/rnn.h"

#include <gmock/gmock.h>

#include "taeda/amp/autocast.h"
#include "taeda/autograd/engine.h"
#include "taeda/device/registry.h"
#include "taeda/kernels/rnn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/nn/rnn_steps.h"
#include "taeda/ops/random/random.h"
#include "tests/error_of.h"
#include "tests/ops/tensor_values.h"

namespace taeda {
namespace {

using ::testing::HasSubstr;
using Tensors = std::vector<Tensor>;

/// An LSTM's operands: x, h, c and the params.
Tensors operands(int64_t steps, int64_t batch, int64_t in, int64_t hidden, int64_t layers,
                 int64_t directions = 1, TensorOptions o = {}) {
  Tensors all{randn({steps, batch, in}, o), randn({layers * directions, batch, hidden}, o),
              randn({layers * directions, batch, hidden}, o)};
  for (int64_t i = 0; i < layers * directions; ++i) {
    all.push_back(randn({4 * hidden, i < directions ? in : directions * hidden}, o).mul(0.3));
    all.push_back(randn({4 * hidden, hidden}, o).mul(0.3));
    all.push_back(randn({4 * hidden}, o));
    all.push_back(randn({4 * hidden}, o));
  }
  return all;
}

TensorList rest(const Tensors& all) { return {all.data() + 3, all.size() - 3}; }

Tensors run(const Tensors& all, int64_t layers, bool bidirectional = false, double dropout = 0,
            bool batch_first = false) {
  const auto [y, h, c] = lstm(all[0], TensorList(all.data() + 1, 2), rest(all), true, layers,
                              dropout, true, bidirectional, batch_first);
  return {y, h, c};
}

Tensors leaves(const Tensors& all) {
  Tensors out;
  for (const Tensor& t : all) out.push_back(t.detach().clone().requires_grad_());
  return out;
}

Tensors gradients(const Tensors& outputs, const Tensors& inputs, bool create_graph = false) {
  Tensors weights;
  for (const Tensor& t : outputs)
    weights.push_back(arange(t.numel(), t.options().requires_grad(false)).sin().view(t.sizes()));
  return autograd::grad(outputs, inputs, weights, true, create_graph);
}

void expect_all(const Tensors& got, const Tensors& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    SCOPED_TRACE(i);
    testing::expect_same(got[i], want[i], tolerance);
  }
}

/// The fused gradient and the one made of operations, on rows that threads share.
TEST(Rnn, FusedGradientsEqualComposedOnes) {
  manual_seed(1);
  const Tensors in = leaves(operands(5, 40, 30, 50, 2, 2));
  const Tensors out = run(in, 2, true);
  expect_all(gradients(out, in), gradients(out, in, true), 2e-3);
}

TEST(Rnn, GraphsThatAreKeptGiveTheSameGradientsAgain) {
  manual_seed(2);
  const Tensors in = leaves(operands(4, 3, 5, 6, 1));
  const Tensors out = run(in, 1);
  expect_all(gradients(out, in), gradients(out, in), 0);
}

TEST(Rnn, BatchFirstIsAnotherOrder) {
  manual_seed(3);
  Tensors in = operands(4, 3, 5, 6, 1);
  const Tensor want = run(in, 1)[0];
  in[0] = in[0].transpose(0, 1).contiguous();
  testing::expect_same(run(in, 1, false, 0, true)[0], want.transpose(0, 1), 1e-6);
}

TEST(Rnn, DropoutFallsBetweenLayers) {
  manual_seed(4);
  Tensors in = operands(3, 2, 4, 5, 2);
  // The last layer sees nothing but its biases and states.
  const Tensors dropped = run(in, 2, false, 1);
  in[0] = in[0].mul(7);
  testing::expect_same(run(in, 2, false, 1)[0], dropped[0]);
  EXPECT_GT(run(in, 2)[0].sub(dropped[0]).abs().max().item<double>(), 1e-3);
  const auto evaluated =
      lstm(in[0], TensorList(in.data() + 1, 2), rest(in), true, 2, 1, false, false, false);
  testing::expect_same(std::get<0>(evaluated), run(in, 2)[0]);
}

TEST(Rnn, AutocastRunsInTheLowerPrecision) {
  manual_seed(5);
  const Tensors in = leaves(operands(3, 2, 4, 5, 1));
  const amp::autocast guard("cpu", kBFloat16);
  const Tensors out = run(in, 1);
  EXPECT_EQ(out[0].dtype(), kBFloat16);
  EXPECT_EQ(out[2].dtype(), kBFloat16);
  EXPECT_EQ(gradients(out, in)[3].dtype(), kFloat);
}

// ---- A device with networks of its own: here the CPU, for as long as a test runs

int forwards = 0, backwards = 0;
RnnShape asked;

void fake_space(const Tensor&, const RnnShape& shape, bool training, RnnSpace* space) {
  asked = shape;
  *space = {true, 7, training ? 5 : 0};
}

/// Layer after layer by the own steps.
detail::RnnResult by_steps(const Tensor& x, const Tensor& hx, const Tensor& cx, TensorList params,
                           const RnnShape& s) {
  const Tensors hc{hx, cx};
  const auto [y, h, c] = [&] {
    rnn_space_slot.set(kCPU, nullptr);
    auto out = lstm(x, hc, params, s.biases, s.layers, 0, false, s.bidirectional, false);
    rnn_space_slot.set(kCPU, &fake_space);
    return out;
  }();
  return {y, h, c};
}

Tensors last_params;

void fake_rnn(const Tensor& y, const Tensor& hy, const Tensor& cy, const Tensor& packed,
              const Tensor& reserve, const Tensor& x, const Tensor& hx, const Tensor& cx,
              TensorList params, const RnnShape& shape) {
  ++forwards;
  EXPECT_EQ(packed.numel(), 7);
  const NoGradGuard guard;
  const detail::RnnResult out = by_steps(x, hx, cx, params, shape);
  y.copy_(out.y), hy.copy_(out.h), cy.copy_(out.c);
  last_params.assign(params.begin(), params.end());
  if (reserve.defined()) reserve.fill_(1);
}

void fake_backward(const Tensor& grad_x, const Tensor& grad_hx, const Tensor& grad_cx,
                   TensorList grad_params, const Tensor&, const Tensor& reserve, const Tensor&,
                   const Tensor& grad_y, const Tensor& grad_hy, const Tensor& grad_cy,
                   const Tensor& x, const Tensor& hx, const Tensor& cx, const RnnShape& shape) {
  ++backwards;
  EXPECT_EQ(reserve.sum().item<int64_t>(), 5);  // filled, and not used up yet
  reserve.fill_(0);
  Tensors in{x, hx, cx};
  in.insert(in.end(), last_params.begin(), last_params.end());
  in = leaves(in);
  const AutoGradMode recording(true);
  const detail::RnnResult out = by_steps(in[0], in[1], in[2], rest(in), shape);
  Tensors outputs{out.y}, weights{grad_y};
  if (grad_hy.defined()) outputs.push_back(out.h), weights.push_back(grad_hy);
  if (grad_cy.defined()) outputs.push_back(out.c), weights.push_back(grad_cy);
  const Tensors grads = autograd::grad(outputs, in, weights);
  const NoGradGuard guard;
  grad_x.copy_(grads[0]), grad_hx.copy_(grads[1]), grad_cx.copy_(grads[2]);
  for (size_t i = 0; i < grad_params.size(); ++i) grad_params[i].copy_(grads[3 + i]);
}

class OwnNetworks : public ::testing::Test {
 protected:
  void SetUp() override {
    manual_seed(6);
    forwards = backwards = 0;
    rnn_slot.set(kCPU, &fake_rnn);
    rnn_backward_slot.set(kCPU, &fake_backward);
  }
  void TearDown() override {
    rnn_space_slot.set(kCPU, nullptr);
    rnn_slot.set(kCPU, nullptr);
    rnn_backward_slot.set(kCPU, nullptr);
    last_params.clear();
  }
};

TEST_F(OwnNetworks, TakeAllLayersAtOnce) {
  const Tensors in = leaves(operands(4, 3, 5, 6, 2, 2));
  const Tensors want = run(in, 2, true), want_grads = gradients(want, in);
  rnn_space_slot.set(kCPU, &fake_space);
  const Tensors got = run(in, 2, true), grads = gradients(got, in);
  EXPECT_EQ(forwards, 1);
  EXPECT_EQ(backwards, 1);
  EXPECT_EQ(asked.layers, 2);
  EXPECT_TRUE(asked.bidirectional && asked.biases);
  expect_all(got, want, 1e-6);
  expect_all(grads, want_grads, 1e-5);
  // What backward uses up is filled again for a second pass over the same graph.
  expect_all(gradients(got, in), want_grads, 1e-5);
  EXPECT_EQ(forwards, 2);
  // Second derivatives are made of operations.
  expect_all(gradients(got, in, true), want_grads, 1e-4);
  EXPECT_EQ(backwards, 2);
}

TEST_F(OwnNetworks, AreAskedLayerByLayerUnderDropout) {
  const Tensors in = operands(4, 3, 5, 6, 3);
  rnn_space_slot.set(kCPU, &fake_space);
  run(in, 3, false, 0.5);
  EXPECT_EQ(forwards, 3);
  EXPECT_EQ(asked.layers, 1);
}

TEST_F(OwnNetworks, MayRefuse) {
  const Tensors in = operands(4, 3, 5, 6, 2);
  const Tensors want = run(in, 2);
  rnn_space_slot.set(
      kCPU, [](const Tensor&, const RnnShape&, bool, RnnSpace* space) { space->taken = false; });
  expect_all(run(in, 2), want, 0);
  EXPECT_EQ(forwards, 0);
}

TEST(Rnn, ErrorsNameWhatDoesNotFit) {
  const Tensors in = operands(3, 2, 4, 5, 1);
  const auto error = [&](size_t i, const Tensor& other) {
    Tensors changed = in;
    changed[i] = other;
    return error_of([&] { run(changed, 1); });
  };
  EXPECT_EQ(error(0, zeros({3, 4})), "input must have 3 dimensions, got 2");
  EXPECT_EQ(error(0, zeros({3, 2, 7})),
            "input.size(-1) must be equal to input_size. Expected 4, got 7");
  EXPECT_EQ(error(0, zeros({0, 2, 4})), "Expected sequence length to be larger than 0 in RNN");
  EXPECT_EQ(error(1, zeros({1, 2, 6})), "Expected hidden size [1, 2, 5], got [1, 2, 6]");
  EXPECT_EQ(error(2, zeros({1, 2, 5}, kDouble)),
            "Input and hidden tensors are not the same dtype, found input tensor with Float and "
            "hidden tensor with Double");
  EXPECT_EQ(error(3, zeros({20, 4}, kDouble)),
            "Input and parameter tensors are not the same dtype, found input tensor with Float and "
            "parameter tensor with Double");
  EXPECT_EQ(error(4, zeros({5})), "lstm: Expected weight_hh to be a matrix, got [5]");
  EXPECT_EQ(error(4, zeros({21, 5})), "lstm: Expected weight_hh of size [20, 5], got [21, 5]");
  EXPECT_EQ(error(5, zeros({4})), "lstm: Expected bias_ih of size [20], got [4]");
  EXPECT_EQ(error_of([&] { run(in, 2); }), "got an incorrect number of RNN parameters");
  EXPECT_EQ(error_of([&] {
              lstm(in[0], TensorList(&in[1], 1), rest(in), true, 1, 0, true, false, false);
            }),
            "lstm expects two hidden states");
  EXPECT_THAT(error_of([&] {
                gru(ones({2, 2, 2}, kLong), ones({1, 2, 2}), TensorList(in.data(), 2), false, 1, 0,
                    true, false, false);
              }),
              HasSubstr("gru"));
  const Tensor x = in[0][0], h = in[1][0], c = in[2][0];
  EXPECT_EQ(error_of([&] {
              lstm_cell(in[0], Tensors{h, c}, in[3], in[4]);
            }),
            "lstm_cell: Expected input to be 2-D, got 3-D tensor");
  EXPECT_EQ(error_of([&] { lstm_cell(x, Tensors{h}, in[3], in[4]); }),
            "lstm_cell expects two hidden states");
  // A bias that is missing is zero, as PyTorch has it.
  EXPECT_TRUE(
      equal(std::get<0>(lstm_cell(x, Tensors{h, c}, in[3], in[4], in[5])),
            std::get<0>(lstm_cell(x, Tensors{h, c}, in[3], in[4], in[5], zeros_like(in[5])))));
  EXPECT_TRUE(
      equal(std::get<0>(lstm_cell(x, Tensors{h, c}, in[3], in[4], {}, in[5])),
            std::get<0>(lstm_cell(x, Tensors{h, c}, in[3], in[4], zeros_like(in[5]), in[5]))));
  if (device_count(kSim) == 0) return;
  EXPECT_EQ(error(1, zeros({1, 2, 5}, Device("sim:0"))),
            "Input and hidden tensors are not at the same device, found input tensor at cpu and "
            "hidden tensor at sim:0");
}

}  // namespace
}  // namespace taeda
