// The module tree: names, lists, moving, modes, state dicts, copies, printing, hooks, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "taeda/nn/containers/lists.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/init.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::nn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// y = x * scale + shift; `calls` counts forwards.
struct AffineImpl : Cloneable<AffineImpl> {
  explicit AffineImpl(double value = 2) : start(value) { reset(); }
  void reset() override {
    scale = register_parameter("scale", full({2}, start));
    shift = register_parameter("shift", zeros({2}));
    calls = register_buffer("calls", zeros({}, kLong));
  }
  Tensor forward(const Tensor& x) {
    calls.add_(1);
    return x.mul(scale).add(shift);
  }
  std::string extra_repr() const override { return "2"; }
  double start;
  Tensor scale, shift, calls;
};
TAEDA_MODULE(Affine);

struct PairImpl : Cloneable<PairImpl> {
  PairImpl() { reset(); }
  void reset() override {
    left = register_module("left", Affine(2));
    right = register_module("right", Affine(3));
    bias = register_parameter("bias", ones({2}));
  }
  Tensor forward(const Tensor& x) { return left(x).add(right(x)).add(bias); }
  Affine left{nullptr}, right{nullptr};
  Tensor bias;
};
TAEDA_MODULE(Pair);

/// A leaf with these values.
Tensor values(std::initializer_list<float> list) {
  Tensor t = empty({static_cast<int64_t>(list.size())});
  std::copy(list.begin(), list.end(), t.data_ptr<float>());
  return t;
}

std::vector<float> to_vector(const Tensor& t) {
  const Tensor c = t.detach().to(Device(kCPU), kFloat).contiguous();
  return {c.data_ptr<float>(), c.data_ptr<float>() + c.numel()};
}

TEST(Module, ListsParametersBuffersAndModulesInOrder) {
  Pair pair;
  EXPECT_THAT(pair->named_parameters().keys(),
              ElementsAre("bias", "left.scale", "left.shift", "right.scale", "right.shift"));
  EXPECT_THAT(pair->named_parameters(/*recurse=*/false).keys(), ElementsAre("bias"));
  EXPECT_THAT(pair->named_buffers().keys(), ElementsAre("left.calls", "right.calls"));
  EXPECT_EQ(pair->parameters().size(), 5u);
  EXPECT_EQ(pair->buffers(/*recurse=*/false).size(), 0u);
  EXPECT_THAT(pair->named_modules().keys(), ElementsAre("", "left", "right"));
  EXPECT_THAT(pair->named_modules("net", false).keys(), ElementsAre("net.left", "net.right"));
  EXPECT_THAT(pair->named_children().keys(), ElementsAre("left", "right"));
  EXPECT_EQ(pair->modules().size(), 3u);
  EXPECT_EQ(pair->children()[1], pair->right.ptr());
  EXPECT_TRUE(pair->named_parameters().contains("left.scale"));
  EXPECT_TRUE(pair->named_parameters()["left.scale"].is_same(pair->left->scale));
  EXPECT_EQ(pair->named_parameters().pairs()[0].first, "bias");
  for (const auto& [name, tensor] : pair->named_parameters())
    EXPECT_TRUE(tensor.requires_grad()) << name;
}

TEST(Module, SharedTensorsAndModulesAreListedOnce) {
  struct Tied : Module {
    Tied() {
      const Affine inner(1);
      register_module("a", inner);
      register_module("b", inner);
      register_parameter("weight", inner->scale);
    }
  };
  const auto tied = std::make_shared<Tied>();
  EXPECT_THAT(tied->named_parameters().keys(), ElementsAre("weight", "a.shift"));
  EXPECT_THAT(tied->named_modules().keys(), ElementsAre("", "a"));
  EXPECT_EQ(tied->state_dict().size(), 7u);  // a state dict names every place
}

TEST(Module, RejectsBadNames) {
  struct Open : Module {
    using Module::add_child;
  } m;
  const auto says = [](const char* text) { return ThrowsMessage<Error>(text); };
  m.register_parameter("w", zeros({1}));
  m.register_buffer("b", zeros({1}));
  m.register_module("child", Affine());
  EXPECT_THAT([&] { m.register_parameter("", zeros({1})); },
              says("Parameter name must not be empty"));
  EXPECT_THAT([&] { m.register_parameter("a.b", zeros({1})); },
              says("Parameter name must not contain a dot (got 'a.b')"));
  EXPECT_THAT([&] { m.register_parameter("w", zeros({1})); },
              says("Parameter 'w' already defined"));
  EXPECT_THAT([&] { m.register_parameter("b", zeros({1})); }, says("Buffer 'b' already defined"));
  EXPECT_THAT([&] { m.register_buffer("x.", zeros({1})); },
              says("Buffer name must not contain a dot (got 'x.')"));
  EXPECT_THAT([&] { m.register_module("child", Affine()); },
              says("Submodule 'child' already defined"));
  EXPECT_THAT([&] { m.register_module("", Affine()); }, says("Submodule name must not be empty"));
  EXPECT_THAT([&] { m.register_module("none", std::shared_ptr<AffineImpl>()); },
              ThrowsMessage<Error>(HasSubstr("is empty")));
  EXPECT_THAT([&] { m.replace_module("missing", Affine()); },
              says("Submodule 'missing' is not defined"));
  EXPECT_THAT([&] { m.unregister_module("missing"); }, says("Submodule 'missing' is not defined"));
  const Tensor computed = zeros({1}, requires_grad()).add(1);
  EXPECT_THAT([&] { m.register_parameter("c", computed); },
              ThrowsMessage<Error>(HasSubstr("Cannot assign non-leaf Tensor to parameter 'c'")));
  EXPECT_THAT([&] { m.modules(); },
              ThrowsMessage<Error>(HasSubstr("it is not stored in a shared_ptr")));
  EXPECT_EQ(m.modules(/*include_self=*/false).size(), 1u);
}

TEST(Module, UndefinedParametersTakeANameButAreNotListed) {
  Module m;
  m.register_parameter("bias", Tensor());
  EXPECT_TRUE(m.named_parameters().is_empty());
  EXPECT_TRUE(m.state_dict().is_empty());
  EXPECT_THAT([&] { m.register_parameter("bias", Tensor()); },
              ThrowsMessage<Error>("Parameter 'bias' already defined"));
}

TEST(Module, ReplacesAndUnregisters) {
  Pair pair;
  const Affine fresh(7);
  pair->replace_module("left", fresh);
  EXPECT_EQ(pair->named_children()["left"], fresh.ptr());
  pair->unregister_module("right");
  EXPECT_THAT(pair->named_children().keys(), ElementsAre("left"));
}

TEST(Module, ToKeepsTheIdentityOfTensors) {
  Affine m;
  const Tensor handle = m->scale;
  m->scale.mutable_grad() = ones({2});
  m->to(kDouble);
  EXPECT_TRUE(m->scale.is_same(handle));
  EXPECT_EQ(handle.dtype(), kDouble);
  EXPECT_EQ(handle.grad().dtype(), kDouble);
  EXPECT_TRUE(handle.requires_grad());
  EXPECT_EQ(m->calls.dtype(), kLong);  // integers stay
  m->to(Device(kCPU), kFloat);
  m->to_bfloat16().to_half().to_float();
  EXPECT_EQ(handle.dtype(), kFloat);
  EXPECT_EQ(to_vector(handle), (std::vector<float>{2, 2}));
  m(values({1, 1})).sum().backward();
  EXPECT_EQ(to_vector(handle.grad()), (std::vector<float>{2, 2}));
  EXPECT_THAT([&] { m->to(kLong); },
              ThrowsMessage<TypeError>(HasSubstr("only accepts floating point or complex dtypes, "
                                                 "but got desired dtype=torch.int64")));
}

TEST(Module, TrainEvalApplyAndGradients) {
  Pair pair;
  pair->eval();
  EXPECT_FALSE(pair->left->is_training());
  pair->train();
  EXPECT_TRUE(pair->right->is_training());
  std::vector<std::string> seen;
  pair->apply([&](Module& m) { seen.push_back(m.name()); });
  EXPECT_THAT(seen, ElementsAre("Pair", "Affine", "Affine"));
  seen.clear();
  pair->apply([&](const std::string& path, Module&) { seen.push_back(path); }, "root");
  EXPECT_THAT(seen, ElementsAre("root", "root.left", "root.right"));
  pair(values({1, 2})).sum().backward();
  const Tensor grad = pair->bias.grad();
  pair->zero_grad(/*set_to_none=*/false);
  EXPECT_TRUE(pair->bias.grad().is_same(grad));
  EXPECT_EQ(to_vector(grad), (std::vector<float>{0, 0}));
  pair->zero_grad();
  EXPECT_FALSE(pair->left->scale.grad().defined());
  pair->requires_grad_(false);
  EXPECT_FALSE(pair->left->scale.requires_grad());
}

TEST(Module, CloneIsDeep) {
  Pair pair;
  pair(values({1, 1}));
  pair->left->scale.requires_grad_(false);
  pair->eval();
  const auto copy = std::dynamic_pointer_cast<PairImpl>(pair->clone());
  ASSERT_TRUE(copy);
  EXPECT_FALSE(copy->left->scale.is_same(pair->left->scale));
  EXPECT_TRUE(copy->left->scale.is_same(copy->named_parameters()["left.scale"]));
  EXPECT_FALSE(copy->left->scale.requires_grad());
  EXPECT_TRUE(copy->bias.requires_grad());
  EXPECT_FALSE(copy->is_training());
  EXPECT_EQ(copy->left->calls.item<int64_t>(), 1);
  {
    NoGradGuard no_grad;
    copy->bias.fill_(9);
  }
  EXPECT_EQ(to_vector(pair->bias), (std::vector<float>{1, 1}));
  EXPECT_EQ(copy->repr(), pair->repr());
  struct Plain : Module {
  } plain;
  EXPECT_THAT([&] { plain.clone(); }, ThrowsMessage<NotImplementedError>(
                                          HasSubstr("Subclass taeda::nn::Cloneable<Plain>")));
}

TEST(Module, CloneRejectsRegistrationOutsideReset) {
  struct Late : Cloneable<Late> {
    Late() { register_parameter("w", zeros({1})); }
    void reset() override {}
  } late;
  EXPECT_THAT([&] { late.clone(); },
              ThrowsMessage<Error>(HasSubstr("register_parameter() inside reset()")));
}

TEST(Module, StateDictRoundTrip) {
  Pair a, b;
  {
    NoGradGuard no_grad;
    a->left->scale.fill_(5);
  }
  a->left->calls.add_(3);
  const auto state = a->state_dict();
  EXPECT_THAT(state.keys(), ElementsAre("bias", "left.scale", "left.shift", "left.calls",
                                        "right.scale", "right.shift", "right.calls"));
  EXPECT_FALSE(state["bias"].requires_grad());
  EXPECT_EQ(state["bias"].data_ptr(), a->bias.data_ptr());
  const Tensor handle = b->left->scale;
  const IncompatibleKeys keys = b->load_state_dict(state);
  EXPECT_TRUE(keys.missing.empty() && keys.unexpected.empty());
  EXPECT_EQ(to_vector(handle), (std::vector<float>{5, 5}));
  EXPECT_EQ(b->left->calls.item<int64_t>(), 3);
}

TEST(Module, TransientBuffersAreNotSaved) {
  Module m;
  m.register_buffer("kept", zeros({1}));
  m.register_buffer("scratch", zeros({1}), /*persistent=*/false);
  EXPECT_THAT(m.state_dict("net.").keys(), ElementsAre("net.kept"));
  EXPECT_EQ(m.buffers().size(), 2u);
}

TEST(Module, LoadStateDictListsEverythingThatIsWrong) {
  Pair pair;
  auto state = pair->state_dict();
  state.erase("right.scale");
  state.erase("right.shift");
  state["left.scale"] = zeros({3, 4});
  state["bias"] = full({2}, 4.0);
  state.insert("extra", zeros({1}));
  EXPECT_THAT(
      [&] { pair->load_state_dict(state); },
      ThrowsMessage<Error>(
          "Error(s) in loading state_dict for Pair:\n"
          "\tMissing key(s) in state_dict: \"right.scale\", \"right.shift\". \n"
          "\tUnexpected key(s) in state_dict: \"extra\". \n"
          "\tsize mismatch for left.scale: copying a param with shape torch.Size([3, 4]) from "
          "checkpoint, the shape in current model is torch.Size([2])."));
  EXPECT_EQ(to_vector(pair->bias), (std::vector<float>{1, 1}));  // nothing was half loaded
  EXPECT_THAT([&] { pair->load_state_dict(state, /*strict=*/false); },
              ThrowsMessage<Error>(HasSubstr("size mismatch")));
  state.erase("left.scale");
  const IncompatibleKeys keys = pair->load_state_dict(state, /*strict=*/false);
  EXPECT_THAT(keys.missing, ElementsAre("left.scale", "right.scale", "right.shift"));
  EXPECT_THAT(keys.unexpected, ElementsAre("extra"));
  EXPECT_EQ(to_vector(pair->bias), (std::vector<float>{4, 4}));
}

TEST(Module, PrintsAsATree) {
  Pair pair;
  EXPECT_EQ(pair->repr(), "Pair(\n  (left): Affine(2)\n  (right): Affine(2)\n)");
  std::ostringstream out;
  out << Affine() << *pair->left;
  EXPECT_EQ(out.str(), "Affine(2)Affine(2)");
  struct Named : Module {
    Named() : Module("Network") { register_module("inner", Pair()); }
  };
  EXPECT_EQ(Named().repr(),
            "Network(\n  (inner): Pair(\n    (left): Affine(2)\n    (right): Affine(2)\n  )\n)");
  EXPECT_EQ(Named().name(), "Network");
  struct Own : Module {
    void pretty_print(std::ostream& stream) const override { stream << "mine"; }
  };
  EXPECT_EQ(Own().repr(), "mine");
}

TEST(Module, ErrorsNameTheModule) {
  Sequential deep{Affine(), Sequential{Affine(), Pair()}};
  struct Root : Module {
    explicit Root(Sequential body) { net = register_module("net", body); }
    Tensor forward(const Tensor& x) { return net(x); }
    Sequential net{nullptr};
  } root(deep);
  deep->at<Sequential>(1).at<Pair>(1).right->scale.set_data(ones({3}));
  EXPECT_THAT([&] { root.forward(ones({2})); },
              ThrowsMessage<Error>(HasSubstr("\nin module net.1.1.right (Affine)")));
  Affine alone;
  EXPECT_THAT([&] { alone(ones({3})); }, ThrowsMessage<Error>(HasSubstr("\nin module Affine")));
}

TEST(Module, HooksSeeAndReplace) {
  Affine m;
  std::vector<std::string> log;
  const unsigned pre = register_forward_pre_hook(*m, [&](Module&, ModuleHooks::Inputs& in) {
    log.push_back("pre");
    in[0] = in[0].add(1);
  });
  const unsigned post =
      register_forward_hook(*m, [&](Module&, const ModuleHooks::Inputs& in, const Tensor& out) {
        log.push_back("post");
        EXPECT_EQ(to_vector(in[0]), (std::vector<float>{2, 3}));
        return out.mul(10);
      });
  EXPECT_EQ(to_vector(m(values({1, 2}))), (std::vector<float>{40, 60}));
  EXPECT_EQ(to_vector(Sequential(m)(values({1, 2}))), (std::vector<float>{40, 60}));
  EXPECT_THAT(log, ElementsAre("pre", "post", "pre", "post"));
  remove_hook(*m, pre);
  remove_hook(*m, post);
  EXPECT_EQ(to_vector(m(values({1, 2}))), (std::vector<float>{2, 4}));
}

TEST(Module, HooksOfSeveralResultsSeeTheFirst) {
  struct Halves : Cloneable<Halves> {
    void reset() override {}
    std::tuple<int, std::pair<Tensor, Tensor>> forward(const Tensor& x) {
      return {7, {x.mul(0.5), x}};
    }
  };
  auto m = std::make_shared<Halves>();
  int calls = 0;
  register_forward_pre_hook(*m, [&](Module&, ModuleHooks::Inputs& in) { in[0] = in[0].add(1); });
  register_forward_hook(*m, [&](Module&, const ModuleHooks::Inputs&, const Tensor& out) {
    ++calls;
    return out.mul(10);
  });
  const auto [number, tensors] = call(*m, values({1, 3}));
  EXPECT_EQ(number, 7);
  EXPECT_EQ(to_vector(tensors.first), (std::vector<float>{10, 20}));
  EXPECT_EQ(to_vector(tensors.second), (std::vector<float>{2, 4}));
  EXPECT_EQ(calls, 1);
  struct Count : Module {
    int forward(const Tensor& x) { return static_cast<int>(x.numel()); }
  } count;
  register_forward_hook(count, [&](Module&, const ModuleHooks::Inputs&, const Tensor& out) {
    calls += out.defined() ? 100 : 1;
    return Tensor();
  });
  EXPECT_EQ(call(count, values({1, 3})), 2);
  EXPECT_EQ(calls, 2);
}

TEST(Module, BackwardHooksSeeGradientsOfInputsAndOutput) {
  Affine m;
  register_full_backward_hook(*m,
                              [](Module& module, const ModuleHooks::Inputs& in, const Tensor& out) {
                                EXPECT_EQ(module.name(), "Affine");
                                EXPECT_EQ(to_vector(out), (std::vector<float>{3, 3}));
                                EXPECT_EQ(to_vector(in.at(0)), (std::vector<float>{6, 6}));
                                return std::vector<Tensor>{in[0].mul(100)};
                              });
  Tensor x = values({1, 2});
  x.requires_grad_();
  m(x).mul(3).sum().backward();
  EXPECT_EQ(to_vector(x.grad()), (std::vector<float>{600, 600}));
  EXPECT_EQ(to_vector(m->scale.grad()), (std::vector<float>{3, 6}));
}

TEST(Module, HolderSharesAndChecks) {
  Affine a;
  const Affine b = a;
  EXPECT_EQ(a.ptr(), b.ptr());
  EXPECT_TRUE(a->as<Affine>());
  EXPECT_TRUE(a->as<AffineImpl>());
  EXPECT_FALSE(a->as<Pair>());
  Affine none{nullptr};
  EXPECT_TRUE(none.is_empty());
  EXPECT_FALSE(none);
  EXPECT_THAT([&] { none->forward(ones({2})); },
              ThrowsMessage<Error>("Accessing empty ModuleHolder"));
}

}  // namespace
}  // namespace taeda::nn
