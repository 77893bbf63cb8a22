// Where runs lie. One never overwrites another unless it was told to.
#pragma once

#include <memory>
#include <string>

#include "tools/taeda/train/folder_lock.h"
#include "tools/taeda/train/options.h"
#include "tools/taeda/train/ranks.h"

namespace taeda::tool {

/// What a run leaves in its folder.
constexpr const char *kCheckpointFile = "checkpoint.safetensors", *kBestFile = "best.safetensors",
                     *kResultFile = "result.json", *kConfigFile = "run.toml",
                     *kPicturesFile = "predictions.png", *kMistakesFile = "mistakes.png",
                     *kStepsFile = "steps.csv";

bool holds_run(const std::string& folder);

struct RunFolder {
  std::string path;
  std::unique_ptr<FolderLock> lock;  ///< of the rank that leads
};

/// The folder of a new run: the one that was given, or the first of out, out-2, out-3, ... without
/// a run. A run that goes on stays where it is: --resume auto means the last of them, a checkpoint
/// the folder that it lies in. Throws UsageError where a run would be lost, or another one is under
/// way. All ranks get the same.
RunFolder claim_folder(const TrainOptions& options, const Ranks& ranks);

/// Makes sure that files can be written to the folder, before hours of training. Throws Error
/// otherwise.
void prepare_folder(const std::string& folder);

}  // namespace taeda::tool
