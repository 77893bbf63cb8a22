// How commands declare what may follow them. CLI11 does the work: command_line.cpp alone includes
// it, for it takes longer to read than a command to compile.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace taeda::tool {

/// What the command line asks for. Its result is the exit code.
using Action = std::function<int()>;

/// One option of a command.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option& required();
  /// Stands in no help.
  Option& hidden();
  /// The last one counts where it is given twice.
  Option& take_last();
  /// A list that takes one word each time, however many follow.
  Option& one_word_each();
  /// Called for each value that is given.
  Option& each(std::function<void()> call);

 private:
  CLI::Option* option_;
};

/// A command, as a handle: copies are the same command.
class Command {
 public:
  Command(CLI::App& app, Action& action) : app_(&app), action_(&action) {}

  /// A subcommand with examples below its help.
  Command add_command(const std::string& name, const std::string& description,
                      const std::vector<std::string>& examples) const;
  /// An option whose help shows its default. Of one that is given twice the last counts, so that
  /// wrappers can have their defaults.
  template <class T>
  Option add_option(const std::string& flag, T& value, const std::string& help) const;
  /// A word without a flag, or an option whose default says nothing. Given twice it is an error.
  template <class T>
  Option add_plain(const std::string& name, T& value, const std::string& help) const;
  Option add_flag(const std::string& flag, bool& value, const std::string& help) const;
  /// An option that takes a word of this kind, with which nothing is done.
  Option add_ignored(const std::string& flag, const std::string& kind,
                     const std::string& help) const;
  /// Exactly one of the subcommands must follow.
  void require_command() const;
  /// What follows the first word without a flag is not looked at: see remaining().
  void take_rest() const;
  /// What this command does when it is asked for, and none of its subcommands is.
  void on_call(Action action) const;

  // Known once the line was understood.

  std::vector<std::string> remaining() const;
  /// "; did you mean --seed?" about the first word that was not understood; empty where nothing is
  /// like it.
  std::string suggestion() const;
  bool was_given(const std::string& flag) const;

  // What was declared.

  std::string name() const;
  std::string description() const;
  std::vector<Command> commands() const;
  /// Long flags ("--seed") and what they are for.
  std::vector<std::pair<std::string, std::string>> flags() const;

 private:
  CLI::App* app_;
  Action* action_;
};

/// All that may stand behind `taeda`.
class CommandLine {
 public:
  /// `footer` is what the help ends with.
  explicit CommandLine(const std::string& footer);
  ~CommandLine();

  /// `taeda` itself.
  Command root() const;
  std::string help() const;
  /// What the words, of which the first is the program, ask for: also --help and --version. Throws
  /// UsageError, with what may have been meant.
  Action understand(const std::vector<std::string>& words);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Runs it, and says of errors what scripts need: one line, and an exit code. Output that could not
/// be written, to a full disk or where there is none, is an error.
int report_errors(const std::function<int()>& run);

}  // namespace taeda::tool
