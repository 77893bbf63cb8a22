// What the commands of the `taeda` tool have in common. Each lives in a file of its own and adds
// itself to the command line.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "taeda/base/device.h"
#include "taeda/base/error.h"
#include "tools/taeda/command_line.h"

namespace taeda::tool {

/// Something the user must change: one line on stderr, exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};
/// What the program at hand, which was built to train alone, leaves to the one with all commands:
/// "taeda train --nproc above 1".
class NeedsAllCommands : public UsageError {
  using UsageError::UsageError;
};

constexpr int kExitFailure = 1, kExitUsage = 2, kExitInterrupted = 130;

/// `command_line` is repeated to the user who is told how to go on.
void add_train(const Command& app, const std::vector<std::string>& command_line);
void add_eval(const Command& app);
void add_predict(const Command& app);
void add_generate(const Command& app);
void add_runs(const Command& app);
void add_report(const Command& app);
void add_launch(const Command& app);
void add_devices(const Command& app);
void add_info(const Command& app);
void add_bench(const Command& app);
void add_plan(const Command& app);
void add_inspect(const Command& app);
void add_export(const Command& app);
void add_convert(const Command& app);
void add_plot(const Command& app);
void add_trace(const Command& app);
void add_trace_merge(const Command& trace);
void add_ops(const Command& app);
void add_completion(const Command& app);

/// Runs what depends on the user's input only: what it throws becomes a UsageError.
template <class F>
auto user_input(F&& fn) {
  try {
    return fn();
  } catch (const UsageError&) {
    throw;
  } catch (const Error& e) {
    throw UsageError(e.message());
  } catch (const std::exception& e) {
    throw UsageError(e.what());
  }
}

/// Throws UsageError "<flag> must be <rule>, got <value>".
template <class T>
void check_flag(bool good, const char* flag, const char* rule, const T& value) {
  if (!good) throw UsageError(taeda::detail::concat(flag, " must be ", rule, ", got ", value));
}

/// The device of a name; "auto" is a GPU where there is one. Makes it current.
Device choose_device(const std::string& name);
/// All accelerators, those of plug-ins included.
std::vector<Device> accelerators();
/// A type of accelerator that programs could prefer, and why it has no devices.
struct MissingType {
  std::string name, reason;
};
std::vector<MissingType> missing_accelerators();
/// Shows an ONNX model: `taeda inspect`.
int inspect_onnx(const std::string& path, bool json);
/// "1.5 GiB", "312 B".
std::string bytes_text(double bytes);
/// "1 tensor", "2 tensors".
std::string count_text(size_t count, const char* of_one);
/// "1 thread", "2 threads": those that compute.
std::string threads_text();
/// A line of text, broken between words where it is wider than `columns`; what follows is indented.
std::string paragraph(const std::string& text, size_t columns);
/// For what is printed: broken on a terminal, and one line elsewhere.
std::string paragraph(const std::string& text, std::FILE* stream = stdout);

}  // namespace taeda::tool
