// What is trained on what: data, network, loss. The driver (driver.h) does the rest, the same for
// all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "taeda/data/loader.h"
#include "taeda/log/json_lines.h"
#include "taeda/nn/any_module.h"
#include "tools/taeda/train/about.h"
#include "tools/taeda/train/options.h"

namespace taeda::tool {

using Loader = data::DataLoader<data::Example<>>;

/// Loss and accuracy over some examples, and the time that took.
struct Score {
  double loss = 0;
  double accuracy = 0;  ///< fraction
  double seconds = 0;
  int64_t count = 0;
};

/// What the test made of each example, if the task counts hits.
struct Predictions {
  std::vector<int64_t> classes;
  std::vector<double> probabilities;  ///< of these classes, if they have names
};

/// What a finished run knows.
struct Finished {
  nn::AnyModule& network;  ///< in evaluation mode
  Device device;
  Score test;
  Predictions predictions;
  std::string out;     ///< a folder for pictures; empty: none shall be written
  bool quiet = false;  ///< nothing shall be printed
};

struct Task {
  About about;
  std::string title;  ///< "Fashion-MNIST: 60,000 training and 10,000 test images"
  std::string unit = "images";
  std::string hint = {};   ///< what may not be as it was meant; empty: nothing
  int64_t train_size = 0;  ///< units in an epoch
  /// Whether outputs are scores of classes; otherwise there is no accuracy.
  bool counts_hits = true;
  std::function<Loader(data::LoaderConfig)> train_loader, test_loader;
  /// Examples in a batch of the test; 0: as in training.
  size_t test_batch = 0;
  /// Of outputs and targets, a mean over all targets.
  std::function<Tensor(const Tensor&, const Tensor&)> loss;
  /// Prints what the run came to, and adds it to the result; optional.
  std::function<void(const Finished&, logging::JsonObject&)> finish;
};

/// The task that the options name. Throws UsageError for options and data that do not fit.
Task make_task(const TrainOptions& options);
/// Everything in `data`, of the kind that a network was trained on, as a test of it. There is no
/// training part. Throws UsageError for data that do not fit.
Task make_test(const About& about, const std::string& data);

// What these two are made of: fashion-mnist, mnist, cifar10; a folder; a table; a text.

Task make_image_task(const TrainOptions& options);
Task make_folder_task(const TrainOptions& options);
Task make_csv_task(const TrainOptions& options);
Task make_text_task(const TrainOptions& options);
Task make_image_test(const About& about, const std::string& data);
Task make_folder_test(const About& about, const std::string& data);
Task make_csv_test(const About& about, const std::string& data);
Task make_text_test(const About& about, const std::string& data);

/// Shuffled positions from 0 to n - 1, the same for a seed: the last `n / parts` of them, at least
/// one, are for the test.
struct Split {
  std::vector<size_t> train, test;
};
Split split(size_t n, size_t parts, int64_t seed);

}  // namespace taeda::tool
