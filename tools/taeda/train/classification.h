// What a run that sorts into classes says at its end: accuracy of every class, the classes most
// often mistaken, and a picture of examples.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "taeda/tensor/tensor.h"
#include "tools/taeda/train/task.h"

namespace taeda::tool {

/// The uint8 picture (C, H, W) of a test example.
using PictureOf = std::function<Tensor(size_t)>;

enum class LabelColor { kPlain, kGood, kBad };  ///< no frame, a green one, a red one
/// A picture (3, H, W) of a uint8 picture (C, S, S), enlarged if it is small, with two lines of
/// text below it.
Tensor draw_labelled(const Tensor& image, const std::string& first, const std::string& second,
                     LabelColor color);

/// A picture of the first test images, each with its predicted class; wrong ones have a red frame
/// and the true class in a second line.
Tensor draw_predictions(const PictureOf& picture, const std::vector<int64_t>& labels,
                        const std::vector<int64_t>& predictions,
                        const std::vector<std::string>& names);

/// A Task's `finish`: prints all that, writes predictions.png and mistakes.png if there are
/// pictures, and adds "class_accuracy", "confusion" and "mistakes" to the result.
std::function<void(const Finished&, logging::JsonObject&)> report_classes(
    std::vector<std::string> names, std::vector<int64_t> labels, PictureOf picture = {});

/// The elements of an int64 tensor.
std::vector<int64_t> to_vector(const Tensor& t);

}  // namespace taeda::tool
