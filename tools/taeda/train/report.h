// What a training run shows on the way and leaves behind.
#pragma once

#include <memory>
#include <optional>

#include "taeda/log/progress.h"
#include "taeda/log/summary_writer.h"
#include "taeda/log/table.h"
#include "tools/taeda/train/folders.h"
#include "tools/taeda/train/recipe.h"
#include "tools/taeda/train/task.h"

namespace taeda::tool {

struct EpochRecord {
  int64_t epoch = 0;
  Score train, test;
  double lr = 0;  ///< of the last step
};

/// The position of the epoch with the lowest test loss, the first of several. There is one.
size_t best_of(const std::vector<EpochRecord>& epochs);

class Report {
 public:
  /// One that does not lead keeps the record of epochs, and shows and writes nothing.
  Report(const TrainOptions& options, const Task& task, Device device, const nn::Module& network,
         bool leads);

  std::string checkpoint_path() const { return path(kCheckpointFile); }
  std::string best_path() const { return path(kBestFile); }
  std::string steps_path() const { return path(kStepsFile); }
  /// Says what will be trained, on what. Results of an earlier run in the same folder are removed,
  /// and the settings written.
  void start();
  /// Of the weights that the run starts from.
  void pretrained(const Pretrained& weights) const;
  /// Says from where, and shows the epochs that are done.
  void resume(const std::vector<EpochRecord>& done);
  /// `done` units of the epoch were trained on before. None where this one does not lead.
  std::unique_ptr<logging::ProgressBar> progress_bar(int64_t epoch, int64_t done) const;
  /// One line of the table of epochs.
  void add_epoch(const EpochRecord& record);
  const std::vector<EpochRecord>& epochs() const { return epochs_; }
  /// What the task has to say, and the result file.
  void finish(const Finished& finished);

 private:
  std::string path(const std::string& name) const { return options_.out + "/" + name; }
  void head() const;
  void line(const EpochRecord& record) const;
  double units_per_second() const;
  logging::JsonObject result() const;
  void print_end(const Finished& finished) const;
  logging::JsonObject epoch_json(const EpochRecord& record) const;

  TrainOptions options_;
  const Task& task_;
  Device device_;
  bool leads_;
  int64_t parameters_ = 0;
  logging::TableLayout layout_;
  std::vector<EpochRecord> epochs_;
  std::optional<logging::SummaryWriter> tensorboard_;
};

}  // namespace taeda::tool
