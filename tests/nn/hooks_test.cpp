// Hooks of state dicts, of gradients before a module's, and of all modules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "taeda/nn/global_hooks.h"
#include "taeda/nn/nn.h"
#include "taeda/nn/state_hooks.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "tests/error_of.h"

namespace taeda::nn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using State = StateHooks::State;

struct TwoLayersImpl : Module {
  TwoLayersImpl() {
    first = register_module("first", Linear(2, 2));
    second = register_module("second", Linear(2, 1));
  }
  Tensor forward(const Tensor& x) { return second(first(x)); }
  Linear first{nullptr}, second{nullptr};
};
TAEDA_MODULE(TwoLayers);

TEST(Hooks, AnErrorSaysInWhichHookOfWhichModuleItWas) {
  TwoLayers net;
  const auto fail = [](auto&&...) { throw std::runtime_error("no"); };
  const HookHandle handle = register_forward_pre_hook(*net->second, fail);
  EXPECT_EQ(error_of([&] {
              net(ones({1, 2}));
            }),
            "no\nCaught runtime_error in a forward pre-hook of second (Linear).");
  remove_hook(*net->second, handle);
  register_full_backward_hook(
      *net->first, [](Module&, const ModuleHooks::Inputs&, const Tensor&) -> std::vector<Tensor> {
        throw IndexError("none");
      });
  EXPECT_THAT(error_of([&] {
                net(ones({1, 2}).requires_grad_()).sum().backward();
              }),
              HasSubstr("none\nCaught IndexError in a full backward hook of first (Linear)."));
  register_state_dict_pre_hook(*net, fail);
  EXPECT_EQ(error_of([&] { net->state_dict(); }),
            "no\nCaught runtime_error in a state_dict pre-hook of TwoLayers.");
}

TEST(StateHooks, SeeEachModuleWithItsPrefix) {
  TwoLayers net;
  std::vector<std::string> seen;
  register_state_dict_pre_hook(
      *net, [&](Module&, const std::string& prefix) { seen.push_back("before:" + prefix); });
  register_state_dict_pre_hook(
      *net->first, [&](Module&, const std::string& prefix) { seen.push_back("before:" + prefix); });
  const HookHandle handle = register_state_dict_post_hook(
      *net->second, [&](Module&, State& state, const std::string& prefix) {
        state.erase(prefix + "bias");
        state.insert(prefix + "version", ones({1}));
      });
  State state = net->state_dict();
  EXPECT_THAT(seen, ElementsAre("before:", "before:first."));
  EXPECT_FALSE(state.contains("second.bias"));
  EXPECT_TRUE(state.contains("second.version"));
  remove_hook(*net->second, handle);
  EXPECT_TRUE(net->state_dict().contains("second.bias"));
}

TEST(StateHooks, ChangeWhatIsLoadedAndReported) {
  TwoLayers net, old;
  State state = old->state_dict();
  state.insert("second.kernel", state["second.weight"]);
  state.erase("second.weight");
  EXPECT_THAT(error_of([&] { net->load_state_dict(state); }), HasSubstr("second.weight"));
  register_load_state_dict_pre_hook(*net->second,
                                    [](Module&, State& given, const std::string& prefix) {
                                      given.insert(prefix + "weight", given[prefix + "kernel"]);
                                      given.erase(prefix + "kernel");
                                    });
  net->load_state_dict(state);
  EXPECT_TRUE(equal(net->second->weight, old->second->weight));
  EXPECT_TRUE(state.contains("second.kernel")) << "the caller's state was changed";

  state.erase("first.bias");
  EXPECT_THAT(error_of([&] { net->load_state_dict(state); }), HasSubstr("first.bias"));
  register_load_state_dict_post_hook(*net, [](Module&, IncompatibleKeys& keys) {
    EXPECT_THAT(keys.missing, ElementsAre("first.bias"));
    keys.missing.clear();
  });
  EXPECT_TRUE(net->load_state_dict(state).missing.empty());
}

TEST(StateHooks, DoNotHideTheModulesOwnKeysFromLoading) {
  TwoLayers net;
  const State state = net->state_dict();
  register_state_dict_post_hook(*net, [](Module&, State& s, const std::string&) { s.clear(); });
  EXPECT_TRUE(net->state_dict().is_empty());
  EXPECT_TRUE(net->load_state_dict(state).unexpected.empty());
}

TEST(BackwardPreHooks, ReplaceTheGradientOfTheOutput) {
  Linear layer(2, 1);
  const Tensor x = ones({1, 2}).requires_grad_();
  std::vector<float> seen;
  const HookHandle handle =
      register_full_backward_pre_hook(*layer, [&](Module&, const Tensor& grad_output) {
        seen.push_back(grad_output.item<float>());
        return grad_output * 3;
      });
  register_full_backward_hook(*layer, [&](Module&, const ModuleHooks::Inputs&, const Tensor& g) {
    seen.push_back(g.item<float>());
    return std::vector<Tensor>();
  });
  layer(x).sum().backward();
  EXPECT_THAT(seen, ElementsAre(1, 3));
  EXPECT_EQ(layer->bias.grad().item<float>(), 3);
  EXPECT_TRUE(equal(x.grad(), layer->weight.detach() * 3));
  remove_hook(*layer, handle);
  layer->zero_grad();
  layer(x).sum().backward();
  EXPECT_EQ(layer->bias.grad().item<float>(), 1);
}

TEST(HooksOfAllModules, RunBeforeAModulesOwn) {
  TwoLayers net;
  std::vector<std::string> seen;
  const HookHandle before = register_module_forward_pre_hook(
      [&](Module& m, ModuleHooks::Inputs&) { seen.push_back("before " + m.name()); });
  const HookHandle after = register_module_forward_hook(
      [&](Module&, const ModuleHooks::Inputs&, const Tensor& output) { return output + 1; });
  int backward_calls = 0;
  const HookHandle gradients =
      register_module_full_backward_hook([&](Module&, const ModuleHooks::Inputs&, const Tensor&) {
        ++backward_calls;
        return std::vector<Tensor>();
      });
  register_forward_pre_hook(*net->second,
                            [&](Module&, ModuleHooks::Inputs&) { seen.push_back("own"); });
  const Tensor x = ones({1, 2});
  const Tensor hooked = net->forward(x);
  hooked.backward();
  EXPECT_THAT(seen, ElementsAre(HasSubstr("before"), HasSubstr("before"), "own"));
  EXPECT_EQ(backward_calls, 2);
  for (const HookHandle handle : {before, after, gradients}) remove_module_hook(handle);
  const Tensor h = net->first(x), plain = net->second(h), shifted = net->second(h + 1) + 1;
  EXPECT_TRUE(allclose(hooked, shifted));
  EXPECT_FALSE(allclose(hooked, plain));
  EXPECT_EQ(seen.size(), 5U);
}

}  // namespace
}  // namespace taeda::nn
