// A GPT with a cache of keys and values gives what it gives without.
#include <gmock/gmock.h>

#include "taeda/amp/autocast.h"
#include "taeda/device/graph.h"
#include "taeda/device/registry.h"
#include "taeda/models/gpt.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/error_of.h"

namespace taeda::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

GPTOptions small() {
  return {.vocab_size = 23, .block_size = 12, .n_layer = 3, .n_head = 4, .n_embd = 16};
}

GPT make_model(GPTOptions options = small()) {
  manual_seed(3);
  GPT model(options);
  // Scores of a new network are nearly the same for all tokens.
  const NoGradGuard no_grad;
  for (Tensor& p : model->parameters()) p.mul_(p.dim() == 2 ? 12 : 1);
  model->eval();
  return model;
}

double difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.sizes(), b.sizes());
  return (a.to(kDouble) - b.to(kDouble)).abs().max().item<double>();
}

/// Scores of texts whose tokens come in parts of these lengths.
Tensor in_parts(GPT& model, const Tensor& tokens, const std::vector<int64_t>& parts) {
  KeyValueCache cache = model->make_cache(tokens.size(0));
  std::vector<Tensor> out;
  for (const int64_t n : parts) {
    out.push_back(model(tokens.narrow(1, cache.length(), n), cache));
    EXPECT_EQ(out.back().size(1), n);
  }
  EXPECT_EQ(cache.length(), tokens.size(1));
  return cat(out, 1);
}

TEST(GptCache, GivesTheScoresOfTheWholeText) {
  GPT model = make_model();
  const InferenceMode inference;
  for (const int64_t batch : {1, 3}) {
    const Tensor tokens = randint(0, 23, {batch, 12});
    const Tensor want = model(tokens);
    for (const auto& parts : std::vector<std::vector<int64_t>>{
             {12}, std::vector<int64_t>(12, 1), {5, 1, 1, 1, 1, 1, 1, 1}, {1, 4, 7}, {3, 1, 8}})
      EXPECT_LE(difference(in_parts(model, tokens, parts), want), 1e-5)
          << batch << " texts in " << parts.size() << " parts";
  }
}

TEST(GptCache, GivesTheSameOnASimulatedDevice) {
  if (device_count(kSim) == 0) GTEST_SKIP() << "needs a simulated device";
  const Device device(kSim, 0);
  GPT model = make_model();
  const NoGradGuard no_grad;
  const Tensor tokens = randint(0, 23, {2, 12}), want = model(tokens);
  model->to(device);
  KeyValueCache cache = model->make_cache(2);
  EXPECT_EQ(cache.options().device, device);
  const Tensor there = tokens.to(device);
  EXPECT_LE(difference(in_parts(model, there, {4, 3, 1, 1, 1, 1, 1}).cpu(), want), 1e-5);
  EXPECT_THAT(error_of([&] { model(tokens, cache); }),
              HasSubstr("GPT got tokens on cpu and a KeyValueCache on sim:0"));
  const Tensor start = tokens.narrow(1, 0, 2);
  const Tensor here = make_model()->generate(start, 14, 0);
  EXPECT_TRUE(model->generate(start.to(device), 14, 0).cpu().equal(here));
}

TEST(GptCache, TakesSixteenBitFloats) {
  for (const ScalarType dtype : {kBFloat16, kHalf, kDouble}) {
    GPT model = make_model();
    model->to(dtype);
    const NoGradGuard no_grad;
    const Tensor tokens = randint(0, 23, {2, 12}), want = model(tokens);
    KeyValueCache cache = model->make_cache();
    EXPECT_EQ(cache.options().dtype, dtype);
    const double tolerance = dtype == kDouble ? 1e-12 : dtype == kHalf ? 4e-3 : 4e-2;
    const double largest = want.to(kDouble).abs().max().item<double>();
    EXPECT_LE(difference(in_parts(model, tokens, {5, 1, 1, 5}), want), tolerance * largest)
        << to_string(dtype);
  }
}

TEST(GptCache, KeepsItsDtypeUnderAutocast) {
  GPT model = make_model();
  const NoGradGuard no_grad;
  const Tensor tokens = randint(0, 23, {1, 12});
  const amp::autocast autocast(kCPU);
  const Tensor want = model(tokens).to(kFloat);
  EXPECT_LE(difference(in_parts(model, tokens, {6, 1, 1, 4}).to(kFloat), want),
            4e-2 * want.abs().max().item<double>());
}

/// What `generate` is specified as: everything from the start for each token.
Tensor recomputed(GPT& model, Tensor tokens, int64_t count, double temperature, int64_t top_k) {
  const NoGradGuard no_grad;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t seen = std::min<int64_t>(tokens.size(1), model->options.block_size);
    const Tensor window = tokens.narrow(1, tokens.size(1) - seen, seen);
    // One token of a window needs no cache.
    tokens = cat({tokens, model->generate(window, 1, temperature, top_k).narrow(1, seen, 1)}, 1);
  }
  return tokens;
}

TEST(GptCache, GeneratesWhatRecomputingGives) {
  GPT model = make_model();
  const Tensor prompt = randint(0, 23, {2, 4});
  const struct {
    double temperature;
    int64_t top_k;
  } cases[] = {{0, 0}, {1, 0}, {1.5, 6}, {0.7, 3}};
  for (const auto& c : cases)
    for (const int64_t length : {1, 4}) {
      const Tensor start = prompt.narrow(1, 0, length);
      manual_seed(5);
      const Tensor want = recomputed(model, start, 20, c.temperature, c.top_k);
      manual_seed(5);
      const Tensor got = model->generate(start, 20, c.temperature, c.top_k);
      EXPECT_TRUE(got.equal(want)) << "temperature " << c.temperature << ": " << got << want;
    }
  // The texts say something: not one token over and over.
  manual_seed(5);
  EXPECT_GT(model->generate(prompt, 20).max().item<int64_t>(), 5);
}

TEST(GptCache, DropoutDrawsAsItDidWithout) {
  GPTOptions options = small();
  options.dropout = 0.2;
  GPT model = make_model(options);
  model->train();
  const Tensor start = zeros({1, 2}, kLong);
  manual_seed(9);
  const Tensor want = recomputed(model, start, 9, 1, 0);
  manual_seed(9);
  EXPECT_TRUE(model->generate(start, 9).equal(want));
}

TEST(GptCache, ForgetsAndCopies) {
  GPT model = make_model();
  const NoGradGuard no_grad;
  const Tensor tokens = randint(0, 23, {1, 12}), want = model(tokens);
  KeyValueCache cache = model->make_cache();
  EXPECT_EQ(cache.capacity(), 12);
  model(tokens.narrow(1, 0, 8), cache);
  KeyValueCache copy = cache.clone();
  model(tokens.flip(1).narrow(1, 0, 4), cache);
  cache.truncate(6);
  EXPECT_LE(difference(model(tokens.narrow(1, 6, 6), cache), want.narrow(1, 6, 6)), 1e-5);
  EXPECT_EQ(copy.length(), 8);
  EXPECT_LE(difference(model(tokens.narrow(1, 8, 4), copy), want.narrow(1, 8, 4)), 1e-5);
  EXPECT_THAT(copy.layer(1).first.sizes().vec(), ElementsAre(1, 4, 12, 4));
  EXPECT_TRUE(copy.layer(2).second.equal(cache.layer(2).second) ||
              copy.layer(2).second.allclose(cache.layer(2).second, 1e-4, 1e-5));
  cache.clear();
  EXPECT_LE(difference(model(tokens, cache), want), 1e-5);
}

TEST(GptCache, KeepsItsMemory) {
  GPT model = make_model();
  const NoGradGuard no_grad;
  KeyValueCache cache = model->make_cache(2);
  model(zeros({2, 1}, kLong), cache);
  const auto [keys, values] = cache.layer(0);
  for (int i = 0; i < 11; ++i) model(zeros({2, 1}, kLong), cache);
  EXPECT_EQ(cache.layer(0).first.data_ptr(), keys.data_ptr());
  EXPECT_EQ(cache.layer(0).second.data_ptr(), values.data_ptr());
}

TEST(GptCache, WorksAtPositionsOfATensor) {
  GPT model = make_model();
  const NoGradGuard no_grad;
  const Tensor tokens = randint(0, 23, {2, 12}), want = model(tokens);
  KeyValueCache cache = model->make_cache(2);
  const Tensor first = model(tokens.narrow(1, 0, 5), cache, arange(5));
  EXPECT_LE(difference(first, want.narrow(1, 0, 5)), 1e-5);
  EXPECT_EQ(cache.length(), 0);
  cache.advance(5);
  EXPECT_LE(difference(model(tokens.narrow(1, 5, 2), cache), want.narrow(1, 5, 2)), 1e-5);
  for (int64_t i = 7; i < 12; ++i)
    EXPECT_LE(
        difference(model(tokens.narrow(1, i, 1), cache, full({1}, i, kLong)), want.narrow(1, i, 1)),
        1e-5);
}

class CapturedGpt : public testing::TestWithParam<const char*> {};

TEST_P(CapturedGpt, ServesEveryPosition) {
  const Device device(GetParam());
  if (device_count(device.type()) == 0) GTEST_SKIP() << "needs " << device;
  GPT model = make_model();
  model->to(device);
  const NoGradGuard no_grad;
  const Tensor tokens = randint(0, 23, {1, 12}).to(device), want = model(tokens);
  KeyValueCache cache = model->make_cache();
  const Tensor token = zeros({1, 1}, TensorOptions(kLong).device(device)),
               position = zeros({1}, TensorOptions(kLong).device(device));
  model(token, cache, position);
  DeviceGraph graph(device.type());
  Tensor scores;
  {
    GraphCapture capture(graph);
    scores = model(token, cache, position);
    position.add_(1);
  }
  for (int64_t i = 0; i < 12; ++i) {
    token.copy_(tokens.narrow(1, i, 1));
    graph.replay();
    EXPECT_LE(difference(scores, want.narrow(1, i, 1)), 1e-5) << "position " << i;
  }
  cache.advance(12);
  EXPECT_EQ(cache.length(), 12);
  DeviceGraph refused(device.type());
  KeyValueCache empty = model->make_cache();
  EXPECT_THAT(error_of([&] {
                GraphCapture capture(refused);
                model(token, empty);
              }),
              HasSubstr("give forward the positions as a tensor"));
}
INSTANTIATE_TEST_SUITE_P(Devices, CapturedGpt, testing::Values("cpu", "sim:0"),
                         [](const auto& info) { return std::string(info.param, 3); });

TEST(GptCache, SaysWhatIsWrong) {
  GPT model = make_model();
  const NoGradGuard no_grad;
  KeyValueCache cache = model->make_cache();
  const auto tokens = [](int64_t n, int64_t t) { return zeros({n, t}, kLong); };
  model(tokens(1, 11), cache);
  EXPECT_THAT(error_of([&] { model(tokens(1, 2), cache); }),
              HasSubstr("KeyValueCache is full: it holds 11 of at most 12 tokens and cannot take 2 "
                        "more"));
  EXPECT_EQ(cache.length(), 11);
  EXPECT_THAT(error_of([&] { model(tokens(2, 1), cache); }),
              HasSubstr("GPT got tokens of 2 texts and a KeyValueCache of 1"));
  EXPECT_THAT(error_of([&] { model(tokens(1, 0), cache); }), HasSubstr("at least one token"));
  EXPECT_THAT(error_of([&] { model(zeros({3}, kLong), cache); }),
              HasSubstr("GPT expects tokens (N, T), got shape [3]"));
  EXPECT_THAT(error_of([&] { model(tokens(1, 1), cache, zeros({2}, kLong)); }),
              HasSubstr("GPT expects positions [1] of int64 on cpu, got [2] of"));
  EXPECT_THAT(error_of([&] { model(tokens(1, 1), cache, full({1}, 12, kLong)); }),
              HasSubstr("index out of range"));
  EXPECT_THAT(error_of([&] { cache.truncate(12); }),
              HasSubstr("KeyValueCache holds 11 tokens and cannot be truncated to 12"));
  EXPECT_THAT(error_of([&] { cache.layer(3); }), HasSubstr("has 3 layers, got layer 3"));
  EXPECT_THAT(error_of([&] { KeyValueCache{KeyValueCacheOptions{}}; }),
              HasSubstr("expects sizes above 0, got layers = 0"));
  EXPECT_THAT(
      error_of([&] {
        KeyValueCache({.layers = 1, .heads = 1, .capacity = 1, .head_width = 1, .dtype = kLong});
      }),
      HasSubstr("expects a floating dtype"));
  GPTOptions other = small();
  other.n_head = 2;
  KeyValueCache foreign = GPT(other)->make_cache();
  EXPECT_THAT(error_of([&] { model(tokens(1, 1), foreign); }),
              HasSubstr("GPT has 3 layers of 4 heads of width 4, the KeyValueCache was made for 3 "
                        "layers of 2 heads of width 8"));
  model->to(kDouble);
  cache.clear();
  EXPECT_THAT(error_of([&] { model(tokens(1, 1), cache); }),
              HasSubstr("KeyValueCache holds Float, got keys and values of Double"));
}

TEST(GptCache, RefusesGradients) {
  GPT model = make_model();
  KeyValueCache cache = model->make_cache();
  const Tensor token = zeros({1, 1}, kLong);
  EXPECT_THAT(error_of([&] { model(token, cache); }), HasSubstr("keeps no gradients"));
  EXPECT_EQ(cache.length(), 0);
  {
    const InferenceMode inference;
    model(token, cache);
  }
  EXPECT_EQ(cache.length(), 1);
  // Where keys and values are constants, gradients of what follows them are right.
  for (Tensor& p : model->parameters()) p.requires_grad_(false);
  const Tensor bias = model->transformer->at<nn::LayerNorm>("ln_f").bias.requires_grad_(true);
  const Tensor both = zeros({1, 2}, kLong);
  model(both).narrow(1, 1, 1).square().sum().backward();
  const Tensor want = bias.grad().clone();
  bias.mutable_grad() = Tensor();
  model(token, cache).square().sum().backward();
  EXPECT_TRUE(bias.grad().allclose(want, 1e-4, 1e-6));
}

}  // namespace
}  // namespace taeda::models
