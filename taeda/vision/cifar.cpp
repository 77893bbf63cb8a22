#include "taeda/vision/cifar.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include "taeda/base/error.h"
#include "taeda/io/file_bytes.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::vision::datasets {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kSide = 32, kImageBytes = 3 * kSide * kSide;

std::string find_file(const std::string& root, const std::string& folder, const std::string& name) {
  for (const fs::path& path : {fs::path(root) / name, fs::path(root) / folder / name}) {
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path.string();
  }
  throw Error(taeda::detail::concat("cannot find ", name, " in ", root, " or ", root, "/", folder));
}

/// Images, and for each one `labels_per_image` labels.
struct Records {
  Tensor images;
  std::vector<Tensor> labels;
};

/// A record is its labels, a byte each, and then the red, green and blue plane.
Records read_records(const std::vector<std::string>& paths, const std::vector<int>& classes) {
  const auto label_count = static_cast<int64_t>(classes.size());
  const int64_t record = label_count + kImageBytes;
  std::vector<std::shared_ptr<io::FileBytes>> files;
  int64_t n = 0;
  for (const std::string& path : paths) {
    files.push_back(io::FileBytes::open(path));
    const auto bytes = static_cast<int64_t>(files.back()->size());
    TAEDA_CHECK(bytes > 0 && bytes % record == 0, path, " holds ", bytes,
                " bytes, which are no whole number of images of ", record, " bytes");
    n += bytes / record;
  }
  Records out{empty({n, 3, kSide, kSide}, kByte), {}};
  for (int64_t k = 0; k < label_count; ++k) out.labels.push_back(empty({n}, kLong));
  int64_t i = 0;
  std::vector<uint8_t> bytes(static_cast<size_t>(record));
  for (size_t f = 0; f < files.size(); ++f)
    for (size_t at = 0; at < files[f]->size(); at += bytes.size(), ++i) {
      files[f]->read(at, bytes.data(), bytes.size());
      const uint8_t* p = bytes.data();
      for (size_t k = 0; k < classes.size(); ++k) {
        TAEDA_CHECK(p[k] < classes[k], paths[f], " has label ", int{p[k]}, " at byte ", at + k,
                    "; expected 0 to ", classes[k] - 1);
        out.labels[k].data_ptr<int64_t>()[i] = p[k];
      }
      std::memcpy(out.images.data_ptr<uint8_t>() + i * kImageBytes, p + label_count, kImageBytes);
    }
  return out;
}

LabelledImages read_cifar10(const std::string& root, bool train) {
  std::vector<std::string> paths;
  const auto add = [&](const std::string& name) {
    paths.push_back(find_file(root, "cifar-10-batches-bin", name));
  };
  if (train)
    for (int i = 1; i <= 5; ++i) add("data_batch_" + std::to_string(i) + ".bin");
  else
    add("test_batch.bin");
  Records records = read_records(paths, {10});
  return {records.images, records.labels[0]};
}

std::vector<std::string> read_lines(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) out.push_back(line);
  return out;
}

}  // namespace

CIFAR10::CIFAR10(const std::string& root, bool train)
    : LabelledImageDataset(read_cifar10(root, train), train) {}

const std::vector<std::string>& CIFAR10::classes() {
  static const std::vector<std::string> names = {
      "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
  return names;
}

struct CIFAR100::Files {
  Records records;
  std::vector<std::string> classes;
  bool train;

  static Files read(const std::string& root, bool train) {
    const std::string path = find_file(root, "cifar-100-binary", train ? "train.bin" : "test.bin");
    return {read_records({path}, {20, 100}),
            read_lines(fs::path(path).parent_path() / "fine_label_names.txt"), train};
  }
};

CIFAR100::CIFAR100(Files files)
    : LabelledImageDataset({files.records.images, files.records.labels[1]}, files.train),
      coarse_(files.records.labels[0]),
      classes_(std::move(files.classes)) {}

CIFAR100::CIFAR100(const std::string& root, bool train) : CIFAR100(Files::read(root, train)) {}

}  // namespace taeda::vision::datasets
