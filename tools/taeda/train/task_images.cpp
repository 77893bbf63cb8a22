// Pictures: the MNIST family and CIFAR-10, which lie in memory, and folders of files.
#include <algorithm>
#include <filesystem>

#include "taeda/device/generator.h"
#include "taeda/log/terminal.h"
#include "taeda/ops/loss.h"
#include "taeda/vision/cifar.h"
#include "taeda/vision/image_folder.h"
#include "taeda/vision/mnist.h"
#include "taeda/vision/transforms.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/classification.h"
#include "tools/taeda/train/networks.h"
#include "tools/taeda/train/task.h"

namespace taeda::tool {

namespace {

using vision::datasets::ImageFolder;
namespace transforms = vision::transforms;

constexpr size_t kTestBatch = 1000;

/// A data set, what it is called, and the mean and standard deviation of its training pixels.
struct Known {
  const char* title;
  const char* where;  ///< to get it
  std::vector<double> mean, stddev;
};

Tensor cross_entropy_of(const Tensor& scores, const Tensor& labels) {
  return cross_entropy(scores, labels);
}

std::string counts(const std::string& title, size_t train, size_t test, const char* unit) {
  return title + ": " + logging::with_commas(static_cast<long long>(train)) + " training and " +
         logging::with_commas(static_cast<long long>(test)) + " test " + unit;
}

template <class Set>
Task in_memory_task(const TrainOptions& options, const Known& known) {
  const auto open = [&](bool train) {
    try {
      return Set(options.data, train);
    } catch (const Error& e) {
      const bool missing = e.message().find("cannot find") != std::string::npos;
      throw UsageError(e.message() +
                       (missing ? std::string("; get them from ") + known.where : ""));
    }
  };
  const Set train = open(true), test = open(false);
  const Tensor& raw = test.raw_images();
  const PictureShape shape{raw.size(1), raw.size(2), raw.size(3)};
  check_picture_model(options.model, shape);
  const auto normalize = transforms::Normalize(known.mean, known.stddev);
  const auto loader = [normalize](const Set& set) {
    return [set, normalize](data::LoaderConfig config) {
      return Loader(Set(set).map(normalize), config);
    };
  };
  Task task;
  task.title = counts(known.title, *train.size(), *test.size(), "images");
  task.train_size = static_cast<int64_t>(*train.size());
  task.train_loader = loader(train);
  task.test_loader = loader(test);
  task.test_batch = kTestBatch;
  task.make_network = [name = options.model, shape, classes = test.classes().size()] {
    return make_picture_model(name, shape, static_cast<int64_t>(classes));
  };
  task.loss = cross_entropy_of;
  task.finish = report_classes(
      test.classes(), to_vector(test.targets()),
      [raw = test.raw_images()](size_t i) { return raw.select(0, static_cast<int64_t>(i)); });
  return task;
}

const Known kFashion = {"Fashion-MNIST",
                        "the Debian package dataset-fashion-mnist, or "
                        "github.com/zalandoresearch/fashion-mnist, and give their folder to --data",
                        {0.2860},
                        {0.3530}};
const Known kDigits = {"MNIST",
                       "ossci-datasets.s3.amazonaws.com/mnist, and give their folder to --data",
                       {0.1307},
                       {0.3081}};
const Known kCifar = {"CIFAR-10",
                      "www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz, unpack it, and give its "
                      "folder to --data",
                      {0.4914, 0.4822, 0.4465},
                      {0.2470, 0.2435, 0.2616}};

/// The pictures of a folder, or of `train` and `test` (or `val`) below it.
struct Folders {
  ImageFolder train, test;
  Split split;
};

std::vector<size_t> all_of(const ImageFolder& folder) {
  std::vector<size_t> out(*folder.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = i;
  return out;
}

Folders open_folders(const TrainOptions& options) {
  namespace fs = std::filesystem;
  const fs::path root = options.data;
  if (!fs::is_directory(root))
    throw UsageError("there is no folder " + options.data +
                     "; it should hold a folder of PNG or JPEG files for each class");
  fs::path test = options.test;
  if (test.empty() && fs::is_directory(root / "train"))
    for (const char* name : {"test", "val"})
      if (test.empty() && fs::is_directory(root / name)) test = root / name;
  if (test.empty()) {
    const ImageFolder all(root.string());
    return {all, all, split(*all.size(), 10, options.seed)};
  }
  const ImageFolder train((options.test.empty() ? root / "train" : root).string());
  const ImageFolder other(test.string());
  if (train.classes() != other.classes())
    throw UsageError("the folders of " + test.string() + " are not those of the training pictures");
  return {train, other, {all_of(train), all_of(other)}};
}

}  // namespace

Split split(size_t n, size_t parts, int64_t seed) {
  if (n < 2) throw UsageError(taeda::detail::concat("there must be 2 examples or more, found ", n));
  std::vector<int64_t> order(n);
  Generator(kCPU, static_cast<uint64_t>(seed))
      .fill_permutation(order.data(), static_cast<int64_t>(n));
  const size_t test = std::max<size_t>(1, n / parts);
  const auto middle = order.end() - static_cast<std::ptrdiff_t>(test);
  return {{order.begin(), middle}, {middle, order.end()}};
}

Task make_image_task(const TrainOptions& options) {
  if (options.task == "mnist") return in_memory_task<vision::datasets::MNIST>(options, kDigits);
  if (options.task == "cifar10") return in_memory_task<vision::datasets::CIFAR10>(options, kCifar);
  return in_memory_task<vision::datasets::FashionMNIST>(options, kFashion);
}

Task make_folder_task(const TrainOptions& options) {
  const Folders folders = user_input([&] { return open_folders(options); });
  const int64_t side = options.image_size;
  const PictureShape shape{3, side, side};
  check_picture_model(options.model, shape);
  const std::vector<double> mean = {0.485, 0.456, 0.406}, stddev = {0.229, 0.224, 0.225};
  const transforms::Normalize normalize(mean, stddev);
  const transforms::Resize resize(side);
  const transforms::CenterCrop crop(side);
  Task task;
  const std::vector<size_t>&train = folders.split.train, &test = folders.split.test;
  task.title = counts(options.data, train.size(), test.size(), "images") + " of " +
               std::to_string(folders.train.classes().size()) + " classes";
  task.train_size = static_cast<int64_t>(train.size());
  task.train_loader = [=](data::LoaderConfig config) {
    const transforms::Compose change(
        {resize, crop, transforms::RandomHorizontalFlip(), transforms::ToTensor(), normalize});
    return Loader(data::datasets::Subset<ImageFolder>(folders.train, train).map(change), config);
  };
  task.test_loader = [=](data::LoaderConfig config) {
    const transforms::Compose change({resize, crop, transforms::ToTensor(), normalize});
    return Loader(data::datasets::Subset<ImageFolder>(folders.test, test).map(change), config);
  };
  task.make_network = [name = options.model, shape, n = folders.train.classes().size()] {
    return make_picture_model(name, shape, static_cast<int64_t>(n));
  };
  task.loss = cross_entropy_of;
  std::vector<int64_t> labels;
  for (size_t i : test) labels.push_back(folders.test.samples()[i].second);
  task.finish = report_classes(
      folders.train.classes(), std::move(labels),
      [test, pictures = std::make_shared<ImageFolder>(folders.test),
       change = std::make_shared<transforms::Compose>(std::vector<std::function<Tensor(Tensor)>>{
           resize, crop})](size_t i) { return (*change)(pictures->get(test[i]).data); });
  return task;
}

}  // namespace taeda::tool
