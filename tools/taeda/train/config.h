// Configuration files of training runs: run.toml, written beside each run and read by --config.
#pragma once

#include <string>
#include <vector>

#include "taeda/log/json_lines.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/options.h"

namespace taeda::tool {

/// A command line of `taeda train` with --config FILE in it, as one without: the file's task, then
/// its settings as flags, then the flags that were given, so that these count. Others come back as
/// they are. Throws UsageError, with file and line, for a file that cannot be read, keys that the
/// task does not have and values of another kind.
std::vector<std::string> with_config(const Command& app, const std::vector<std::string>& words);

/// What run.toml holds: every setting of the task. Paths are absolute, so that it can be used from
/// anywhere.
std::string config_toml(const TrainOptions& options);
/// The same for programs; an unset number is left out.
logging::JsonObject config_json(const TrainOptions& options);

}  // namespace taeda::tool
