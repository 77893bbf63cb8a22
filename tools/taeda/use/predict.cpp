// `taeda predict`: what a trained network makes of pictures or of rows of a table.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "taeda/io/atomic_file.h"
#include "taeda/log/table.h"
#include "taeda/ops/elementwise/pointwise.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/shape/join.h"
#include "taeda/tensor/grad_mode.h"
#include "taeda/vision/grid.h"
#include "taeda/vision/image_io.h"
#include "tools/taeda/json.h"
#include "tools/taeda/tensor_file.h"
#include "tools/taeda/train/classification.h"
#include "tools/taeda/train/inputs.h"
#include "tools/taeda/use/trained.h"

namespace taeda::tool {

namespace {

namespace fs = std::filesystem;
constexpr size_t kBatch = 64, kMostDrawn = 400;
constexpr int64_t kDrawnPerRow = 8;

struct PredictOptions {
  UseOptions use;
  std::vector<std::string> inputs;
  std::string out;
  int64_t top = 1;
  bool invert = false;
};

/// One input and what the network gives for it.
struct Prediction {
  std::string input;               ///< its file
  int64_t row = 0;                 ///< of a table, from 1; 0: a picture
  std::vector<float> likely = {};  ///< by class; empty where a number is told
  std::vector<size_t> order = {};  ///< classes, the likeliest first
  double value = 0;
};

bool is_picture(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

/// The files that were named, and the pictures of the folders that were, in order.
std::vector<std::string> files_of(const std::vector<std::string>& inputs) {
  std::vector<std::string> out;
  for (const std::string& input : inputs) {
    if (!fs::is_directory(input)) {
      if (!fs::exists(input)) throw UsageError("there is no file or folder " + input);
      out.push_back(input);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(input))
      if (entry.is_regular_file() && is_picture(entry.path())) found.push_back(entry.path());
    if (found.empty()) throw UsageError(input + " holds no .png or .jpg files");
    std::sort(found.begin(), found.end());
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

/// A file of another kind than the run's task takes is no damaged one.
void check_picture(const std::string& path, const Trained& t) {
  if (is_picture(path) || user_input([&] { return format_of(path); }) == "image") return;
  throw UsageError(path + " is no PNG or JPEG picture, which " + t.path +
                   " takes: it is of the task " + t.about.task);
}
void check_table(const std::string& path, const Trained& t) {
  if (!fs::is_directory(path) && user_input([&] { return format_of(path); }).empty()) return;
  std::string columns;
  for (const data::CsvColumn& c : t.about.columns)
    columns += (columns.empty() ? "" : ", ") + c.name;
  throw UsageError(path + " is no table, which " + t.path +
                   " takes: it is of the task csv, with the "
                   "columns " +
                   columns);
}

/// Adds what the network makes of a batch; `first` is the position of its first input.
void predict(Trained& t, Device device, const Tensor& batch, size_t first,
             std::vector<Prediction>& out) {
  const NoGradGuard no_grad;
  const Tensor output = t.network.forward(network_input(batch, t.about).to(device)).to(kFloat);
  const Tensor values = network_answer(output, t.about).cpu().contiguous();
  const auto n = static_cast<size_t>(values.size(0));
  const size_t width = t.about.classes.empty() ? 1 : t.about.classes.size();
  for (size_t i = 0; i < n; ++i) {
    const float* row = values.data_ptr<float>() + i * width;
    Prediction& p = out[first + i];
    if (t.about.classes.empty()) {
      p.value = row[0];
      continue;
    }
    p.likely.assign(row, row + width);
    for (size_t c = 0; c < width; ++c) p.order.push_back(c);
    std::stable_sort(p.order.begin(), p.order.end(),
                     [row](size_t a, size_t b) { return row[a] > row[b]; });
  }
}

std::vector<Prediction> predict_pictures(const PredictOptions& o, Trained& t, Device device,
                                         std::vector<Tensor>& pictures) {
  const std::vector<std::string> files = user_input([&] { return files_of(o.inputs); });
  std::vector<Prediction> out;
  std::vector<Tensor> batch;
  for (const std::string& file : files) {
    check_picture(file, t);
    Tensor picture = read_picture(file, t.about);
    if (o.invert) picture = picture.bitwise_not();
    batch.push_back(picture);
    out.push_back({.input = file});
    if (!o.out.empty() && pictures.size() < kMostDrawn) pictures.push_back(std::move(picture));
    if (batch.size() < kBatch && out.size() < files.size()) continue;
    predict(t, device, stack(batch), out.size() - batch.size(), out);
    batch.clear();
  }
  return out;
}

std::vector<Prediction> predict_tables(const PredictOptions& o, Trained& t, Device device) {
  std::vector<Prediction> out;
  for (const std::string& path : o.inputs) {
    check_table(path, t);
    const Tensor x = table_rows(read_table(path, t.about), t.about);
    const size_t first = out.size();
    for (int64_t r = 1; r <= x.size(0); ++r) out.push_back({.input = path, .row = r});
    predict(t, device, x, first, out);
  }
  return out;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// Header and rows of what is shown.
std::vector<std::vector<std::string>> table_of(const PredictOptions& o, const Trained& t,
                                               const std::vector<Prediction>& predictions,
                                               bool for_people) {
  const bool rows = predictions[0].row > 0, classes = !t.about.classes.empty();
  const auto top = std::min(static_cast<size_t>(o.top), t.about.classes.size());
  const bool file = !rows || o.inputs.size() > 1;
  std::vector<std::vector<std::string>> out(1);
  if (file) out[0].push_back(rows ? "table" : "picture");
  if (rows) out[0].push_back("row");
  if (!classes) out[0].push_back("prediction");
  for (size_t k = 1; k <= top; ++k) {
    const std::string suffix = k > 1 ? " " + std::to_string(k) : "";
    out[0].push_back("class" + suffix);
    out[0].push_back("probability" + suffix);
  }
  for (const Prediction& p : predictions) {
    std::vector<std::string> cells;
    if (file) cells.push_back(p.input);
    if (rows) cells.push_back(std::to_string(p.row));
    if (!classes) cells.push_back(number(p.value));
    for (size_t k = 0; k < top; ++k) {
      cells.push_back(t.about.classes[p.order[k]]);
      cells.push_back(for_people ? logging::percent(p.likely[p.order[k]], 1)
                                 : number(p.likely[p.order[k]]));
    }
    out.push_back(std::move(cells));
  }
  return out;
}

void print_as_json(const Trained& t, const std::vector<Prediction>& predictions) {
  Json list = Json::array();
  for (const Prediction& p : predictions) {
    Json one = {{"input", p.input}};
    if (p.row > 0) one.set("row", p.row);
    if (p.likely.empty()) {
      one.set("value", p.value);
    } else {
      one.set("class", t.about.classes[p.order[0]]);
      one.set("probability", p.likely[p.order[0]]);
      Json all = Json::object();
      for (const size_t c : p.order) all.set(t.about.classes[c], p.likely[c]);
      one.set("probabilities", all);
    }
    list.push_back(one);
  }
  print_json({{"checkpoint", t.path}, {"predictions", list}});
}

void write_picture(const std::string& path, const Trained& t,
                   const std::vector<Prediction>& predictions,
                   const std::vector<Tensor>& pictures) {
  std::vector<Tensor> cells;
  for (size_t i = 0; i < pictures.size(); ++i) {
    const size_t c = predictions[i].order[0];
    cells.push_back(draw_labelled(pictures[i], t.about.classes[c],
                                  logging::percent(predictions[i].likely[c], 1),
                                  LabelColor::kPlain));
  }
  const auto columns = std::min(kDrawnPerRow, static_cast<int64_t>(cells.size()));
  vision::write_png(
      vision::make_grid(stack(cells), {.nrow = columns, .padding = 6, .pad_value = 255}), path);
  if (predictions.size() > pictures.size())
    std::fprintf(stderr, "%s shows the first %zu of %zu pictures\n", path.c_str(), pictures.size(),
                 predictions.size());
}

/// A field of a CSV file.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

void write_table(const std::string& path, const std::vector<std::vector<std::string>>& rows) {
  std::string out;
  for (const auto& row : rows)
    for (size_t c = 0; c < row.size(); ++c)
      out += field(row[c]) + (c + 1 < row.size() ? "," : "\n");
  io::write_file(path, out);
}

/// What --out can be, before anything is computed.
void check_out(const PredictOptions& o, bool pictures) {
  if (o.out.empty()) return;
  const std::string ending = fs::path(o.out).extension().string();
  if (ending == ".csv" || (ending == ".png" && pictures)) return;
  if (ending == ".png") throw UsageError("--out " + o.out + ": a table is written as .csv");
  throw UsageError("cannot write " + o.out + ": give it the ending " +
                   (pictures ? ".png (an annotated picture) or .csv" : ".csv"));
}

int run_predict(const PredictOptions& o) {
  check_flag(o.top > 0, "--top", "positive", o.top);
  const Device device = user_input([&] { return choose_device(o.use.device); });
  Trained t = open_trained(o.use, device);
  if (t.about.task == "text")
    throw UsageError(o.use.run + " is a language model: taeda generate lets it go on with a text");
  const bool tables = t.about.task == "csv";
  check_out(o, !tables);
  std::vector<Tensor> pictures;
  const std::vector<Prediction> predictions =
      tables ? predict_tables(o, t, device) : predict_pictures(o, t, device, pictures);
  if (fs::path(o.out).extension() == ".png")
    user_input([&] { write_picture(o.out, t, predictions, pictures); });
  else if (!o.out.empty())
    user_input([&] { write_table(o.out, table_of(o, t, predictions, /*for_people=*/false)); });
  if (o.use.json) {
    print_as_json(t, predictions);
    return 0;
  }
  const auto rows = table_of(o, t, predictions, /*for_people=*/true);
  logging::Table table(rows[0]);
  for (size_t r = 1; r < rows.size(); ++r) table.row(rows[r]);
  std::printf("%s%s", table.str().c_str(), o.out.empty() ? "" : (o.out + "\n").c_str());
  return 0;
}

}  // namespace

void add_predict(const Command& app) {
  const Command c = app.add_command(
      "predict", "What a trained model makes of pictures or tables",
      {"taeda predict out shirt.png", "taeda predict out new_photos --top 3 --out annotated.png",
       "taeda predict houses new_houses.csv --out prices.csv", "taeda predict out *.jpg --json"});
  auto o = std::make_shared<PredictOptions>();
  add_use(c, o->use);
  c.add_plain("inputs", o->inputs, "Pictures and folders of pictures; or tables (.csv)").required();
  c.add_option("--top", o->top, "Likeliest classes to show");
  c.add_option("--out", o->out,
               "A .png file of the pictures with what they were taken for, or a .csv file");
  c.add_flag("--invert", o->invert,
             "Dark on light becomes light on dark, as in the MNIST data sets");
  c.on_call([o] { return run_predict(*o); });
}

}  // namespace taeda::tool
