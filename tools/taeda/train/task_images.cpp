// Pictures: the MNIST family and CIFAR-10, which lie in memory, and folders of files.
#include <algorithm>
#include <filesystem>
#include <type_traits>

#include "taeda/log/terminal.h"
#include "taeda/ops/nn/loss.h"
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
  return title + ": " +
         (train > 0 ? logging::with_commas(static_cast<long long>(train)) + " training and " : "") +
         logging::with_commas(static_cast<long long>(test)) + " test " + unit;
}

template <class Set>
Set open_set(const std::string& folder, bool train, const Known& known) {
  try {
    return Set(folder, train);
  } catch (const Error& e) {
    const bool missing = e.message().find("cannot find") != std::string::npos;
    throw UsageError(e.message() + (missing ? std::string("; get them from ") + known.where : ""));
  }
}

template <class Set>
std::function<Loader(data::LoaderConfig)> loader_of(const Set& set, const About& about) {
  return [set, normalize = transforms::Normalize(about.mean, about.stddev)](data::LoaderConfig c) {
    return Loader(Set(set).map(normalize), c);
  };
}

/// The part that is for the test.
template <class Set>
Task in_memory_test(const About& about, const Known& known, const Set& test) {
  Task task;
  task.about = about;
  task.title = counts(known.title, 0, *test.size(), "images");
  task.test_loader = loader_of(test, about);
  task.test_batch = kTestBatch;
  task.loss = cross_entropy_of;
  task.finish = report_classes(
      test.classes(), to_vector(test.targets()),
      [raw = test.raw_images()](size_t i) { return raw.select(0, static_cast<int64_t>(i)); });
  return task;
}

template <class Set>
Task in_memory_task(const TrainOptions& options, const Known& known) {
  const Set train = open_set<Set>(options.data, true, known),
            test = open_set<Set>(options.data, false, known);
  const Tensor& raw = test.raw_images();
  About about{.task = options.task, .model = options.model, .classes = test.classes()};
  about.shape = {raw.size(1), raw.size(2), raw.size(3)};
  about.mean = known.mean;
  about.stddev = known.stddev;
  check_picture_model(options.model, about.shape);
  Task task = in_memory_test(about, known, test);
  task.title = counts(known.title, *train.size(), *test.size(), "images");
  task.train_size = static_cast<int64_t>(*train.size());
  task.train_loader = loader_of(train, about);
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

/// Pictures of folders with the labels that the network gives to classes of their names.
class Labelled : public data::datasets::Dataset<Labelled> {
 public:
  Labelled(const ImageFolder& pictures, std::vector<int64_t> labels)
      : pictures_(pictures), labels_(std::move(labels)) {}
  data::Example<> get(size_t index) override {
    data::Example<> out = pictures_.get(index);
    out.target.fill_(labels_[static_cast<size_t>(pictures_.samples()[index].second)]);
    return out;
  }
  std::optional<size_t> size() const override { return pictures_.size(); }

 private:
  ImageFolder pictures_;
  std::vector<int64_t> labels_;
};

/// The folder's classes as numbers of the network's.
std::vector<int64_t> labels_of(const ImageFolder& folder, const About& about,
                               const std::string& path) {
  std::vector<int64_t> out;
  for (const std::string& name : folder.classes()) {
    const auto found = std::find(about.classes.begin(), about.classes.end(), name);
    if (found == about.classes.end()) {
      std::string all;
      for (const std::string& c : about.classes) all += (all.empty() ? "" : ", ") + c;
      throw UsageError(path + " has a folder " + name +
                       ", which is no class of the network: " + all);
    }
    out.push_back(found - about.classes.begin());
  }
  return out;
}

/// Brings pictures of any size to the network's.
transforms::Compose fitted(const About& about) {
  return transforms::Compose(
      {transforms::Resize(about.shape.height), transforms::CenterCrop(about.shape.height)});
}

Task folder_test(const About& about, const ImageFolder& folder, const std::vector<size_t>& chosen,
                 const std::vector<int64_t>& numbers) {
  Task task;
  task.about = about;
  task.test_loader = [=, pictures = Labelled(folder, numbers)](data::LoaderConfig config) {
    const transforms::Compose change(
        {fitted(about), transforms::ToTensor(), transforms::Normalize(about.mean, about.stddev)});
    return Loader(data::datasets::Subset<Labelled>(pictures, chosen).map(change), config);
  };
  task.loss = cross_entropy_of;
  std::vector<int64_t> labels;
  for (size_t i : chosen)
    labels.push_back(numbers[static_cast<size_t>(folder.samples()[i].second)]);
  task.finish = report_classes(about.classes, std::move(labels),
                               [chosen, pictures = std::make_shared<ImageFolder>(folder),
                                change = std::make_shared<transforms::Compose>(fitted(about))](
                                   size_t i) { return (*change)(pictures->get(chosen[i]).data); });
  return task;
}

}  // namespace

Task make_image_task(const TrainOptions& options) {
  if (options.task == "mnist") return in_memory_task<vision::datasets::MNIST>(options, kDigits);
  if (options.task == "cifar10") return in_memory_task<vision::datasets::CIFAR10>(options, kCifar);
  return in_memory_task<vision::datasets::FashionMNIST>(options, kFashion);
}

Task make_image_test(const About& about, const std::string& data) {
  const auto test = [&](auto kind, const Known& known) {
    using Set = typename decltype(kind)::type;
    return in_memory_test(about, known, open_set<Set>(data, false, known));
  };
  if (about.task == "mnist") return test(std::type_identity<vision::datasets::MNIST>(), kDigits);
  if (about.task == "cifar10") return test(std::type_identity<vision::datasets::CIFAR10>(), kCifar);
  return test(std::type_identity<vision::datasets::FashionMNIST>(), kFashion);
}

Task make_folder_task(const TrainOptions& options) {
  const Folders folders = user_input([&] { return open_folders(options); });
  const int64_t side = options.image_size;
  About about{.task = options.task, .model = options.model, .classes = folders.train.classes()};
  about.shape = {3, side, side};
  about.mean = {0.485, 0.456, 0.406};
  about.stddev = {0.229, 0.224, 0.225};
  check_picture_model(options.model, about.shape);
  const std::vector<size_t>& train = folders.split.train;
  Task task = folder_test(about, folders.test, folders.split.test,
                          labels_of(folders.test, about, options.test));
  task.title = counts(options.data, train.size(), folders.split.test.size(), "images") + " of " +
               std::to_string(about.classes.size()) + " classes";
  task.train_size = static_cast<int64_t>(train.size());
  task.train_loader = [=, pictures = folders.train](data::LoaderConfig config) {
    const transforms::Compose change({fitted(about), transforms::RandomHorizontalFlip(),
                                      transforms::ToTensor(),
                                      transforms::Normalize(about.mean, about.stddev)});
    return Loader(data::datasets::Subset<ImageFolder>(pictures, train).map(change), config);
  };
  return task;
}

Task make_folder_test(const About& about, const std::string& data) {
  namespace fs = std::filesystem;
  fs::path root = data;
  if (fs::is_directory(root / "train"))
    for (const char* name : {"val", "test"})
      if (fs::is_directory(fs::path(data) / name)) root = fs::path(data) / name;
  return user_input([&] {
    if (!fs::is_directory(root)) throw UsageError("there is no folder " + data);
    const ImageFolder folder(root.string());
    Task task = folder_test(about, folder, all_of(folder), labels_of(folder, about, data));
    task.title = counts(root.string(), 0, *folder.size(), "images");
    return task;
  });
}

}  // namespace taeda::tool
