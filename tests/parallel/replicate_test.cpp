// Replicas of modules: what they share, how they follow the original, where gradients go.
#include "taeda/nn/parallel/replicate.h"

#include <algorithm>

#include "common.h"
#include "taeda/device/graph.h"
#include "taeda/device/sim_cost.h"
#include "taeda/nn/containers/lists.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/tensor/grad_mode.h"
#include "tests/kept_warnings.h"

namespace taeda::nn {
namespace {

using parallel::Replicas;
using parallel::replicate;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Tensor> copied(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(t.detach().clone());
  return out;
}

TEST(Replicate, CopiesAreOnTheirDevicesAndTheFirstSharesMemory) {
  const Net net = make_net();
  const std::vector<ModuleHolder<NetImpl>> copies =
      replicate(static_cast<const ModuleHolder<NetImpl>&>(net), sim_devices(3));
  ASSERT_EQ(copies.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    const NetImpl& copy = *copies[static_cast<size_t>(i)];
    for (const Tensor& p : copy.parameters()) EXPECT_EQ(p.device(), sim_device(i));
    EXPECT_EQ(distance(copy.fc1->weight, net->fc1->weight), 0);
    EXPECT_FALSE(copy.fc1->weight.is_leaf());
    EXPECT_STREQ(copy.fc1->weight.grad_fn()->name(), "BroadcastBackward");
  }
  EXPECT_EQ(copies[0]->fc1->weight.data_ptr(), net->fc1->weight.data_ptr());
  EXPECT_FALSE(copies[0]->fc1->weight.is_same(net->fc1->weight));
}

TEST(Replicate, GradientsAreSummedInTheOriginal) {
  Net net = make_net();
  const Tensor x = batch_of(4);
  net(x).sum().backward();
  const std::vector<Tensor> one = take_gradients(*net);
  const auto copies = replicate(net.ptr(), sim_devices(3));
  Tensor sum = taeda::zeros({}, TensorOptions().device(sim_device(0)));
  for (const auto& copy : copies)
    sum = sum + copy->forward(x.to(copy->scale.device())).sum().to(sim_device(0));
  sum.backward();
  const std::vector<Tensor> three = take_gradients(*net);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_LT(distance(one[i] * 3, three[i]), 1e-4);
  EXPECT_EQ(three[0].device(), sim_device(0));
}

TEST(Replicate, ModulesOnTheHost) {
  const Net net;
  const auto copies = replicate(net.ptr(), sim_devices(2));
  EXPECT_EQ(copies[0]->scale.device(), sim_device(0));
  copies[1]->scale.sum().backward();
  EXPECT_TRUE(net->scale.grad().is_cpu());
}

TEST(Replicas, KeepTheirMemoryAndFollowTheValues) {
  Net net = make_net();
  Replicas replicas(net.ptr(), sim_devices(2));
  const auto weight = [&] {
    return std::dynamic_pointer_cast<NetImpl>(replicas.follow(2)[1])->fc1->weight;
  };
  const Tensor own = weight();
  void* const memory = own.data_ptr();
  const int64_t version = own._version();
  EXPECT_TRUE(weight().is_same(own));
  EXPECT_EQ(own._version(), version);
  {
    NoGradGuard guard;
    net->fc1->weight.add_(1);
  }
  EXPECT_TRUE(weight().is_same(own));
  EXPECT_EQ(own.data_ptr(), memory);
  EXPECT_EQ(distance(own, net->fc1->weight), 0);
}

TEST(Replicas, EachDeviceSendsEverythingOnce) {
  sim::configure(4, {.cost = sim::cost_model("h100")});
  {
    const Net net = make_net();
    int64_t bytes = 0;
    for (const Tensor& p : net->parameters()) bytes += p.nbytes();
    Replicas replicas(net.ptr(), sim_devices(4));
    std::vector<sim::PredictedUse> before;
    for (const Device& d : sim_devices(4)) before.push_back(sim::predicted_use(d));
    replicas.follow(4);
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(sim::predicted_use(sim_devices(4)[i]).copied_bytes - before[i].copied_bytes,
                i < 3 ? bytes : 0);
  }
  sim::configure(4);
}

TEST(Replicas, ValuesThatChangeAreNotSentHalf) {
  const Net net = make_net();
  Replicas replicas(net.ptr(), sim_devices(4));
  const auto change = [&] {
    const NoGradGuard guard;
    for (const Tensor& p : net->parameters()) p.add_(1);
  };
  for (int slow = 0; slow < 3; ++slow) {
    sim::delay_link(sim_device(slow), sim_device(slow + 1), 2);
    change();
    const std::vector<Tensor> sent = copied(net->parameters());
    const auto& copies = replicas.follow(4);
    change();
    for (const auto& copy : copies)
      for (size_t i = 0; copy != copies[0] && i < sent.size(); ++i)
        EXPECT_EQ(distance(copy->parameters()[i], sent[i]), 0) << slow;
    sim::delay_link(sim_device(slow), sim_device(slow + 1), 0);
  }
}

TEST(Replicas, FollowAParameterToOtherMemory) {
  Net net = make_net();
  Replicas replicas(net.ptr(), sim_devices(2));
  const auto own = [&] { return std::dynamic_pointer_cast<NetImpl>(replicas.follow(2)[1])->scale; };
  const Tensor flat = taeda::arange(16, TensorOptions(kFloat).device(sim_device(0)));
  for (const int64_t start : {0, 8}) {
    net->scale.set_data(flat.narrow(0, start, 8));
    EXPECT_EQ(values(own())[0], static_cast<double>(start));
  }
}

TEST(Replicas, AnEarlierPassKeepsItsValues) {
  Net net = make_net();
  Replicas replicas(net.ptr(), sim_devices(2));
  const Tensor x = batch_of(2).to(sim_device(1));
  const auto forward = [&] {
    return std::dynamic_pointer_cast<NetImpl>(replicas.follow(2)[1])->forward(x).sum();
  };
  forward().backward();
  const std::vector<Tensor> expected = take_gradients(*net);
  const Tensor first = forward();
  {
    NoGradGuard guard;
    net->scale.mul_(2);
  }
  const Tensor second = forward();
  first.backward();
  const std::vector<Tensor> kept = take_gradients(*net);
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_LT(distance(kept[i], expected[i]), 1e-6);
  second.backward();
  EXPECT_GT(distance(take_gradients(*net)[0], expected[0]), 1e-3);
}

TEST(Replicas, AreMadeAnewWhenTheModuleChanged) {
  struct Holder {
    Sequential net{Linear(6, 6), Dropout(0.5)};
  } h;
  h.net->to(sim_device(0));
  Replicas replicas(h.net.ptr(), sim_devices(2));
  const auto dropout = [&] {
    return std::dynamic_pointer_cast<SequentialImpl>(replicas.follow(2)[1])->at<DropoutImpl>(1);
  };
  EXPECT_EQ(dropout().options.p, 0.5);
  h.net->at<DropoutImpl>(1).options.p = 0.25;
  EXPECT_EQ(dropout().options.p, 0.25);
  h.net->push_back(Linear(6, 2));
  h.net->to(sim_device(0));
  EXPECT_EQ(std::dynamic_pointer_cast<SequentialImpl>(replicas.follow(2)[1])->size(), 3u);

  Net net = make_net();
  Replicas other(net.ptr(), sim_devices(2));
  const auto replica = [&] { return std::dynamic_pointer_cast<NetImpl>(other.follow(2)[1]); };
  const auto before = replica();
  EXPECT_EQ(before, replica());
  const auto kept = replica();
  other.forget();
  EXPECT_NE(kept, replica());
}

TEST(Replicas, SeeWritesThatNothingTellsOf) {
  const Net on_host;
  Replicas replicas(on_host.ptr(), sim_devices(2));
  const auto scale = [&](Replicas& of) {
    return values(std::dynamic_pointer_cast<NetImpl>(of.follow(2)[1])->scale);
  };
  scale(replicas);
  on_host->scale.data_ptr<float>()[0] = 42;
  EXPECT_EQ(scale(replicas)[0], 42);

  const Net net = make_net();
  Replicas others(net.ptr(), sim_devices(2));
  scale(others);
  DeviceGraph graph(kSim);
  {
    const DeviceGuard here(sim_device(0));
    const NoGradGuard guard;
    GraphCapture capture(graph);
    net->scale.add_(1);
    capture.end();
  }
  const double before = scale(others)[0];
  graph.replay();
  EXPECT_EQ(scale(others)[0], before + 1);
}

TEST(Replicas, MembersFollowWithoutNewClones) {
  Net net = make_net();
  Replicas replicas(net.ptr(), sim_devices(3));
  const Tensor x = batch_of(6);
  const auto forward = [&](size_t i) {
    const auto replica = std::dynamic_pointer_cast<NetImpl>(replicas.follow(3)[i]);
    return std::pair(replica, replica->forward(x.to(sim_device(static_cast<int>(i)))));
  };
  const auto [first, before] = forward(1);
  for (const double factor : {3.0, 5.0, 7.0}) {
    net->factor = factor;
    const Tensor expected = net(x);
    for (size_t i = 0; i < 3; ++i) {
      const auto [replica, actual] = forward(i);
      EXPECT_EQ(replica->factor, factor);
      EXPECT_LT(distance(actual, expected), 1e-6) << factor << " on " << i;
      if (i == 1) {
        EXPECT_EQ(replica, first);
      }
    }
  }
  forward(2).second.sum().backward();
  for (const Tensor& p : net->parameters()) EXPECT_TRUE(p.grad().defined());
}

/// A list in its own clone(): its members cannot be taken over.
struct StubbornImpl : Cloneable<StubbornImpl> {
  StubbornImpl() { reset(); }
  void reset() override {}
  std::shared_ptr<Module> clone(const std::optional<Device>& device = {}) const override {
    const auto out = std::make_shared<StubbornImpl>();
    out->fc = out->register_module("fc", std::dynamic_pointer_cast<LinearImpl>(fc->clone(device)));
    out->calls = calls;
    return out;
  }
  Linear fc{nullptr};
  int64_t calls = 0;
};

TEST(Replicas, SayOnceThatTheyAreMadeAnewInEachPass) {
  const auto net = std::make_shared<StubbornImpl>();
  net->fc = net->register_module("fc", Linear(6, 2));
  net->to(sim_device(0));
  Replicas replicas(net, sim_devices(2));
  KeptWarnings kept;
  const auto said = [&](bool change) {
    if (change) ++net->calls;
    const auto& clones = replicas.follow(2);
    EXPECT_EQ(std::dynamic_pointer_cast<StubbornImpl>(clones[1])->calls, net->calls);
    return kept.take();
  };
  EXPECT_THAT(said(false), IsEmpty());
  EXPECT_THAT(said(true), IsEmpty()) << "once is not again";
  EXPECT_THAT(said(false), IsEmpty());
  EXPECT_THAT(said(true), IsEmpty());
  EXPECT_THAT(said(true), ElementsAre(HasSubstr("makes its replicas of Stubborn anew in each")));
  EXPECT_THAT(said(true), IsEmpty()) << "said before";
}

TEST(Replicas, TrainingModeAndHooksFollowWithoutNewClones) {
  Net net = make_net();
  Replicas replicas(net.ptr(), sim_devices(2));
  const auto replica = [&] { return std::dynamic_pointer_cast<NetImpl>(replicas.follow(2)[1]); };
  const auto first = replica();
  EXPECT_TRUE(first->fc1->is_training());
  net->fc1->eval();
  int calls = 0;
  register_forward_hook(*net->fc2, [&](Module&, const ModuleHooks::Inputs&, const Tensor&) {
    ++calls;
    return Tensor();
  });
  EXPECT_EQ(replica(), first);
  EXPECT_FALSE(first->fc1->is_training());
  EXPECT_TRUE(first->fc2->is_training());
  first->forward(batch_of(1).to(sim_device(1)));
  EXPECT_EQ(calls, 1);
}

TEST(Replicas, BuffersOfTheFirstAreTheOriginals) {
  BatchNorm1d norm(3);
  norm->to(sim_device(0));
  Replicas replicas(norm.ptr(), sim_devices(2));
  const auto replica = [&](size_t i) {
    return std::dynamic_pointer_cast<BatchNorm1dImpl>(replicas.follow(2)[i]);
  };
  const Tensor x = batch_of(8, 3) + 10;
  replica(1)->forward(x.to(sim_device(1)));
  EXPECT_THAT(values(norm->running_mean), ElementsAre(0, 0, 0));
  EXPECT_THAT(values(replica(1)->running_mean), ElementsAre(0, 0, 0)) << "the change was kept";
  replica(0)->forward(x);
  EXPECT_GT(values(norm->running_mean)[0], 0.5);
  EXPECT_EQ(distance(replica(1)->running_mean, norm->running_mean), 0);
  EXPECT_EQ(values(replica(1)->num_batches_tracked)[0], 1);
}

TEST(Replicas, FrozenParametersAndGradModes) {
  Net net = make_net();
  net->fc1->weight.requires_grad_(false);
  Replicas replicas(net.ptr(), sim_devices(2));
  const auto replica = [&] { return std::dynamic_pointer_cast<NetImpl>(replicas.follow(2)[1]); };
  EXPECT_FALSE(replica()->fc1->weight.requires_grad());
  EXPECT_TRUE(replica()->fc1->bias.requires_grad());
  {
    NoGradGuard guard;
    EXPECT_FALSE(replica()->fc1->bias.requires_grad());
  }
  {
    InferenceMode guard;
    EXPECT_FALSE(replica()->fc1->bias.requires_grad());
    EXPECT_FALSE(replica()->fc1->bias.is_inference());
  }
  net->fc1->weight.requires_grad_(true);
  EXPECT_TRUE(replica()->fc1->weight.requires_grad());
}

TEST(Replicas, ListsDictionariesAndTiedParameters) {
  struct TiedImpl : Cloneable<TiedImpl> {
    TiedImpl() { reset(); }
    void reset() override {
      layers = register_module("layers", ModuleList(Linear(4, 4), Linear(4, 4)));
      tied = register_parameter("tied", layers->at<LinearImpl>(0).weight);
    }
    Tensor forward(Tensor x) {
      for (const auto& layer : *layers) x = layer->as<Linear>()->forward(x);
      return x.matmul(tied);
    }
    ModuleList layers{nullptr};
    Tensor tied;
  };
  const auto net = std::make_shared<TiedImpl>();
  net->to(sim_device(0));
  const Tensor x = batch_of(3, 4);
  net->forward(x).sum().backward();
  const std::vector<Tensor> expected = take_gradients(*net);
  Replicas replicas(net, sim_devices(2));
  for (int round = 0; round < 2; ++round) {
    const auto replica = std::dynamic_pointer_cast<TiedImpl>(replicas.follow(2)[1]);
    replica->forward(x.to(sim_device(1))).sum().backward();
    const std::vector<Tensor> actual = take_gradients(*net);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < actual.size(); ++i) EXPECT_LT(distance(actual[i], expected[i]), 1e-5);
  }
}

TEST(Replicas, DoNotDisturbTheRandomNumbers) {
  struct NoisyImpl : Cloneable<NoisyImpl> {
    NoisyImpl() { reset(); }
    void reset() override { w = register_parameter("w", taeda::randn({3})); }
    Tensor w;
  };
  const auto net = std::make_shared<NoisyImpl>();
  manual_seed(9);
  const Tensor expected = taeda::rand({4});
  manual_seed(9);
  replicate(net, sim_devices(2));
  EXPECT_EQ(distance(taeda::rand({4}), expected), 0);
}

struct PlainImpl : Module {
  PlainImpl() { fc = register_module("fc", Linear(6, 2)); }
  Tensor forward(const Tensor& x) { return fc(x); }
  Linear fc{nullptr};
};
struct DerivedImpl : NetImpl {};
struct ForgetfulImpl : Cloneable<ForgetfulImpl> {
  ForgetfulImpl() { register_module("fc", Linear(1, 1)); }
  void reset() override {}
};

TEST(Replicate, ErrorsNameTheModule) {
  EXPECT_THAT(error_of([] { replicate(std::make_shared<PlainImpl>(), sim_devices(2)); }),
              ::testing::AllOf(HasSubstr("clone() has not been implemented for Plain"),
                               HasSubstr("while replicating Plain to device sim:0")));
  EXPECT_THAT(error_of([] { replicate(std::make_shared<DerivedImpl>(), sim_devices(2)); }),
              HasSubstr("the clone of Derived does not have the class"));
  EXPECT_THAT(error_of([] { replicate(std::make_shared<ForgetfulImpl>(), sim_devices(2)); }),
              HasSubstr("does not have the same number of child modules"));
  EXPECT_THAT(error_of([] { replicate(make_net().ptr(), {}); }),
              HasSubstr("expected at least one device"));
  EXPECT_THAT(error_of([] { replicate(std::shared_ptr<NetImpl>(), sim_devices(2)); }),
              HasSubstr("expected a module, got nullptr"));
}

}  // namespace
}  // namespace taeda::nn
