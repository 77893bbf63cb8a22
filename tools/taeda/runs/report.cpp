// `taeda report`: a page about some runs that needs nothing else.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "taeda/io/atomic_file.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "taeda/vision/image_io.h"
#include "tools/taeda/command.h"
#include "tools/taeda/json.h"
#include "tools/taeda/plot_curves.h"
#include "tools/taeda/runs/html.h"
#include "tools/taeda/runs/run.h"
#include "tools/taeda/train/folders.h"

namespace taeda::tool {

namespace {

namespace fs = std::filesystem;
struct ReportOptions {
  std::vector<std::string> runs = {"out"};
  std::string out = "report.html";
};

/// All runs of a page, with their curves.
struct Page {
  std::vector<Run> runs;
  std::vector<std::string> labels = {};
  std::vector<std::vector<NamedCurve>> steps = {};  ///< of each run's steps.csv; empty without one
};

const NamedCurve* find_curve(const std::vector<NamedCurve>& curves, const std::string& metric) {
  for (const NamedCurve& c : curves)
    if (c.metric == metric) return &c;
  return nullptr;
}

/// Losses or accuracies of the epochs.
PageChart epoch_chart(const Page& page, const char* figure, double Run::Epoch::*train,
                      double Run::Epoch::*test) {
  PageChart out{.title = std::string(figure), .x_label = "epoch", .y_label = figure};
  out.may_be_log = std::string(figure) == "loss";
  for (size_t r = 0; r < page.runs.size(); ++r)
    for (const bool trained : {true, false}) {
      const std::string part = trained ? "training" : "test";
      PageCurve curve{.name = page.runs.size() == 1 ? part : page.labels[r] + ", " + part};
      curve.color = r;
      curve.dashed = trained;
      for (size_t e = 0; e < page.runs[r].epochs.size(); ++e) {
        const double y = page.runs[r].epochs[e].*(trained ? train : test);
        if (std::isnan(y)) continue;
        curve.x.push_back(static_cast<double>(e + 1));
        curve.y.push_back(y);
      }
      out.curves.push_back(std::move(curve));
    }
  return out;
}

/// A column of steps.csv over another one, or over the steps.
PageChart step_chart(const Page& page, const char* title, const char* y_label, const char* column,
                     const char* over = "step") {
  PageChart out{.title = title, .x_label = over, .y_label = y_label};
  for (size_t r = 0; r < page.runs.size(); ++r) {
    const NamedCurve* y = find_curve(page.steps[r], column);
    const NamedCurve* x = find_curve(page.steps[r], over);
    if (!y) continue;
    PageCurve curve{.name = page.labels[r], .x = y->x, .y = y->y};
    if (x && x->y.size() == y->y.size()) curve.x = x->y;
    curve.color = r;
    out.curves.push_back(std::move(curve));
  }
  return out;
}

std::string curves_html(const Page& page) {
  using Epoch = Run::Epoch;
  std::string out =
      chart_html(epoch_chart(page, "loss", &Epoch::train_loss, &Epoch::test_loss)) +
      chart_html(epoch_chart(page, "accuracy", &Epoch::train_accuracy, &Epoch::test_accuracy));
  PageChart losses = step_chart(page, "loss of the steps", "loss", "loss");
  PageChart norms = step_chart(page, "gradient norm", "2-norm before clipping", "gradient_norm");
  losses.may_be_log = norms.may_be_log = true;
  PageChart memory = step_chart(page, "memory", "most in use", "memory", "seconds");
  memory.bytes = true;
  memory.x_label = "seconds of training";
  memory.note = "what tensors take on the run's device";
  out += chart_html(losses) + chart_html(step_chart(page, "learning rate", "rate", "lr")) +
         chart_html(norms) + chart_html(memory);
  if (std::ranges::all_of(page.steps, [](const auto& s) { return s.empty(); }))
    out += element("p class=soft", "These runs have no steps.csv: they are of an earlier version.");
  return element("section id=curves",
                 element("h2", "Curves") + "\n" + element("div class=grid", out));
}

double peak_memory(const std::vector<NamedCurve>& steps) {
  const NamedCurve* memory = find_curve(steps, "memory");
  return memory && !memory->y.empty() ? *std::ranges::max_element(memory->y) : NAN;
}

RunLines figures_of(const Page& page) {
  RunLines out = run_figures(page.runs);
  std::vector<std::string> peaks = {"most memory"};
  bool any = false;
  for (const auto& steps : page.steps) {
    const double peak = peak_memory(steps);
    peaks.push_back(std::isnan(peak) ? "" : bytes_text(peak));
    any = any || !std::isnan(peak);
  }
  if (any) out.push_back(peaks);
  return out;
}

std::vector<std::string> with_runs(const char* first, const Page& page) {
  std::vector<std::string> out = {first};
  for (const Run& run : page.runs) out.push_back(run.folder);
  return out;
}

std::string figures_html(const Page& page) {
  const RunLines lines = figures_of(page);
  std::string body;
  if (page.runs.size() > 1) {
    body = html_table(with_runs("figure", page), lines);
  } else {
    for (const auto& line : lines)
      body += element("div", element("b", html_text(line[1])) + html_text(line[0])) + "\n";
    body = element("div class=cards", body);
  }
  return element("section id=figures", element("h2", "Figures") + "\n" + body);
}

/// Counts as a matrix: rows are the true classes, columns what they were taken for.
std::string matrix_html(const Json& confusion) {
  constexpr double kDeep = 0.62;  // where the background wants other letters
  std::string head = "<td></td>", body;
  for (const auto& [name, row] : confusion.members())
    head += element("th scope=col", element("span", html_text(name)));
  size_t t = 0;
  for (const auto& [name, row] : confusion.members()) {
    double all = 0;
    for (const Json& n : row.elements()) all += n.get<double>();
    std::string cells = element("th scope=row", html_text(name));
    for (size_t p = 0; p < row.size(); ++p) {
      const double n = row[p].get<double>();
      // A few mistakes shall be seen beside many hits.
      const double share = std::sqrt(n / std::max(all, 1.0));
      const std::string kind = std::string(p == t ? "hit" : "") + (share > kDeep ? " deep" : "");
      cells += n == 0 ? "<td></td>"
                      : "<td class=\"" + kind + "\" style=\"--p:" + logging::fixed(share, 2) +
                            "\">" + logging::fixed(n, 0) + "</td>";
    }
    body += element("tr", cells) + "\n";
    ++t;
  }
  return element("div class=scroll",
                 element("table class=confusion",
                         element("thead", element("tr", head)) + "\n" + element("tbody", body)));
}

/// Of many classes the pairs that were mistaken most often.
std::string pairs_html(const Json& confusion) {
  constexpr size_t kPairs = 20;
  std::vector<std::string> names;
  for (const auto& [name, row] : confusion.members()) names.push_back(name);
  std::vector<std::pair<int64_t, std::vector<std::string>>> pairs;
  for (size_t t = 0; t < names.size(); ++t) {
    const Json& row = confusion[names[t]];
    for (size_t p = 0; p < std::min(row.size(), names.size()); ++p)
      if (const auto n = row[p].get<int64_t>(); p != t && n > 0)
        pairs.push_back({n, {names[t], names[p], std::to_string(n)}});
  }
  std::ranges::stable_sort(pairs, std::ranges::greater(), [](const auto& p) { return p.first; });
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < std::min(kPairs, pairs.size()); ++i) rows.push_back(pairs[i].second);
  return html_table({"class", "taken for", "times"}, rows);
}

/// The part of a run's result, if it is of this kind.
std::optional<Json> part_of(const Run& run, const char* name, bool object) {
  if (!run.result.contains(name)) return {};
  const Json part = run.result[name];
  const bool fits = object ? part.is_object() : part.is_array();
  return fits && !part.empty() ? std::optional(part) : std::nullopt;
}

/// What a run has to show, under its name where there are several.
std::string of_run(const Page& page, size_t r, const std::string& content) {
  const std::string name = page.runs.size() > 1 ? element("h3", html_text(page.labels[r])) : "";
  return element("div", name + content) + "\n";
}

std::string confusion_html(const Page& page) {
  constexpr size_t kMostClasses = 30;
  std::string out;
  for (size_t r = 0; r < page.runs.size(); ++r)
    if (const auto c = part_of(page.runs[r], "confusion", /*object=*/true))
      out += of_run(page, r, c->size() > kMostClasses ? pairs_html(*c) : matrix_html(*c));
  if (out.empty()) return "";
  return element("section id=confusion",
                 element("h2", "Confusion matrix") + "\n" +
                     element("p class=soft",
                             "A row for each class: what its test examples were "
                             "taken for. Blue is right.") +
                     "\n" + element("div class=grid", out));
}

/// The pictures of mistakes.png, one by one; none where they do not fit the list.
std::vector<std::string> mistake_pictures(const Run& run, size_t count) {
  const std::string path = (fs::path(run.folder) / kMistakesFile).string();
  std::vector<std::string> out;
  if (!fs::exists(path) || !vision::has_png()) return out;
  const Tensor all = user_input([&] { return vision::read_png(path); });
  const auto n = static_cast<int64_t>(count), width = all.size(2) / n;
  if (width < 1 || width * n != all.size(2)) return out;
  for (int64_t i = 0; i < n; ++i)
    out.push_back(picture_address(all.narrow(2, i * width, width).contiguous()));
  return out;
}

std::string text_in(const Json& object, const char* name) {
  return object.contains(name) && object[name].is_string() ? object[name].get<std::string>() : "";
}

std::string mistakes_of(const Run& run, const Json& mistakes) {
  const std::vector<std::string> pictures = mistake_pictures(run, mistakes.size());
  std::vector<std::vector<std::string>> rows;
  std::string tiles;
  for (size_t i = 0; i < mistakes.size(); ++i) {
    const Json& m = mistakes[i];
    const std::string truth = text_in(m, "class"), taken_for = text_in(m, "taken_for"),
                      sure = logging::percent(m.value("probability", 0.0), 0);
    rows.push_back({std::to_string(m.value("example", int64_t{0})), truth, taken_for, sure});
    if (pictures.empty()) continue;
    tiles += element("figure", "<img src=\"" + pictures[i] + "\" alt=\"" +
                                   html_text(truth + " taken for " + taken_for) + "\">" +
                                   element("figcaption", element("b", html_text(taken_for)) + " " +
                                                             sure + "<br>is " + html_text(truth))) +
             "\n";
  }
  if (!pictures.empty()) return element("div class=mistakes", tiles);
  return html_table({"example", "class", "taken for", "probability"}, rows);
}

std::string mistakes_html(const Page& page) {
  std::string out;
  for (size_t r = 0; r < page.runs.size(); ++r)
    if (const auto m = part_of(page.runs[r], "mistakes", /*object=*/false))
      out += of_run(page, r, mistakes_of(page.runs[r], *m));
  if (out.empty()) return "";
  return element("section id=mistakes",
                 element("h2", "Mistakes") + "\n" +
                     element("p class=soft",
                             "Those of the test that the network was surest of, and how sure.") +
                     "\n" + out);
}

std::string settings_html(const Page& page) {
  const RunLines all = run_settings(page.runs, /*all=*/true);
  std::string table = html_table(with_runs("setting", page), all);
  // Rows that differ are marked; they are in the order of `all`.
  size_t at = table.find("<tbody>");
  for (const auto& line : all) {
    at = table.find("<tr>", at);
    const bool differs = std::ranges::adjacent_find(line.begin() + 1, line.end(),
                                                    std::ranges::not_equal_to()) != line.end();
    if (differs) table.insert(at + 3, " class=differs");
    at += 4;
  }
  std::string again;
  for (const Run& run : page.runs)
    if (const fs::path file = fs::path(run.folder) / kConfigFile; fs::exists(file))
      again += element(
          "p", "once more: " + element("code", html_text("taeda train --config " + file.string())));
  return element("section id=settings", element("h2", "Settings") + "\n" + table + again);
}

/// What the runs are of, each task once, and how many they are.
std::string title_of(const Page& page) {
  std::vector<std::string> tasks;
  for (const Run& run : page.runs) {
    const std::string title = part_of(run, "epochs", false) ? text_in(run.result, "title") : "";
    const std::string task = title.empty() ? run.setting("task") : title;
    if (std::ranges::find(tasks, task) == tasks.end()) tasks.push_back(task);
  }
  std::string out;
  for (const std::string& task : tasks) out += (out.empty() ? "" : "; ") + task;
  return out + "; " +
         (page.runs.size() == 1 ? page.runs[0].setting("model")
                                : std::to_string(page.runs.size()) + " runs");
}

std::string page_html(const Page& page) {
  std::string links, body;
  const auto add = [&](const char* id, const char* name, const std::string& section) {
    if (section.empty()) return;
    links += element("a href=#" + std::string(id), name) + "\n";
    body += section + "\n";
  };
  add("figures", "Figures", figures_html(page));
  add("curves", "Curves", curves_html(page));
  add("confusion", "Confusion", confusion_html(page));
  add("mistakes", "Mistakes", mistakes_html(page));
  add("settings", "Settings", settings_html(page));
  std::string runs;
  for (size_t r = 0; r < page.runs.size(); ++r) {
    const Run& run = page.runs[r];
    runs += element("p", html_text(page.labels[r] + " (" + run.state + ", " + run.device + ", " +
                                   date_text(run.date) + ")")) +
            "\n";
  }
  const std::string title = html_text(title_of(page));
  return "<!doctype html>\n<html lang=en><head><meta charset=utf-8>\n"
         "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=generator content=\"taeda " TAEDA_VERSION "\">\n<title>" +
         title + "</title>\n<style>" + page_style() + "</style></head>\n<body><main>\n" +
         element("header", element("h1", title) + "\n" + runs + element("nav", links)) + "\n" +
         body + element("footer", "Made by taeda " TAEDA_VERSION ".") + "\n</main></body></html>\n";
}

int run_report(const ReportOptions& o) {
  Page page{.runs = read_runs(o.runs)};
  for (const Run& run : page.runs) {
    if (run.epochs.empty())
      throw UsageError(run.folder + " (" + run.state + ") has no epoch to report on yet");
    const fs::path steps = fs::path(run.folder) / kStepsFile;
    page.steps.push_back(fs::exists(steps) ? read_curves(steps.string())
                                           : std::vector<NamedCurve>());
  }
  page.labels = run_labels(page.runs);
  const std::string ending = fs::path(o.out).extension().string();
  if (ending != ".html" && ending != ".htm")
    throw UsageError("cannot write " + o.out + ": give it the ending .html");
  user_input([&] { io::write_file(o.out, page_html(page)); });
  std::printf(
      "%s: %s, %s\n", o.out.c_str(),
      page.runs.size() == 1 ? "1 run" : (std::to_string(page.runs.size()) + " runs").c_str(),
      bytes_text(static_cast<double>(fs::file_size(o.out))).c_str());
  return 0;
}

}  // namespace

void add_report(const Command& app) {
  const Command c =
      app.add_command("report", "Make a page of runs: curves, mistakes, settings",
                      {"taeda report out", "taeda report out out-2 --out comparison.html"});
  auto o = std::make_shared<ReportOptions>();
  c.add_plain("runs", o->runs, "Folders of runs; several are compared");
  c.add_option("--out", o->out, "The page, one .html file that needs no other");
  c.on_call([o] { return run_report(*o); });
}

}  // namespace taeda::tool
