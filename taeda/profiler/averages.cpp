// Sums by name, and their table, with the columns of PyTorch's.
#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

#include "taeda/base/error.h"
#include "taeda/base/json.h"
#include "taeda/profiler/events.h"

namespace taeda::inline v0_2::profiler {

namespace {

std::string format(const char* pattern, double value) {
  char text[48];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string format_time(int64_t ns) {
  const double us = static_cast<double>(ns) * 1e-3;
  if (us >= 1e6) return format("%.3fs", us * 1e-6);
  if (us >= 1e3) return format("%.3fms", us * 1e-3);
  return format("%.3fus", us);
}

std::string format_share(int64_t part, int64_t whole) {
  if (whole == 0) return part == 0 ? "NaN" : "Inf";
  return format("%.2f%%", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string format_memory(int64_t bytes) {
  constexpr double kKilo = 1024;
  const auto value = static_cast<double>(bytes);
  const double size = std::abs(value);
  if (size >= kKilo * kKilo * kKilo) return format("%.2f Gb", value / (kKilo * kKilo * kKilo));
  if (size >= kKilo * kKilo) return format("%.2f Mb", value / (kKilo * kKilo));
  if (size >= kKilo) return format("%.2f Kb", value / kKilo);
  return std::to_string(bytes) + " b";
}

/// The work of a copy, and a kernel with the name of its operation (as simulated devices run them),
/// say nothing new.
bool repeats_parent(const Event& e, const Events& all) {
  if (!e.on_device() || e.parent < 0) return false;
  const Event& parent = all.events[static_cast<size_t>(e.parent)];
  return parent.kind == tracing::Kind::Copy || parent.name == e.name;
}

/// A module may be called as an operation is.
std::string shown_name(const Event& e) {
  return e.kind == tracing::Kind::Module ? "nn.Module: " + e.name : e.name;
}

/// "CUDA" if accelerators of one type were used; "device" for several types.
std::string device_name(const Events& all) {
  std::string name;
  const auto see = [&name](Device d) {
    if (d.is_cpu()) return;
    std::string upper = to_string(d.type());
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return static_cast<char>(c - 'a' + 'A'); });
    name = name.empty() || name == upper ? upper : "device";
  };
  for (const Event& e : all.events)
    if (e.on_device()) see(e.device);
  for (const MemoryPoint& m : all.memory) see(m.device);
  return name;
}

using Value = int64_t (*)(const EventAverage&);

Value sort_value(const std::string& key) {
  static const std::map<std::string, Value> values{
      {"cpu_time", [](const EventAverage& e) { return e.cpu_time(); }},
      {"cuda_time", [](const EventAverage& e) { return e.device_time(); }},
      {"cpu_time_total", [](const EventAverage& e) { return e.cpu_time_total; }},
      {"cuda_time_total", [](const EventAverage& e) { return e.device_time_total; }},
      {"self_cpu_time_total", [](const EventAverage& e) { return e.self_cpu_time_total; }},
      {"self_cuda_time_total", [](const EventAverage& e) { return e.self_device_time_total; }},
      {"cpu_memory_usage", [](const EventAverage& e) { return e.cpu_memory_usage; }},
      {"cuda_memory_usage", [](const EventAverage& e) { return e.device_memory_usage; }},
      {"self_cpu_memory_usage", [](const EventAverage& e) { return e.self_cpu_memory_usage; }},
      {"self_cuda_memory_usage", [](const EventAverage& e) { return e.self_device_memory_usage; }},
      {"count", [](const EventAverage& e) { return e.count; }}};
  if (const auto found = values.find(key); found != values.end()) return found->second;
  std::string known;
  for (const auto& [name, value] : values) known += (known.empty() ? "" : ", ") + name;
  throw ValueError(detail::concat("table: cannot sort by '", key, "'; expected one of ", known));
}

/// Columns of text, all set to the right.
struct Columns {
  std::vector<std::string> header;
  std::vector<size_t> widths;
  std::vector<std::vector<std::string>> rows;

  std::string line(const std::vector<std::string>& cells) const {
    std::string out;
    for (size_t i = 0; i < cells.size(); ++i)
      out += std::string(widths[i] - std::min(widths[i], cells[i].size()), ' ') + cells[i] + "  ";
    return out + "\n";
  }
  std::string str() const {
    std::vector<std::string> dashes;
    for (size_t w : widths) dashes.emplace_back(w, '-');
    std::string out = line(dashes) + line(header) + line(dashes);
    for (const auto& row : rows) out += line(row);
    return out + line(dashes);
  }
};

}  // namespace

EventAverages::EventAverages(const Events& events, bool group_by_input_shape, bool with_memory,
                             std::vector<std::string> notes)
    : device_name_(device_name(events)),
      with_shapes_(group_by_input_shape),
      with_memory_(with_memory),
      notes_(std::move(notes)) {
  std::map<std::tuple<std::string, bool, std::string>, size_t> places;
  for (const Event& e : events.events) {
    if (e.on_device())
      device_total_ += e.time();
    else
      cpu_total_ += e.self_cpu_time;
    if (repeats_parent(e, events)) continue;
    const std::string shapes = group_by_input_shape ? e.shapes : "";
    const std::string key = shown_name(e);
    const auto [place, fresh] = places.try_emplace({key, e.on_device(), shapes}, rows_.size());
    if (fresh) {
      rows_.emplace_back();
      rows_.back().key = key;
      rows_.back().on_device = e.on_device();
      rows_.back().shapes = shapes;
    }
    EventAverage& a = rows_[place->second];
    ++a.count;
    a.device_time_total += e.device_time;
    a.self_device_time_total += e.self_device_time;
    if (e.on_device()) continue;
    a.cpu_time_total += e.time();
    a.self_cpu_time_total += e.self_cpu_time;
    a.cpu_memory_usage += e.cpu_memory;
    a.self_cpu_memory_usage += e.self_cpu_memory;
    a.device_memory_usage += e.device_memory;
    a.self_device_memory_usage += e.self_device_memory;
  }
  if (events.dropped > 0)
    notes_.push_back(
        detail::concat(events.dropped, " records were dropped: max_events was too small."));
}

std::string EventAverages::table(const std::string& sort_by, int64_t row_limit,
                                 size_t max_name_column_width) const {
  std::vector<EventAverage> rows = rows_;
  if (!sort_by.empty()) {
    const Value value = sort_value(sort_by);
    std::stable_sort(rows.begin(), rows.end(),
                     [value](const auto& a, const auto& b) { return value(a) > value(b); });
  }
  if (row_limit >= 0 && rows.size() > static_cast<size_t>(row_limit))
    rows.resize(static_cast<size_t>(row_limit));
  const std::string& dev = device_name_;
  const bool with_device = !dev.empty();
  Columns c;
  c.header = {"Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"};
  if (with_device)
    c.header.insert(c.header.end(),
                    {"Self " + dev, "Self " + dev + " %", dev + " total", dev + " time avg"});
  if (with_memory_) c.header.insert(c.header.end(), {"CPU Mem", "Self CPU Mem"});
  if (with_memory_ && with_device)
    c.header.insert(c.header.end(), {dev + " Mem", "Self " + dev + " Mem"});
  c.header.push_back("# of Calls");
  if (with_shapes_) c.header.push_back("Shapes");
  c.widths.assign(c.header.size(), 12);
  for (size_t i = 1; i < c.header.size(); ++i)
    c.widths[i] = std::max<size_t>(12, c.header[i].size());
  for (const EventAverage& e : rows) {
    std::string name = e.key;
    if (name.size() > max_name_column_width && max_name_column_width > 3)
      name = name.substr(0, max_name_column_width - 3) + "...";
    c.widths[0] = std::max(c.widths[0], std::min(name.size() + 4, max_name_column_width));
    std::vector<std::string> cells{std::move(name),
                                   format_share(e.self_cpu_time_total, cpu_total_),
                                   format_time(e.self_cpu_time_total),
                                   format_share(e.cpu_time_total, cpu_total_),
                                   format_time(e.cpu_time_total),
                                   format_time(e.cpu_time())};
    if (with_device)
      cells.insert(cells.end(), {format_time(e.self_device_time_total),
                                 format_share(e.self_device_time_total, device_total_),
                                 format_time(e.device_time_total), format_time(e.device_time())});
    if (with_memory_)
      cells.insert(cells.end(),
                   {format_memory(e.cpu_memory_usage), format_memory(e.self_cpu_memory_usage)});
    if (with_memory_ && with_device)
      cells.insert(cells.end(), {format_memory(e.device_memory_usage),
                                 format_memory(e.self_device_memory_usage)});
    cells.push_back(std::to_string(e.count));
    if (with_shapes_) {
      cells.push_back(e.shapes.empty() ? "[]" : e.shapes);
      c.widths.back() = std::max(c.widths.back(), cells.back().size());
    }
    c.rows.push_back(std::move(cells));
  }
  std::string out = c.str() + "Self CPU time total: " + format_time(cpu_total_) + "\n";
  if (with_device) out += "Self " + dev + " time total: " + format_time(device_total_) + "\n";
  for (const std::string& note : notes_) out += note + "\n";
  return out;
}

std::string EventAverages::to_json() const {
  const auto us = [](int64_t ns) { return json::number(static_cast<double>(ns) * 1e-3); };
  std::string out = "[";
  for (const EventAverage& e : rows_) {
    out += out.size() > 1 ? ",\n " : "";
    out += "{\"name\": " + json::quoted(e.key) +
           ", \"device_type\": " + (e.on_device ? json::quoted(device_name_) : "\"CPU\"") +
           ", \"count\": " + json::number(e.count) +
           ", \"cpu_time_total\": " + us(e.cpu_time_total) +
           ", \"self_cpu_time_total\": " + us(e.self_cpu_time_total) +
           ", \"device_time_total\": " + us(e.device_time_total) +
           ", \"self_device_time_total\": " + us(e.self_device_time_total) +
           ", \"cpu_memory_usage\": " + json::number(e.cpu_memory_usage) +
           ", \"self_cpu_memory_usage\": " + json::number(e.self_cpu_memory_usage) +
           ", \"device_memory_usage\": " + json::number(e.device_memory_usage) +
           ", \"self_device_memory_usage\": " + json::number(e.self_device_memory_usage);
    if (with_shapes_) out += ", \"shapes\": " + (e.shapes.empty() ? "[]" : e.shapes);
    out += "}";
  }
  return out + "]\n";
}

}  // namespace taeda::profiler
