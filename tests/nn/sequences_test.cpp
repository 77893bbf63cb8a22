// Packed sequences, recurrent layers over them, transformers, and layers over vocabularies.
#include <algorithm>
#include <limits>

#include "common.h"
#include "golden_sequences.h"
#include "taeda/device/generator.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/join.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/error_of.h"

namespace taeda::nn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_helpers;
using namespace utils::rnn;

/// [4, 3]: 10 t + n.
Tensor numbered_batch() { return arange(4, kFloat).mul(10).unsqueeze(1).add(arange(3, kFloat)); }

TEST(PackedSequence, HoldsStepAfterStep) {
  const PackedSequence p =
      pack_padded_sequence(numbered_batch(), tensor({2, 4, 1}), false, /*enforce_sorted=*/false);
  EXPECT_THAT(to_doubles(p.data()), ElementsAre(1, 0, 2, 11, 10, 21, 31));
  EXPECT_THAT(to_doubles(p.batch_sizes()), ElementsAre(3, 2, 1, 1));
  EXPECT_THAT(to_doubles(p.sorted_indices()), ElementsAre(1, 0, 2));
  EXPECT_THAT(to_doubles(p.unsorted_indices()), ElementsAre(1, 0, 2));
  const auto [padded, lengths] = pad_packed_sequence(p, /*batch_first=*/true, -1, 5);
  EXPECT_THAT(to_doubles(padded),
              ElementsAre(0, 10, -1, -1, -1, 1, 11, 21, 31, -1, 2, -1, -1, -1, -1));
  EXPECT_THAT(to_doubles(lengths), ElementsAre(2, 4, 1));
  const std::vector<Tensor> parts = unpack_sequence(p);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_THAT(to_doubles(parts[0]), ElementsAre(0, 10));
  EXPECT_THAT(to_doubles(parts[1]), ElementsAre(1, 11, 21, 31));
  const PackedSequence again = pack_sequence(parts, /*enforce_sorted=*/false);
  EXPECT_TRUE(again.data().equal(p.data()));
  EXPECT_TRUE(again.batch_sizes().equal(p.batch_sizes()));
  EXPECT_THAT(to_doubles(pad_sequence({ones({1, 2}), zeros({2, 2})}, false, 5)),
              ElementsAre(1, 1, 0, 0, 5, 5, 0, 0));
}

TEST(PackedSequence, MovesAsAWhole) {
  const PackedSequence p = pack_sequence({ones({2, 3}), zeros({1, 3})});
  EXPECT_FALSE(p.sorted_indices().defined());
  EXPECT_TRUE(p.to(kFloat).data().is_same(p.data()));
  EXPECT_EQ(p.to(kDouble).data().dtype(), kDouble);
  EXPECT_TRUE(p.cpu().data().is_same(p.data()));
  EXPECT_FALSE(p.is_cuda());
  EXPECT_FALSE(p.is_pinned());
  const PackedSequence unsorted =
      pack_padded_sequence(numbered_batch(), tensor({1, 2, 3}), false, false).to(kDouble);
  EXPECT_EQ(unsorted.sorted_indices().dtype(), kLong);
  EXPECT_THAT(to_doubles(unsorted.unsorted_indices()), ElementsAre(2, 1, 0));
  EXPECT_FALSE(invert_permutation({}).defined());
}

TEST(PackedSequence, RejectsWhatDoesNotFit) {
  const Tensor x = numbered_batch();
  const auto pack = [&](const Tensor& lengths) {
    return error_of([&] { pack_padded_sequence(x, lengths); });
  };
  EXPECT_THAT(pack(tensor({1, 2, 3})),
              HasSubstr("`lengths` array must be sorted in decreasing order when `enforce_sorted` "
                        "is True."));
  EXPECT_EQ(pack(tensor({3, 2, 0})),
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0");
  EXPECT_EQ(pack(tensor({3, 2})),
            "Expected `len(lengths)` to be equal to batch_size, but got 2 (batch_size=3)");
  EXPECT_THAT(pack(ones({1, 3}, kLong)),
              HasSubstr("'lengths' argument should be a 1D CPU int64 tensor, but got 2D"));
  EXPECT_THAT(pack(tensor({5, 2, 1})), HasSubstr("Expected lengths of at most 4"));
  EXPECT_EQ(error_of([] {
              pack_padded_sequence(ones({0, 3}), ones({3}, kLong));
            }),
            "Cannot pack empty tensors.");
  EXPECT_THAT(error_of([] { pack_padded_sequence(ones({3}), ones({3}, kLong)); }),
              HasSubstr("at least 2 dimensions, but got 1"));
  EXPECT_EQ(error_of([] { pad_sequence({}); }), "received an empty list of sequences");
  EXPECT_EQ(error_of([] {
              pad_sequence({ones({2, 3}), ones({2, 4})});
            }),
            "The size of tensor a (3) must match the size of tensor b (4) at non-singleton "
            "dimension 1");
  EXPECT_EQ(error_of([] {
              pad_sequence({ones({2, 3}), ones({2})});
            }),
            "Expected sequences of 2 dimensions, but got 1");
  EXPECT_EQ(error_of([] { pad_sequence({scalar_tensor(1)}); }),
            "Dimension specified as 0 but tensor has no dimensions");
  EXPECT_EQ(error_of([&] {
              pad_packed_sequence(pack_padded_sequence(x, tensor({3, 2, 1})), false, 0, 2);
            }),
            "Expected total_length to be at least the length of the longest sequence in input, but "
            "got total_length=2 and max sequence length being 3");
  const auto runs = [](const Tensor& sizes) {
    return error_of([&] { runs_of(PackedSequence(ones({6, 1}), sizes)); });
  };
  EXPECT_THAT(runs(tensor({1, 2, 3})), HasSubstr("positive and not to grow"));
  EXPECT_THAT(runs(tensor({3, 2})), HasSubstr("6, but they sum to 5"));
  EXPECT_THAT(runs(empty({0}, kLong)), HasSubstr("a vector that is not empty"));
  EXPECT_THAT(error_of([] {
                PackedSequence(ones({1, 1}), ones({1}, TensorOptions("sim:0")));
              }),
              HasSubstr("batch_sizes should always be on CPU."));
}

/// Output, last states and one gradient of a layer over a batch of lengths 2, 5 and 4.
template <class Layer>
std::vector<double> packed_values(Layer layer, bool lstm) {
  const Tensor x = randn({5, 3, 3}), h = randn({4, 3, 4});
  const PackedSequence sequence = pack_padded_sequence(x, tensor({2, 5, 4}), false, false);
  std::vector<Tensor> parts;
  PackedSequence output = sequence;
  if constexpr (std::is_same_v<Layer, LSTM>) {
    auto [y, last] = layer->forward_with_packed_input(sequence, std::tuple(h, h.add(1)));
    output = y;
    parts = {std::get<0>(last), std::get<1>(last)};
  } else {
    auto [y, last] = layer->forward_with_packed_input(sequence, h);
    output = y;
    parts = {last};
  }
  EXPECT_EQ(parts.size(), lstm ? 2u : 1u);
  const Tensor padded = std::get<0>(pad_packed_sequence(output, false, 7));
  padded.sum().backward();
  parts.insert(parts.begin(), padded);
  parts.push_back(layer->named_parameters()["weight_hh_l0_reverse"].grad());
  std::vector<double> out;
  for (const Tensor& t : parts)
    for (double v : to_doubles(t)) out.push_back(v);
  return out;
}

TEST(PackedRecurrent, MatchesPyTorch) {
  manual_seed(5);
  EXPECT_THAT(packed_values(RNN({.input_size = 3,
                                 .hidden_size = 4,
                                 .num_layers = 2,
                                 .nonlinearity = kReLU,
                                 .bidirectional = true}),
                            false),
              near(golden_sequences.at("packed_rnn"), 1e-4));
  manual_seed(5);
  EXPECT_THAT(
      packed_values(
          LSTM({.input_size = 3, .hidden_size = 4, .num_layers = 2, .bidirectional = true}), true),
      near(golden_sequences.at("packed_lstm"), 1e-4));
  manual_seed(5);
  EXPECT_THAT(packed_values(GRU({.input_size = 3,
                                 .hidden_size = 4,
                                 .num_layers = 2,
                                 .bias = false,
                                 .bidirectional = true}),
                            false),
              near(golden_sequences.at("packed_gru"), 1e-4));
}

TEST(PackedRecurrent, EachSequenceGetsWhatItGetsAlone) {
  manual_seed(1);
  GRU layer({.input_size = 2, .hidden_size = 3, .bidirectional = true});
  layer->to(kDouble);
  const std::vector<Tensor> sequences = {randn({4, 2}, kDouble), randn({4, 2}, kDouble),
                                         randn({1, 2}, kDouble)};
  const auto [output, last] = layer->forward_with_packed_input(pack_sequence(sequences));
  const std::vector<Tensor> rows = unpack_sequence(output);
  Tensor loss = rows[0].sum().add(rows[1].sum()).add(rows[2].sum()).add(last.square().sum());
  loss.backward();
  const Tensor gradient = layer->named_parameters()["weight_ih_l0_reverse"].grad().clone();
  layer->zero_grad();
  loss = zeros({}, kDouble);
  for (int64_t i = 0; i < 3; ++i) {
    const auto [alone, alone_last] = layer(sequences[static_cast<size_t>(i)]);
    EXPECT_TRUE(alone.allclose(rows[static_cast<size_t>(i)])) << i;
    EXPECT_TRUE(alone_last.allclose(last.select(1, i))) << i;
    loss = loss.add(alone.sum()).add(alone_last.square().sum());
  }
  loss.backward();
  EXPECT_TRUE(gradient.allclose(layer->named_parameters()["weight_ih_l0_reverse"].grad()));
}

TEST(PackedRecurrent, DropsOutBetweenLayersAndRunsOnDevices) {
  LSTM layer({.input_size = 2, .hidden_size = 3, .num_layers = 2, .bias = false, .dropout = 1.0});
  const PackedSequence sequence =
      pack_padded_sequence(ones({3, 2, 2}), tensor({1, 3}), false, false);
  // With everything dropped, the second layer sees zeros and stays at zero.
  const auto dropped = std::get<0>(layer->forward_with_packed_input(sequence)).data();
  EXPECT_THAT(to_doubles(dropped), testing::Each(0));
  layer->eval();
  const auto [host, host_last] = layer->forward_with_packed_input(sequence);
  layer->to(Device("sim:0"));
  const auto [there, there_last] = layer->forward_with_packed_input(sequence.to(Device("sim:0")));
  EXPECT_EQ(there.data().device(), Device("sim:0"));
  EXPECT_TRUE(there.data().cpu().allclose(host.data(), 1e-5, 1e-6));
  EXPECT_TRUE(std::get<1>(there_last).cpu().allclose(std::get<1>(host_last), 1e-5, 1e-6));
}

TEST(PackedRecurrent, RejectsWhatDoesNotFit) {
  const PackedSequence p = pack_sequence({ones({2, 2}), ones({1, 2}), ones({1, 2})});
  EXPECT_THAT(error_of([&] { GRU(5, 4)->forward_with_packed_input(p); }),
              HasSubstr("input.size(-1) must be equal to input_size. Expected 5, got 2"));
  EXPECT_THAT(error_of([&] {
                GRU(2, 4)->forward_with_packed_input(p, zeros({1, 2, 4}));
              }),
              HasSubstr("Expected hidden size (1, 3, 4), got [1, 2, 4]"));
  EXPECT_THAT(
      error_of([&] {
        LSTM(2, 4)->forward_with_packed_input(p, std::tuple(zeros({1, 3, 4}), zeros({1, 2, 4})));
      }),
      HasSubstr("Expected hidden[1] size (1, 3, 4), got [1, 2, 4]"));
  EXPECT_THAT(error_of([] {
                GRU(2, 4)->forward_with_packed_input(pack_sequence({ones({2, 2, 2})}));
              }),
              HasSubstr("input must have 2 dimensions, got 3"));
}

std::vector<double> transformer_values(TransformerOptions o) {
  manual_seed(3);
  o.dim_feedforward = 12;
  o.dropout = 0;
  Transformer model(o);
  const Tensor src = randn({4, 2, 8}), tgt = randn({3, 2, 8});
  const Tensor padding = tensor({{0, 0, 0, 1}, {0, 0, 0, 0}}).to(kBool);
  const Tensor ahead = TransformerImpl::generate_square_subsequent_mask(3);
  return to_doubles(model(src, tgt, Tensor(), ahead, Tensor(), padding, Tensor(), padding));
}

TEST(Transformers, MatchPyTorch) {
  EXPECT_THAT(transformer_values(TransformerOptions{
                  .d_model = 8, .nhead = 2, .num_encoder_layers = 2, .num_decoder_layers = 2}),
              near(golden_sequences.at("transformer"), 2e-5));
  EXPECT_THAT(transformer_values(TransformerOptions{.d_model = 8,
                                                    .nhead = 2,
                                                    .num_encoder_layers = 2,
                                                    .num_decoder_layers = 2,
                                                    .activation = kGELU,
                                                    .norm_first = true}),
              near(golden_sequences.at("transformer_norm_first"), 2e-5));
  manual_seed(4);
  TransformerEncoder encoder(
      TransformerEncoderLayer(
          {.d_model = 4, .nhead = 2, .dim_feedforward = 6, .dropout = 0, .batch_first = true}),
      2);
  const Tensor x = randn({2, 3, 4}), mask = tensor({0, 1, 0}).to(kBool).expand({3, 3});
  EXPECT_THAT(to_doubles(encoder(x, mask)), near(golden_sequences.at("encoder"), 2e-5));
  EXPECT_EQ(Transformer({.d_model = 4,
                         .nhead = 2,
                         .num_encoder_layers = 1,
                         .num_decoder_layers = 1,
                         .dim_feedforward = 6})
                ->repr(),
            golden_transformer_print);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_THAT(to_doubles(TransformerImpl::generate_square_subsequent_mask(2)),
              ElementsAre(0, -inf, 0, 0));
}

/// Outputs with and without weights agree; these are the ones with.
std::vector<double> attention_values(const MultiheadAttentionOptions& o) {
  manual_seed(6);
  MultiheadAttention layer(o);
  const Tensor query = randn({3, 2, 4}), key = randn({5, 2, o.kdim()}),
               value = randn({5, 2, o.vdim()}), none;
  const Tensor padding = tensor({{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}}).to(kBool);
  const auto [output, weights] = layer(query, key, value, padding);
  const auto without = layer(query, key, value, padding, /*need_weights=*/false);
  EXPECT_TRUE(std::get<0>(without).allclose(output, 1e-4, 1e-6));
  EXPECT_FALSE(std::get<1>(without).defined());
  std::vector<double> out = to_doubles(output);
  for (const double v : to_doubles(weights)) out.push_back(v);
  return out;
}

TEST(MultiheadAttentions, MatchPyTorch) {
  EXPECT_THAT(attention_values(MultiheadAttentionOptions{
                  .embed_dim = 4, .num_heads = 2, .add_bias_kv = true, .add_zero_attn = true}),
              near(golden_sequences.at("attention_bias_kv"), 1e-5));
  EXPECT_THAT(attention_values(MultiheadAttentionOptions{
                  .embed_dim = 4, .num_heads = 2, .bias = false, .kdim = 3, .vdim = 2}),
              near(golden_sequences.at("attention_sizes"), 1e-5));
  // Keys and values given per head are those that a projection by the identity gives.
  namespace F = functional;
  const Tensor q = randn({2, 1, 4}), k = randn({3, 1, 4}), one = eye(4);
  using Options = F::MultiheadAttentionForwardFuncOptions;
  const Options options{.embed_dim_to_check = 4,
                        .num_heads = 2,
                        .in_proj_weight = cat({one, one, one}, 0),
                        .in_proj_bias = Tensor(),
                        .bias_k = Tensor(),
                        .bias_v = Tensor(),
                        .add_zero_attn = false,
                        .dropout_p = 0,
                        .out_proj_weight = one,
                        .out_proj_bias = Tensor()};
  const Tensor heads = k.view({3, 2, 2}).transpose(0, 1);
  const auto fixed = with(with(options, &Options::static_k, heads), &Options::static_v, heads);
  EXPECT_TRUE(
      std::get<0>(F::multi_head_attention_forward(q, k, k, options))
          .allclose(std::get<0>(F::multi_head_attention_forward(q, q, q, fixed)), 1e-5, 1e-6));
  const Tensor extra = ones({1, 1, 4});
  const auto longer = with(with(fixed, &Options::bias_k, extra), &Options::bias_v, extra);
  EXPECT_EQ(error_of([&] { F::multi_head_attention_forward(q, k, k, longer); }),
            "bias cannot be added to static key.");
  EXPECT_EQ(error_of([&] {
              F::multi_head_attention_forward(q, k, k, with(longer, &Options::static_k, Tensor()));
            }),
            "bias cannot be added to static value.");
  EXPECT_EQ(error_of([&] {
              F::multi_head_attention_forward(q, k, k, with(options, &Options::num_heads, 3));
            }),
            "embed_dim must be divisible by num_heads");
}

TEST(Transformers, TakeFunctionsAndModules) {
  // With an activation of zero, and norms and attention that are all zero, a layer keeps its input.
  const auto nothing = [](const Tensor& t) { return t.mul(0); };
  TransformerDecoderLayer layer(TransformerDecoderLayerOptions{
      .d_model = 4, .nhead = 2, .dropout = 0, .activation = nothing, .norm_first = true});
  {
    NoGradGuard no_grad;
    for (const auto& [name, p] : layer->named_parameters())
      if (name != "linear2.weight") p.zero_();
  }
  const Tensor x = randn({3, 1, 4});
  EXPECT_TRUE(layer(x, x).equal(x));
  TransformerDecoder decoder(
      TransformerDecoderOptions{.decoder_layer = layer,
                                .num_layers = 2,
                                .norm = AnyModule(LayerNorm(std::vector<int64_t>{4}))});
  const Tensor normed = decoder(x, x);
  EXPECT_NEAR(normed.mean().item<double>(), 0, 1e-6);
  const auto copy = std::dynamic_pointer_cast<TransformerDecoderImpl>(decoder->clone());
  EXPECT_TRUE(copy->forward(x, x).equal(normed));
  EXPECT_NE(copy->norm.ptr(), decoder->norm.ptr());
  TransformerEncoder small(TransformerEncoderLayer(4, 2), 1);
  Transformer model({.d_model = 4,
                     .nhead = 2,
                     .num_encoder_layers = 1,
                     .num_decoder_layers = 1,
                     .custom_encoder = AnyModule(small)});
  EXPECT_EQ(model->encoder.get<TransformerEncoderImpl>().layers->size(), 1u);
  EXPECT_EQ(model(x, x).sizes(), x.sizes());
}

TEST(Transformers, RejectWhatDoesNotFit) {
  Transformer model({.d_model = 4,
                     .nhead = 2,
                     .num_encoder_layers = 1,
                     .num_decoder_layers = 1,
                     .dim_feedforward = 6});
  EXPECT_THAT(error_of([&] {
                model(ones({3, 2, 4}), ones({3, 1, 4}));
              }),
              HasSubstr("the batch number of src and tgt must be equal"));
  EXPECT_THAT(error_of([&] {
                model(ones({3, 2, 4}), ones({3, 2, 5}));
              }),
              HasSubstr("the feature number of src and tgt must be equal to d_model"));
  EXPECT_THAT(error_of([&] {
                model(ones({3, 4}), ones({3, 4}));
              }),
              HasSubstr("src and tgt should have 3 dimensions, but got 2 and 2"));
  EXPECT_EQ(
      error_of([] { TransformerDecoderLayer({.d_model = 4, .nhead = 2, .activation = kTanh}); }),
      "activation should be relu/gelu");
  EXPECT_THAT(error_of([] {
                TransformerEncoder(TransformerEncoderLayer(4, 2), 0)(ones({1, 1, 4}));
              }),
              HasSubstr("TransformerEncoder should have at least one encoder layer"));
  EXPECT_THAT(
      error_of([] {
        TransformerDecoder(TransformerDecoderLayer(4, 2), 0)(ones({1, 1, 4}), ones({1, 1, 4}));
      }),
      HasSubstr("TransformerDecoder should have at least one decoder layer"));
}

TEST(AdaptiveSoftmax, MatchesPyTorch) {
  manual_seed(0);
  AdaptiveLogSoftmaxWithLoss layer(AdaptiveLogSoftmaxWithLossOptions{
      .in_features = 8, .n_classes = 10, .cutoffs = {2, 5}, .div_value = 2, .head_bias = true});
  const Tensor x = randn({4, 8});
  const ASMoutput out = layer(x, tensor({0, 3, 9, 1}));
  std::vector<double> values = to_doubles(out.output);
  values.push_back(out.loss);
  for (const double v : to_doubles(layer->log_prob(x))) values.push_back(v);
  for (const double v : to_doubles(layer->predict(x))) values.push_back(v);
  EXPECT_THAT(values, near(golden_sequences.at("adaptive"), 1e-5));
  EXPECT_NEAR(layer(x[2], tensor(9)).output.item<double>(), values[2], 1e-6);
  out.output.mean().backward();
  EXPECT_TRUE(layer->named_parameters()["tail.1.0.weight"].grad().defined());
  const Tensor before = layer->head->weight.detach().clone();
  layer->reset_parameters();
  EXPECT_FALSE(layer->head->weight.equal(before));
}

TEST(AdaptiveSoftmax, RejectsWhatDoesNotFit) {
  EXPECT_THAT(error_of([] {
                AdaptiveLogSoftmaxWithLoss(8, 10, std::vector<int64_t>{5, 2});
              }),
              HasSubstr("cutoffs should be a sequence of unique, positive integers sorted"));
  AdaptiveLogSoftmaxWithLoss layer(8, 10, std::vector<int64_t>{2, 5});
  EXPECT_THAT(error_of([&] {
                layer(ones({2, 8}), tensor({1}));
              }),
              HasSubstr("Input and target should have the same size in the batch dimension."));
  EXPECT_THAT(error_of([&] {
                layer(ones({2, 8}), tensor({1, 10}));
              }),
              HasSubstr("Target values should be in [0, 9], but values in range [1, 10] were"));
  EXPECT_THAT(error_of([&] {
                layer(ones({2, 8}), ones({2, 8}));
              }),
              HasSubstr("0D or 1D target tensor expected, multi-target not supported"));
  EXPECT_THAT(error_of([&] {
                layer(ones({2}), tensor({1, 2}));
              }),
              HasSubstr("1D target tensor expects 2D input tensors"));
}

/// Outputs of a layer over bags of words, and the gradient of its weight.
std::vector<double> bag_values(EmbeddingBagOptions o, bool matrix = false, bool weights = false) {
  manual_seed(0);
  EmbeddingBag layer(o);
  const Tensor words = tensor({1, 4, 2, 2, 3, 4});
  const Tensor offsets = matrix                    ? Tensor()
                         : o.include_last_offset() ? tensor({0, 2, 2, 5, 6})
                                                   : tensor({0, 2, 2, 5});
  const Tensor output =
      layer(matrix ? words.view({2, 3}) : words, offsets, weights ? randn({6}) : Tensor());
  output.square().sum().backward();
  std::vector<double> out = to_doubles(output);
  for (const double v : to_doubles(layer->weight.grad())) out.push_back(v);
  return out;
}

TEST(EmbeddingBags, MatchPyTorch) {
  const EmbeddingBagOptions o{.num_embeddings = 5, .embedding_dim = 2};
  const auto sums = with(o, &EmbeddingBagOptions::mode, kSum);
  const auto ends = with(o, &EmbeddingBagOptions::include_last_offset, true);
  const auto normed = with(sums, &EmbeddingBagOptions::max_norm, 0.5);
  const auto padded = [](const EmbeddingBagOptions& o, int64_t row) {
    return with(o, &EmbeddingBagOptions::padding_idx, row);
  };
  const auto expect = [](const char* name, const std::vector<double>& values) {
    EXPECT_THAT(values, near(golden_sequences.at(name), 1e-5)) << name;
  };
  expect("bag_sum", bag_values(sums, false, true));
  expect("bag_mean", bag_values(padded(ends, -1)));
  expect("bag_max", bag_values(padded(with(o, &EmbeddingBagOptions::mode, kMax), 2)));
  expect("bag_matrix", bag_values(padded(o, 2), true));
  expect("bag_max_norm", bag_values(with(normed, &EmbeddingBagOptions::norm_type, 1)));
  // Words 2 and 4 are there twice: half the gradient.
  std::vector<double> halved = bag_values(sums);
  for (const size_t row : {2, 4})
    for (size_t i = 0; i < 2; ++i) halved[8 + 2 * row + i] /= 2;
  EXPECT_THAT(bag_values(with(sums, &EmbeddingBagOptions::scale_grad_by_freq, true)),
              near(halved, 1e-5));
  EXPECT_EQ(EmbeddingBag(3, 4)->repr(), "EmbeddingBag(3, 4, mode=mean)");
  EXPECT_EQ(
      EmbeddingBag(
          {.num_embeddings = 3, .embedding_dim = 4, .max_norm = 2, .mode = kSum, .padding_idx = 1})
          ->repr(),
      "EmbeddingBag(3, 4, max_norm=2.0, mode=sum, padding_idx=1)");
  EXPECT_EQ(
      Embedding(
          {.num_embeddings = 3, .embedding_dim = 4, .norm_type = 1, .scale_grad_by_freq = true})
          ->repr(),
      "Embedding(3, 4, norm_type=1.0, scale_grad_by_freq=True)");
  EmbeddingBag given =
      EmbeddingBag::from_pretrained(ones({3, 2}), EmbeddingBagFromPretrainedOptions{.mode = kSum});
  EXPECT_FALSE(given->weight.requires_grad());
  EXPECT_THAT(to_doubles(given(tensor({{0, 1}}))), ElementsAre(2, 2));
  EXPECT_EQ(given(zeros({0}, kLong), tensor({0, 0})).sizes().vec(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(given(zeros({2, 0}, kLong)).sizes().vec(), (std::vector<int64_t>{2, 2}));
}

TEST(EmbeddingBags, OfNothingHaveAGradientOfZeros) {
  namespace F = functional;
  for (const EmbeddingBagMode mode :
       {EmbeddingBagMode(kMax), EmbeddingBagMode(kSum), EmbeddingBagMode(kMean)})
    for (const bool scaled : {false, true}) {
      const Tensor weight = ones({2, 3}).requires_grad_();
      const Tensor bags =
          F::embedding_bag(zeros({0}, kLong), weight,
                           {.offsets = tensor({0, 0}), .scale_grad_by_freq = scaled, .mode = mode});
      EXPECT_TRUE(bags.equal(zeros({2, 3})));
      ASSERT_TRUE(bags.requires_grad());
      bags.sum().backward();
      EXPECT_TRUE(weight.grad().equal(zeros({2, 3})));
    }
}

TEST(EmbeddingBags, RejectWhatDoesNotFit) {
  namespace F = functional;
  const Tensor weight = ones({3, 4}), words = tensor({1, 2});
  const auto fails = [&](const Tensor& input, const F::EmbeddingBagFuncOptions& o) {
    return error_of([&] { F::embedding_bag(input, weight, o); });
  };
  const auto at = [](const Tensor& offsets) {
    return F::EmbeddingBagFuncOptions{.offsets = offsets};
  };
  EXPECT_EQ(fails(words, {}), "offsets has to be a 1D Tensor but got null");
  EXPECT_THAT(fails(words.view({1, 2}), at(tensor({0}))),
              HasSubstr("If input is 2D, then offsets has to be null"));
  EXPECT_THAT(fails(words.view({1, 1, 2}), {}), HasSubstr("but got Tensor of dimension 3"));
  EXPECT_EQ(fails(words, at(zeros({1, 1}, kLong))), "offsets has to be a 1D Tensor");
  EXPECT_THAT(fails(words, at(tensor({1}))), HasSubstr("offsets[0] has to be 0"));
  EXPECT_THAT(fails(words, at(tensor({0, 3}))), HasSubstr("but got offsets[-1] of 3"));
  EXPECT_THAT(fails(words, at(tensor({0, 2, 1}))), HasSubstr("offsets should not fall"));
  EXPECT_THAT(fails(words, {.offsets = zeros({0}, kLong), .include_last_offset = true}),
              HasSubstr("number of offsets should be at least 1"));
  EXPECT_THAT(fails(words, {.offsets = tensor({0}), .per_sample_weights = ones({2})}),
              HasSubstr("is only supported for mode='sum' (got mode='mean')"));
  EXPECT_THAT(fails(words, {.offsets = tensor({0}), .mode = kSum, .per_sample_weights = ones({3})}),
              HasSubstr("then it must have the same shape as the input ([2])"));
  EXPECT_EQ(
      error_of([] { EmbeddingBagOptions{.num_embeddings = 3, .embedding_dim = 4, .mode = kNone}; }),
      "mode has to be one of sum, mean or max");
  EXPECT_EQ(fails(words,
                  {.offsets = tensor({0}), .mode = kSum, .per_sample_weights = ones({2}, kDouble)}),
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument "
            "#1 'per_sample_weights'; but type torch.FloatTensor does not equal torch.DoubleTensor "
            "(while checking arguments for embedding_bag)");
  EXPECT_THAT(fails(words, {.offsets = tensor({0}), .padding_idx = 9}),
              HasSubstr("padding_idx must be within the number of embeddings, -"));
  EXPECT_EQ(
      error_of([] { EmbeddingBag({.num_embeddings = 3, .embedding_dim = 2, .padding_idx = 3}); }),
      "padding_idx must be within num_embeddings");
  EXPECT_EQ(error_of([] {
              EmbeddingBag({.num_embeddings = 3, .embedding_dim = 2, ._weight = ones({2, 2})});
            }),
            "Shape of weight does not match num_embeddings and embedding_dim");
  EXPECT_EQ(error_of([] { EmbeddingBag::from_pretrained(ones({2})); }),
            "Embeddings parameter is expected to be 2-dimensional");
}

}  // namespace
}  // namespace taeda::nn
