// `taeda` as far as it trains. For all else it becomes the program that has all commands, if that
// is built: training does not wait for what it does not use.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "taeda/base/nearest.h"
#include "tools/taeda/command.h"
#include "tools/taeda/train/config.h"
#include "tools/taeda/train/crowd.h"

namespace {

namespace fs = std::filesystem;
using namespace taeda::tool;

fs::path own_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

/// Becomes the program that has all commands. Returns where there is none.
void hand_over(char** argv) {
  const std::string program = (own_folder() / TAEDA_ALL_COMMANDS).lexically_normal().string();
  ::execv(program.c_str(), argv);
  if (errno != ENOENT) throw taeda::Error("cannot run " + program + ": " + std::strerror(errno));
}

/// What makes the other commands.
std::string way_to_others() {
  return "cmake --build " + own_folder().parent_path().string() + " --target taeda_tool";
}

int run(char** argv, const std::vector<std::string>& given) {
  const std::string word = given.size() > 1 ? given[1] : "help";
  if (word != "train") hand_over(argv);
  CommandLine line("Other commands are not built here:\n" + way_to_others());
  const Command app = line.root();
  add_train(app, given);
  if (word == "help") {
    std::printf("%s", line.help().c_str());
    return 0;
  }
  if (word != "train" && !word.starts_with('-')) {
    const std::string meant = taeda::nearest_name(word, {"train"});
    throw UsageError("taeda " + word + " is not built here: " + way_to_others() +
                     (meant.empty() ? "" : "; or did you mean " + meant + "?"));
  }
  Action action;
  try {
    action = line.understand(with_config(app, given));
  } catch (const UsageError&) {
    hand_over(argv);  // that one knows all words that may have been meant
    throw;
  }
  try {
    return action();
  } catch (const NeedsAllCommands& error) {
    hand_over(argv);
    throw UsageError(error.message() + " is not built here: " + way_to_others());
  }
}

}  // namespace

int main(int argc, char** argv) {
  wait_as_the_machine_allows(argv, {argv, argv + argc});
  return report_errors([&] { return run(argv, {argv, argv + argc}); });
}
