// Pictures in folders named after their classes: root/cat/1.jpg, root/dog/sub/2.png.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "taeda/data/dataset.h"
#include "taeda/vision/image_io.h"

namespace taeda::inline v0_2::vision::datasets {

/// An example is a uint8 picture (3, height, width) and its label, read when it is asked for. Sizes
/// differ: map() a Resize or a crop before batches are made. Classes are in the order of their
/// names.
class ImageFolder : public data::datasets::Dataset<ImageFolder> {
 public:
  /// Throws Error when there is no folder of a class, or a class without a PNG or JPEG file.
  explicit ImageFolder(const std::string& root, ImageReadMode mode = ImageReadMode::kRgb);

  data::Example<> get(size_t index) override;
  std::optional<size_t> size() const override { return samples_->size(); }

  const std::vector<std::string>& classes() const { return classes_; }
  /// Path and label of each picture, in the order of the elements.
  const std::vector<std::pair<std::string, int64_t>>& samples() const { return *samples_; }

 private:
  std::vector<std::string> classes_;
  /// Shared by the copies that workers have.
  std::shared_ptr<const std::vector<std::pair<std::string, int64_t>>> samples_;
  ImageReadMode mode_;
};

}  // namespace taeda::vision::datasets
