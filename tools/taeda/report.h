// What a training run shows on the way and leaves behind.
#pragma once

#include "taeda/log/progress.h"
#include "taeda/nn/module.h"
#include "tools/taeda/train_fashion_mnist.h"

namespace taeda::tool {

class Report {
 public:
  /// Says what will be trained, on what. Results of an earlier run in the same folder are removed.
  Report(const TrainOptions& options, Device device, const nn::Module& network,
         const vision::datasets::FashionMNIST& train_set,
         const vision::datasets::FashionMNIST& test_set);

  std::string checkpoint_path() const { return path("checkpoint.safetensors"); }
  logging::ProgressBar progress_bar(int64_t epoch) const;
  /// One line of the table of epochs.
  void add_epoch(const EpochRecord& record);
  /// Accuracy of every class, the classes most often mistaken, the picture, the result file.
  void finish(const std::vector<int64_t>& predictions) const;

 private:
  std::string path(const std::string& name) const { return options_.out + "/" + name; }
  double images_per_second() const;
  void write_result(const std::vector<double>& class_accuracy) const;

  TrainOptions options_;
  Device device_;
  int64_t parameters_;
  const vision::datasets::FashionMNIST& train_set_;
  const vision::datasets::FashionMNIST& test_set_;
  std::vector<EpochRecord> epochs_;
};

/// counts[true class][predicted class].
using Confusion = std::vector<std::vector<int64_t>>;
Confusion count_confusion(const std::vector<int64_t>& labels,
                          const std::vector<int64_t>& predictions, size_t classes);

/// A picture of the first test images, each with its predicted class; wrong ones have a red frame
/// and the true class in a second line.
Tensor draw_predictions(const vision::datasets::FashionMNIST& test_set,
                        const std::vector<int64_t>& predictions);

}  // namespace taeda::tool
