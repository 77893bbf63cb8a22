// What the steps of a run were like: a table of at most some thousand lines, beside the run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "taeda/base/device.h"
#include "taeda/training/trainer.h"

namespace taeda::tool {

/// Writes steps.csv. A line is of all steps since the line before: the mean of their losses, the
/// largest gradient norm and the most memory; of the last of them the learning rate and the scale.
/// Lines are written at once, so that a crash loses none.
class StepLog {
 public:
  /// A line for every `interval` steps. What the file has of steps after `done` is dropped: a run
  /// that was killed may have come further than its checkpoint. Throws Error where the file cannot
  /// be written.
  StepLog(const std::string& path, Device device, int64_t done, int64_t interval);

  /// Of one step: its number, its epoch, and the seconds of training until then.
  void add(int64_t step, int64_t epoch, double seconds, const training::StepReport& report);
  /// Writes the line that is under way, if there is one.
  void flush();

 private:
  struct Line {
    int64_t step = 0, epoch = 0, losses = 0, skipped = 0;
    double seconds = 0, loss = 0, grad_norm = 0, lr = 0, scale = 1;
  };
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  Device device_;
  int64_t interval_;
  Line line_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace taeda::tool
