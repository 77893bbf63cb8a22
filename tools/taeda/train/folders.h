// Where runs lie. One never overwrites another unless it was told to.
#pragma once

#include <string>

#include "tools/taeda/train/options.h"
#include "tools/taeda/train/ranks.h"

namespace taeda::tool {

/// What a run leaves in its folder.
constexpr const char *kCheckpointFile = "checkpoint.safetensors", *kBestFile = "best.safetensors",
                     *kResultFile = "result.json", *kConfigFile = "run.toml",
                     *kPicturesFile = "predictions.png", *kMistakesFile = "mistakes.png",
                     *kStepsFile = "steps.csv";

bool holds_run(const std::string& folder);

/// The folder of a new run: the one that was given, or the first of out, out-2, out-3, ... without
/// a run. A run that goes on stays where it is: --resume auto means the last of them, a checkpoint
/// the folder that it lies in. Throws UsageError where a run would be lost. All ranks get the same.
std::string choose_folder(const TrainOptions& options, const Ranks& ranks);

/// Makes the folder, and makes sure that files can be written there, before hours of training.
/// Throws UsageError or Error otherwise.
void prepare_folder(const std::string& folder);

}  // namespace taeda::tool
