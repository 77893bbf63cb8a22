// `taeda plot`: curves of runs, on the terminal or in a file.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>

#include "taeda/io/atomic_file.h"
#include "taeda/log/chart.h"
#include "taeda/log/terminal.h"
#include "taeda/vision/image_io.h"
#include "tools/taeda/command.h"
#include "tools/taeda/json.h"
#include "tools/taeda/plot_curves.h"
#include "tools/taeda/runs/run.h"

namespace taeda::tool {

namespace {

namespace fs = std::filesystem;
struct PlotOptions {
  std::vector<std::string> paths;
  std::string metric = "loss", out;
  int64_t width = 800, height = 500;
  bool log_y = false, json = false;
};

bool contains(std::string text, std::string part) {
  for (std::string* s : {&text, &part})
    std::transform(s->begin(), s->end(), s->begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text.find(part) != std::string::npos;
}

/// What tells the curves of these files apart: for runs the settings that differ, too.
std::vector<std::string> labels_of(const std::vector<std::string>& paths) {
  std::vector<Run> runs;
  for (const std::string& path : paths)
    if (std::optional<Run> run = read_run(path)) runs.push_back(std::move(*run));
  return runs.size() == paths.size() ? run_labels(runs) : what_differs(paths);
}

std::vector<NamedCurve> chosen_curves(const PlotOptions& o) {
  std::vector<NamedCurve> out;
  std::string there;
  const std::vector<std::string> places = labels_of(o.paths);
  for (size_t i = 0; i < o.paths.size(); ++i)
    for (NamedCurve& curve : read_curves(o.paths[i])) {
      there += (there.empty() ? "" : ", ") + curve.name();
      if (!contains(curve.name(), o.metric)) continue;
      if (o.paths.size() > 1) curve.run = places[i] + (curve.run.empty() ? "" : " " + curve.run);
      out.push_back(std::move(curve));
    }
  if (out.empty()) throw UsageError("no curve's name has '" + o.metric + "'; there are: " + there);
  return out;
}

/// Curves of the same figure are named by their runs alone; the axis says which it is.
logging::Chart chart_of(const std::vector<NamedCurve>& curves, const PlotOptions& o) {
  logging::Chart chart{
      .title = o.metric, .log_y = o.log_y, .x_label = curves[0].x_label, .y_label = o.metric};
  bool one_figure = true;
  for (const NamedCurve& c : curves) {
    one_figure = one_figure && c.metric == curves[0].metric;
    if (c.x_label != chart.x_label) chart.x_label = "epoch or step";
  }
  if (one_figure) chart.title = chart.y_label = curves[0].metric;
  for (const NamedCurve& c : curves)
    chart.curves.push_back({one_figure && !c.run.empty() ? c.run : c.name(), c.x, c.y});
  return chart;
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
  const std::vector<NamedCurve> curves = user_input([&] { return chosen_curves(o); });
  const logging::Chart chart = chart_of(curves, o);
  if (o.json) {
    Json list = Json::array();
    for (const NamedCurve& c : curves) list.push_back({{"name", c.name()}, {"x", c.x}, {"y", c.y}});
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

void add_plot(const Command& app) {
  const Command c =
      app.add_command("plot", "Draw curves of runs, on the terminal or in a file",
                      {"taeda plot out", "taeda plot first second --metric test_loss",
                       "taeda plot results.csv --metric accuracy --out accuracy.svg",
                       "taeda plot runs/first --metric Loss/train --out loss.png --log"});
  auto o = std::make_shared<PlotOptions>();
  c.add_plain("runs", o->paths,
              "Folders with result.json or event files; or such files, or a RunManager's .csv or "
              ".json")
      .required();
  c.add_option("--metric", o->metric, "Curves whose names have this in them");
  c.add_option("--out", o->out, "A .png or .svg file");
  c.add_option("--width", o->width, "Pixels");
  c.add_option("--height", o->height, "Pixels");
  c.add_flag("--log", o->log_y, "Logarithmic");
  c.add_flag("--json", o->json, "Print the points as JSON");
  c.on_call([o] { return run_plot(*o); });
}

}  // namespace taeda::tool
