#include "tools/taeda/command.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>

#include "taeda/base/device_types.h"
#include "taeda/base/parallel_for.h"
#include "taeda/device/accelerator.h"
#include "taeda/device/plugin.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"

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

}  // namespace

WrappedHelp::WrappedHelp() : columns_(logging::terminal_width(stdout)) {
  if (columns_ < kNarrow) column_width(kNarrowIndent);
}

std::string WrappedHelp::beside(size_t left, const std::string& text) const {
  constexpr size_t kLeast = 20;
  std::string out;
  for (const std::string& line :
       lines_of(text, std::max(kLeast, columns_ - std::min(columns_, left))))
    out += (out.empty() ? "" : "\n") + line;  // what is below is indented
  return out;
}

std::string WrappedHelp::make_option_desc(const CLI::Option* option) const {
  return beside(get_column_width(), CLI::Formatter::make_option_desc(option));
}

std::string WrappedHelp::make_subcommand(const CLI::App* command) const {
  std::ostringstream out;
  CLI::detail::format_help(out, command->get_name(),
                           beside(get_column_width(), command->get_description()),
                           get_column_width());
  return out.str();
}

std::string WrappedHelp::make_description(const CLI::App* app) const {
  return beside(0, app->get_description()) + "\n";
}

std::string WrappedHelp::make_usage(const CLI::App* app, std::string name) const {
  const std::string usage = CLI::Formatter::make_usage(app, std::move(name));
  return beside(0, usage) + "\n";
}

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::vector<std::string>& examples) {
  CLI::App* command = parent.add_subcommand(name, description);
  const size_t columns = logging::terminal_width(stdout);
  std::string footer;
  for (const std::string& example : examples)
    footer += (footer.empty() ? "Examples:\n" : "\n") + example_text(example, columns);
  command->footer(footer);
  return command;
}

std::string beyond_64_bits(const std::string& text) {
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc::result_out_of_range ? text + " has more than 64 bits"
                                                   : std::string();
}

Device choose_device(const std::string& name) {
  if (name == "auto") {
    load_plugins();
    const std::optional<DeviceType> type = accelerator::preferred_type();
    return type ? Device(*type, 0) : Device(kCPU);
  }
  const Device device = resolve(Device(name));
  if (device.is_meta())
    throw UsageError("--device meta: its tensors have no values, so there is nothing to compute");
  if (!device.is_cpu()) set_device(device);
  return device;
}

std::vector<Device> accelerators() {
  load_plugins();
  return accelerator::devices();
}

std::vector<MissingType> missing_accelerators() {
  std::vector<MissingType> out;
  for (UnusablePlugin& p : load_plugins()) out.push_back({p.name, p.reason});
  for (const DeviceType type : accelerator::types())
    if (device_type_info(type).preference > 0 && !accelerator::is_available(type))
      out.push_back({to_string(type), accelerator::unavailable_reason(type)});
  return out;
}

std::string bytes_text(double bytes) {
  if (bytes < 1024) return logging::fixed(bytes, 0) + " B";
  const char* unit = "KiB";
  bytes /= 1024;
  for (const char* larger : {"MiB", "GiB", "TiB"}) {
    if (bytes < 1024) break;
    bytes /= 1024;
    unit = larger;
  }
  return logging::fixed(bytes, 1) + " " + unit;
}

std::string count_text(size_t count, const char* of_one) {
  return std::to_string(count) + " " + of_one + (count == 1 ? "" : "s");
}

std::string threads_text() { return count_text(static_cast<size_t>(get_num_threads()), "thread"); }

std::string paragraph(const std::string& text, size_t columns) {
  std::string out, line;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() &&
        logging::display_width(line) + 1 + logging::display_width(word) > columns) {
      out += line + "\n";
      line = " ";
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return out + line + "\n";
}

std::string paragraph(const std::string& text, std::FILE* stream) {
  return paragraph(
      text, logging::is_terminal(stream) ? logging::terminal_width(stream) : std::string::npos);
}

void print_json(const nlohmann::ordered_json& value) {
  // Names in files need not be valid UTF-8.
  std::printf("%s\n",
              value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

}  // namespace taeda::tool
