// What programs make modules, containers and loaders of their own from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "tests/error_of.h"

namespace {

using taeda::error_of;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
namespace nn = torch::nn;

struct ScaledImpl : nn::Module {
  torch::Tensor forward(torch::Tensor x, double factor, int64_t plus) { return x * factor + plus; }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, nn::AnyValue(3.0)}, {2, nn::AnyValue(int64_t{1})})
};
TORCH_MODULE(Scaled);

struct WithDefaultImpl : nn::Module {
  torch::Tensor forward(torch::Tensor x, torch::Tensor y, double factor = 2) {
    return x + y * factor;
  }
};
TORCH_MODULE(WithDefault);

TEST(OwnParts, ArgumentsOfForwardMayHaveDefaults) {
  const torch::Tensor x = torch::ones({2});
  nn::AnyModule scaled{Scaled()};
  EXPECT_EQ(scaled.forward(x)[0].item<float>(), 4);
  EXPECT_EQ(scaled.forward(x, 5.0)[0].item<float>(), 6);
  EXPECT_EQ(scaled.forward(x, 5.0, int64_t{2})[0].item<float>(), 7);
  nn::Sequential list{WithDefault(), Scaled()};
  EXPECT_EQ(list->forward(x, x)[0].item<float>(), 10);
  EXPECT_EQ(list->forward(x, x, 3.0)[0].item<float>(), 13);
  EXPECT_THAT(
      error_of([&] { list->forward(x); }),
      HasSubstr("expects at least 2 argument(s) and at most 3 argument(s), but received 1."));
  EXPECT_THAT(error_of([&] { list->forward(x, 1); }), HasSubstr("Expected argument #1"));
}

TEST(OwnParts, AttentionInASequentialTakesThreeTensors) {
  nn::MultiheadAttention attention(4, 2);
  nn::Sequential list{attention};
  const torch::Tensor x = torch::rand({3, 1, 4});
  using Results = std::tuple<torch::Tensor, torch::Tensor>;
  const auto [out, weights] = list->forward<Results>(x, x, x);
  const auto [expected, expected_weights] = attention->forward(x, x, x);
  EXPECT_TRUE(out.equal(expected));
  EXPECT_TRUE(weights.equal(expected_weights));
}

TEST(OwnParts, PointersToModulesOfTheirClass) {
  nn::Linear linear(2, 3);
  nn::Sequential list{linear, nn::ReLU()};
  const std::shared_ptr<nn::LinearImpl> in_list = list->ptr<nn::LinearImpl>(0);
  EXPECT_EQ(in_list.get(), linear.get());
  EXPECT_EQ(nn::AnyModule(linear).ptr<nn::LinearImpl>(), in_list);
  EXPECT_EQ((nn::ModuleList(linear)->ptr<nn::LinearImpl>(0)), in_list);
  EXPECT_NE(error_of([&] { list->ptr<nn::LinearImpl>(1); }), "no error");
}

TEST(OwnParts, ContainersFromOneAnother) {
  nn::Linear a(1, 1), b(1, 1);
  nn::ModuleDict named;
  named->update(std::vector<std::pair<std::string, nn::Linear>>{{"a", a}, {"b", b}});
  nn::ModuleDict copy;
  copy->update(*named);
  EXPECT_EQ((*copy)["b"].get(), b.get());
  nn::ModuleList list(a);
  list->extend(*named);
  list->extend(list);
  EXPECT_EQ(list->size(), 6u);
  EXPECT_EQ(list->ptr(5).get(), b.get());
  list->extend(*nn::Sequential(a));
  EXPECT_EQ(list->ptr(6).get(), a.get());

  const torch::Tensor w = torch::ones({1}), v = torch::zeros({1});
  nn::ParameterList parameters(w);
  nn::ParameterDict dictionary;
  dictionary->update(*parameters);
  dictionary->insert("v", v);
  parameters->extend(*dictionary);
  parameters->extend(*parameters);
  EXPECT_EQ(parameters->size(), 6u);
  EXPECT_TRUE(parameters->at(5).is_same(v));
}

struct AnchoredImpl : nn::Module {
  void to(torch::ScalarType dtype, bool non_blocking = false) override {
    nn::Module::to(dtype, non_blocking);
    anchors = anchors.to(dtype);
  }
  torch::Tensor anchors = torch::ones({2});
};
TORCH_MODULE(Anchored);

TEST(OwnParts, AModuleMovesByItsOwnTo) {
  Anchored anchored;
  nn::Sequential inner;
  struct Outer : nn::Module {
  } outer;
  outer.register_module("anchored", anchored);
  outer.register_module("linear", nn::Linear(2, 2));
  outer.to(torch::kDouble);
  EXPECT_EQ(anchored->anchors.dtype(), torch::kDouble);
  EXPECT_EQ(outer.parameters()[0].dtype(), torch::kDouble);
}

TEST(OwnParts, OptionsOfOptimizersAreEqualOrNot) {
  using torch::optim::AdamOptions;
  EXPECT_TRUE(AdamOptions(0.1).weight_decay(2) == AdamOptions(0.1).weight_decay(2));
  EXPECT_FALSE(AdamOptions(0.1) == AdamOptions(0.2));
  EXPECT_FALSE(AdamOptions(0.1) == AdamOptions(0.1).amsgrad(true));
  EXPECT_TRUE(AdamOptions(0.1) != AdamOptions(0.1).betas({0.5, 0.9}));
}

TEST(OwnParts, StatesOfOptimizersAreEqualOrNot) {
  torch::optim::AdamParamState a, b;
  EXPECT_TRUE(a == b);
  a.exp_avg(torch::ones({2}));
  EXPECT_TRUE(a != b);
  b.exp_avg(torch::ones({2}));
  EXPECT_TRUE(a == b);
  a.step(3);
  EXPECT_FALSE(a == b);
  torch::optim::LBFGSParamState l, m;
  EXPECT_TRUE(l == m);
  l.old_dirs().push_back(torch::ones({2}));
  EXPECT_FALSE(l == m);
  m.old_dirs().push_back(torch::ones({2}));
  EXPECT_TRUE(l == m);
  m.al(std::vector<torch::Tensor>{torch::ones({2})});
  EXPECT_FALSE(l == m);
}

TEST(OwnParts, ItemsOfADictionaryOfModulesArePairs) {
  nn::Linear a(1, 1);
  nn::ModuleDict named;
  named->insert("a", a);
  for (auto& item : named->items()) {
    EXPECT_EQ(item.first, "a");
    EXPECT_EQ(item.second.get(), a.get());
  }
  EXPECT_EQ(named->items().size(), 1u);
}

TEST(OwnParts, NamesOfAutograd) {
  const torch::Tensor x = torch::ones({2}).requires_grad_();
  std::ostringstream out;
  out << (x * 2).grad_fn() << ' ' << x.grad_fn();
  EXPECT_THAT(out.str(), MatchesRegex("<MulBackward0 at 0x[0-9a-f]+> None"));
  const torch::autograd::InferenceMode guard;
  EXPECT_TRUE(torch::ones({1}).is_inference());
  EXPECT_NE(torch::autograd::CreationMeta::DEFAULT, torch::autograd::CreationMeta::NO_GRAD_MODE);
  EXPECT_EQ(*torch::make_unique<int>(3), 3);
  EXPECT_EQ(taeda::optional<int>(), taeda::nullopt);
}

TEST(OwnParts, AGraphedLayer) {
  nn::Linear linear(2, 3);
  const torch::Tensor x = torch::rand({4, 2});
  const auto graphed = taeda::nn::make_graphed_callables(linear, x);
  const torch::Tensor other = torch::rand({4, 2});
  EXPECT_TRUE(graphed(other).equal(linear(other)));
}

using torch::data::detail::DataShuttle;
using torch::data::detail::Queue;

TEST(LoaderParts, AQueueHandsValuesOverInOrder) {
  Queue<int> queue;
  queue.push(1);
  queue.push(2);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(std::chrono::milliseconds(1)), 2);
  EXPECT_EQ(error_of([&] { queue.pop(std::chrono::milliseconds(2)); }),
            "Timeout in DataLoader queue while waiting for next batch (timeout was 2 ms)");
  std::thread other([&] { queue.push(3); });
  EXPECT_EQ(queue.pop(), 3);
  other.join();
  queue.push(4);
  EXPECT_EQ(queue.clear(), 1u);
}

TEST(LoaderParts, AShuttleCountsWhatIsUnderWay) {
  DataShuttle<int, int> shuttle;
  EXPECT_FALSE(shuttle.pop_result().has_value());
  for (int i = 0; i < 3; ++i) shuttle.push_job(i);
  EXPECT_EQ(shuttle.in_flight_jobs(), 3u);
  std::thread worker([&] { shuttle.push_result(shuttle.pop_job() + 10); });
  EXPECT_EQ(shuttle.pop_result(), 10);
  worker.join();
  EXPECT_EQ(shuttle.in_flight_jobs(), 2u);
  shuttle.drain();
  EXPECT_EQ(shuttle.in_flight_jobs(), 0u);
}

struct Numbered {
  size_t sequence_number;
};

TEST(LoaderParts, ASequencerPutsResultsInOrder) {
  namespace sequencers = torch::data::detail::sequencers;
  std::vector<size_t> coming{2, 0, 1, 4, 3};
  size_t at = 0;
  const auto produce = [&]() -> std::optional<Numbered> {
    if (at == coming.size()) return std::nullopt;
    return Numbered{coming[at++]};
  };
  sequencers::OrderedSequencer<Numbered> ordered(3);
  std::vector<size_t> seen;
  while (const auto result = ordered.next(produce)) seen.push_back(result->sequence_number);
  EXPECT_EQ(seen, (std::vector<size_t>{0, 1, 2, 3, 4}));
  at = 0;
  EXPECT_EQ(sequencers::NoSequencer<Numbered>().next(produce)->sequence_number, 2u);
}

class Backwards : public torch::data::samplers::Sampler<> {
 public:
  explicit Backwards(size_t size) : size_(size), left_(size) {}
  void reset(torch::optional<size_t> new_size = torch::nullopt) override {
    left_ = size_ = new_size.value_or(size_);
  }
  torch::optional<std::vector<size_t>> next(size_t batch_size) override {
    if (left_ == 0) return torch::nullopt;
    std::vector<size_t> batch;
    while (batch.size() < batch_size && left_ > 0) batch.push_back(--left_);
    return batch;
  }
  void save(torch::serialize::OutputArchive& archive) const override {
    archive.write("left", torch::tensor(static_cast<int64_t>(left_)));
  }
  void load(torch::serialize::InputArchive& archive) override {
    torch::Tensor left;
    archive.read("left", left);
    left_ = left.item<int64_t>();
  }

 private:
  size_t size_, left_;
};

TEST(LoaderParts, ASamplerOfTheProgramsOwn) {
  const torch::Tensor x = torch::arange(5);
  auto loader = torch::data::make_data_loader(
      torch::data::datasets::TensorDataset(x).map(
          torch::data::transforms::Stack<torch::data::TensorExample>()),
      Backwards(5), 2);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<torch::Tensor> all;
    for (auto& batch : *loader) all.push_back(batch.data);
    EXPECT_EQ(all.size(), 3u);
    EXPECT_TRUE(torch::cat(all).equal(x.flip({0})));
  }
  Backwards first(4), second(4);
  first.next(3);
  std::stringstream stream;
  torch::save(first, stream);
  torch::load(second, stream);
  EXPECT_EQ(second.next(3)->size(), 1u);
  torch::data::samplers::Sampler<>& base = second;
  base.reset(2);
  EXPECT_EQ(base.next(5)->size(), 2u);
}

TEST(LoaderParts, SamplersAreSavedAndGoOn) {
  torch::data::samplers::RandomSampler sampler(10), other(10);
  sampler.reset();
  sampler.next(4);
  std::stringstream file;
  torch::save(sampler, file);
  torch::load(other, file);
  EXPECT_EQ(other.next(6), sampler.next(6));
  torch::serialize::OutputArchive out;
  out << torch::data::samplers::SequentialSampler(3);
  EXPECT_FALSE(out.content().metadata.empty() && out.content().tensors.empty());
}

struct Tens : torch::data::datasets::ChunkDataReader<int> {
  std::vector<int> read_chunk(size_t chunk) override {
    return std::vector<int>(2, 10 * int(chunk));
  }
  size_t chunk_count() override { return 3; }
  void reset() override {}
};

TEST(LoaderParts, ChunkDatasetsAreSavedAndGoOn) {
  using torch::data::samplers::SequentialSampler;
  using Dataset = torch::data::datasets::ChunkDataset<Tens, SequentialSampler, SequentialSampler>;
  const torch::data::datasets::ChunkDatasetOptions options(1, 2, 2);
  Dataset first(Tens(), SequentialSampler(0), SequentialSampler(0), options);
  Dataset second(Tens(), SequentialSampler(0), SequentialSampler(0), options);
  std::stringstream file;
  first.reset();
  torch::save(first, file);
  torch::load(second, file);
  second.reset();
  std::vector<int> seen;
  while (const auto batch = second.get_batch(2)) seen.push_back(batch->front());
  EXPECT_FALSE(seen.empty());
  EXPECT_EQ(seen.back(), 20);
}

}  // namespace
