#include "tools/taeda/train/report.h"

#include <cstdio>
#include <filesystem>

#include "taeda/base/parallel_for.h"
#include "taeda/io/atomic_file.h"
#include "taeda/log/terminal.h"
#include "taeda/training/early_stopping.h"
#include "tools/taeda/train/config.h"

namespace taeda::tool {

namespace {

std::vector<std::string> columns(bool accuracy) {
  if (!accuracy) return {"epoch", "train loss", "test loss", "time"};
  return {"epoch", "train loss", "train acc", "test loss", "test acc", "time"};
}

/// What the table's columns are made for.
std::vector<std::string> longest_row(bool accuracy) {
  if (!accuracy) return {"1000", "10.0000", "10.0000", "9 min 59 s"};
  return {"1000", "10.0000", "100.00%", "10.0000", "100.00%", "9 min 59 s"};
}

/// A line for programs.
void print_event(const char* event, const logging::JsonObject& what) {
  const std::string line = logging::JsonObject().set("event", event).str(), rest = what.str();
  std::printf("%s, %s\n", line.substr(0, line.size() - 1).c_str(), rest.c_str() + 1);
  std::fflush(stdout);
}

}  // namespace

size_t best_of(const std::vector<EpochRecord>& epochs) {
  training::EarlyStopping losses;
  for (const EpochRecord& epoch : epochs) losses.update(epoch.test.loss);
  return losses.best() ? static_cast<size_t>(losses.best_index()) : 0;
}

Report::Report(const TrainOptions& options, const Task& task, Device device,
               const nn::Module& network, bool leads)
    : options_(options),
      task_(task),
      device_(device),
      leads_(leads),
      layout_(columns(task.counts_hits), {longest_row(task.counts_hits)},
              logging::TextStyle::of(stdout)) {
  for (const Tensor& p : network.parameters()) parameters_ += p.numel();
}

void Report::head() const {
  if (options_.json) {
    print_event("start", logging::JsonObject()
                             .set("title", task_.title)
                             .set("parameters", parameters_)
                             .set("device", device_.str())
                             .set("nproc", options_.nproc)
                             .set("threads", get_num_threads())
                             .set("out", options_.out));
    return;
  }
  const std::string processes =
      options_.nproc > 1 ? std::to_string(options_.nproc) + " processes of " : "";
  std::printf("%s", paragraph(taeda::detail::concat(
                                  task_.title, "; a network of ", logging::with_commas(parameters_),
                                  " parameters on ", device_, ", ", processes, threads_text()))
                        .c_str());
  std::fflush(stdout);
}

void Report::start() {
  if (!leads_) return;
  head();
  for (const char* old :
       {kCheckpointFile, kBestFile, kPicturesFile, kMistakesFile, kStepsFile, kResultFile}) {
    std::error_code ignored;
    std::filesystem::remove(path(old), ignored);
  }
  io::write_file(path(kConfigFile), config_toml(options_));
  if (options_.tensorboard) tensorboard_.emplace(path("tensorboard"));
}

void Report::pretrained(const Pretrained& weights) const {
  if (!leads_) return;
  if (!options_.json)
    std::printf("%s",
                paragraph("weights from " + options_.pretrained + ": " + weights.text()).c_str());
  else
    print_event("pretrained", logging::JsonObject()
                                  .set("file", options_.pretrained)
                                  .set("loaded", static_cast<int64_t>(weights.loaded))
                                  .set("tensors", static_cast<int64_t>(weights.all))
                                  .set("text", weights.text()));
}

void Report::resume(const std::vector<EpochRecord>& done) {
  epochs_ = done;
  if (!leads_) return;
  head();
  if (!std::filesystem::exists(path(kConfigFile)))
    io::write_file(path(kConfigFile), config_toml(options_));
  for (const EpochRecord& record : done) line(record);
  if (options_.tensorboard)
    tensorboard_.emplace(logging::SummaryWriterOptions{
        .log_dir = path("tensorboard"), .purge_step = static_cast<int64_t>(done.size()) + 1});
}

std::unique_ptr<logging::ProgressBar> Report::progress_bar(int64_t epoch, int64_t done) const {
  if (!leads_ || options_.json) return {};
  return std::make_unique<logging::ProgressBar>(
      "epoch " + std::to_string(epoch) + "/" + std::to_string(options_.epochs),
      task_.train_size - done, task_.unit);
}

void Report::line(const EpochRecord& r) const {
  if (options_.json) return print_event("epoch", epoch_json(r));
  if (r.epoch == 1) std::printf("%s", layout_.top().c_str());
  std::vector<std::string> cells = {std::to_string(r.epoch), logging::fixed(r.train.loss, 4)};
  if (task_.counts_hits) cells.push_back(logging::percent(r.train.accuracy));
  cells.push_back(logging::fixed(r.test.loss, 4));
  if (task_.counts_hits) cells.push_back(logging::percent(r.test.accuracy));
  cells.push_back(logging::format_duration(r.train.seconds));
  std::printf("%s", layout_.row(cells).c_str());
  std::fflush(stdout);
}

void Report::add_epoch(const EpochRecord& r) {
  epochs_.push_back(r);
  if (!leads_) return;
  line(r);
  if (!tensorboard_) return;
  tensorboard_->add_scalar("Loss/train", r.train.loss, r.epoch);
  tensorboard_->add_scalar("Loss/test", r.test.loss, r.epoch);
  if (task_.counts_hits) {
    tensorboard_->add_scalar("Accuracy/train", r.train.accuracy, r.epoch);
    tensorboard_->add_scalar("Accuracy/test", r.test.accuracy, r.epoch);
  }
  tensorboard_->add_scalar("lr", r.lr, r.epoch);
}

double Report::units_per_second() const {
  double seconds = 0, units = 0;
  for (const EpochRecord& r : epochs_) {
    seconds += r.train.seconds;
    units += static_cast<double>(r.train.count);
  }
  return seconds > 0 ? units / seconds : 0;
}

logging::JsonObject Report::epoch_json(const EpochRecord& r) const {
  logging::JsonObject out;
  out.set("epoch", r.epoch).set("train_loss", r.train.loss);
  if (task_.counts_hits) out.set("train_accuracy", r.train.accuracy);
  out.set("test_loss", r.test.loss);
  if (task_.counts_hits) out.set("test_accuracy", r.test.accuracy);
  return out.set("lr", r.lr).set("seconds", r.train.seconds);
}

logging::JsonObject Report::result() const {
  logging::JsonObject out;
  std::vector<logging::JsonObject> epochs;
  for (const EpochRecord& r : epochs_) epochs.push_back(epoch_json(r));
  const EpochRecord& best = epochs_[best_of(epochs_)];
  out.set("task", options_.task)
      .set("model", options_.model)
      .set("device", device_.str())
      .set("amp", options_.amp)
      .set("seed", options_.seed)
      .set("batch_size", options_.batch_size)
      .set("lr", options_.lr)
      .set("workers", options_.workers)
      .set("threads", get_num_threads())
      .set("nproc", options_.nproc)
      .set("parameters", parameters_)
      .set("title", task_.title)
      .set("config", config_json(options_))
      .set("epochs", epochs)
      .set("best_epoch", best.epoch)
      .set("best_test_loss", best.test.loss);
  if (task_.counts_hits) out.set("best_test_accuracy", best.test.accuracy);
  return out;
}

void Report::print_end(const Finished& finished) const {
  const std::string rate = logging::with_commas(static_cast<long long>(units_per_second()));
  const std::string what = task_.counts_hits
                               ? "test accuracy " + logging::percent(finished.test.accuracy)
                               : "test loss " + logging::fixed(finished.test.loss, 4);
  const EpochRecord& best = epochs_[best_of(epochs_)];
  std::printf("\n%s, %s %s/s\n", what.c_str(), rate.c_str(), task_.unit.c_str());
  if (tensorboard_) std::printf("tensorboard %s\n", path("tensorboard").c_str());
  std::printf("checkpoint  %s\n", checkpoint_path().c_str());
  // A run that an earlier version finished has none.
  if (std::filesystem::exists(best_path()))
    std::printf("best        %s: epoch %lld, test loss %s\n", best_path().c_str(),
                static_cast<long long>(best.epoch), logging::fixed(best.test.loss, 4).c_str());
  std::printf("result      %s\n", path(kResultFile).c_str());
}

void Report::finish(const Finished& finished) {
  if (!leads_) return;
  if (!options_.json) std::printf("%s", layout_.bottom().c_str());
  logging::JsonObject out = result();
  if (task_.finish) task_.finish(finished, out);
  if (task_.counts_hits)
    out.set("test_accuracy", finished.test.accuracy);
  else
    out.set("test_loss", finished.test.loss);
  out.set(task_.unit + "_per_second", units_per_second());
  io::write_file(path(kResultFile), out.pretty());
  if (tensorboard_) tensorboard_->close();
  if (options_.json)
    print_event("result", out.set("out", options_.out));
  else
    print_end(finished);
}

}  // namespace taeda::tool
