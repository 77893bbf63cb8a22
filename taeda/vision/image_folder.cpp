#include "taeda/vision/image_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::vision::datasets {

namespace {

namespace fs = std::filesystem;

bool is_picture(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

std::vector<std::string> folders_in(const std::string& root) {
  std::error_code error;
  fs::directory_iterator entries(root, error);
  TAEDA_CHECK(!error, "cannot read ", root, ": ", error.message());
  std::vector<std::string> out;
  for (const fs::directory_entry& entry : entries)
    if (entry.is_directory()) out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  TAEDA_CHECK(!out.empty(), "Couldn't find any class folder in ", root, ".");
  return out;
}

std::vector<std::string> pictures_in(const fs::path& folder) {
  std::vector<std::string> out;
  const auto options = fs::directory_options::follow_directory_symlink;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, options))
    if (entry.is_regular_file() && is_picture(entry.path())) out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

ImageFolder::ImageFolder(const std::string& root, ImageReadMode mode)
    : classes_(folders_in(root)), mode_(mode) {
  std::vector<std::pair<std::string, int64_t>> samples;
  for (size_t c = 0; c < classes_.size(); ++c) {
    const std::vector<std::string> paths = pictures_in(fs::path(root) / classes_[c]);
    TAEDA_CHECK(!paths.empty(), "Found no valid file for the classes ", classes_[c],
                ". Supported extensions are: .jpg, .jpeg, .png");
    for (const std::string& path : paths) samples.emplace_back(path, static_cast<int64_t>(c));
  }
  samples_ = std::make_shared<const decltype(samples)>(std::move(samples));
}

data::Example<> ImageFolder::get(size_t index) {
  TAEDA_CHECK_INDEX(index < samples_->size(), "index ", index, " is out of bounds for a folder of ",
                    samples_->size(), " pictures");
  const auto& [path, label] = (*samples_)[index];
  return {read_image(path, mode_), full({}, label, kLong)};
}

}  // namespace taeda::vision::datasets
