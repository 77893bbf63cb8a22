// What runs of a training program measure: loss, accuracy and time of each epoch, on the terminal,
// in CSV and JSON files, and in TensorBoard.
//
//     RunManager manager;
//     for (const Run& run : RunBuilder::get_runs(grid)) {
//       manager.begin_run(run, network, loader);
//       for (...) {
//         manager.begin_epoch();
//         for (auto& batch : loader) {
//           ...
//           manager.track_loss(loss, batch);
//           manager.track_num_correct(preds, batch.target);
//         }
//         manager.end_epoch();
//       }
//       manager.end_run();
//     }
//     manager.save("results");
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "taeda/data/example.h"
#include "taeda/log/run_builder.h"
#include "taeda/log/summary_writer.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/shape/shape.h"

namespace taeda::inline v0_2::logging {

class TableLayout;

/// One line of the results; durations are in seconds.
struct EpochResult {
  int64_t run = 0, epoch = 0;  ///< counted from 1; 0 by default
  double loss = 0, accuracy = 0;
  double epoch_duration = 0, run_duration = 0;  ///< seconds
  Run params;
};

/// Where runs go and what is kept of them; by default event files, where the build writes some, and
/// a table on standard output.
struct RunManagerOptions {
  /// Where TensorBoard's folders go, one for each run; empty: a default folder in runs/.
  std::string log_dir = {};
  /// Off: no event files. On without Protocol Buffers: begin_run throws NotImplementedError.
  bool tensorboard = has_tensorboard();
  /// Show a table that grows by a line an epoch here, as wide as the terminal of standard output;
  /// nullptr: nowhere. Default: std::cout.
  std::optional<std::ostream*> out = {};
  /// Where the time comes from, in seconds.
  std::function<double()> clock = {};
};

/// Collects, prints and writes the figures of a run's epochs; calls out of order are an Error.
class RunManager {
 public:
  /// Makes a manager with these options; nothing is written before `begin_run`, which throws what
  /// fails there.
  explicit RunManager(RunManagerOptions options = {});
  /// Ends the table and a run that is going on.
  ~RunManager();
  RunManager(const RunManager&) = delete;
  RunManager& operator=(const RunManager&) = delete;

  /// Starts a run of a network (a holder or a module in a shared_ptr) over a loader of examples.
  /// TensorBoard gets the first batch as a picture, and the graph of the network as its beginning
  /// runs on the device that the run names ("device", by default the CPU). Throws Error while a run
  /// is going on.
  template <class Network, class Loader>
  void begin_run(const Run& run, const Network& network, Loader& loader);
  /// Closes TensorBoard's file. Throws Error if something could not be written there.
  void end_run();

  /// Starts the epoch's clock, in seconds, and its sums at 0.
  void begin_epoch();
  /// Adds a line to the results; TensorBoard gets loss, accuracy, and histograms of parameters and
  /// gradients. Throws Error unless an epoch was begun.
  void end_epoch();

  /// `loss` is the mean over a batch of this many examples. It is read when the epoch ends, so that
  /// the loop does not wait for the device.
  void track_loss(const Tensor& loss, int64_t batch_size);
  template <class T>
  void track_loss(const Tensor& loss, const data::Example<Tensor, T>& batch) {
    track_loss(loss, batch.data.size(0));
  }
  /// Counts the predictions (N, classes) whose largest entry is at the label (N).
  void track_num_correct(const Tensor& preds, const Tensor& labels);

  /// The results of all epochs so far; empty before the first one ends.
  const std::vector<EpochResult>& results() const { return results_; }
  /// A table of all epochs so far, as wide as the program's standard output has columns, at least
  /// one row for each.
  std::string table() const;
  /// Writes <name>.csv and <name>.json, atomically. Throws Error, naming the path.
  void save(const std::string& name) const;
  /// The writer of the run that is going on, for what else a program measures; or nullptr.
  SummaryWriter* tb() { return tb_ ? &*tb_ : nullptr; }

 private:
  /// A graph does not change with the batch: a large one would only cost time.
  static constexpr int64_t kGraphExamples = 64;

  void start(const Run& run, std::shared_ptr<nn::Module> network, size_t examples);
  void show_pictures(const Tensor& images);
  void add_sum(Tensor& sum, const Tensor& value) const;
  void log_epoch(const EpochResult& result);
  void print(const EpochResult& result);
  double now() const;

  RunManagerOptions options_;
  std::vector<EpochResult> results_;
  std::shared_ptr<nn::Module> network_;
  std::optional<SummaryWriter> tb_;
  Run run_;
  size_t examples_ = 0;
  int64_t run_count_ = 0, epoch_count_ = 0;
  double run_start_ = 0, epoch_start_ = 0;
  bool in_epoch_ = false;
  Tensor loss_sum_, correct_sum_;
  std::vector<std::string> header_;  ///< of the table whose head is printed
  std::unique_ptr<TableLayout> layout_;
};

template <class Network, class Loader>
void RunManager::begin_run(const Run& run, const Network& network, Loader& loader) {
  std::shared_ptr<nn::Module> module;
  if constexpr (requires { network.ptr(); })
    module = network.ptr();
  else
    module = network;
  const std::optional<size_t> size = loader.dataset_size();
  TAEDA_CHECK_TYPE(size, "RunManager needs a dataset whose size is known");
  start(run, module, *size);
  if (!tb_) return;
  const auto first = loader.begin();
  if (first == loader.end()) return;
  show_pictures(first->data);
  const Tensor some = first->data.narrow(0, 0, std::min(first->data.size(0), kGraphExamples));
  const Tensor inputs = some.to(Device(run.get<std::string>("device", "cpu")));
  if constexpr (requires { network.ptr(); })
    tb_->add_graph(network, inputs);
  else
    tb_->add_graph(*network, inputs);
}

}  // namespace taeda::logging
