#include "tools/taeda/report.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>

#include "taeda/base/parallel_for.h"
#include "taeda/io/atomic_file.h"
#include "taeda/log/json_lines.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "taeda/ops/copy.h"
#include "taeda/ops/create.h"
#include "taeda/ops/join.h"
#include "taeda/ops/shape.h"
#include "taeda/vision/grid.h"
#include "taeda/vision/image_io.h"

namespace taeda::tool {

namespace {

const std::vector<std::string> kColumns = {"epoch",     "train loss", "train acc",
                                           "test loss", "test acc",   "time"};
const std::vector<size_t> kWidths = {5, 10, 9, 9, 8, 8};
constexpr size_t kShownConfusions = 5;

constexpr int64_t kPictures = 40, kPicturesPerRow = 8, kEnlarged = 3;
constexpr vision::Color kBlack{0, 0, 0}, kRed{205, 30, 30}, kGreen{20, 130, 50};

std::vector<int64_t> to_vector(const Tensor& t) {
  return {t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + t.numel()};
}

/// The share of each class that was recognised; 0 for a class without images.
std::vector<double> class_accuracies(const Confusion& confusion) {
  std::vector<double> out;
  for (size_t c = 0; c < confusion.size(); ++c) {
    const int64_t all = std::accumulate(confusion[c].begin(), confusion[c].end(), int64_t{0});
    out.push_back(all > 0 ? static_cast<double>(confusion[c][c]) / static_cast<double>(all) : 0);
  }
  return out;
}

void print_classes(const std::vector<std::string>& names, const std::vector<double>& accuracy) {
  logging::Table table({"class", "accuracy"});
  for (size_t c = 0; c < names.size(); ++c) table.row({names[c], logging::percent(accuracy[c])});
  std::printf("\n%s", table.str().c_str());
}

void print_confusions(const std::vector<std::string>& names, const Confusion& confusion) {
  struct Pair {
    size_t truth, taken_for;
    int64_t count;
  };
  std::vector<Pair> pairs;
  for (size_t t = 0; t < names.size(); ++t)
    for (size_t p = 0; p < names.size(); ++p)
      if (t != p && confusion[t][p] > 0) pairs.push_back({t, p, confusion[t][p]});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.count > b.count; });
  if (pairs.empty()) return;
  logging::Table table({"most often mistaken", "for", "times"});
  for (size_t i = 0; i < std::min(pairs.size(), kShownConfusions); ++i)
    table.row({names[pairs[i].truth], names[pairs[i].taken_for], std::to_string(pairs[i].count)});
  std::printf("\n%s", table.str().c_str());
}

/// An image with its label below it.
Tensor draw_one(const Tensor& image, const std::string& predicted, const std::string& truth) {
  const bool right = predicted == truth;
  const Tensor large = vision::enlarge(image, kEnlarged);
  const int64_t size = large.size(-1);
  Tensor cell = full({3, size + 2 * vision::kLineHeight + 2, size}, 255, kByte);
  cell.narrow(1, 0, size).copy_(large.expand({3, size, size}));
  vision::draw_frame(cell, 0, 0, size, size, 2, right ? kGreen : kRed);
  vision::draw_text(cell, 1, size + 2, predicted, right ? kBlack : kRed);
  if (!right) vision::draw_text(cell, 1, size + 2 + vision::kLineHeight, "is " + truth, kBlack);
  return cell;
}

}  // namespace

Confusion count_confusion(const std::vector<int64_t>& labels,
                          const std::vector<int64_t>& predictions, size_t classes) {
  Confusion out(classes, std::vector<int64_t>(classes));
  for (size_t i = 0; i < labels.size(); ++i)
    ++out[static_cast<size_t>(labels[i])][static_cast<size_t>(predictions[i])];
  return out;
}

Tensor draw_predictions(const vision::datasets::FashionMNIST& test_set,
                        const std::vector<int64_t>& predictions) {
  const std::vector<int64_t> labels = to_vector(test_set.targets());
  const auto& names = test_set.classes();
  std::vector<Tensor> cells;
  for (size_t i = 0; i < std::min<size_t>(kPictures, labels.size()); ++i)
    cells.push_back(draw_one(test_set.raw_images().select(0, static_cast<int64_t>(i)),
                             names[static_cast<size_t>(predictions[i])],
                             names[static_cast<size_t>(labels[i])]));
  return vision::make_grid(stack(cells), {.nrow = kPicturesPerRow, .padding = 6, .pad_value = 255});
}

Report::Report(const TrainOptions& options, Device device, const nn::Module& network,
               const vision::datasets::FashionMNIST& train_set,
               const vision::datasets::FashionMNIST& test_set)
    : options_(options),
      device_(device),
      parameters_(0),
      train_set_(train_set),
      test_set_(test_set) {
  for (const Tensor& p : network.parameters()) parameters_ += p.numel();
  std::printf(
      "Fashion-MNIST: %s training and %s test images; a network of %s parameters on %s, %d "
      "threads\n",
      logging::with_commas(static_cast<long long>(*train_set.size())).c_str(),
      logging::with_commas(static_cast<long long>(*test_set.size())).c_str(),
      logging::with_commas(parameters_).c_str(), device.str().c_str(), get_num_threads());
  std::fflush(stdout);
  for (const char* old : {"checkpoint.safetensors", "predictions.png", "result.json"}) {
    std::error_code ignored;
    std::filesystem::remove(path(old), ignored);
  }
}

logging::ProgressBar Report::progress_bar(int64_t epoch) const {
  return logging::ProgressBar(
      "epoch " + std::to_string(epoch) + "/" + std::to_string(options_.epochs),
      static_cast<int64_t>(*train_set_.size()));
}

void Report::add_epoch(const EpochRecord& r) {
  if (epochs_.empty()) std::printf("%s", logging::Table(kColumns).top(kWidths).c_str());
  epochs_.push_back(r);
  std::printf("%s",
              logging::Table::line(
                  {std::to_string(r.epoch), logging::fixed(r.train.loss, 4),
                   logging::percent(r.train.accuracy), logging::fixed(r.test.loss, 4),
                   logging::percent(r.test.accuracy), logging::format_duration(r.train.seconds)},
                  kWidths)
                  .c_str());
  if (r.epoch == options_.epochs) std::printf("%s", logging::Table::bottom(kWidths).c_str());
  std::fflush(stdout);
}

double Report::images_per_second() const {
  double seconds = 0, images = 0;
  for (const EpochRecord& r : epochs_) {
    seconds += r.train.seconds;
    images += static_cast<double>(r.train.images);
  }
  return seconds > 0 ? images / seconds : 0;
}

void Report::finish(const std::vector<int64_t>& predictions) const {
  const auto& names = test_set_.classes();
  const Confusion confusion =
      count_confusion(to_vector(test_set_.targets()), predictions, names.size());
  const std::vector<double> accuracy = class_accuracies(confusion);
  print_classes(names, accuracy);
  print_confusions(names, confusion);

  const EpochRecord& last = epochs_.back();
  std::printf("\ntest accuracy %s, %s images/s\n", logging::percent(last.test.accuracy).c_str(),
              logging::with_commas(static_cast<long long>(images_per_second())).c_str());
  if (vision::has_png()) {
    vision::write_png(draw_predictions(test_set_, predictions), path("predictions.png"));
    std::printf("pictures    %s\n", path("predictions.png").c_str());
  } else {
    std::printf("pictures    none: built without libpng\n");
  }
  write_result(accuracy);
  std::printf("checkpoint  %s\nresult      %s\n", checkpoint_path().c_str(),
              path("result.json").c_str());
}

void Report::write_result(const std::vector<double>& class_accuracy) const {
  std::vector<logging::JsonObject> epochs;
  for (const EpochRecord& r : epochs_)
    epochs.push_back(logging::JsonObject()
                         .set("epoch", r.epoch)
                         .set("train_loss", r.train.loss)
                         .set("train_accuracy", r.train.accuracy)
                         .set("test_loss", r.test.loss)
                         .set("test_accuracy", r.test.accuracy)
                         .set("seconds", r.train.seconds));
  logging::JsonObject classes;
  for (size_t c = 0; c < class_accuracy.size(); ++c)
    classes.set(test_set_.classes()[c], class_accuracy[c]);
  const logging::JsonObject result = logging::JsonObject()
                                         .set("device", device_.str())
                                         .set("seed", options_.seed)
                                         .set("batch_size", options_.batch_size)
                                         .set("lr", options_.lr)
                                         .set("workers", options_.workers)
                                         .set("threads", get_num_threads())
                                         .set("parameters", parameters_)
                                         .set("epochs", epochs)
                                         .set("class_accuracy", classes)
                                         .set("test_accuracy", epochs_.back().test.accuracy)
                                         .set("images_per_second", images_per_second());
  io::write_file(path("result.json"), result.pretty());
}

}  // namespace taeda::tool
