// Operations registered with TORCH_LIBRARY: found by name, chosen by device and by gradients.
#include <gtest/gtest.h>
#include <torch/library.h>
#include <torch/torch.h>

#include "tests/error_of.h"

namespace {

using taeda::error_of;

at::Tensor scaled(const at::Tensor& x, double factor) { return x * factor; }

struct Tripled : torch::autograd::Function<Tripled> {
  static torch::Tensor forward(torch::autograd::AutogradContext*, torch::Tensor x) { return x * 3; }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 torch::autograd::variable_list g) {
    return {g[0] * 30};  // not the derivative, so that a test sees who answered
  }
};

template <class Signature>
auto operation(const std::string& name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

TORCH_LIBRARY(frontend_test, m) {
  m.def("scaled(Tensor x, float factor) -> Tensor", &scaled);
  m.def("tripled(Tensor x) -> Tensor");
  m.def("parts", [](const torch::Tensor& x, std::vector<int64_t> size) {
    return std::make_tuple(x.sum(), x.reshape(size));
  });
}
TORCH_LIBRARY_IMPL(frontend_test, CPU, m) {
  m.impl("tripled", [](const at::Tensor& x) { return x * 3; });
}
TORCH_LIBRARY_IMPL(frontend_test, Autograd, m) {
  m.impl("tripled", [](const at::Tensor& x) -> at::Tensor { return Tripled::apply(x); });
}
TORCH_LIBRARY_FRAGMENT(frontend_test, m) {
  m.def("later", [](int64_t a, std::string b) { return std::to_string(a) + b; });
}

TEST(Library, CallsByNameAndRecordsGradients) {
  auto x = torch::ones({2}, torch::requires_grad());
  auto y = operation<at::Tensor(const at::Tensor&, double)>("frontend_test::scaled").call(x, 2.5);
  y.sum().backward();
  EXPECT_TRUE(y.equal(torch::full({2}, 2.5)));
  EXPECT_TRUE(x.grad().equal(torch::full({2}, 2.5)));
}

TEST(Library, AutogradAnswersWhereAGradientIsWanted) {
  const auto tripled = operation<at::Tensor(const at::Tensor&)>("frontend_test::tripled");
  auto x = torch::ones({2}, torch::requires_grad());
  tripled.call(x).sum().backward();
  EXPECT_TRUE(x.grad().equal(torch::full({2}, 30.0f)));
  {
    at::AutoDispatchBelowADInplaceOrView below;
    EXPECT_FALSE(tripled.call(x).requires_grad());
  }
  EXPECT_TRUE(tripled.call(x).requires_grad());
  torch::NoGradGuard no_grad;
  EXPECT_FALSE(tripled.call(x).requires_grad());
}

TEST(Library, CallsBoxed) {
  std::vector<c10::IValue> stack{torch::ones({4}), std::vector<int64_t>{2, 2}};
  c10::Dispatcher::singleton().findSchemaOrThrow("frontend_test::parts").callBoxed(stack);
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(stack[0].toTensor().item<float>(), 4);
  EXPECT_EQ(stack[1].toTensor().sizes(), (std::vector<int64_t>{2, 2}));

  stack = {7, "b"};
  c10::Dispatcher::singleton().findSchemaOrThrow("frontend_test::later").callBoxed(stack);
  EXPECT_EQ(stack[0].toStringRef(), "7b");
}

TEST(Library, SaysWhatIsWrong) {
  EXPECT_EQ(error_of([] { operation<void()>("frontend_test::nobody"); }),
            "Could not find schema for frontend_test::nobody.");
  EXPECT_EQ(error_of([] { operation<int(int)>("frontend_test::scaled").call(1); }),
            "Tried to access or call the operator 'frontend_test::scaled' with a wrong signature");
  EXPECT_EQ(
      error_of([] {
        std::vector<c10::IValue> stack{1.5, 2.5};
        c10::Dispatcher::singleton().findSchemaOrThrow("frontend_test::scaled").callBoxed(stack);
      }),
      "Expected Tensor but got Double");
  torch::Library twice("frontend_test");
  EXPECT_EQ(error_of([&] { twice.def("scaled", &scaled); }),
            "Tried to register the operator frontend_test::scaled twice for one key");
}

}  // namespace
