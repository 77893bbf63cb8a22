// libtorch's namespaces are the program's to reopen, and what it adds stands beside what was there.
#include <gtest/gtest.h>
#include <torch/torch.h>

namespace torch::nn {

class ReopenedImpl : public Cloneable<ReopenedImpl> {
 public:
  ReopenedImpl() { reset(); }
  void reset() override { linear = register_module("linear", Linear(LinearOptions(2, 3))); }
  Tensor forward(const Tensor& x) { return functional::relu(linear(x)); }
  Linear linear{nullptr};
};
TORCH_MODULE(Reopened);

namespace functional {
inline Tensor twice(const Tensor& x) { return functional::relu(x) + functional::relu(x); }
}  // namespace functional

namespace init {
inline Tensor sevens_(Tensor x) { return constant_(x, 7); }
}  // namespace init

}  // namespace torch::nn

namespace torch {
namespace optim {
inline double rate_of(const SGDOptions& options) { return options.lr(); }
}  // namespace optim
namespace data {
namespace datasets {
struct Counted : Dataset<Counted> {
  data::Example<> get(size_t i) override {
    return {full({1}, static_cast<double>(i)), tensor(static_cast<int64_t>(i))};
  }
  c10::optional<size_t> size() const override { return 3; }
};
}  // namespace datasets
}  // namespace data
}  // namespace torch

namespace at {
inline Tensor thrice(const Tensor& x) { return at::mul(x, 3); }
namespace indexing {
inline TensorIndex all_but_first() { return Slice(1); }
}  // namespace indexing
}  // namespace at

namespace c10 {
inline int64_t answer(IntArrayRef list) { return list[0]; }
}  // namespace c10

namespace {

TEST(Reopen, ClassesOfModules) {
  torch::nn::Reopened module;
  EXPECT_EQ(module->forward(torch::ones({4, 2})).sizes(), torch::IntArrayRef({4, 3}));
  EXPECT_EQ(module->parameters().size(), 2u);
  EXPECT_TRUE(module->clone());
  torch::nn::Sequential all(module, torch::nn::Linear(3, 1));
  EXPECT_EQ(all->forward(torch::ones({1, 2})).numel(), 1);
}

TEST(Reopen, FunctionsBesideOthers) {
  namespace F = torch::nn::functional;
  const auto x = torch::tensor({-1.0, 2.0});
  EXPECT_TRUE(F::twice(x).equal(F::relu(x) * 2));
  EXPECT_EQ(torch::nn::init::sevens_(torch::empty({2})).sum().item<float>(), 14);
  EXPECT_EQ(torch::optim::rate_of(torch::optim::SGDOptions(0.5)), 0.5);
  EXPECT_TRUE(at::thrice(x).equal(x * 3));
  EXPECT_TRUE(torch::thrice(x).equal(x * 3));
  EXPECT_EQ(x.index({at::indexing::all_but_first()}).numel(), 1);
  EXPECT_EQ(c10::answer({5}), 5);
}

TEST(Reopen, Datasets) {
  auto set = torch::data::datasets::Counted().map(torch::data::transforms::Stack<>());
  auto loader =
      torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(set), 3);
  int64_t sum = 0;
  for (auto& batch : *loader) sum += batch.target.sum().item<int64_t>();
  EXPECT_EQ(sum, 3);
}

TEST(Reopen, DirectivesFindOneOfEach) {
  using namespace torch;  // NOLINT: what programs write
  using namespace at;     // NOLINT
  nn::Linear linear(2, 2);
  EXPECT_EQ(linear(ones({1, 2})).numel(), 2);
  EXPECT_EQ(nn::functional::relu(ones(2)).numel(), 2);
  EXPECT_EQ(optim::rate_of(optim::SGDOptions(1.0)), 1);
  {
    using namespace torch::nn;  // NOLINT
    EXPECT_EQ(functional::twice(ones(2)).numel(), 2);
    EXPECT_TRUE(Reopened()->linear);
  }
}

TEST(Reopen, FormsWithOut) {
  auto out = torch::empty({0});
  EXPECT_TRUE(torch::add_outf(torch::ones(2), torch::ones(2), 1, out).is_same(out));
  EXPECT_EQ(at::arange_out(out, 3).numel(), 3);
  std::cout << std::flush;  // <iostream> came along
}

}  // namespace
