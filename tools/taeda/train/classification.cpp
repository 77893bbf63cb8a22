#include "tools/taeda/train/classification.h"

#include <algorithm>
#include <cstdio>

#include "taeda/log/table.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/training/metrics.h"
#include "taeda/vision/grid.h"
#include "taeda/vision/image_io.h"
#include "tools/taeda/train/folders.h"

namespace taeda::tool {

namespace {

constexpr size_t kShownConfusions = 5;
/// Those that the result tells of.
constexpr size_t kMistakes = 24;

constexpr int64_t kPictures = 40, kPicturesPerRow = 8, kLeastSide = 84;
constexpr int64_t kTextSize = 12, kTextLine = 14;
constexpr vision::Color kBlack{0, 0, 0}, kRed{205, 30, 30}, kGreen{20, 130, 50};

void print_classes(const std::vector<std::string>& names, const double* accuracy) {
  logging::Table table({"class", "accuracy"});
  for (size_t c = 0; c < names.size(); ++c) table.row({names[c], logging::percent(accuracy[c])});
  std::printf("\n%s", table.str().c_str());
}

/// `confusion`: how often a class, its row, was taken for which, its column.
void print_confusions(const std::vector<std::string>& names, const double* confusion) {
  struct Pair {
    size_t truth, taken_for;
    double count;
  };
  std::vector<Pair> pairs;
  for (size_t t = 0; t < names.size(); ++t)
    for (size_t p = 0; p < names.size(); ++p)
      if (const double n = confusion[t * names.size() + p]; t != p && n > 0)
        pairs.push_back({t, p, n});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.count > b.count; });
  if (pairs.empty()) return;
  logging::Table table({"most often mistaken", "for", "times"});
  for (size_t i = 0; i < std::min(pairs.size(), kShownConfusions); ++i)
    table.row({names[pairs[i].truth], names[pairs[i].taken_for],
               std::to_string(static_cast<int64_t>(pairs[i].count))});
  std::printf("\n%s", table.str().c_str());
}

/// An image with its label below it.
Tensor draw_one(const Tensor& image, const std::string& predicted, const std::string& truth) {
  const bool right = predicted == truth;
  return draw_labelled(image, predicted, right ? "" : "is " + truth,
                       right ? LabelColor::kGood : LabelColor::kBad);
}

}  // namespace

Tensor draw_labelled(const Tensor& image, const std::string& first, const std::string& second,
                     LabelColor color) {
  const bool bad = color == LabelColor::kBad;
  const int64_t factor = std::max<int64_t>(1, (kLeastSide + image.size(-1) - 1) / image.size(-1));
  const Tensor large = vision::enlarge(image, factor);
  const int64_t size = large.size(-1);
  Tensor cell = full({3, size + 2 * kTextLine + 2, size}, 255, kByte);
  cell.narrow(1, 0, size).copy_(large.expand({3, size, size}));
  if (color != LabelColor::kPlain)
    vision::draw_frame(cell, 0, 0, size, size, 2, bad ? kRed : kGreen);
  vision::draw_text(cell, 1, size + 2, first, bad ? kRed : kBlack, kTextSize);
  vision::draw_text(cell, 1, size + 2 + kTextLine, second, kBlack, kTextSize);
  return cell;
}

Tensor draw_predictions(const PictureOf& picture, const std::vector<int64_t>& labels,
                        const std::vector<int64_t>& predictions,
                        const std::vector<std::string>& names) {
  std::vector<Tensor> cells;
  for (size_t i = 0; i < std::min<size_t>(kPictures, labels.size()); ++i)
    cells.push_back(draw_one(picture(i), names[static_cast<size_t>(predictions[i])],
                             names[static_cast<size_t>(labels[i])]));
  return vision::make_grid(stack(cells), {.nrow = kPicturesPerRow, .padding = 6, .pad_value = 255});
}

std::vector<int64_t> to_vector(const Tensor& t) {
  return {t.data_ptr<int64_t>(), t.data_ptr<int64_t>() + t.numel()};
}

namespace {

logging::JsonObject confusion_json(const std::vector<std::string>& names, const double* confusion) {
  logging::JsonObject out;
  const size_t n = names.size();
  for (size_t c = 0; c < n; ++c)
    out.set(names[c], std::vector<double>(confusion + c * n, confusion + (c + 1) * n));
  return out;
}

/// The wrong ones that the network was surest of, first.
std::vector<size_t> surest_mistakes(const std::vector<int64_t>& labels, const Predictions& told) {
  std::vector<size_t> out;
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i] != told.classes[i]) out.push_back(i);
  std::ranges::stable_sort(out, std::ranges::greater(),
                           [&](size_t i) { return told.probabilities[i]; });
  out.resize(std::min(out.size(), kMistakes));
  return out;
}

std::vector<logging::JsonObject> mistakes_json(const std::vector<size_t>& mistakes,
                                               const std::vector<std::string>& names,
                                               const std::vector<int64_t>& labels,
                                               const Predictions& told) {
  std::vector<logging::JsonObject> out;
  for (const size_t i : mistakes)
    out.push_back(logging::JsonObject()
                      .set("example", static_cast<int64_t>(i))
                      .set("class", names[static_cast<size_t>(labels[i])])
                      .set("taken_for", names[static_cast<size_t>(told.classes[i])])
                      .set("probability", told.probabilities[i]));
  return out;
}

/// The pictures side by side, without a gap: `taeda report` cuts them apart.
void write_mistakes(const std::vector<size_t>& mistakes, const PictureOf& picture,
                    const std::string& path) {
  if (mistakes.empty()) return;
  std::vector<Tensor> row;
  for (const size_t i : mistakes) row.push_back(picture(i));
  vision::write_png(cat(row, /*dim=*/2), path);
}

}  // namespace

std::function<void(const Finished&, logging::JsonObject&)> report_classes(
    std::vector<std::string> names, std::vector<int64_t> labels, PictureOf picture) {
  return [names, labels, picture](const Finished& f, logging::JsonObject& result) {
    training::Recall recall(std::max<int64_t>(2, static_cast<int64_t>(names.size())),
                            training::Average::None);
    recall.update(tensor(f.predictions.classes), tensor(labels));
    const Tensor shares = recall.compute(), counts = recall.ConfusionMatrix::compute();
    const double *accuracy = shares.data_ptr<double>(), *confusion = counts.data_ptr<double>();
    if (!f.quiet) {
      print_classes(names, accuracy);
      print_confusions(names, confusion);
    }
    logging::JsonObject classes;
    for (size_t c = 0; c < names.size(); ++c) classes.set(names[c], accuracy[c]);
    result.set("class_accuracy", classes);
    const std::vector<size_t> mistakes = surest_mistakes(labels, f.predictions);
    result.set("confusion", confusion_json(names, confusion))
        .set("mistakes", mistakes_json(mistakes, names, labels, f.predictions));
    if (!picture || f.out.empty()) return;
    const std::string path = f.out + "/" + kPicturesFile;
    if (vision::has_png()) {
      vision::write_png(draw_predictions(picture, labels, f.predictions.classes, names), path);
      write_mistakes(mistakes, picture, f.out + "/" + kMistakesFile);
    }
    if (!f.quiet)
      std::printf("\npictures    %s\n",
                  vision::has_png() ? path.c_str() : "none: built without libpng");
  };
}

}  // namespace taeda::tool
