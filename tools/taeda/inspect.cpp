// `taeda inspect`: what a file holds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "taeda/log/event_file.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "taeda/ops/create/copy.h"
#include "taeda/vision/image_io.h"
#include "tools/taeda/command.h"
#include "tools/taeda/json.h"
#include "tools/taeda/tensor_file.h"

namespace taeda::tool {

namespace {

struct Statistics {
  double mean = NAN, stddev = NAN, min = NAN, max = NAN;
  int64_t zeros = 0, not_finite = 0;
};

/// Of the finite elements; complex ones count by their absolute value.
Statistics statistics_of(const Tensor& tensor) {
  Tensor t = is_complex(tensor.dtype()) ? tensor.abs() : tensor;
  t = t.to(kDouble).contiguous();
  const double* p = t.data_ptr<double>();
  Statistics s;
  double sum = 0, squares = 0;
  int64_t n = 0;
  for (int64_t i = 0; i < t.numel(); ++i) {
    if (!std::isfinite(p[i])) {
      ++s.not_finite;
      continue;
    }
    s.min = n ? std::min(s.min, p[i]) : p[i];
    s.max = n ? std::max(s.max, p[i]) : p[i];
    s.zeros += p[i] == 0;
    sum += p[i];
    ++n;
  }
  if (n == 0) return s;
  s.mean = sum / static_cast<double>(n);
  for (int64_t i = 0; i < t.numel(); ++i)
    if (std::isfinite(p[i])) squares += (p[i] - s.mean) * (p[i] - s.mean);
  s.stddev = std::sqrt(squares / static_cast<double>(n));
  return s;
}

std::string shape_text(const Tensor& t) {
  std::string out = "[";
  for (int64_t size : t.sizes()) out += (out.size() > 1 ? ", " : "") + std::to_string(size);
  return out + "]";
}

Json tensor_json(const std::string& name, const Tensor& t, bool stats) {
  Json out = {{"name", name},
              {"dtype", dtype_name(t.dtype())},
              {"shape", t.sizes().vec()},
              {"bytes", t.nbytes()}};
  if (!stats) return out;
  const Statistics s = statistics_of(t);
  for (const auto& [key, value] : {std::pair("mean", s.mean), std::pair("std", s.stddev),
                                   std::pair("min", s.min), std::pair("max", s.max)})
    out.set(key, std::isnan(value) ? Json() : Json(value));
  out.set("zeros", s.zeros);
  out.set("not_finite", s.not_finite);
  return out;
}

std::string short_number(double value) {
  if (std::isnan(value)) return "";
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

void print_tensors(const TensorFile& file, bool stats) {
  std::vector<std::string> header = {"name", "dtype", "shape", "bytes"};
  if (stats) header.insert(header.end(), {"mean", "std", "min", "max", "zeros", "not finite"});
  logging::Table table(header);
  double elements = 0, bytes = 0;
  for (const auto& [name, t] : file.tensors) {
    std::vector<std::string> row = {name, dtype_name(t.dtype()), shape_text(t),
                                    logging::with_commas(t.nbytes())};
    if (stats) {
      const Statistics s = statistics_of(t);
      for (double v : {s.mean, s.stddev, s.min, s.max}) row.push_back(short_number(v));
      row.push_back(logging::with_commas(s.zeros));
      row.push_back(logging::with_commas(s.not_finite));
    }
    table.row(std::move(row));
    elements += static_cast<double>(t.numel());
    bytes += static_cast<double>(t.nbytes());
  }
  if (!table.empty()) std::printf("%s", table.str().c_str());
  std::printf("%s: %s, %s elements, %s\n", file.format.c_str(),
              count_text(file.tensors.size(), "tensor").c_str(),
              logging::with_commas(static_cast<long long>(elements)).c_str(),
              bytes_text(bytes).c_str());
  for (const auto& [name, value] : file.values)
    std::printf("  %s: %s\n", name.c_str(), value.c_str());
}

int inspect_tensors(const std::string& path, bool stats, bool json) {
  const TensorFile file = read_tensors(path);
  if (!json) {
    print_tensors(file, stats);
    return 0;
  }
  Json tensors = Json::array();
  for (const auto& [name, t] : file.tensors) tensors.push_back(tensor_json(name, t, stats));
  print_json(
      {{"file", path}, {"format", file.format}, {"tensors", tensors}, {"values", file.values}});
  return 0;
}

/// What an event file says about one tag.
struct Tag {
  std::string kind;
  int64_t count = 0, first = 0, last = 0;
  std::optional<double> value;  ///< the last one
};

int inspect_events(const std::string& path, bool json) {
  const logging::EventFile file = user_input([&] { return logging::read_event_file(path); });
  std::map<std::string, Tag> tags;
  for (const logging::Event& event : file.events) {
    std::vector<logging::EventValue> values = event.values;
    if (!event.other.empty()) values.push_back({"(" + event.other + ")", event.other, {}});
    for (const logging::EventValue& v : values) {
      Tag& tag = tags[v.tag];
      if (tag.count++ == 0) tag.first = event.step;
      tag.kind = v.kind;
      tag.last = event.step;
      tag.value = v.scalar;
    }
  }
  Json list = Json::array();
  logging::Table table({"tag", "kind", "events", "first step", "last step", "last value"});
  for (const auto& [name, tag] : tags) {
    list.push_back({{"tag", name},
                    {"kind", tag.kind},
                    {"events", tag.count},
                    {"first_step", tag.first},
                    {"last_step", tag.last},
                    {"last_value", tag.value ? Json(*tag.value) : Json()}});
    table.row({name, tag.kind, std::to_string(tag.count), std::to_string(tag.first),
               std::to_string(tag.last), tag.value ? short_number(*tag.value) : ""});
  }
  if (json) {
    print_json({{"file", path}, {"format", "events"}, {"tags", list}, {"damage", file.damage}});
    return 0;
  }
  std::printf("%sevents: %zu\n", table.empty() ? "" : table.str().c_str(), file.events.size());
  if (!file.damage.empty()) std::printf("not read to its end: %s\n", file.damage.c_str());
  return 0;
}

int inspect_image(const std::string& path, bool json) {
  const Tensor image = user_input([&] { return vision::read_image(path); });
  if (json)
    print_json({{"file", path},
                {"format", "image"},
                {"channels", image.size(0)},
                {"height", image.size(1)},
                {"width", image.size(2)}});
  else
    std::printf("image: %lld x %lld, %lld channels\n", static_cast<long long>(image.size(2)),
                static_cast<long long>(image.size(1)), static_cast<long long>(image.size(0)));
  return 0;
}

int run_inspect(const std::string& path, bool stats, bool json) {
  const std::string format = user_input([&] { return format_of(path); });
  if (format == "events") return inspect_events(path, json);
  if (format == "image") return inspect_image(path, json);
  if (format == "onnx") return inspect_onnx(path, json);
  if (format.empty())
    throw UsageError(
        path +
        " is of no kind that is known: .safetensors, .npy, .npz, .pt, .onnx, event files, "
        "PNG and JPEG pictures");
  return inspect_tensors(path, stats, json);
}

}  // namespace

void add_inspect(const Command& app) {
  const Command c = app.add_command(
      "inspect", "Show what a file holds",
      {"taeda inspect out/checkpoint.safetensors --stats", "taeda inspect resnet18.pt --json",
       "taeda inspect runs/first/events.out.tfevents.1700000000.host"});
  struct Options {
    std::string path;
    bool stats = false, json = false;
  };
  auto o = std::make_shared<Options>();
  c.add_plain("file", o->path,
              "A .safetensors, .npy, .npz, .pt or .onnx file, an event file, a PNG or JPEG picture")
      .required();
  c.add_flag("--stats", o->stats, "Mean, deviation, range, zeros and what is not finite");
  c.add_flag("--json", o->json, "Print JSON");
  c.on_call([o] { return run_inspect(o->path, o->stats, o->json); });
}

}  // namespace taeda::tool
