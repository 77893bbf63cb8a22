// LSTMs whose hidden states are projected: PyTorch's values and gradients, whole and packed.
#include "common.h"
#include "golden_sequences.h"
#include "taeda/device/generator.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/nn/rnn.h"
#include "taeda/ops/random/random.h"
#include "tests/error_of.h"

namespace taeda::nn {
namespace {

using namespace testing_helpers;
using namespace utils::rnn;

LSTMOptions projected() {
  return {
      .input_size = 3, .hidden_size = 5, .num_layers = 2, .bidirectional = true, .proj_size = 2};
}

/// Outputs and last states, whole and packed, and two gradients.
std::vector<double> run(const LSTMOptions& options) {
  manual_seed(5);
  LSTM layer(options);
  const Tensor x = randn({4, 3, 3}), h = randn({4, 3, 2}), c = randn({4, 3, 5});
  const auto [output, state] = layer->forward(x, std::tuple(h, c));
  const PackedSequence sequence = pack_padded_sequence(x, tensor({2, 4, 3}), false, false);
  const auto [packed, last] = layer->forward_with_packed_input(sequence, std::tuple(h, c));
  const Tensor padded = std::get<0>(pad_packed_sequence(packed));
  output.square().sum().add(padded.sum()).backward();
  const auto parameters = layer->named_parameters();
  std::vector<double> out;
  for (const Tensor& t : {output, std::get<0>(state), std::get<1>(state), padded, std::get<0>(last),
                          std::get<1>(last), parameters["weight_hr_l0"].grad(),
                          parameters["weight_hh_l1_reverse"].grad()})
    for (const double v : to_doubles(t)) out.push_back(v);
  return out;
}

TEST(ProjectedLstm, IsPyTorchs) {
  EXPECT_THAT(run(projected()), near(golden_sequences.at("projected_lstm"), 1e-5));
  EXPECT_THAT(run(with(projected(), &LSTMOptions::bias, false)),
              near(golden_sequences.at("projected_lstm_without_bias"), 1e-5));
}

TEST(ProjectedLstm, StatesStartAtZeroAndBatchesComeFirst) {
  LSTM layer(with(projected(), &LSTMOptions::batch_first, true));
  const auto [output, state] = layer->forward(ones({2, 4, 3}));
  EXPECT_EQ(output.sizes(), IntArrayRef({2, 4, 4}));
  EXPECT_EQ(std::get<0>(state).sizes(), IntArrayRef({4, 2, 2}));
  EXPECT_EQ(std::get<1>(state).sizes(), IntArrayRef({4, 2, 5}));
  const auto [single, last] = layer->forward(ones({4, 3}));
  EXPECT_EQ(single.sizes(), IntArrayRef({4, 4}));
  EXPECT_EQ(std::get<0>(last).sizes(), IntArrayRef({4, 2}));
}

TEST(ProjectedLstm, ListsAndPrintsItsWeights) {
  LSTM layer(projected());
  layer->flatten_parameters();
  const std::vector<Tensor> weights = layer->all_weights();
  ASSERT_EQ(weights.size(), 20u);
  EXPECT_EQ(weights[1].sizes(), IntArrayRef({20, 2}));
  EXPECT_EQ(weights[4].sizes(), IntArrayRef({2, 5}));
  EXPECT_EQ(weights[10].sizes(), IntArrayRef({20, 4}));
  EXPECT_EQ(layer->repr(), "LSTM(3, 5, proj_size=2, num_layers=2, bidirectional=True)");
  EXPECT_EQ(GRU(2, 3)->all_weights().size(), 4u);
  EXPECT_EQ(RNN({.input_size = 2, .hidden_size = 3, .bias = false})->all_weights().size(), 2u);
}

TEST(ProjectedLstm, Refuses) {
  EXPECT_EQ(error_of([] { LSTM({.input_size = 3, .hidden_size = 4, .proj_size = -1}); }),
            "proj_size should be a positive integer or zero to disable projections, but got -1");
  EXPECT_EQ(error_of([] { LSTM({.input_size = 3, .hidden_size = 4, .proj_size = 4}); }),
            "proj_size has to be smaller than hidden_size, but got 4 and 4");
  LSTM layer({.input_size = 3, .hidden_size = 4, .proj_size = 2});
  EXPECT_EQ(error_of([&] {
              layer->forward(ones({5, 1, 3}), std::tuple(zeros({1, 1, 4}), zeros({1, 1, 4})));
            }),
            "Expected hidden size [1, 1, 2], got [1, 1, 4]");
  EXPECT_EQ(
      error_of([&] {
        const Tensor states[] = {zeros({1, 1, 2}), zeros({1, 1, 4})};
        std::vector<Tensor> weights = layer->all_weights();
        weights[4] = zeros({2, 5});
        lstm(ones({5, 1, 3}), TensorList(states, 2), weights, true, 1, 0, false, false, false);
      }),
      "lstm: Expected weight_ih of size [20, 3], got [16, 3]");
}

}  // namespace
}  // namespace taeda::nn
