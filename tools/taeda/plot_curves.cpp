// Curves of runs, from what they left behind.
#include "tools/taeda/plot_curves.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "taeda/data/csv.h"
#include "taeda/log/event_file.h"
#include "tools/taeda/command.h"
#include "tools/taeda/json.h"

namespace taeda::tool {

namespace {

namespace fs = std::filesystem;
/// What one epoch of one run wrote down, as text.
struct Record {
  std::string run;  ///< "" where the file is of one run
  double epoch = 0;
  std::vector<std::pair<std::string, std::string>> values = {};
};

/// What a RunManager measures; its other columns say how a run was made.
bool is_measure(const std::string& name) {
  return name == "loss" || name == "accuracy" || name == "epoch duration" || name == "run duration";
}

double number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0' ? value : NAN;
}

/// What tells the runs apart: "lr 0.01, shuffle true", or their numbers where nothing does.
std::map<std::string, std::string> names_of_runs(const std::vector<Record>& records) {
  std::map<std::string, std::set<std::string>> values;
  for (const Record& r : records)
    for (const auto& [name, value] : r.values)
      if (!is_measure(name)) values[name].insert(value);
  std::map<std::string, std::string> out;
  std::set<std::string> distinct;
  for (const Record& r : records) {
    std::string label;
    for (const auto& [name, value] : r.values)
      if (!is_measure(name) && values[name].size() > 1)
        label += (label.empty() ? "" : ", ") + name + " " + value;
    const bool first = !out.contains(r.run);
    // A column that changes within a run is none of its parameters: numbers tell the runs apart.
    if ((first && !distinct.insert(label).second) || (!first && out[r.run] != label)) {
      for (const Record& any : records) out[any.run] = "run " + any.run;
      return out;
    }
    out[r.run] = label;
  }
  if (out.size() == 1) out.begin()->second = "";
  return out;
}

std::vector<NamedCurve> curves_of(const std::vector<Record>& records, const std::string& x_label) {
  const bool of_manager = !records.empty() && !records[0].run.empty();
  auto runs = of_manager ? names_of_runs(records) : std::map<std::string, std::string>{{"", ""}};
  std::vector<NamedCurve> out;
  std::map<std::pair<std::string, std::string>, size_t> places;
  for (const Record& r : records)
    for (const auto& [name, value] : r.values) {
      if (std::isnan(number(value))) continue;
      const auto [place, fresh] = places.try_emplace({r.run, name}, out.size());
      if (fresh) out.push_back({.run = runs[r.run], .metric = name, .x_label = x_label});
      out[place->second].x.push_back(r.epoch);
      out[place->second].y.push_back(number(value));
    }
  return out;
}

/// result.json of `taeda train`, and the records of a RunManager: an array, each with its run.
std::vector<Record> read_json(const std::string& path) {
  std::ifstream file(path);
  const Json content = Json::read(file);
  if (content.is_discarded()) throw UsageError(path + " is no JSON");
  const bool of_manager = content.is_array();
  if (!of_manager &&
      !(content.is_object() && content.contains("epochs") && content["epochs"].is_array()))
    throw UsageError(path + " holds no epochs");
  std::vector<Record> out;
  for (const Json& record : (of_manager ? content : content["epochs"]).elements()) {
    if (!record.is_object()) throw UsageError(path + " holds no epochs");
    Record r{.run = "", .epoch = static_cast<double>(out.size() + 1)};
    for (const auto& [key, value] : record.members()) {
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      if (key == "epoch" && value.is_number())
        r.epoch = value.get<double>();
      else if (key == "run" && of_manager)
        r.run = text;
      else
        r.values.emplace_back(key, text);
    }
    out.push_back(std::move(r));
  }
  return out;
}

/// A RunManager's table, a run's steps.csv, or any whose columns are numbers.
std::vector<Record> read_table(const data::CsvTable& table, const std::string& x_label) {
  std::vector<Record> out;
  for (const auto& row : table.rows) {
    Record r{.run = "", .epoch = static_cast<double>(out.size() + 1)};
    for (size_t c = 0; c < row.size(); ++c) {
      if (table.names[c] == x_label)
        r.epoch = number(row[c]);
      else if (table.names[c] == "run")
        r.run = row[c];
      else
        r.values.emplace_back(table.names[c], row[c]);
    }
    out.push_back(std::move(r));
  }
  return out;
}

std::vector<NamedCurve> read_table_curves(const std::string& path) {
  const data::CsvTable table = data::read_csv(path);
  const bool of_steps =
      std::find(table.names.begin(), table.names.end(), "step") != table.names.end();
  const std::string x_label = of_steps ? "step" : "epoch";
  return curves_of(read_table(table, x_label), x_label);
}

/// Each tag is a curve, however many files a run has.
void add_events(std::vector<NamedCurve>& curves, const std::string& path) {
  for (const logging::Event& event : logging::read_event_file(path).events)
    for (const logging::EventValue& value : event.values) {
      if (!value.scalar) continue;
      auto curve = std::find_if(curves.begin(), curves.end(),
                                [&](const NamedCurve& c) { return c.metric == value.tag; });
      if (curve == curves.end())
        curve = curves.insert(curves.end(), {.run = "", .metric = value.tag, .x_label = "step"});
      curve->x.push_back(static_cast<double>(event.step));
      curve->y.push_back(*value.scalar);
    }
}

bool is_events(const fs::path& path) {
  return path.filename().string().find("tfevents") != std::string::npos;
}

/// The files of a run: those in its folder, or the file itself.
std::vector<fs::path> files_of(const std::string& path) {
  if (!fs::is_directory(path)) return {path};
  if (fs::exists(fs::path(path) / "result.json")) return {fs::path(path) / "result.json"};
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file() && is_events(entry.path())) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  if (out.empty()) throw UsageError(path + " holds neither result.json nor event files");
  return out;
}

}  // namespace

std::string NamedCurve::name() const {
  return run.empty() ? metric : metric.empty() ? run : run + " " + metric;
}

std::vector<NamedCurve> read_curves(const std::string& path) {
  std::vector<NamedCurve> out;
  for (const fs::path& file : files_of(path)) {
    const std::string name = file.string();
    if (!fs::exists(file)) throw UsageError("there is no file " + name);
    if (is_events(file))
      add_events(out, name);
    else if (file.extension() == ".csv")
      out = read_table_curves(name);
    else if (file.extension() == ".json")
      out = curves_of(read_json(name), "epoch");
    else
      throw UsageError(name + " is neither .json, .csv nor an event file");
  }
  return out;
}

std::vector<std::string> what_differs(const std::vector<std::string>& paths) {
  std::vector<std::vector<std::string>> parts;
  size_t shortest = SIZE_MAX;
  for (const std::string& path : paths) {
    parts.emplace_back();
    for (const fs::path& part : fs::path(path).lexically_normal())
      if (!part.empty()) parts.back().push_back(part.string());
    shortest = std::min(shortest, parts.back().size());
  }
  const auto all_have = [&](auto part_of) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const auto& p) { return part_of(p) == part_of(parts[0]); });
  };
  size_t begin = 0, end = 0;  // parts that all have in common
  while (begin + 1 < shortest && all_have([&](const auto& p) { return p[begin]; })) ++begin;
  while (begin + end + 1 < shortest &&
         all_have([&](const auto& p) { return p[p.size() - 1 - end]; }))
    ++end;
  std::vector<std::string> out;
  for (const auto& p : parts) {
    fs::path rest;
    for (size_t i = begin; i < p.size() - end; ++i) rest /= p[i];
    out.push_back(rest.string());
  }
  return out;
}

}  // namespace taeda::tool
