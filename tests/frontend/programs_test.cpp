// Small things that published programs do and that no other test touches, and the random numbers of
// loaders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/error_of.h"

namespace frontend_programs {
namespace {

using testing::ElementsAre;

struct Numbers : torch::data::Dataset<Numbers, int64_t> {
  int64_t get(size_t i) override { return static_cast<int64_t>(i); }
  torch::optional<size_t> size() const override { return 6; }
};

int64_t drawn() { return torch::randint(1000, {1}).item<int64_t>(); }

// The numbers are libtorch 1.13's.
TEST(LoaderOrder, IsLibtorchsAndDrawsNoNumberMore) {
  namespace samplers = torch::data::samplers;
  torch::manual_seed(3);
  auto in_order = torch::data::make_data_loader<samplers::SequentialSampler>(
      Numbers(), torch::data::DataLoaderOptions(6).workers(1));
  for (auto& batch : *in_order) EXPECT_THAT(batch, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(drawn(), 986);
  auto shuffled = torch::data::make_data_loader<samplers::RandomSampler>(
      Numbers(), torch::data::DataLoaderOptions(6));
  for (auto& batch : *shuffled) EXPECT_THAT(batch, ElementsAre(0, 1, 3, 4, 2, 5));
  for (auto& batch : *shuffled) EXPECT_THAT(batch, ElementsAre(3, 1, 0, 2, 5, 4));
  EXPECT_EQ(drawn(), 975);
}

// libtorch's clones draw the initial values that they then replace; so do the layers that a
// transformer's encoder copies.
TEST(Clones, DrawWhatLibtorchsDraw) {
  const auto next = [] { return torch::rand(1).item<float>(); };
  torch::manual_seed(3);
  torch::nn::Sequential layers(torch::nn::Linear(2, 3), torch::nn::GRU(2, 2));
  EXPECT_NEAR(next(), 0.379548, 1e-6);
  torch::nn::Linear linear(2, 3);
  auto copy = linear->clone();
  EXPECT_NEAR(next(), 0.12553, 1e-6);
  EXPECT_TRUE(copy->as<torch::nn::Linear>()->weight.equal(linear->weight));
  layers->clone();
  EXPECT_NEAR(next(), 0.717111, 1e-6);
}

struct Sum : torch::data::transforms::Collation<int64_t> {
  int64_t apply_batch(std::vector<int64_t> batch) override {
    int64_t sum = 0;
    for (int64_t x : batch) sum += x;
    return sum;
  }
};

TEST(Programs, CollationsNameTheValueFirst) {
  auto loader = torch::data::make_data_loader(Numbers().map(Sum()), 4);
  std::vector<int64_t> sums;
  for (int64_t& sum : *loader) sums.push_back(sum);
  EXPECT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0] + sums[1], 15);
}

struct Line : torch::autograd::Function<Line> {
  static torch::Tensor forward(torch::autograd::AutogradContext* ctx, torch::Tensor x,
                               torch::Tensor w, torch::Tensor bias = torch::Tensor()) {
    ctx->save_for_backward({x, w, bias});
    auto y = x.mm(w.t());
    return bias.defined() ? y + bias : y;
  }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* ctx,
                                               torch::autograd::tensor_list g) {
    const auto saved = ctx->get_saved_variables();
    return {g[0].mm(saved[1]), g[0].t().mm(saved[0]),
            saved[2].defined() ? g[0].sum(0) : torch::Tensor()};
  }
};

TEST(Programs, AFunctionMayGiveUndefinedGradientsForArgumentsThatWereLeftOut) {
  auto x = torch::ones({2, 3}), w = torch::ones({4, 3}, torch::requires_grad());
  Line::apply(x, w).sum().backward();
  EXPECT_TRUE(w.grad().equal(torch::full({4, 3}, 2.0)));
}

TEST(Programs, HooksMayReturnNothing) {
  auto x = torch::ones({2}, torch::requires_grad());
  double seen = 0;
  x.register_hook([&](torch::Tensor gradient) { seen = gradient.sum().item<double>(); });
  (x * 3).sum().backward();
  EXPECT_EQ(seen, 6);
  EXPECT_TRUE(x.grad().equal(torch::full({2}, 3.0)));
  EXPECT_EQ((x * 2).grad_fn()->next_edges().size(), (x * 2).grad_fn()->next_functions().size());
}

template <class T>
std::string text(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(Programs, PrintContainersAndComplexNumbers) {
  EXPECT_EQ(text(std::vector<int64_t>{1, 2, 3}), "1 2 3");
  EXPECT_EQ(text(std::vector<std::string>{"a", "b"}), "a b");
  EXPECT_EQ(text(std::map<std::string, int>{{"a", 1}, {"b", 2}}), "(a, 1) (b, 2)");
  EXPECT_EQ(text(c10::complex<float>(1, 2)), "(1,2)");
}

TEST(Programs, ChecksWithoutWordsSayWhatTheyExpected) {
  EXPECT_EQ(taeda::error_of([] { TORCH_CHECK(1 == 2); }),
            "Expected 1 == 2 to be true, but got false.");
  EXPECT_EQ(taeda::error_of([] { TORCH_CHECK_INDEX(false, "there is no ", 3); }), "there is no 3");
}

TEST(Programs, NamesOfOlderLibtorch) {
  const std::vector<int64_t> kept{2, 3, 4};
  const torch::IntList sizes = kept;
  EXPECT_TRUE(sizes.slice(1).equals({3, 4}));
  auto x = torch::ones({2, 2});
  EXPECT_EQ(c10::typeMetaToScalarType(x.dtype()), torch::kFloat);
  EXPECT_TRUE(torch::autograd::make_variable(x, true).requires_grad());
  EXPECT_FALSE(x.requires_grad());
  EXPECT_EQ(x.data<float>(), x.data_ptr<float>());
  EXPECT_EQ((torch::OrderedDict<std::string, int>("Entry").key_description()), "Entry");
  EXPECT_EQ(torch::nn::init::_calculate_fan_in_and_fan_out(torch::ones({6, 4, 3, 3})),
            std::make_tuple(int64_t{36}, int64_t{54}));
  auto own = at::detail::createCPUGenerator(42);
  auto made = at::make_generator<at::CPUGeneratorImpl>(42);
  EXPECT_TRUE(torch::rand({3}, own).equal(torch::rand({3}, made)));
  EXPECT_EQ(at::detail::getDefaultCPUGenerator(),
            at::globalContext().defaultGenerator(torch::kCPU));
  EXPECT_FALSE(torch::cuda::cudnn_is_available() && !torch::cuda::is_available());
}

TEST(Programs, AnyModuleGivesHoldersBack) {
  torch::nn::AnyModule any(torch::nn::Linear(3, 4));
  EXPECT_EQ(any.get<torch::nn::Linear>()->weight.size(0), 4);
  EXPECT_EQ(&*any.get<torch::nn::Linear>(), &any.get<torch::nn::LinearImpl>());
}

TEST(Programs, LoopsOverDictionariesAndListsInBraces) {
  c10::Dict<std::string, torch::Tensor> dict;
  dict.insert("a", torch::ones(2));
  for (auto& entry : dict) {
    EXPECT_EQ(entry.key(), "a");
    EXPECT_EQ(entry.value().numel(), 2);
  }
  EXPECT_EQ(dict.begin()->key(), "a");
  std::stringstream stream;
  torch::save({torch::ones(1), torch::zeros(2)}, stream);
  std::vector<torch::Tensor> back;
  torch::load(back, stream);
  EXPECT_EQ(back.size(), 2u);
}

TEST(Programs, APlateauTakesLibtorchsArguments) {
  using Plateau = torch::optim::ReduceLROnPlateauScheduler;
  torch::optim::SGD optimizer({torch::ones(2)}, 1.0);
  Plateau plateau(optimizer, Plateau::min, 0.5, 1, 1e-4, Plateau::rel, 0, {0.1f});
  for (int i = 0; i < 4; ++i) plateau.step(1.0);
  EXPECT_EQ(optimizer.param_groups()[0].options().get_lr(), 0.5);
}

}  // namespace
}  // namespace frontend_programs
