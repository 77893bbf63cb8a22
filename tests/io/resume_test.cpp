// A run that is stopped anywhere and goes on elsewhere ends as one that was never stopped, bit for
// bit.
#include <gmock/gmock.h>
#include <signal.h>

#include <cstring>

#include "taeda/amp/autocast.h"
#include "taeda/amp/grad_scaler.h"
#include "taeda/data/loader.h"
#include "taeda/data/tensor_dataset.h"
#include "taeda/io/checkpoint.h"
#include "taeda/io/interrupt.h"
#include "taeda/io/random_state.h"
#include "taeda/nn/modules/dropout.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/nn/modules/normalization.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/activation.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/nn/loss.h"
#include "taeda/ops/random/random.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/lr_scheduler.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"

namespace taeda {
namespace {

using data::LoaderConfig;
using testing::HasSubstr;

struct NetImpl : nn::Module {
  Tensor forward(const Tensor& x) { return out(drop(relu(norm(fc(x))))); }
  nn::Linear fc = register_module("fc", nn::Linear(4, 16));
  nn::BatchNorm1d norm = register_module("norm", nn::BatchNorm1d(16));
  nn::Dropout drop = register_module("drop", nn::Dropout(0.3));
  nn::Linear out = register_module("out", nn::Linear(16, 1));
};
TAEDA_MODULE(Net);

using Rows = data::datasets::TensorDataset<2>;
using Loader = data::DataLoader<data::Example<>>;

/// Noise from the generator of the batch, as random transforms draw it.
data::Example<> with_noise(data::Example<> e) {
  Tensor noise = empty({4});
  data::worker_generator().fill_normal(noise.data_ptr<float>(), 4);
  return {e.data + 0.1 * noise, e.target};
}

/// Everything that a program has: it trains step by step, and saves and loads itself in a few
/// lines.
struct Program {
  static constexpr int64_t kEpochs = 3, kSteps = 5;  // of each epoch

  Program(Device d, const LoaderConfig& config)
      : device(d),
        loader(rows().map(with_noise), config),
        optimizer((net->to(d), net->parameters()), optim::AdamOptions(1e-2)),
        schedule(optimizer, 2, 0.5),
        scaler(d, 1024, 2, 0.5, 3, !d.is_cpu()) {}
  static Rows rows() {
    const Generator g(kCPU, 9);
    Tensor x = empty({18, 4});
    g.fill_normal(x.data_ptr<float>(), x.numel());
    return Rows(x, x.sum(1, true));
  }

  void save(const std::string& path) {
    io::Checkpoint c;
    c.put("net", net).put("optimizer", optimizer).put("schedule", schedule).put("scaler", scaler);
    c.put("loader", loader).put("random", io::RandomState());
    c.set("epoch", static_cast<double>(epoch)).save(path);
  }
  void load(const std::string& path) {
    const auto c = io::Checkpoint::load(path);
    io::RandomState random;
    c.get("net", net);
    c.get("optimizer", optimizer);
    c.get("schedule", schedule);
    c.get("scaler", scaler);
    c.get("loader", loader);
    c.get("random", random);
    epoch = static_cast<int64_t>(c.number("epoch"));
  }
  /// Trains to the end, or through `most` steps; saves when it stops early.
  void run(std::vector<double>& losses, int64_t most, const std::string& path) {
    for (; epoch < kEpochs; ++epoch) {
      for (auto& [x, y] : loader) {
        optimizer.zero_grad();
        Tensor loss;
        {
          const amp::autocast guard(device, {}, !device.is_cpu());
          loss = mse_loss(net(x.to(device)), y.to(device));
        }
        scaler.scale(loss).backward();
        scaler.step(optimizer);
        if (scaler.is_enabled()) scaler.update();
        losses.push_back(loss.item<double>());
        if (--most == 0) return save(path);
      }
      schedule.step();
    }
  }

  Device device;
  Net net;
  Loader loader;
  optim::Adam optimizer;
  optim::StepLR schedule;
  amp::GradScaler scaler;
  int64_t epoch = 0;
};

std::string weights(Program& p) {
  std::string out;
  for (const auto& item : p.net->state_dict()) {
    const Tensor t = item.value().cpu();
    out.append(static_cast<const char*>(t.data_ptr()), static_cast<size_t>(t.nbytes()));
  }
  return out;
}

struct Case {
  const char* device;
  int workers;
  bool own_seed;
};

class ExactResume : public testing::TestWithParam<Case> {};

TEST_P(ExactResume, EqualsAnUnbrokenRun) {
  const auto [name, workers, own_seed] = GetParam();
  const Device device(name);
  const TemporaryFolder folder;
  LoaderConfig config{.batch_size = 4, .shuffle = true, .num_workers = workers};
  if (own_seed) config.seed = 5;
  manual_seed(1);
  Program whole(device, config);
  std::vector<double> expected;
  whole.run(expected, 0, "");
  ASSERT_EQ(expected.size(), static_cast<size_t>(Program::kEpochs * Program::kSteps));

  // In the first epoch, on both sides of its end, and twice in one run.
  for (const std::vector<int64_t>& stops :
       {std::vector<int64_t>{1}, {4}, {5}, {6}, {3, 4}, {2, 1, 5}}) {
    manual_seed(1);
    std::vector<double> losses;
    auto part = std::make_unique<Program>(device, config);
    const std::string path = folder / "checkpoint";
    for (int64_t stop : stops) {
      part->run(losses, stop, path);
      part.reset();
      manual_seed(77);  // another process has other random numbers
      part = std::make_unique<Program>(device, config);
      (void)taeda::rand({3});
      part->load(path);
    }
    part->run(losses, 0, "");
    EXPECT_EQ(losses, expected) << stops[0];
    EXPECT_TRUE(weights(*part) == weights(whole)) << stops[0];
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ExactResume,
                         testing::Values(Case{"cpu", 0, false}, Case{"cpu", 2, true},
                                         Case{"cpu", 2, false}, Case{"sim:1", 1, false}),
                         [](const auto& info) {
                           return std::string(info.param.device, 3) +
                                  std::to_string(info.param.workers) +
                                  (info.param.own_seed ? "seed" : "");
                         });

TEST(ExactResume, BetweenSaveAndTheNextEpochNothingIsLost) {
  // A checkpoint of a loader that was loaded but not yet used is the one that it was loaded from.
  manual_seed(3);
  const LoaderConfig config{.batch_size = 4, .shuffle = true};
  Loader first(Program::rows(), config);
  auto epoch = first.epoch();
  (void)epoch->next();
  const auto state = first.state_dict();
  EXPECT_EQ(state.numbers["batch"], 1);
  Loader second(Program::rows(), config), third(Program::rows(), config);
  second.load_state_dict(state);
  const auto again = second.state_dict();
  EXPECT_EQ(again.numbers["batch"], 1);
  third.load_state_dict(again);
  const auto expected = epoch->next()->data;
  EXPECT_TRUE(third.epoch()->next()->data.equal(expected));
}

TEST(LoaderState, SamplersOfTheUsersGoOnToo) {
  const auto make = [](uint64_t seed) {
    return Loader(Program::rows(), {.batch_size = 4,
                                    .sampler = std::make_shared<data::samplers::RandomSampler>(
                                        18, false, std::nullopt, Generator(kCPU, seed))});
  };
  Loader first = make(1), second = make(2);
  auto epoch = first.epoch();
  (void)epoch->next();
  second.load_state_dict(first.state_dict());
  auto rest = second.epoch();
  while (auto batch = epoch->next()) EXPECT_TRUE(rest->next()->data.equal(batch->data));
  EXPECT_FALSE(rest->next());
  EXPECT_TRUE(second.epoch()->next()->data.equal(first.epoch()->next()->data));
}

/// Fails for one example.
struct Faulty : data::datasets::Dataset<Faulty> {
  data::Example<> get(size_t index) override {
    TAEDA_CHECK(index != 5, "no such row");
    return {full({1}, static_cast<int64_t>(index)), zeros({1})};
  }
  std::optional<size_t> size() const override { return 18; }
};

TEST(LoaderState, ABatchThatFailedIsBehind) {
  for (int workers : {0, 2}) {
    Loader first(Faulty(), {.batch_size = 4, .num_workers = workers});
    Loader second(Faulty(), {.batch_size = 4, .num_workers = workers});
    auto epoch = first.epoch();
    (void)epoch->next();
    EXPECT_THAT(error_of([&] { (void)epoch->next(); }), HasSubstr("while reading batch 1"));
    second.load_state_dict(first.state_dict());
    EXPECT_EQ(second.epoch()->next()->data[0].item<int64_t>(), 8);
  }
}

TEST(LoaderState, IsRefusedByLoadersWithOtherBatches) {
  Loader loader(Program::rows(), {.batch_size = 4, .shuffle = true, .seed = 1});
  auto epoch = loader.epoch();
  (void)epoch->next();
  const auto state = loader.state_dict();
  EXPECT_THAT(error_of([&] { loader.load_state_dict(state); }),
              HasSubstr("DataLoader::load_state_dict in the middle of an epoch"));
  epoch.reset();
  const auto load = [](data::LoaderState s, LoaderConfig config) {
    return error_of([&] { Loader(Program::rows(), config).load_state_dict(s); });
  };
  EXPECT_THAT(load(state, {.batch_size = 3, .seed = 1}),
              HasSubstr("it is of a loader with batch_size=4, this one has batch_size=3"));
  auto changed = state;
  changed.numbers["examples"] = 19;
  EXPECT_THAT(load(changed, {.batch_size = 4, .seed = 1}),
              HasSubstr("it is of a loader over 19 examples, this one has 18"));
  changed = state;
  changed.numbers["batch"] = -1;
  EXPECT_THAT(load(changed, {.batch_size = 4, .seed = 1}), HasSubstr("there is no batch -1"));
  changed = state;
  changed.tensors.erase("generator");
  EXPECT_THAT(load(changed, {.batch_size = 4, .seed = 1}), HasSubstr("'generator' is missing"));
  changed.numbers.erase("epoch");
  EXPECT_THAT(load(changed, {.batch_size = 4, .seed = 1}), HasSubstr("'epoch' is missing"));
  changed = state;
  changed.tensors["generator"] = zeros({4});
  EXPECT_THAT(load(changed, {.batch_size = 4, .seed = 1}),
              HasSubstr("'generator' should be a vector of bytes"));
  changed.tensors["generator"] = zeros({4}, kByte);
  EXPECT_THAT(load(changed, {.batch_size = 4, .seed = 1}), HasSubstr("RNG state is wrong size"));
  changed = state;
  changed.tensors.insert("sampler", zeros({4}, kByte));
  EXPECT_THAT(load(changed, {.batch_size = 4, .seed = 1}),
              HasSubstr("it is of a loader whose sampler has a generator"));
  changed = state;
  changed.numbers["batch"] = 6;
  Loader late(Program::rows(), {.batch_size = 4, .shuffle = true, .seed = 1});
  late.load_state_dict(changed);
  EXPECT_THAT(error_of([&] { late.epoch(); }),
              HasSubstr("it is after batch 6 of an epoch, which has only 5"));
}

TEST(RandomState, IsCheckedBeforeAnythingChanges) {
  manual_seed(4);
  const auto before = io::RandomState().state_dict();
  EXPECT_TRUE(before.contains("sim:0"));
  (void)taeda::rand({5});
  const auto now = io::RandomState().state_dict();
  io::RandomState state;
  auto wrong = before;
  wrong["sim:0"] = zeros({3}, kByte);
  EXPECT_THAT(error_of([&] { state.load_state_dict(wrong); }),
              HasSubstr("the random state of sim:0: RNG state is wrong size"));
  wrong["sim:0"] = zeros({16});
  EXPECT_THAT(error_of([&] { state.load_state_dict(wrong); }),
              HasSubstr("the random state of sim:0 should be a vector of bytes"));
  EXPECT_THAT(error_of([&] { state.load_state_dict(OrderedDict<std::string, Tensor>()); }),
              HasSubstr("the random state of the CPU is missing"));
  EXPECT_TRUE(io::RandomState().state_dict()["cpu"].equal(now["cpu"]));
  state.load_state_dict(before);
  EXPECT_TRUE(io::RandomState().state_dict()["cpu"].equal(before["cpu"]));
}

TEST(InterruptGuard, NotesTheFirstSignal) {
  for (int number : {SIGINT, SIGTERM}) {
    const io::InterruptGuard guard;
    EXPECT_FALSE(io::InterruptGuard::requested());
    EXPECT_THAT(error_of([] { io::InterruptGuard second; }),
                HasSubstr("there is an InterruptGuard already"));
    ::raise(number);
    EXPECT_TRUE(io::InterruptGuard::requested());
    EXPECT_EQ(io::InterruptGuard::signal(), number);
    struct sigaction now;
    ::sigaction(number, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL) << "a second one ends the process";
  }
  // Without a guard, what was there before is there again.
  static int seen = 0;
  ::signal(SIGINT, [](int) { ++seen; });
  { const io::InterruptGuard guard; }
  ::raise(SIGINT);
  EXPECT_EQ(seen, 1);
  ::signal(SIGINT, SIG_DFL);
}

}  // namespace
}  // namespace taeda
