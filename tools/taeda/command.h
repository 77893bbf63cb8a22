// What the commands of the `taeda` tool have in common. Each lives in a file of its own and adds
// itself to the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "taeda/base/device.h"
#include "taeda/base/error.h"

namespace taeda::tool {

/// Something the user must change: one line on stderr, exit code 2.
class UsageError : public Error {
  using Error::Error;
};

constexpr int kExitFailure = 1, kExitUsage = 2, kExitInterrupted = 130;

/// What the command line asks for; called once the whole line was understood. Its result is the
/// exit code.
using Action = std::function<int()>;

/// `command_line` is repeated to the user who is told how to go on.
void add_train(CLI::App& app, Action& action, const std::vector<std::string>& command_line);
void add_eval(CLI::App& app, Action& action);
void add_predict(CLI::App& app, Action& action);
void add_generate(CLI::App& app, Action& action);
void add_runs(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_launch(CLI::App& app, Action& action);
void add_devices(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_inspect(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_plot(CLI::App& app, Action& action);
void add_trace(CLI::App& app, Action& action);
void add_trace_merge(CLI::App& trace, Action& action);
void add_ops(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);

/// Help whose texts fit the terminal; on a narrow one they stand below what they are about.
class WrappedHelp : public CLI::Formatter {
 public:
  WrappedHelp();
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;

 private:
  /// In lines of what is left of the terminal beside `left` columns.
  std::string beside(size_t left, const std::string& text) const;

  size_t columns_;
};

/// What is wrong with a whole number that 64 bits do not hold, which would be taken for the largest
/// that they do; nothing for other texts.
std::string beyond_64_bits(const std::string& text);

/// A subcommand with examples below its help. Of a flag that is given twice the last one counts, so
/// that wrappers can have their defaults.
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::vector<std::string>& examples);
template <class T>
CLI::Option* add_option(CLI::App& command, const std::string& flag, T& value,
                        const std::string& help) {
  CLI::Option* out = command.add_option(flag, value, help)->capture_default_str()->take_last();
  if constexpr (std::is_same_v<T, int64_t>) out->check(&beyond_64_bits);
  return out;
}

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
void print_json(const nlohmann::ordered_json& value);

}  // namespace taeda::tool
