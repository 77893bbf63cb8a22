#include "tools/taeda/command.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>

#include "taeda/base/device_types.h"
#include "taeda/device/accelerator.h"
#include "taeda/device/plugin.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"

namespace taeda::tool {

std::string WrappedHelp::make_option_desc(const CLI::Option* option) const {
  constexpr size_t kLeast = 30;
  const size_t columns = logging::terminal_width(stdout), left = get_column_width();
  const size_t width = std::max(kLeast, columns > left ? columns - left : 0);
  std::istringstream words(CLI::Formatter::make_option_desc(option));
  std::string out, line;
  for (std::string word; words >> word; line += word) {
    if (line.empty()) continue;
    if (line.size() + 1 + word.size() <= width) {
      line += ' ';
    } else {
      out += line + '\n';  // what is below is indented
      line.clear();
    }
  }
  return out + line;
}

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::vector<std::string>& examples) {
  CLI::App* command = parent.add_subcommand(name, description);
  std::string footer;
  for (const std::string& example : examples)
    footer += (footer.empty() ? "Examples:\n  " : "\n  ") + example;
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

void print_json(const nlohmann::ordered_json& value) {
  // Names in files need not be valid UTF-8.
  std::printf("%s\n",
              value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

}  // namespace taeda::tool
