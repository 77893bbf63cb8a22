// Networks that a run has trained, found by its folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "taeda/io/archive.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/about.h"
#include "tools/taeda/train/options.h"

namespace taeda::tool {

struct Trained {
  std::string path;  ///< of the file
  int64_t epoch = 0;
  About about;
  std::string config;          ///< the settings of the run, as JSON
  nn::AnyModule network = {};  ///< on the device, in evaluation mode
};

/// What the commands that use a network are told.
struct UseOptions {
  std::string run, device = "auto";
  bool last = false, json = false;
};
void add_use(const Command& command, UseOptions& options);

/// The network of a run: the best weights of a folder, or the last ones; or those of a file. Throws
/// UsageError where there is none.
Trained open_trained(const UseOptions& options, Device device);
/// The settings of its run. Throws UsageError where the file does not have them.
TrainOptions options_of_run(const Trained& trained);
/// "best.safetensors of out, epoch 3".
std::string title_of(const Trained& trained);

}  // namespace taeda::tool
