// Modules and optimizers of a program's own, which override what libtorch lets them override.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <deque>
#include <sstream>

#include "tests/error_of.h"

namespace {

using taeda::error_of;

/// Keeps a number that is no tensor of the module.
struct CounterImpl : torch::nn::Cloneable<CounterImpl> {
  CounterImpl() { reset(); }
  void reset() override { weight = register_parameter("weight", torch::zeros({2})); }
  void save(torch::serialize::OutputArchive& archive) const override {
    Module::save(archive);
    archive.write("count", torch::tensor(count));
  }
  void load(torch::serialize::InputArchive& archive) override {
    Module::load(archive);
    torch::Tensor read;
    archive.read("count", read);
    count = read.item<int64_t>();
  }
  torch::Tensor forward(const torch::Tensor& x) { return x + weight; }

  torch::Tensor weight;
  int64_t count = 0;
};
TORCH_MODULE(Counter);

struct NetImpl : torch::nn::Module {
  NetImpl() {
    linear = register_module("linear", torch::nn::Linear(2, 2));
    counter = register_module("counter", Counter());
    cache = register_module("cache", torch::nn::Functional(torch::relu));
  }
  torch::nn::Linear linear{nullptr};
  Counter counter{nullptr};
  torch::nn::Functional cache{nullptr};
};
TORCH_MODULE(Net);

TEST(OwnModules, AreSavedAsTheySay) {
  Net a, b;
  a->counter->count = 7;
  torch::NoGradGuard no_grad;
  a->counter->weight.fill_(3);
  std::stringstream stream;
  torch::save(a, stream);
  torch::load(b, stream);
  EXPECT_EQ(b->counter->count, 7);
  EXPECT_TRUE(b->counter->weight.equal(a->counter->weight));
  EXPECT_TRUE(b->linear->weight.equal(a->linear->weight));
}

TEST(OwnModules, LoadAllOrNothing) {
  Net net;
  const torch::Tensor before = net->linear->bias.detach().clone();
  torch::serialize::OutputArchive out;
  out.write("linear.bias", torch::ones({2}));
  out.write("linear.weight", torch::ones({3, 2}));
  out.write("counter.weight", torch::ones({2}));
  out.write("counter.count", torch::tensor(int64_t{1}));
  out.write("counter.size", torch::ones({1}));
  std::stringstream stream;
  out.save_to(stream);
  EXPECT_EQ(
      error_of([&] { torch::load(net, stream); }),
      "Error(s) in loading state_dict for Net:\n\tUnexpected key(s) in state_dict: "
      "\"counter.size\". \n\tsize mismatch for linear.weight: copying a param with shape "
      "torch.Size([3, 2]) from checkpoint, the shape in current model is torch.Size([2, 2]).");
  EXPECT_TRUE(net->linear->bias.equal(before));
  torch::serialize::InputArchive empty;
  EXPECT_EQ(error_of([&] { net->linear->load(empty); }),
            "Error(s) in loading state_dict for Linear:\n\tMissing key(s) in state_dict: "
            "\"weight\", \"bias\". ");
}

TEST(OwnModules, ApplyTakesGenericFunctions) {
  torch::nn::Sequential net(torch::nn::Linear(2, 2), torch::nn::ReLU());
  net->apply([](auto& m) { m.eval(); });
  EXPECT_FALSE(net[1]->is_training());
  int modules = 0;
  net->apply([&](const torch::nn::Module&) { ++modules; });
  net->apply([&](const std::shared_ptr<torch::nn::Module>&) { ++modules; });
  net->apply([&, calls = 0](torch::nn::Module&) mutable { modules += ++calls; });
  EXPECT_EQ(modules, 12);
  std::string paths;
  net->apply([&](const std::string& path, torch::nn::Module&) { paths += path + " "; }, "net");
  EXPECT_EQ(paths, "net net.0 net.1 ");
}

TEST(OwnModules, NameWhatModulesAreMadeOf) {
  using torch::nn::AdaptiveAvgPool2dImpl;
  torch::nn::AdaptiveAvgPoolOptions<torch::ExpandingArrayWithOptionalElem<2>> options({5, 7});
  torch::nn::AdaptiveAvgPool2d pool(options);
  torch::nn::AdaptiveAvgPoolImpl<2, torch::ExpandingArrayWithOptionalElem<2>,
                                 AdaptiveAvgPool2dImpl>& base = *pool;
  EXPECT_EQ(base.options.output_size()->at(1).value(), 7);
  torch::nn::InstanceNorm2d norm(3);
  torch::nn::InstanceNormImpl<2, torch::nn::InstanceNorm2dImpl>& norm_base = *norm;
  EXPECT_EQ(norm_base.options.num_features(), 3);
  torch::nn::ReflectionPadOptions<2> padding({1, 1, 2, 2});
  EXPECT_EQ(torch::nn::ReflectionPad2d(padding)(torch::ones({1, 4, 4})).size(1), 8);
}

TEST(OwnModules, ActivationsOfAnyForm) {
  using Forms = std::variant<torch::enumtype::kReLU, torch::enumtype::kGELU,
                             std::function<torch::Tensor(const torch::Tensor&)>>;
  torch::nn::TransformerEncoderLayerOptions options(4, 2);
  options.dropout(0).activation(Forms(torch::enumtype::kGELU{}));
  torch::nn::TransformerEncoderLayer named(options);
  options.activation(Forms([](const torch::Tensor& x) { return torch::nn::functional::gelu(x); }));
  torch::nn::TransformerEncoderLayer own(options);
  own->load_state_dict(named->state_dict());
  const torch::Tensor x = torch::randn({3, 1, 4});
  EXPECT_TRUE(own(x).equal(named(x)));
  EXPECT_TRUE(torch::nn::EmbeddingBagOptions(2, 2).mode(torch::enumtype::kMax{}).mode().is_max());
  torch::nn::Conv2dOptions conv(1, 1, 3);
  EXPECT_EQ(conv.padding(torch::enumtype::kSame{}).padding().automatic(), torch::kSame);
}

struct OwnSgd : torch::optim::SGD {
  using SGD::SGD;
  void save(torch::serialize::OutputArchive& archive) const override {
    torch::optim::serialize<torch::optim::SGDParamState, torch::optim::SGDOptions>(archive, *this);
  }
  void load(torch::serialize::InputArchive& archive) override {
    torch::optim::serialize<torch::optim::SGDParamState, torch::optim::SGDOptions>(archive, *this);
  }
};

TEST(OwnOptimizers, SerializeThemselves) {
  const torch::Tensor p = torch::ones({2}, torch::requires_grad());
  OwnSgd a({p}, torch::optim::SGDOptions(0.5).momentum(0.9));
  OwnSgd b({p}, torch::optim::SGDOptions(0.1));
  torch::serialize::OutputArchive out;
  a.save(out);
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  b.load(in);
  EXPECT_EQ(b.param_groups()[0].options().get_lr(), 0.5);
  const std::deque<int64_t> values{1, 2};
  EXPECT_EQ(torch::optim::list_to_deque(torch::optim::deque_to_list(values)), values);
}

TEST(OwnData, CollatesByAFunction) {
  using torch::data::TensorExample;
  auto rows = torch::data::datasets::TensorDataset(torch::arange(4).view({4, 1}));
  EXPECT_EQ(rows.tensor.size(0), 4);
  auto largest =
      rows.map(torch::data::transforms::Collate<torch::Tensor, std::vector<TensorExample>>(
          [](std::vector<TensorExample> examples) {
            torch::Tensor out = examples.front().data;
            for (const auto& e : examples) out = torch::maximum(out, e.data);
            return out;
          }));
  EXPECT_EQ(largest.get_batch({0, 2, 1}).item<int64_t>(), 2);
  torch::data::samplers::RandomSampler sampler(4, torch::kInt32);
  EXPECT_EQ(sampler.next(4)->size(), 4u);
}

}  // namespace
