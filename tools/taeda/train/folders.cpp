#include "tools/taeda/train/folders.h"

#include <filesystem>

#include "taeda/io/atomic_file.h"
#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

namespace fs = std::filesystem;

std::string numbered(const std::string& folder, int64_t n) {
  return n == 1 ? folder : folder + "-" + std::to_string(n);
}

int64_t first_free(const std::string& folder) {
  int64_t n = 1;
  while (holds_run(numbered(folder, n))) ++n;
  return n;
}

/// The folder of a checkpoint, or of a run.
std::string folder_of(const std::string& path) {
  if (fs::is_directory(path)) return path;
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

bool same_folder(const std::string& a, const std::string& b) {
  std::error_code none;
  return fs::equivalent(a, b, none);
}

}  // namespace

void prepare_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error && !fs::is_directory(folder))
    throw UsageError(
        taeda::detail::concat("cannot make the output folder ", folder, ": ", error.message()));
  io::AtomicFile probe(folder + "/" + kResultFile);
}

bool holds_run(const std::string& folder) {
  for (const char* name : {kCheckpointFile, kBestFile, kResultFile, kConfigFile})
    if (fs::exists(fs::path(folder) / name)) return true;
  return false;
}

std::string choose_folder(const TrainOptions& o, const Ranks& ranks) {
  const bool automatic = o.resume == "auto", goes_on = !o.resume.empty();
  if (!o.out_given) {
    if (goes_on && !automatic) return folder_of(o.resume);
    if (o.force && !goes_on) return o.out;
    int64_t n = 0;
    if (ranks.leads()) {
      n = first_free(o.out);
      if (automatic && n > 1) --n;
    }
    return numbered(o.out, static_cast<int64_t>(ranks.sum({static_cast<double>(n)})[0]));
  }
  if (!ranks.leads() || o.force || automatic || !holds_run(o.out)) return o.out;
  if (goes_on && same_folder(folder_of(o.resume), o.out)) return o.out;
  throw UsageError("--out " + o.out +
                   " holds a run already: give another folder, --force to write "
                   "over it" +
                   (goes_on ? "" : ", or --resume auto to go on with it"));
}

}  // namespace taeda::tool
