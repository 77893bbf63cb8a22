#include "tools/taeda/train/about.h"

#include <algorithm>

#include "tools/taeda/command.h"
#include "tools/taeda/json.h"

namespace taeda::tool {

namespace {

/// Bytes need not be text.
std::vector<int> codes(const std::string& bytes) {
  std::vector<int> out;
  for (const char c : bytes) out.push_back(static_cast<unsigned char>(c));
  return out;
}

std::string bytes(const std::vector<int>& codes) {
  std::string out;
  for (const int c : codes) out += static_cast<char>(c);
  return out;
}

}  // namespace

int64_t About::inputs() const {
  size_t out = 0;
  for (const data::CsvColumn& column : columns) out += std::max<size_t>(1, column.words.size());
  return static_cast<int64_t>(out);
}

data::MissingValues About::missing_values() const {
  if (missing == "drop") return data::MissingValues::kDrop;
  if (missing == "mean") return data::MissingValues::kMean;
  if (missing == "error") return data::MissingValues::kError;
  throw UsageError("--missing must be error, drop or mean, got " + missing);
}

nn::AnyModule About::make_network() const {
  if (task == "text")
    return make_text_model(model,
                           {static_cast<int64_t>(vocabulary.size()), context, layers, width});
  const auto outputs = static_cast<int64_t>(classes.size());
  if (task == "csv") return make_mlp(inputs(), hidden, classes.empty() ? 1 : outputs);
  return make_picture_model(model, shape, outputs);
}

std::string About::json() const {
  Json out = {{"task", task}, {"model", model}};
  if (task == "text") {
    out.set("vocabulary", codes(vocabulary));
    out.set("context", context);
    out.set("layers", layers);
    out.set("width", width);
    return out.dump();
  }
  out.set("classes", classes);
  out.set("mean", mean);
  out.set("stddev", stddev);
  if (task == "csv") {
    std::vector<std::string> names;
    Json words = Json::object();
    for (const data::CsvColumn& column : columns) {
      names.push_back(column.name);
      if (!column.words.empty()) words.set(column.name, column.words);
    }
    out.set("features", names);
    out.set("categories", words);
    out.set("missing", missing);
    out.set("target", target);
    out.set("delimiter", delimiter);
    out.set("header", header);
    out.set("hidden", hidden);
    out.set("target_mean", target_mean);
    out.set("target_stddev", target_stddev);
  } else {
    out.set("shape", {shape.channels, shape.height, shape.width});
  }
  return out.dump_replacing();
}

namespace {

using taeda::detail::concat;

void expect(bool good, const std::string& what) {
  if (!good) throw UsageError("the checkpoint describes no network: its " + what);
}

void expect_between(int64_t value, int64_t least, int64_t most, const char* name) {
  expect(value >= least && value <= most,
         concat(name, " must be from ", least, " to ", most, ", got ", value));
}

void read_text(const Json& in, About& a) {
  a.vocabulary = bytes(in.at("vocabulary").get<std::vector<int>>());
  a.context = in.at("context").get<int64_t>();
  a.layers = in.at("layers").get<int64_t>();
  a.width = in.at("width").get<int64_t>();
  expect_between(static_cast<int64_t>(a.vocabulary.size()), 1, 256, "vocabulary's length");
  expect_between(a.context, 1, 65536, "context");
  expect_between(a.layers, 1, 256, "layers");
  expect_between(a.width, 1, 65536, "width");
}

void read_table(const Json& in, About& a) {
  // Those of earlier versions have neither categories nor a choice of what is missing.
  for (const std::string& name : in.at("features").get<std::vector<std::string>>()) {
    a.columns.push_back({name});
    if (!in.contains("categories") || !in.at("categories").contains(name)) continue;
    a.columns.back().words = in.at("categories").at(name).get<std::vector<std::string>>();
    expect(!a.columns.back().words.empty(), "column '" + name + "' has no words");
  }
  a.missing = in.value("missing", "error");
  a.missing_values();
  a.target = in.at("target").get<std::string>();
  a.delimiter = in.at("delimiter").get<std::string>();
  a.header = in.at("header").get<bool>();
  a.hidden = in.at("hidden").get<int64_t>();
  a.target_mean = in.at("target_mean").get<double>();
  a.target_stddev = in.at("target_stddev").get<double>();
  expect(!a.delimiter.empty() && !a.columns.empty(), "delimiter or list of columns is empty");
  expect(a.mean.size() == a.columns.size() && a.stddev.size() == a.columns.size(),
         concat("columns are ", a.columns.size(), ", its means ", a.mean.size(),
                " and its standard deviations ", a.stddev.size()));
  expect_between(a.hidden, 1, 65536, "hidden");
}

void read_pictures(const Json& in, About& a) {
  const auto s = in.at("shape").get<std::vector<int64_t>>();
  expect(s.size() == 3 && (s[0] == 1 || s[0] == 3), "pictures have a shape that there is not");
  a.shape = {s[0], s[1], s[2]};
  expect_between(std::min(s[1], s[2]), 8, 1024, "pictures' shorter side");
  expect_between(std::max(s[1], s[2]), 8, 1024, "pictures' longer side");
  const auto channels = static_cast<size_t>(s[0]);
  expect(a.mean.size() == channels && a.stddev.size() == channels,
         "means and standard deviations are not those of its channels");
  expect_between(static_cast<int64_t>(a.classes.size()), 1, 1000000, "number of classes");
  check_picture_model(a.model, a.shape);
}

}  // namespace

About About::from_json(const std::string& text) {
  return user_input([&] {
    const Json in = Json::parse(text);
    About a;
    a.task = in.at("task").get<std::string>();
    a.model = in.at("model").get<std::string>();
    if (a.task == "text") {
      read_text(in, a);
      return a;
    }
    a.classes = in.at("classes").get<std::vector<std::string>>();
    a.mean = in.at("mean").get<std::vector<double>>();
    a.stddev = in.at("stddev").get<std::vector<double>>();
    if (a.task == "csv")
      read_table(in, a);
    else
      read_pictures(in, a);
    return a;
  });
}

}  // namespace taeda::tool
