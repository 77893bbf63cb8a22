#include "tools/taeda/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <sstream>
#include <type_traits>

#include "taeda/base/nearest.h"
#include "taeda/log/terminal.h"
#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

constexpr size_t kNarrow = 60, kNarrowIndent = 6;  // columns

/// The words in lines of at most `width`.
std::vector<std::string> lines_of(const std::string& text, size_t width) {
  std::istringstream words(text);
  std::vector<std::string> lines;
  for (std::string word; words >> word;)
    if (lines.empty() || lines.back().size() + 1 + word.size() > width)
      lines.push_back(word);
    else
      lines.back() += ' ' + word;
  return lines;
}

/// A command line, over several lines where it is too long for one; what is said about it, behind
/// a '#', then stands above.
std::string example_text(const std::string& example, size_t columns) {
  if (2 + example.size() <= columns) return "  " + example;
  const size_t sign = example.find("# ");
  std::string out = sign == std::string::npos ? "" : "  " + example.substr(sign) + "\n";
  const auto lines = lines_of(example.substr(0, sign), columns > 8 ? columns - 8 : 1);
  for (size_t i = 0; i < lines.size(); ++i) out += (i ? " \\\n      " : "  ") + lines[i];
  return out;
}

/// Help whose texts fit the terminal; on a narrow one they stand below what they are about.
class WrappedHelp : public CLI::Formatter {
 public:
  WrappedHelp() : columns_(logging::terminal_width(stdout)) {
    if (columns_ < kNarrow) column_width(kNarrowIndent);
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return beside(get_column_width(), CLI::Formatter::make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_name(),
                             beside(get_column_width(), command->get_description()),
                             get_column_width());
    return out.str();
  }
  std::string make_description(const CLI::App* app) const override {
    return beside(0, app->get_description()) + "\n";
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    const std::string usage = CLI::Formatter::make_usage(app, std::move(name));
    return beside(0, usage) + "\n";
  }

 private:
  /// In lines of what is left of the terminal beside `left` columns.
  std::string beside(size_t left, const std::string& text) const {
    constexpr size_t kLeast = 20;
    std::string out;
    for (const std::string& line :
         lines_of(text, std::max(kLeast, columns_ - std::min(columns_, left))))
      out += (out.empty() ? "" : "\n") + line;  // what is below is indented
    return out;
  }

  size_t columns_;
};

/// What is wrong with a whole number that 64 bits do not hold, which would be taken for the largest
/// that they do; nothing for other texts.
std::string beyond_64_bits(const std::string& text) {
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc::result_out_of_range ? text + " has more than 64 bits"
                                                   : std::string();
}

std::vector<CLI::App*> commands_of(CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// The commands and flags at and below `command`.
std::vector<std::string> words_of(const Command& command) {
  std::vector<std::string> words;
  for (const auto& [flag, help] : command.flags()) words.push_back(flag);
  for (const Command& c : command.commands()) {
    words.push_back(c.name());
    for (const std::string& word : words_of(c)) words.push_back(word);
  }
  return words;
}

/// The word that `word` is short for, or one that is short for it: `--nproc`, `--nproc-per-node`.
std::string same_beginning(const std::string& word, const std::vector<std::string>& words) {
  constexpr size_t kLeast = 4;
  for (const std::string& other : words) {
    const size_t common = std::min(word.size(), other.size());
    if (common >= kLeast && word.substr(0, common) == other.substr(0, common)) return other;
  }
  return "";
}

/// What is wrong with the command line; where a command is missing, which ones there are.
std::string explain(CLI::App& app, Action& action, const CLI::ParseError& error) {
  for (CLI::App* chosen : app.get_subcommands()) return explain(*chosen, action, error);
  const Command command(app, action);
  std::string names;
  for (const CLI::App* c : commands_of(app)) names += (names.empty() ? "" : ", ") + c->get_name();
  const int required = static_cast<int>(CLI::ExitCodes::RequiredError);
  const std::vector<std::string> words = app.remaining();
  if (names.empty() && error.get_exit_code() == required) {  // of what nobody knows, first
    if (!words.empty() && words[0].starts_with('-'))
      return app.get_name() + " does not know " + words[0] + command.suggestion();
    return app.get_name() + ": " + error.what();
  }
  if (names.empty() || error.get_exit_code() != required)
    return error.what() + command.suggestion();
  const std::string got = words.empty() ? "nothing" : "'" + words[0] + "'";
  return (app.get_parent() ? app.get_name() + ": " : "") + "expected one of " + names + ", got " +
         got + command.suggestion();
}

/// Why what was printed is lost; 0 where it is not.
int output_error() {
  std::cout.flush();
  const bool lost_before = std::ferror(stdout) || !std::cout;
  errno = 0;
  if (std::fflush(stdout) == 0 && !lost_before) return 0;
  // Where an earlier part was lost its reason is, too; the next one's is the same.
  if (errno == 0 && ::write(STDOUT_FILENO, "\n", 1) >= 0) return EIO;
  return errno;
}

/// What scripts need: one line. What people need: words that are whole.
int fail(const std::string& message, int code) {
  std::string line = message;
  for (char& c : line)
    if (c == '\n') c = ' ';
  std::fprintf(stderr, "%s", paragraph("taeda: " + line, stderr).c_str());
  return code;
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::hidden() {
  option_->group("");
  return *this;
}

Option& Option::take_last() {
  option_->take_last();
  return *this;
}

Option& Option::one_word_each() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::each(std::function<void()> call) {
  option_->each([call = std::move(call)](const std::string&) { call(); });
  return *this;
}

Command Command::add_command(const std::string& name, const std::string& description,
                             const std::vector<std::string>& examples) const {
  CLI::App* command = app_->add_subcommand(name, description);
  const size_t columns = logging::terminal_width(stdout);
  std::string footer;
  for (const std::string& example : examples)
    footer += (footer.empty() ? "Examples:\n" : "\n") + example_text(example, columns);
  command->footer(footer);
  return {*command, *action_};
}

template <class T>
Option Command::add_option(const std::string& flag, T& value, const std::string& help) const {
  CLI::Option* out = app_->add_option(flag, value, help)->capture_default_str()->take_last();
  if constexpr (std::is_same_v<T, int64_t>) out->check(&beyond_64_bits);
  return Option(out);
}
template Option Command::add_option(const std::string&, std::string&, const std::string&) const;
template Option Command::add_option(const std::string&, int64_t&, const std::string&) const;
template Option Command::add_option(const std::string&, double&, const std::string&) const;

template <class T>
Option Command::add_plain(const std::string& name, T& value, const std::string& help) const {
  return Option(app_->add_option(name, value, help));
}
using Words = std::vector<std::string>;
template Option Command::add_plain(const std::string&, std::string&, const std::string&) const;
template Option Command::add_plain(const std::string&, double&, const std::string&) const;
template Option Command::add_plain(const std::string&, Words&, const std::string&) const;

Option Command::add_flag(const std::string& flag, bool& value, const std::string& help) const {
  return Option(app_->add_flag(flag, value, help));
}

Option Command::add_ignored(const std::string& flag, const std::string& kind,
                            const std::string& help) const {
  return Option(app_->add_option(flag, help)->type_name(kind));
}

void Command::require_command() const { app_->require_subcommand(1); }

void Command::take_rest() const { app_->prefix_command(); }

void Command::on_call(Action action) const {
  app_->callback([app = app_, kept = action_, action = std::move(action)] {
    if (app->get_subcommands().empty()) *kept = action;
  });
}

std::vector<std::string> Command::remaining() const { return app_->remaining(); }

std::string Command::suggestion() const {
  const std::vector<std::string> rest = remaining(), words = words_of(*this);
  if (rest.empty()) return "";
  const std::string word = rest[0].substr(0, rest[0].find('='));
  std::string meant = nearest_name(word, words);
  if (meant.empty()) meant = same_beginning(word, words);
  return meant.empty() ? "" : "; did you mean " + meant + "?";
}

bool Command::was_given(const std::string& flag) const { return app_->count(flag) > 0; }

std::string Command::name() const { return app_->get_name(); }

std::string Command::description() const { return app_->get_description(); }

std::vector<Command> Command::commands() const {
  std::vector<Command> out;
  for (CLI::App* c : commands_of(*app_)) out.emplace_back(*c, *action_);
  return out;
}

std::vector<std::pair<std::string, std::string>> Command::flags() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const CLI::Option* option : app_->get_options())
    for (const std::string& name : option->get_lnames())
      out.emplace_back("--" + name, option->get_description());
  return out;
}

struct CommandLine::Parts {
  CLI::App app{"Taeda: deep learning in C++", "taeda"};
  Action action;
};

CommandLine::CommandLine(const std::string& footer) : parts_(std::make_unique<Parts>()) {
  CLI::App& app = parts_->app;
  app.set_version_flag("--version", std::string("taeda ") + TAEDA_VERSION);
  app.formatter(std::make_shared<WrappedHelp>());  // of its commands, too
  app.require_subcommand(1);
  app.footer(footer);
}

CommandLine::~CommandLine() = default;

Command CommandLine::root() const { return {parts_->app, parts_->action}; }

std::string CommandLine::help() const { return parts_->app.help(); }

Action CommandLine::understand(const std::vector<std::string>& words) {
  CLI::App& app = parts_->app;
  try {
    // As CLI11 wants them.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0)  // --help and --version
      return [&app, e] { return app.exit(e); };
    throw UsageError(explain(app, parts_->action, e) + " (see --help)");
  }
  return parts_->action;
}

int report_errors(const std::function<int()>& run) {
  logging::hold_standard_streams();
  try {
    const int code = run();
    const int reason = output_error();
    if (!reason || code) return code;
    return fail(std::string("the output cannot be written (") + std::strerror(reason) + ")",
                kExitFailure);
  } catch (const UsageError& e) {
    return fail(e.message(), kExitUsage);
  } catch (const std::exception& e) {
    return fail(e.what(), kExitFailure);
  }
}

}  // namespace taeda::tool
