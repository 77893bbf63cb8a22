// `taeda plot`: curves of runs, from what they left behind.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "taeda/data/csv.h"
#include "taeda/io/atomic_file.h"
#include "taeda/log/chart.h"
#include "taeda/log/event_file.h"
#include "taeda/log/terminal.h"
#include "taeda/vision/image_io.h"
#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using logging::Curve;

struct PlotOptions {
  std::vector<std::string> paths;
  std::string metric = "loss", out;
  int64_t width = 800, height = 500;
  bool log_y = false, json = false;
};

/// Curves by the name of what they show ("train_loss").
using Curves = std::map<std::string, Curve>;

void add_point(Curves& curves, const std::string& name, double x, double y) {
  curves[name].x.push_back(x);
  curves[name].y.push_back(y);
}

/// Values of an object that are numbers, over its "epoch".
void add_record(Curves& curves, const std::string& prefix, const Json& record, double x) {
  if (record.contains("epoch") && record["epoch"].is_number()) x = record["epoch"].get<double>();
  for (const auto& [key, value] : record.items())
    if (key != "epoch" && value.is_number())
      add_point(curves, prefix + key, x, value.get<double>());
}

/// result.json of `taeda train`, and the records of a RunManager: an array, each with its run.
Curves read_json(const std::string& path) {
  std::ifstream file(path);
  const Json content = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (content.is_discarded()) throw UsageError(path + " is no JSON");
  const bool of_manager = content.is_array();
  if (!of_manager &&
      !(content.is_object() && content.contains("epochs") && content["epochs"].is_array()))
    throw UsageError(path + " holds no epochs");
  Curves out;
  double x = 0;
  for (const Json& record : of_manager ? content : content["epochs"]) {
    if (!record.is_object()) throw UsageError(path + " holds no epochs");
    const bool numbered = of_manager && record.contains("run");
    add_record(out, numbered ? "run " + record["run"].dump() + " " : "", record, ++x);
  }
  return out;
}

/// A RunManager's table, or any whose columns are numbers.
Curves read_table(const std::string& path) {
  const data::CsvTable table = data::read_csv(path);
  const auto column = [&](const std::string& name) {
    return static_cast<size_t>(std::find(table.names.begin(), table.names.end(), name) -
                               table.names.begin());
  };
  const size_t run = column("run"), epoch = column("epoch");
  Curves out;
  for (size_t r = 0; r < table.rows.size(); ++r) {
    const auto& row = table.rows[r];
    const auto number = [&](size_t c) {
      char* end = nullptr;
      const double value = std::strtod(row[c].c_str(), &end);
      return end != row[c].c_str() && *end == '\0' ? value : NAN;
    };
    const double x = epoch < row.size() ? number(epoch) : static_cast<double>(r + 1);
    const std::string prefix = run < row.size() ? "run " + row[run] + " " : "";
    for (size_t c = 0; c < row.size(); ++c)
      if (c != run && c != epoch && !std::isnan(number(c)))
        add_point(out, prefix + table.names[c], x, number(c));
  }
  return out;
}

Curves read_events(const std::string& path) {
  Curves out;
  for (const logging::Event& event : logging::read_event_file(path).events)
    for (const logging::EventValue& value : event.values)
      if (value.scalar) add_point(out, value.tag, static_cast<double>(event.step), *value.scalar);
  return out;
}

bool is_events(const fs::path& path) {
  return path.filename().string().find("tfevents") != std::string::npos;
}

Curves read_file(const fs::path& path) {
  if (!fs::exists(path)) throw UsageError("there is no file " + path.string());
  if (is_events(path)) return read_events(path.string());
  if (path.extension() == ".csv") return read_table(path.string());
  if (path.extension() == ".json") return read_json(path.string());
  throw UsageError(path.string() + " is neither .json, .csv nor an event file");
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

bool contains(std::string text, std::string part) {
  for (std::string* s : {&text, &part})
    std::transform(s->begin(), s->end(), s->begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text.find(part) != std::string::npos;
}

std::vector<Curve> chosen_curves(const PlotOptions& o) {
  std::vector<Curve> out;
  std::string there;
  for (const std::string& path : o.paths) {
    std::map<std::string, Curve> of_run;
    for (const fs::path& file : files_of(path))
      for (auto& [name, curve] : read_file(file)) {
        Curve& all = of_run[name];
        all.x.insert(all.x.end(), curve.x.begin(), curve.x.end());
        all.y.insert(all.y.end(), curve.y.begin(), curve.y.end());
      }
    for (auto& [name, curve] : of_run) {
      there += (there.empty() ? "" : ", ") + name;
      if (!contains(name, o.metric)) continue;
      curve.name = o.paths.size() > 1 ? path + " " + name : name;
      out.push_back(std::move(curve));
    }
  }
  if (out.empty()) throw UsageError("no curve's name has '" + o.metric + "'; there are: " + there);
  return out;
}

void write_chart(const logging::Chart& chart, const PlotOptions& o) {
  const std::string ending = fs::path(o.out).extension().string();
  if (ending == ".svg")
    io::write_file(o.out, chart.svg(o.width, o.height));
  else if (ending == ".png")
    vision::write_png(chart.picture(o.width, o.height), o.out);
  else
    throw UsageError("cannot write " + o.out + ": give it the ending .png or .svg");
  std::printf("%s\n", o.out.c_str());
}

int run_plot(const PlotOptions& o) {
  check_flag(o.width >= 160 && o.width <= 10000, "--width", "from 160 to 10000", o.width);
  check_flag(o.height >= 120 && o.height <= 10000, "--height", "from 120 to 10000", o.height);
  const logging::Chart chart{o.metric, user_input([&] { return chosen_curves(o); }), o.log_y};
  if (o.json) {
    Json list = Json::array();
    for (const Curve& c : chart.curves) list.push_back({{"name", c.name}, {"x", c.x}, {"y", c.y}});
    print_json({{"metric", o.metric}, {"curves", list}});
  } else if (o.out.empty()) {
    constexpr size_t kRows = 20;
    std::printf("%s", chart.text(logging::terminal_width(stdout), kRows).c_str());
  } else {
    user_input([&] { write_chart(chart, o); });
  }
  return 0;
}

}  // namespace

void add_plot(CLI::App& app, Action& action) {
  CLI::App* c = add_command(app, "plot", "Draw the curves of runs, on the terminal or in a file",
                            {"taeda plot out", "taeda plot first second --metric test_loss",
                             "taeda plot results.csv --metric accuracy --out accuracy.svg",
                             "taeda plot runs/first --metric Loss/train --out loss.png --log"});
  auto o = std::make_shared<PlotOptions>();
  c->add_option("runs", o->paths,
                "Folders with result.json or event files; or such files, or a RunManager's .csv or "
                ".json")
      ->required();
  add_option(*c, "--metric", o->metric, "Curves whose names have this in them");
  add_option(*c, "--out", o->out, "A .png or .svg file");
  add_option(*c, "--width", o->width, "Pixels");
  add_option(*c, "--height", o->height, "Pixels");
  c->add_flag("--log", o->log_y, "Logarithmic");
  c->add_flag("--json", o->json, "Print the points as JSON");
  c->callback([&action, o] { action = [o] { return run_plot(*o); }; });
}

}  // namespace taeda::tool
