#include "taeda/vision/mnist.h"

#include <algorithm>
#include <filesystem>

#include "taeda/data/gather.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/vision/idx.h"

namespace taeda::inline v0_2::vision::datasets {

namespace {

std::string find_idx(const std::string& root, const std::string& name, const std::string& file) {
  namespace fs = std::filesystem;
  for (const fs::path& folder :
       {fs::path(root), fs::path(root) / name / "raw", fs::path(root) / "raw"})
    for (const char* ending : {"", ".gz"}) {
      std::error_code ignored;
      const fs::path path = folder / (file + ending);
      if (fs::exists(path, ignored)) return path.string();
    }
  throw Error(taeda::detail::concat("cannot find ", file, " or ", file, ".gz in ", root));
}

}  // namespace

LabelledImages read_mnist(const std::string& root, const std::string& name, bool train) {
  const std::string part = train ? "train" : "t10k";
  const std::string image_path = find_idx(root, name, part + "-images-idx3-ubyte");
  const std::string label_path = find_idx(root, name, part + "-labels-idx1-ubyte");
  const Tensor images = read_idx(image_path), labels = read_idx(label_path);
  TAEDA_CHECK(images.dtype() == kByte && images.dim() == 3, image_path,
              " should hold uint8 images (N, height, width), but holds ",
              dtype_name(images.dtype()), " of shape ", images.sizes());
  TAEDA_CHECK(labels.dtype() == kByte && labels.dim() == 1, label_path,
              " should hold uint8 labels (N), but holds ", dtype_name(labels.dtype()), " of shape ",
              labels.sizes());
  TAEDA_CHECK(images.size(0) == labels.size(0), image_path, " has ", images.size(0),
              " images, but ", label_path, " has ", labels.size(0), " labels");
  TAEDA_CHECK(images.numel() > 0, image_path, " holds no images");
  const auto* label = labels.data_ptr<uint8_t>();
  const auto wrong = std::find_if(label, label + labels.numel(), [](uint8_t v) { return v > 9; });
  TAEDA_CHECK(wrong == label + labels.numel(), label_path, " has label ", int{*wrong}, " at index ",
              wrong - label, "; expected 0 to 9");
  return {images.unsqueeze(1), labels.to(kLong)};
}

data::Example<> LabelledImages::batch(ArrayRef<size_t> indices) const {
  const NoGradGuard no_grad;
  return {data::gather_unit_rows(images, indices), data::gather_rows(targets, indices)};
}

const std::vector<std::string>& MNIST::classes() {
  static const std::vector<std::string> names = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  return names;
}

const std::vector<std::string>& FashionMNIST::classes() {
  static const std::vector<std::string> names = {"T-shirt/top", "Trouser",   "Pullover", "Dress",
                                                 "Coat",        "Sandal",    "Shirt",    "Sneaker",
                                                 "Bag",         "Ankle boot"};
  return names;
}

}  // namespace taeda::vision::datasets
