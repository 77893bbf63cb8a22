#include "tools/taeda/command.h"

#include <algorithm>
#include <cstdio>

#include "taeda/base/device_types.h"
#include "taeda/base/parallel_for.h"
#include "taeda/device/accelerator.h"
#include "taeda/device/plugin.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"

namespace taeda::tool {

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
      line.assign(1, ' ');
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

}  // namespace taeda::tool
