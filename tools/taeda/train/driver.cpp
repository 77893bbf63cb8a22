#include "tools/taeda/train/driver.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "taeda/amp/autocast.h"
#include "taeda/amp/grad_scaler.h"
#include "taeda/device/generator.h"
#include "taeda/device/registry.h"
#include "taeda/io/checkpoint.h"
#include "taeda/io/interrupt.h"
#include "taeda/io/random_state.h"
#include "taeda/log/table.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/parallel/data_parallel.h"
#include "taeda/training/trainer.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/config.h"
#include "tools/taeda/train/meter.h"
#include "tools/taeda/train/recipe.h"
#include "tools/taeda/train/report.h"
#include "tools/taeda/train/step_log.h"
#include "tools/taeda/train/together.h"

namespace taeda::tool {

namespace {

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

/// What must be the same for a run to go on as if nothing had happened.
std::map<std::string, std::string> identity(const TrainOptions& options) {
  TrainOptions o = options;
  std::map<std::string, std::string> out = {{"task", o.task}};
  for (const Setting& s : settings(o))
    if (s.lasting) out["--" + std::string(s.name)] = s.text();
  return out;
}

/// A setting of the run that a checkpoint is of. Those that were written before there was this
/// setting are of runs with its default.
std::string setting(const io::Checkpoint& c, const std::string& name) {
  try {
    return c.text("run." + name);
  } catch (const ValueError&) {
    c.text("run.task");
    return identity(TrainOptions()).at(name);
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
std::string how_to_go_on(const TrainOptions& options) {
  const std::vector<std::string>& command_line = options.command_line;
  std::string out;
  for (size_t i = 0; i < command_line.size(); ++i) {
    const std::string& a = command_line[i];
    if (a == "--resume" || a == "--stop-after") {
      ++i;
    } else if (!a.starts_with("--resume=") && !a.starts_with("--stop-after=") && a != "--force") {
      out += quoted(a) + " ";
    }
  }
  if (!options.out_given) out += "--out " + quoted(options.out) + " ";
  return out + "--resume auto";
}

bool is_best(const io::Checkpoint& c) {
  try {
    return !c.text("best").empty();
  } catch (const ValueError&) {
    return false;
  }
}

/// What checkpoints of earlier versions do not say.
double number_or(const io::Checkpoint& c, const std::string& name, double otherwise) {
  try {
    return c.number(name);
  } catch (const ValueError&) {
    return otherwise;
  }
}

class Training {
 public:
  Training(const TrainOptions& options, Device device, const Task& task, const Ranks& ranks);
  /// From the checkpoint; throws UsageError if it is of another run.
  void load(const std::string& path);
  void start();
  int run();

 private:
  data::LoaderConfig loader_config(bool train) const;
  Tensor forward(const Tensor& inputs);
  void set_training(bool on);
  void step(const data::Example<>& batch);
  void open_log();
  void note(const training::StepReport& report, double weight);
  void check_progress() const;
  void train_epoch();
  Score test(Predictions* predictions);
  void save() const;
  void save_best() const;
  void describe(io::Checkpoint& c) const;
  [[noreturn]] void end_early();
  RankState rank_state() const;
  void load_rank_state(const io::Checkpoint& c);
  /// Whether one of the ranks was told to: all stop after the same step.
  bool interrupted() const { return ranks_.any(io::InterruptGuard::requested()); }
  /// Whether the last epochs were too many without a better one.
  bool gave_up() const {
    const auto& done = report_.epochs();
    return options_.early_stopping > 0 && !done.empty() &&
           static_cast<int64_t>(done.size() - 1 - best_of(done)) >= options_.early_stopping;
  }
  bool stop() const { return interrupted() || (options_.stop_after > 0 && left_ <= 0); }

  const TrainOptions& options_;
  const Device device_;
  const Task& task_;
  const Ranks& ranks_;
  Loader train_loader_, test_loader_;
  nn::AnyModule network_;
  nn::DataParallel<nn::SequentialImpl> parallel_{nullptr};
  std::function<Tensor(const Tensor&)> shared_forward_;  ///< of several processes
  std::unique_ptr<optim::Optimizer> optimizer_;
  std::unique_ptr<optim::LRScheduler> schedule_;
  amp::GradScaler scaler_;
  training::Trainer trainer_;
  Report report_;
  Meter meter_;
  std::optional<StepLog> log_;
  int64_t epoch_ = 1, steps_ = 0, left_ = 0;
  /// In this process, of the epoch that is under way.
  int64_t taken_ = 0, skipped_ = 0;
  std::optional<amp::NonFiniteGradient> non_finite_;
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
      network_(on_device(task.about.make_network(), device)),
      optimizer_(make_optimizer(options, network_->parameters())),
      schedule_(make_schedule(options, *optimizer_, static_cast<int64_t>(train_loader_.size()))),
      scaler_(device, 65536, 2, 0.5, 2000, /*enabled=*/options.amp && !device.is_cpu()),
      trainer_(*network_.ptr(), *optimizer_,
               {.scaler = &scaler_,
                .schedule = schedule_.get(),
                .max_norm = std::isnan(options.max_norm) ? std::numeric_limits<double>::infinity()
                                                         : options.max_norm}),
      report_(options, task, device, *network_, ranks.leads()),
      meter_(device),
      left_(options.stop_after) {
  if (!options.data_parallel && ranks.size() == 1) return;
  const auto wrapped = std::make_shared<nn::SequentialImpl>();
  wrapped->push_back(network_);
  if (ranks.size() > 1) {
    shared_forward_ = together::share_gradients(wrapped);
    ranks.separate_random_numbers(options.seed);
    return;
  }
  std::vector<Device> devices;
  for (int i = 0; i < device_count(device.type()); ++i) devices.emplace_back(device.type(), i);
  parallel_ = nn::DataParallel<nn::SequentialImpl>(wrapped, devices);
}

Tensor Training::forward(const Tensor& inputs) {
  if (shared_forward_ && network_->is_training()) return shared_forward_(inputs);
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
  const training::StepReport report =
      trainer_.step(share.weight == 1 ? loss : loss.mul(share.weight));
  if (!share.empty()) meter_.add(loss.detach(), output.detach(), targets, task_.counts_hits);
  note(report, share.weight);
}

/// The table of the steps; one process writes it.
void Training::open_log() {
  constexpr int64_t kLines = 1000;
  if (!ranks_.leads()) return;
  const int64_t all = options_.epochs * static_cast<int64_t>(train_loader_.size());
  log_.emplace(report_.steps_path(), device_, steps_, (all + kLines - 1) / kLines);
}

void Training::note(const training::StepReport& report, double weight) {
  ++steps_;
  ++(report ? taken_ : skipped_);
  if (report.non_finite && !non_finite_) non_finite_ = report.non_finite;
  if (!log_) return;
  training::StepReport own = report;
  if (weight > 0) own.loss /= weight;  // that of this process's rows
  double seconds = meter_.seconds();
  for (const EpochRecord& r : report_.epochs()) seconds += r.train.seconds;
  log_->add(steps_, epoch_, seconds, own);
}

/// A scaler tries smaller scales; without one the next epoch would be like this.
void Training::check_progress() const {
  if (skipped_ == 0 || scaler_.is_enabled()) return;
  const std::string why = non_finite_ ? non_finite_->str() : "a gradient";
  if (skipped_ == static_cast<int64_t>(train_loader_.size()))
    throw Error(taeda::detail::concat("no step of epoch ", epoch_, " could be taken: ", why,
                                      " is not finite; try a lower --lr, or --max-norm 1"));
  if (ranks_.leads())
    std::fprintf(stderr,
                 "taeda: epoch %lld: %lld of %lld steps skipped, the first because %s is "
                 "not finite\n",
                 static_cast<long long>(epoch_), static_cast<long long>(skipped_),
                 static_cast<long long>(skipped_ + taken_), why.c_str());
}

void Training::train_epoch() {
  set_training(true);
  taken_ = skipped_ = 0;
  non_finite_.reset();
  const auto done = static_cast<int64_t>(ranks_.sum({static_cast<double>(meter_.count())})[0]);
  const auto bar = report_.progress_bar(epoch_, done);
  for (auto& batch : train_loader_) {
    const int64_t n = batch.target.numel();
    step(batch);
    --left_;
    if (bar) bar->advance(n, [&] { return "loss " + logging::fixed(meter_.loss(), 4); });
    if (stop()) end_early();
  }
  if (bar) bar->finish();
  if (log_) log_->flush();
  check_progress();
  trained_ = meter_.score(ranks_);
}

Score Training::test(Predictions* predictions) {
  set_training(false);
  return evaluate({.task = task_,
                   .device = device_,
                   .amp = options_.amp,
                   .forward = [this](const Tensor& inputs) { return forward(inputs); },
                   .look =
                       [this] {
                         if (interrupted()) end_early();
                       }},
                  test_loader_, ranks_, predictions);
}

/// Saves while the loop over the loader is alive: with it goes the place in the epoch.
void Training::end_early() {
  if (log_) log_->flush();
  if (epoch_ <= options_.epochs && !gave_up()) save();
  throw Stopped{};
}

void Training::start() {
  std::optional<Pretrained> weights;
  if (!options_.pretrained.empty()) weights = load_pretrained(options_.pretrained, *network_);
  if (ranks_.leads()) prepare_folder(options_.out);
  report_.start();
  open_log();
  if (weights) report_.pretrained(*weights);
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
      .put("optimizer", *optimizer_)
      .put("schedule", *schedule_)
      .put("loader", train_loader_)
      .put("random", io::RandomState())
      .put("scaler", scaler_);
  meter_.save(c);
  for (size_t r = 1; r < ranks.size(); ++r) c.put("rank" + std::to_string(r), ranks[r]);
  describe(c);
  // Epochs that are done, and where this one is.
  c.set("epoch", static_cast<double>(report_.epochs().size()));
  c.set("steps", static_cast<double>(steps_)).set("trained", trained_ ? 1 : 0);
  if (trained_) put_score(c, "trained", *trained_);
  for (const EpochRecord& r : report_.epochs()) {
    put_score(c, "epochs." + std::to_string(r.epoch) + ".train", r.train);
    put_score(c, "epochs." + std::to_string(r.epoch) + ".test", r.test);
    c.set("epochs." + std::to_string(r.epoch) + ".lr", r.lr);
  }
  c.save(report_.checkpoint_path());
}

/// What others than this program's training want to know: of which run it is, and of which network.
void Training::describe(io::Checkpoint& c) const {
  for (const auto& [name, value] : identity(options_)) c.set("run." + name, value);
  c.set("about", task_.about.json()).set("config", config_json(options_).str());
  c.set("device", device_.str());
}

/// Weights alone: what is needed to use the network, and not to train on.
void Training::save_best() const {
  if (!ranks_.leads()) return;
  const EpochRecord& r = report_.epochs().back();
  io::Checkpoint c;
  c.put("model", network_.ptr()).set("best", static_cast<double>(r.epoch));
  describe(c);
  put_score(c, "test", r.test);
  c.save(report_.best_path());
}

void Training::load(const std::string& path) {
  const io::Checkpoint c = io::Checkpoint::load(path);
  if (is_best(c))
    throw UsageError(path +
                     " holds the best weights alone, without what a run needs to go on: "
                     "--pretrained starts another from them");
  for (const auto& [name, value] : identity(options_)) {
    const std::string then = setting(c, name);
    if (then != value)
      throw UsageError(
          taeda::detail::concat(path, " is of a run with ", name, " ", then, ", not ", value));
  }
  c.get("model", *network_);
  c.get("optimizer", *optimizer_);
  c.get("schedule", *schedule_);
  c.get("loader", train_loader_);
  c.get("scaler", scaler_);
  io::RandomState random;
  c.get("random", random);
  meter_.load(c);
  if (!ranks_.leads()) load_rank_state(c);
  steps_ = static_cast<int64_t>(c.number("steps"));
  if (c.number("trained") != 0) trained_ = get_score(c, "trained");
  std::vector<EpochRecord> done;
  for (int64_t e = 1; e <= static_cast<int64_t>(c.number("epoch")); ++e) {
    const std::string name = "epochs." + std::to_string(e);
    done.push_back({e, get_score(c, name + ".train"), get_score(c, name + ".test"),
                    number_or(c, name + ".lr", std::numeric_limits<double>::quiet_NaN())});
  }
  epoch_ = static_cast<int64_t>(done.size()) + 1;
  if (ranks_.leads()) prepare_folder(options_.out);
  report_.resume(done);
  trainer_.set_steps(steps_);
  open_log();
  if (!ranks_.leads()) return;
  std::fprintf(stderr, "going on from %s: epoch %lld, step %lld\n", path.c_str(),
               static_cast<long long>(std::min(epoch_, options_.epochs)),
               static_cast<long long>(steps_));
}

int Training::run() {
  const io::InterruptGuard interrupts;
  Predictions predictions;
  std::optional<Score> score;
  try {
    for (; epoch_ <= options_.epochs && !gave_up(); ++epoch_) {
      if (!trained_) train_epoch();
      score = test(&predictions);
      report_.add_epoch({epoch_, *trained_, *score, schedule_->get_last_lr()[0]});
      trained_.reset();
      meter_ = Meter(device_);
      // The best one first: where a run dies between them, it comes here once more.
      if (best_of(report_.epochs()) + 1 == report_.epochs().size()) save_best();
      save();
    }
    // A finished run that was resumed.
    if (!score) score = test(&predictions);
  } catch (const Stopped&) {
    if (!ranks_.leads()) return kExitInterrupted;
    std::fprintf(stderr, "taeda: interrupted in epoch %lld after step %lld; to go on: %s\n",
                 static_cast<long long>(epoch_), static_cast<long long>(steps_),
                 how_to_go_on(options_).c_str());
    return kExitInterrupted;
  }
  if (ranks_.leads() && gave_up() && epoch_ <= options_.epochs)
    std::fprintf(stderr, "no better test loss in %lld epochs: stopped after epoch %lld of %lld\n",
                 static_cast<long long>(options_.early_stopping),
                 static_cast<long long>(epoch_ - 1), static_cast<long long>(options_.epochs));
  report_.finish({network_, device_, *score, std::move(predictions), options_.out, options_.json});
  return 0;
}

}  // namespace

std::string checkpoint_of(const TrainOptions& options) {
  namespace fs = std::filesystem;
  if (options.resume.empty()) return "";
  const bool automatic = options.resume == "auto";
  fs::path path = automatic ? fs::path(options.out) : fs::path(options.resume);
  if (automatic || fs::is_directory(path)) path /= kCheckpointFile;
  if (fs::exists(path)) return path.string();
  if (!automatic) throw UsageError("--resume: there is no checkpoint " + path.string());
  return "";
}

int run_training(const TrainOptions& options, const std::string& checkpoint, Device device,
                 const Task& task, const Ranks& ranks) {
  manual_seed(static_cast<uint64_t>(options.seed));
  Training training(options, device, task, ranks);
  user_input([&] {
    if (checkpoint.empty())
      training.start();
    else
      training.load(checkpoint);
  });
  return training.run();
}

}  // namespace taeda::tool
