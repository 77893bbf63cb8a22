#include "tools/taeda/train/driver.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>

#include "taeda/amp/autocast.h"
#include "taeda/amp/grad_scaler.h"
#include "taeda/device/generator.h"
#include "taeda/device/registry.h"
#include "taeda/distributed/ddp/distributed_data_parallel.h"
#include "taeda/distributed/sync_batch_norm.h"
#include "taeda/io/checkpoint.h"
#include "taeda/io/interrupt.h"
#include "taeda/io/random_state.h"
#include "taeda/log/table.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/parallel/data_parallel.h"
#include "taeda/ops/create.h"
#include "taeda/optim/adam.h"
#include "taeda/optim/lr_scheduler.h"
#include "taeda/tensor/grad_mode.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/report.h"

namespace taeda::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// Adds up loss and hits on the device: the program waits for it only when it asks for the score.
class Meter {
 public:
  explicit Meter(Device device)
      : loss_(zeros({}, device)), hits_(zeros({}, TensorOptions(kLong).device(device))) {}

  void add(const Tensor& loss, const Tensor& output, const Tensor& targets, bool count_hits) {
    const NoGradGuard no_grad;
    loss_.add_(loss, targets.numel());
    if (count_hits) hits_.add_(output.argmax(-1).eq(targets).sum());
    count_ += targets.numel();
  }
  double seconds() const {
    return before_ + std::chrono::duration<double>(Clock::now() - start_).count();
  }
  /// Of the parts of all ranks.
  Score score(const Ranks& ranks) const {
    const std::vector<double> all =
        ranks.sum({loss_.item<double>(), hits_.item<double>(), static_cast<double>(count_)});
    return {all[0] / all[2], all[1] / all[2], seconds(), static_cast<int64_t>(all[2])};
  }
  /// Of this rank's part.
  double loss() const { return loss_.item<double>() / static_cast<double>(count_); }
  int64_t count() const { return count_; }

  void save(io::Checkpoint& c) const {
    c.put("meter", std::map<std::string, Tensor>{{"loss", loss_}, {"hits", hits_}});
    c.set("meter.count", static_cast<double>(count_)).set("meter.seconds", seconds());
  }
  void load(const io::Checkpoint& c) {
    std::map<std::string, Tensor> sums;
    c.get("meter", sums);
    loss_.copy_(sums.at("loss"));
    hits_.copy_(sums.at("hits"));
    count_ = static_cast<int64_t>(c.number("meter.count"));
    before_ = c.number("meter.seconds");
  }
  /// What a rank that does not lead has otherwise than that.
  void save(RankState& s) const {
    s["meter.loss"] = loss_.cpu();
    s["meter.hits"] = hits_.cpu();
    s["meter.count"] = full({}, count_, kLong);
  }
  void load(const RankState& s) {
    loss_.copy_(s.at("meter.loss"));
    hits_.copy_(s.at("meter.hits"));
    count_ = s.at("meter.count").item<int64_t>();
  }

 private:
  Tensor loss_, hits_;
  int64_t count_ = 0;
  double before_ = 0;  ///< seconds in other processes
  Clock::time_point start_ = Clock::now();
};

/// Thrown out of the loops when the run shall end before its time.
struct Stopped {};

void put_score(io::Checkpoint& c, const std::string& name, const Score& s) {
  c.set(name + ".loss", s.loss)
      .set(name + ".accuracy", s.accuracy)
      .set(name + ".seconds", s.seconds)
      .set(name + ".count", static_cast<double>(s.count));
}

Score get_score(const io::Checkpoint& c, const std::string& name) {
  return {c.number(name + ".loss"), c.number(name + ".accuracy"), c.number(name + ".seconds"),
          static_cast<int64_t>(c.number(name + ".count"))};
}

/// The fewest digits that bring the number back.
std::string exact_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

constexpr const char* kNproc = "--nproc";

/// What must be the same for a run to go on as if nothing had happened.
std::map<std::string, std::string> identity(const TrainOptions& o) {
  const auto text = [](const auto& value) { return taeda::detail::concat(value); };
  return {{"task", o.task},
          {"--model", o.model},
          {"--epochs", text(o.epochs)},
          {"--batch-size", text(o.batch_size)},
          {"--lr", exact_text(o.lr)},
          {"--seed", text(o.seed)},
          {"--amp", o.amp ? "on" : "off"},
          {"--data-parallel", o.data_parallel ? "on" : "off"},
          {kNproc, text(o.nproc)},
          {"--target", o.target},
          {"--regression", o.regression ? "on" : "off"},
          {"--hidden", text(o.hidden)},
          {"--image-size", text(o.image_size)},
          {"--context", text(o.context)},
          {"--layers", text(o.layers)},
          {"--width", text(o.width)}};
}

/// A setting of the run that a checkpoint is of. Those that were written before runs could have
/// several processes do not say that they had one.
std::string setting(const io::Checkpoint& c, const std::string& name) {
  try {
    return c.text("run." + name);
  } catch (const ValueError&) {
    if (name != kNproc) throw;
    return "1";
  }
}

/// An argument as a shell reads it.
std::string quoted(const std::string& argument) {
  const std::string plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) return argument;
  std::string out = "'";
  for (char c : argument) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The command that goes on: this one, with --resume auto.
std::string how_to_go_on(const std::vector<std::string>& command_line) {
  std::string out;
  for (size_t i = 0; i < command_line.size(); ++i) {
    const std::string& a = command_line[i];
    if (a == "--resume" || a == "--stop-after") {
      ++i;
    } else if (!a.starts_with("--resume=") && !a.starts_with("--stop-after=")) {
      out += quoted(a) + " ";
    }
  }
  return out + "--resume auto";
}

class Training {
 public:
  Training(const TrainOptions& options, Device device, const Task& task, const Ranks& ranks);
  /// From the checkpoint; throws UsageError if it is of another run.
  void load(const std::string& path);
  void start() { report_.start(); }
  int run();

 private:
  data::LoaderConfig loader_config(bool train) const;
  Tensor forward(const Tensor& inputs);
  void set_training(bool on);
  void step(const data::Example<>& batch);
  void train_epoch();
  Score evaluate(std::vector<int64_t>* predictions);
  void save() const;
  [[noreturn]] void end_early() const;
  RankState rank_state() const;
  void load_rank_state(const io::Checkpoint& c);
  /// Whether one of the ranks was told to: all stop after the same step.
  bool interrupted() const { return ranks_.any(io::InterruptGuard::requested()); }
  bool stop() const { return interrupted() || (options_.stop_after > 0 && left_ <= 0); }

  const TrainOptions& options_;
  const Device device_;
  const Task& task_;
  const Ranks& ranks_;
  Loader train_loader_, test_loader_;
  nn::AnyModule network_;
  nn::DataParallel<nn::SequentialImpl> parallel_{nullptr};
  distributed::DistributedDataParallel<nn::SequentialImpl> distributed_{nullptr};
  optim::Adam optimizer_;
  optim::OneCycleLR schedule_;
  amp::GradScaler scaler_;
  Report report_;
  Meter meter_;
  int64_t epoch_ = 1, steps_ = 0, left_ = 0;
  /// The training part of this epoch is over; its score.
  std::optional<Score> trained_;
};

data::LoaderConfig Training::loader_config(bool train) const {
  const auto batch = static_cast<size_t>(options_.batch_size);
  return {.batch_size = train || task_.test_batch == 0 ? batch : task_.test_batch,
          .shuffle = train,
          .num_workers = static_cast<int>(options_.workers),
          .pin_memory = !device_.is_cpu(),
          .seed = static_cast<uint64_t>(options_.seed)};
}

nn::AnyModule on_device(nn::AnyModule network, Device device) {
  network->to(device);
  return network;
}

Training::Training(const TrainOptions& options, Device device, const Task& task, const Ranks& ranks)
    : options_(options),
      device_(device),
      task_(task),
      ranks_(ranks),
      train_loader_(task.train_loader(loader_config(true))),
      test_loader_(task.test_loader(loader_config(false))),
      network_(on_device(task.make_network(), device)),
      optimizer_(network_->parameters(), optim::AdamOptions(options.lr)),
      schedule_(optimizer_, options.lr,
                options.epochs * static_cast<int64_t>(train_loader_.size())),
      scaler_(device, 65536, 2, 0.5, 2000, /*enabled=*/options.amp && !device.is_cpu()),
      report_(options, task, device, *network_, ranks.leads()),
      meter_(device),
      left_(options.stop_after) {
  if (!options.data_parallel && ranks.size() == 1) return;
  const auto wrapped = std::make_shared<nn::SequentialImpl>();
  wrapped->push_back(network_);
  if (ranks.size() > 1) {
    // Batch norms see the whole batch, so that buffers are the same everywhere.
    nn::SyncBatchNorm::convert_sync_batchnorm(wrapped);
    distributed_ = distributed::DistributedDataParallel<nn::SequentialImpl>(
        wrapped, {.broadcast_buffers = false});
    ranks.separate_random_numbers(options.seed);
    return;
  }
  std::vector<Device> devices;
  for (int i = 0; i < device_count(device.type()); ++i) devices.emplace_back(device.type(), i);
  parallel_ = nn::DataParallel<nn::SequentialImpl>(wrapped, devices);
}

Tensor Training::forward(const Tensor& inputs) {
  if (!distributed_.is_empty() && network_->is_training()) return distributed_(inputs);
  return parallel_.is_empty() ? network_.forward(inputs) : parallel_(inputs);
}

void Training::set_training(bool on) {
  if (parallel_.is_empty())
    network_->train(on);
  else
    parallel_->train(on);
}

void Training::step(const data::Example<>& batch) {
  const Share share = ranks_.share_of(batch);
  const Tensor inputs = share.data.to(device_, /*non_blocking=*/true),
               targets = share.target.to(device_, /*non_blocking=*/true);
  Tensor output, loss;
  {
    const amp::autocast autocast(device_, {}, options_.amp);
    output = forward(inputs);
    // Without rows there is no mean, but a gradient of zeros, for the exchange with the others.
    loss = share.empty() ? output.sum() : task_.loss(output, targets);
  }
  optimizer_.zero_grad();
  scaler_.scale(share.weight == 1 ? loss : loss.mul(share.weight)).backward();
  scaler_.step(optimizer_);
  if (scaler_.is_enabled()) scaler_.update();
  schedule_.step();
  if (!share.empty()) meter_.add(loss.detach(), output.detach(), targets, task_.counts_hits);
}

void Training::train_epoch() {
  set_training(true);
  const auto done = static_cast<int64_t>(ranks_.sum({static_cast<double>(meter_.count())})[0]);
  const auto bar = report_.progress_bar(epoch_, done);
  for (auto& batch : train_loader_) {
    const int64_t n = batch.target.numel();
    step(batch);
    ++steps_;
    --left_;
    if (bar) bar->advance(n, [&] { return "loss " + logging::fixed(meter_.loss(), 4); });
    if (stop()) end_early();
  }
  if (bar) bar->finish();
  trained_ = meter_.score(ranks_);
}

Score Training::evaluate(std::vector<int64_t>* predictions) {
  const NoGradGuard no_grad;
  Meter meter(device_);
  set_training(false);
  predictions->clear();
  for (auto& batch : test_loader_) {
    if (interrupted()) end_early();
    const size_t before = predictions->size();
    if (task_.counts_hits) predictions->resize(before + static_cast<size_t>(batch.target.numel()));
    const Share share = ranks_.share_of(batch);
    if (share.empty()) continue;
    const Tensor inputs = share.data.to(device_, /*non_blocking=*/true),
                 targets = share.target.to(device_, /*non_blocking=*/true);
    const amp::autocast autocast(device_, {}, options_.amp);
    const Tensor output = forward(inputs);
    meter.add(task_.loss(output, targets), output, targets, task_.counts_hits);
    if (!task_.counts_hits) continue;
    const Tensor best = output.argmax(-1).cpu().contiguous();
    std::copy_n(best.data_ptr<int64_t>(), best.numel(),
                predictions->begin() + static_cast<ptrdiff_t>(before) + share.first_target);
  }
  // Each rank has put its predictions between zeros.
  if (!predictions->empty())
    ranks_.add_up(
        from_blob(predictions->data(), {static_cast<int64_t>(predictions->size())}, kLong));
  return meter.score(ranks_);
}

/// Saves while the loop over the loader is alive: with it goes the place in the epoch.
void Training::end_early() const {
  if (epoch_ <= options_.epochs) save();
  throw Stopped{};
}

constexpr const char* kRandom = "random.";

/// The leading rank's is that of a single process, and lies where that has it.
RankState Training::rank_state() const {
  RankState out;
  if (ranks_.size() == 1) return out;
  meter_.save(out);
  for (const auto& item : io::RandomState().state_dict()) out[kRandom + item.key()] = item.value();
  return out;
}

void Training::load_rank_state(const io::Checkpoint& c) {
  RankState state;
  c.get("rank" + std::to_string(ranks_.rank()), state);
  meter_.load(state);
  OrderedDict<std::string, Tensor> random;
  for (const auto& [name, value] : state)
    if (name.starts_with(kRandom)) random.insert(name.substr(std::strlen(kRandom)), value);
  io::RandomState().load_state_dict(random);
}

void Training::save() const {
  const std::vector<RankState> ranks = ranks_.gather(rank_state());
  if (!ranks_.leads()) return;
  io::Checkpoint c;
  c.put("model", network_.ptr())
      .put("optimizer", optimizer_)
      .put("schedule", schedule_)
      .put("loader", train_loader_)
      .put("random", io::RandomState())
      .put("scaler", scaler_);
  meter_.save(c);
  for (size_t r = 1; r < ranks.size(); ++r) c.put("rank" + std::to_string(r), ranks[r]);
  for (const auto& [name, value] : identity(options_)) c.set("run." + name, value);
  // Epochs that are done, and where this one is.
  c.set("epoch", static_cast<double>(report_.epochs().size()));
  c.set("steps", static_cast<double>(steps_)).set("trained", trained_ ? 1 : 0);
  if (trained_) put_score(c, "trained", *trained_);
  for (const EpochRecord& r : report_.epochs()) {
    put_score(c, "epochs." + std::to_string(r.epoch) + ".train", r.train);
    put_score(c, "epochs." + std::to_string(r.epoch) + ".test", r.test);
  }
  c.save(report_.checkpoint_path());
}

void Training::load(const std::string& path) {
  const io::Checkpoint c = io::Checkpoint::load(path);
  for (const auto& [name, value] : identity(options_)) {
    const std::string then = setting(c, name);
    if (then != value)
      throw UsageError(
          taeda::detail::concat(path, " is of a run with ", name, " ", then, ", not ", value));
  }
  c.get("model", *network_);
  c.get("optimizer", optimizer_);
  c.get("schedule", schedule_);
  c.get("loader", train_loader_);
  c.get("scaler", scaler_);
  io::RandomState random;
  c.get("random", random);
  meter_.load(c);
  if (!ranks_.leads()) load_rank_state(c);
  steps_ = static_cast<int64_t>(c.number("steps"));
  if (c.number("trained") != 0) trained_ = get_score(c, "trained");
  std::vector<EpochRecord> done;
  for (int64_t e = 1; e <= static_cast<int64_t>(c.number("epoch")); ++e)
    done.push_back({e, get_score(c, "epochs." + std::to_string(e) + ".train"),
                    get_score(c, "epochs." + std::to_string(e) + ".test")});
  epoch_ = static_cast<int64_t>(done.size()) + 1;
  report_.resume(done);
  if (!ranks_.leads()) return;
  std::fprintf(stderr, "going on from %s: epoch %lld, step %lld\n", path.c_str(),
               static_cast<long long>(std::min(epoch_, options_.epochs)),
               static_cast<long long>(steps_));
}

int Training::run() {
  const io::InterruptGuard interrupts;
  std::vector<int64_t> predictions;
  std::optional<Score> test;
  try {
    for (; epoch_ <= options_.epochs; ++epoch_) {
      if (!trained_) train_epoch();
      test = evaluate(&predictions);
      report_.add_epoch({epoch_, *trained_, *test}, schedule_.get_last_lr()[0]);
      trained_.reset();
      meter_ = Meter(device_);
      save();
    }
    // A finished run that was resumed.
    if (!test) test = evaluate(&predictions);
  } catch (const Stopped&) {
    if (!ranks_.leads()) return kExitInterrupted;
    std::fprintf(stderr, "taeda: interrupted in epoch %lld after step %lld; to go on: %s\n",
                 static_cast<long long>(epoch_), static_cast<long long>(steps_),
                 how_to_go_on(options_.command_line).c_str());
    return kExitInterrupted;
  }
  report_.finish({network_, device_, *test, std::move(predictions), options_.out});
  return 0;
}

}  // namespace

std::string checkpoint_of(const TrainOptions& options) {
  namespace fs = std::filesystem;
  if (options.resume.empty()) return "";
  const bool automatic = options.resume == "auto";
  fs::path path = automatic ? fs::path(options.out) : fs::path(options.resume);
  if (automatic || fs::is_directory(path)) path /= "checkpoint.safetensors";
  if (fs::exists(path)) return path.string();
  if (!automatic) throw UsageError("--resume: there is no checkpoint " + path.string());
  return "";
}

int run_training(const TrainOptions& options, const std::string& checkpoint, Device device,
                 const Task& task, const Ranks& ranks) {
  manual_seed(static_cast<uint64_t>(options.seed));
  Training training(options, device, task, ranks);
  if (checkpoint.empty())
    training.start();
  else
    user_input([&] { training.load(checkpoint); });
  return training.run();
}

}  // namespace taeda::tool
