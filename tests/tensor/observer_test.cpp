// Who wants to know which operations a program calls.
#include "taeda/tensor/observer.h"

#include <gmock/gmock.h>

#include <thread>

#include "taeda/device/memory_stats.h"
#include "taeda/kernels/pointwise/transcendental.h"
#include "taeda/nn/functional/embedding.h"
#include "taeda/nn/functional/padding.h"
#include "taeda/nn/functional/upsampling.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/index/index.h"
#include "taeda/ops/linalg/linalg.h"
#include "taeda/ops/nn/norm.h"
#include "taeda/ops/reduce/sort.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Writes down what it is told.
class Notes : public OperationObserver {
 public:
  void begins(const char* name, std::vector<ObservedValue> arguments) override {
    calls.emplace_back(name);
    last = std::move(arguments);
    last_name = name;
  }
  void ends(const std::vector<Tensor>& list) override { results = list; }
  void unobserved_kernel(const char* kernel) noexcept override { kernels.emplace_back(kernel); }

  std::vector<std::string> calls, kernels;
  std::string last_name;
  std::vector<ObservedValue> last;
  std::vector<Tensor> results;
};

TEST(Observer, SeesWhatTheProgramCallsAndNotWhatOperationsCall) {
  const Tensor x = ones({2, 3}), w = ones({4, 3});
  const Notes notes;
  layer_norm(x, {3});
  softsign(x);
  x.reshape({3, 2}).t();
  EXPECT_THAT(notes.calls, ElementsAre("layer_norm", "softsign", "reshape", "t"));
  EXPECT_THAT(notes.kernels, IsEmpty());
}

TEST(Observer, SeesArgumentsInTheOrderOfTheDeclaration) {
  const Tensor x = ones({2, 3});
  const Notes notes;
  const auto [values, indices] = x.topk(2, -1, false);
  ASSERT_EQ(notes.last.size(), 5u);
  EXPECT_TRUE(std::get<Tensor>(notes.last[0]).is_same(x));
  EXPECT_EQ(std::get<int64_t>(notes.last[1]), 2);
  EXPECT_EQ(std::get<int64_t>(notes.last[2]), -1);
  EXPECT_FALSE(std::get<bool>(notes.last[3]));
  ASSERT_EQ(notes.results.size(), 2u);
  EXPECT_TRUE(notes.results[1].is_same(indices));
  gelu(x, "tanh");
  EXPECT_EQ(std::get<std::string>(notes.last[1]), "tanh");
  x.clamp(std::nullopt, 2);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(notes.last[1]));
  EXPECT_EQ(std::get<Scalar>(notes.last[2]).toLong(), 2);
  x.sum({0, 1}, true);
  EXPECT_THAT(std::get<std::vector<int64_t>>(notes.last[1]), ElementsAre(0, 1));
  x.index({Slice(), 1});
  EXPECT_EQ(std::get<std::vector<TensorIndex>>(notes.last[1]).size(), 2u);
}

TEST(Observer, SeesFormsInPlaceOnWhatTheyWereCalled) {
  const Tensor x = ones({3, 3});
  const Notes notes;
  x.add_(1);
  EXPECT_TRUE(notes.results[0].is_same(x));
  x.exp_();
  x.cos_();  // made from its declaration
  x.tril();
  EXPECT_THAT(notes.calls, ElementsAre("add_", "exp_", "cos_", "tril"));
  relu_(x);
  EXPECT_TRUE(notes.results[0].is_same(x));
}

TEST(Observer, IsToldOfKernelsThatNoObservedOperationRuns) {
  const Tensor x = ones({4});
  const Notes notes;
  pointwise(Exp{}, x);
  EXPECT_THAT(notes.kernels, ElementsAre("exp"));
}

TEST(Observer, ChangesNothingOfWhatIsComputed) {
  const Tensor x = linspace(-0.9, 0.9, 7), wanted = x.erfinv();
  class Parts : public Notes {
   public:
    bool prefers_parts(const char* name) override {
      asked = name;
      return true;
    }
    void replaces(const std::vector<Tensor>& results, const std::vector<Tensor>& parts) override {
      EXPECT_TRUE(results.at(0).allclose(parts.at(0)));
      replaced = results.at(0);
    }
    std::string asked;
    Tensor replaced;
  };
  Parts notes;
  const Tensor by_parts = x.erfinv();
  EXPECT_TRUE(by_parts.equal(wanted));
  EXPECT_EQ(notes.asked, "erfinv");
  EXPECT_TRUE(notes.replaced.is_same(by_parts));
  EXPECT_THAT(notes.calls, testing::Contains("log"));
}

TEST(Observer, IsToldOfTheWholeUnlessItPrefersParts) {
  const Tensor x = zeros({3});
  const Notes notes;
  x.erfinv();
  x.erfc();
  linalg::det(ones({2, 2}));
  EXPECT_THAT(notes.calls, ElementsAre("erfinv", "erfc", "ones", "linalg_det"));
  EXPECT_THAT(notes.kernels, IsEmpty());
}

TEST(Observer, SeesWhatLayersCallAtDoorsOfTheirOwn) {
  const Tensor picture = ones({1, 1, 2, 2}), rows = ones({4, 2});
  const Tensor bags = tensor({0, 3, 1, 1}).view({2, 2});
  const Notes notes;
  nn::functional::pad(picture, {1, 1, 0, 0}, kReflect, 0.5);
  EXPECT_THAT(std::get<std::vector<int64_t>>(notes.last.at(1)), ElementsAre(1, 1, 0, 0));
  EXPECT_EQ(std::get<int64_t>(notes.last.at(2)), static_cast<int64_t>(PaddingMode::Reflect));
  EXPECT_EQ(std::get<double>(notes.last.at(3)), 0.5);
  nn::functional::interpolate(picture, {.size = {{4, 4}}});
  EXPECT_EQ(std::get<std::string>(notes.last.at(1)), "nearest");
  EXPECT_THAT(std::get<std::vector<int64_t>>(notes.last.at(2)), ElementsAre(4, 4));
  nn::functional::embedding_bag(bags, rows);
  EXPECT_TRUE(std::get<Tensor>(notes.last.at(1)).is_same(rows));
  EXPECT_THAT(notes.calls, ElementsAre("pad", "interpolate", "embedding_bag"));
  EXPECT_THAT(notes.kernels, IsEmpty());
}

TEST(Observer, ChangesNothingOfSumsOfBags) {
  class Parts : public Notes {
   public:
    bool prefers_parts(const char*) override { return true; }
  };
  const Tensor rows = linspace(-0.7, 1.3, 8).view({4, 2});
  const Tensor bags = tensor({0, 3, 1, 2, 2, 0}).view({2, 3});
  const Tensor wanted = nn::functional::embedding_bag(bags, rows);
  const Parts notes;
  EXPECT_TRUE(nn::functional::embedding_bag(bags, rows).equal(wanted));
  EXPECT_THAT(notes.calls, testing::Contains("embedding"));
}

TEST(Observer, MayCallOperationsItself) {
  class Asking : public Notes {
   public:
    void begins(const char* name, std::vector<ObservedValue> arguments) override {
      Notes::begins(name, std::move(arguments));
      ones({2}).exp();
    }
  };
  const Asking notes;
  const Tensor x = zeros({2});
  x.cos();
  EXPECT_THAT(notes.calls, ElementsAre("zeros", "cos"));
}

TEST(Observer, IsOneOnItsThreadAndSeesNoOther) {
  const Notes notes;
  EXPECT_THAT(error_of([] { const Notes second; }), HasSubstr("are observed already"));
  std::thread([] { ones({2}).exp(); }).join();
  EXPECT_THAT(notes.calls, IsEmpty());
}

TEST(Observer, EndsWithItsScopeAndAfterAnError) {
  {
    const Notes notes;
    EXPECT_THROW(ones({2, 3}).add(ones({4})), Error);
    ones({1});
    EXPECT_THAT(notes.calls, ElementsAre("ones", "ones", "add", "ones"));
  }
  EXPECT_FALSE(is_observed());
  EXPECT_FALSE(memory::records_history());
  const Notes another;
  ones({1});
  EXPECT_THAT(another.calls, ElementsAre("ones"));
}

}  // namespace
}  // namespace taeda
