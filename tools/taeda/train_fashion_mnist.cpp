// The whole of a training program: data, network, optimizer, schedule, loop, evaluation. Nothing in
// it depends on the device.
#include "tools/taeda/train_fashion_mnist.h"

#include <chrono>

#include "taeda/data/loader.h"
#include "taeda/io/checkpoint.h"
#include "taeda/log/progress.h"
#include "taeda/log/table.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/activation.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/lr_scheduler.h"
#include "tools/taeda/report.h"

namespace taeda::tool {

volatile std::sig_atomic_t interrupted = 0;

namespace {

using vision::datasets::FashionMNIST;
using Clock = std::chrono::steady_clock;
using Loader = data::DataLoader<data::Example<>>;

// Mean and standard deviation of the pixels of the training images.
constexpr double kMean = 0.2860, kStd = 0.3530;
constexpr size_t kTestBatch = 1000;

/// Two convolutions and three linear layers: 1 x 28 x 28 -> 6 x 12 x 12 -> 12 x 4 x 4 -> 10.
struct NetworkImpl : nn::Module {
  NetworkImpl() {
    conv1 = register_module("conv1", nn::Conv2d(1, 6, 5));
    conv2 = register_module("conv2", nn::Conv2d(6, 12, 5));
    fc1 = register_module("fc1", nn::Linear(12 * 4 * 4, 120));
    fc2 = register_module("fc2", nn::Linear(120, 60));
    out = register_module("out", nn::Linear(60, 10));
  }

  Tensor forward(Tensor x) {
    x = max_pool2d(relu(conv1(x)), 2);
    x = max_pool2d(relu(conv2(x)), 2);
    x = x.flatten(1);
    x = relu(fc1(x));
    x = relu(fc2(x));
    return out(x);
  }

  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr}, out{nullptr};
};
TAEDA_MODULE(Network);

/// Adds up loss and hits on the device: the program waits for it only when it asks for the score.
class Meter {
 public:
  explicit Meter(Device device)
      : loss_(zeros({}, device)), hits_(zeros({}, TensorOptions(kLong).device(device))) {}

  void add(const Tensor& loss, const Tensor& logits, const Tensor& labels) {
    const NoGradGuard no_grad;
    loss_.add_(loss, labels.size(0));
    hits_.add_(logits.argmax(1).eq(labels).sum());
    images_ += labels.size(0);
  }
  Score score() const {
    const auto n = static_cast<double>(images_);
    const double loss = loss_.item<double>() / n, accuracy = hits_.item<double>() / n;
    return {loss, accuracy, std::chrono::duration<double>(Clock::now() - start_).count(), images_};
  }

 private:
  Tensor loss_, hits_;
  int64_t images_ = 0;
  Clock::time_point start_ = Clock::now();
};

Score train_epoch(Network& network, Loader& loader, optim::Adam& optimizer,
                  optim::OneCycleLR& schedule, Device device, logging::ProgressBar bar) {
  Meter meter(device);
  network->train();
  for (auto& [images, labels] : loader) {
    if (interrupted) throw Interrupted{};
    images = images.to(device, /*non_blocking=*/true);
    labels = labels.to(device, /*non_blocking=*/true);

    const Tensor logits = network(images);
    const Tensor loss = cross_entropy(logits, labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    schedule.step();

    meter.add(loss, logits, labels);
    bar.advance(images.size(0), [&] { return "loss " + logging::fixed(loss.item<double>(), 4); });
  }
  bar.finish();
  return meter.score();
}

/// Also returns the predicted class of every image.
std::pair<Score, std::vector<int64_t>> evaluate(Network& network, Loader& loader, Device device) {
  const NoGradGuard no_grad;
  Meter meter(device);
  std::vector<int64_t> predictions;
  network->eval();
  for (auto& [images, labels] : loader) {
    images = images.to(device, /*non_blocking=*/true);
    labels = labels.to(device, /*non_blocking=*/true);
    const Tensor logits = network(images);
    meter.add(cross_entropy(logits, labels), logits, labels);
    const Tensor best = logits.argmax(1).cpu();
    predictions.insert(predictions.end(), best.data_ptr<int64_t>(),
                       best.data_ptr<int64_t>() + best.numel());
  }
  return {meter.score(), std::move(predictions)};
}

}  // namespace

void train_fashion_mnist(const TrainOptions& options, Device device, const FashionMNIST& train_set,
                         const FashionMNIST& test_set) {
  const auto seed = static_cast<uint64_t>(options.seed);
  manual_seed(seed);
  const data::transforms::Normalize<> normalize(kMean, kStd);
  const bool pin = !device.is_cpu();
  const auto workers = static_cast<int>(options.workers);
  Loader train_loader(FashionMNIST(train_set).map(normalize),
                      {.batch_size = static_cast<size_t>(options.batch_size),
                       .shuffle = true,
                       .num_workers = workers,
                       .pin_memory = pin,
                       .seed = seed});
  Loader test_loader(FashionMNIST(test_set).map(normalize),
                     {.batch_size = kTestBatch, .num_workers = workers, .pin_memory = pin});

  Network network;
  network->to(device);
  optim::Adam optimizer(network->parameters(), optim::AdamOptions(options.lr));
  optim::OneCycleLR schedule(optimizer, options.lr,
                             options.epochs * static_cast<int64_t>(train_loader.size()));

  Report report(options, device, *network, train_set, test_set);
  std::vector<int64_t> predictions;
  for (int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    const Score train =
        train_epoch(network, train_loader, optimizer, schedule, device, report.progress_bar(epoch));
    Score test;
    std::tie(test, predictions) = evaluate(network, test_loader, device);
    io::Checkpoint()
        .put("model", network)
        .put("optimizer", optimizer)
        .put("schedule", schedule)
        .set("epoch", static_cast<double>(epoch))
        .save(report.checkpoint_path());
    report.add_epoch({epoch, train, test});
  }
  report.finish(predictions);
}

}  // namespace taeda::tool
