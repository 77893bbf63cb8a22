#include "tools/taeda/train/about.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

using Json = nlohmann::ordered_json;

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

nn::AnyModule About::make_network() const {
  if (task == "text")
    return make_text_model(model,
                           {static_cast<int64_t>(vocabulary.size()), context, layers, width});
  const auto outputs = static_cast<int64_t>(classes.size());
  if (task == "csv")
    return make_mlp(static_cast<int64_t>(features.size()), hidden, classes.empty() ? 1 : outputs);
  return make_picture_model(model, shape, outputs);
}

std::string About::json() const {
  Json out = {{"task", task}, {"model", model}};
  if (task == "text") {
    out["vocabulary"] = codes(vocabulary);
    out["context"] = context;
    out["layers"] = layers;
    out["width"] = width;
    return out.dump();
  }
  out["classes"] = classes;
  out["mean"] = mean;
  out["stddev"] = stddev;
  if (task == "csv") {
    out["features"] = features;
    out["target"] = target;
    out["delimiter"] = delimiter;
    out["header"] = header;
    out["hidden"] = hidden;
    out["target_mean"] = target_mean;
    out["target_stddev"] = target_stddev;
  } else {
    out["shape"] = {shape.channels, shape.height, shape.width};
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
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
  a.vocabulary = bytes(in.at("vocabulary"));
  a.context = in.at("context");
  a.layers = in.at("layers");
  a.width = in.at("width");
  expect_between(static_cast<int64_t>(a.vocabulary.size()), 1, 256, "vocabulary's length");
  expect_between(a.context, 1, 65536, "context");
  expect_between(a.layers, 1, 256, "layers");
  expect_between(a.width, 1, 65536, "width");
}

void read_table(const Json& in, About& a) {
  a.features = in.at("features").get<std::vector<std::string>>();
  a.target = in.at("target");
  a.delimiter = in.at("delimiter");
  a.header = in.at("header");
  a.hidden = in.at("hidden");
  a.target_mean = in.at("target_mean");
  a.target_stddev = in.at("target_stddev");
  expect(!a.delimiter.empty() && !a.features.empty(), "delimiter or list of columns is empty");
  expect(a.mean.size() == a.features.size() && a.stddev.size() == a.features.size(),
         concat("columns are ", a.features.size(), ", its means ", a.mean.size(),
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
    a.task = in.at("task");
    a.model = in.at("model");
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
