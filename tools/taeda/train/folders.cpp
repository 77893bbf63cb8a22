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

/// Of out, out-2, out-3, ... the last run, or the first that no other run has or had.
RunFolder claim_numbered(const TrainOptions& o, const Ranks& ranks) {
  int64_t n = 0;
  RunFolder out;
  if (ranks.leads()) {
    n = first_free(o.out);
    if (o.resume == "auto") {
      if (n > 1) --n;
      out.lock = FolderLock::lock(numbered(o.out, n));
    }
    for (; !out.lock; ++n) {
      out.lock = FolderLock::try_lock(numbered(o.out, n));
      if (out.lock && !holds_run(numbered(o.out, n))) break;
      out.lock.reset();
    }
  }
  out.path = numbered(o.out, static_cast<int64_t>(ranks.sum({static_cast<double>(n)})[0]));
  return out;
}

}  // namespace

void prepare_folder(const std::string& folder) {
  io::AtomicFile probe(folder + "/" + kResultFile);
}

bool holds_run(const std::string& folder) {
  for (const char* name : {kCheckpointFile, kBestFile, kResultFile, kConfigFile})
    if (fs::exists(fs::path(folder) / name)) return true;
  return false;
}

RunFolder claim_folder(const TrainOptions& o, const Ranks& ranks) {
  const bool automatic = o.resume == "auto", goes_on = !o.resume.empty();
  if (!o.out_given && !(goes_on && !automatic) && !(o.force && !goes_on))
    return claim_numbered(o, ranks);
  RunFolder out{o.out_given || !goes_on ? o.out : folder_of(o.resume), nullptr};
  if (!ranks.leads()) return out;
  const bool may_hold_run =
      !o.out_given || o.force || automatic || (goes_on && same_folder(folder_of(o.resume), o.out));
  const auto check = [&] {
    if (may_hold_run || !holds_run(out.path)) return;
    throw UsageError("--out " + o.out +
                     " holds a run already: give another folder, --force to write "
                     "over it" +
                     (goes_on ? "" : ", or --resume auto to go on with it"));
  };
  check();
  out.lock = FolderLock::lock(out.path);
  check();  // another run may have ended meanwhile
  return out;
}

}  // namespace taeda::tool
