#include "tools/taeda/train/inputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "taeda/base/nearest.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/nn/softmax.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/image_io.h"
#include "taeda/vision/transforms.h"
#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

using taeda::detail::concat;

size_t column_of(const data::CsvTable& table, const std::string& name, const char* which) {
  const auto found = std::find(table.names.begin(), table.names.end(), name);
  if (found != table.names.end()) {
    if (std::find(found + 1, table.names.end(), name) != table.names.end())
      throw UsageError(table.path + " has two columns named '" + name + "'");
    return static_cast<size_t>(found - table.names.begin());
  }
  const std::string nearest = nearest_name(name, table.names);
  throw UsageError(table.path + " has no column '" + name + "'" + which +
                   (nearest.empty() ? "" : "; it has '" + nearest + "'"));
}

int64_t class_of(const std::string& text, const About& about, const std::string& where) {
  const std::optional<int64_t> number = whole_number(text);
  for (const std::string& name : {text, number ? std::to_string(*number) : text}) {
    const auto found = std::find(about.classes.begin(), about.classes.end(), name);
    if (found != about.classes.end()) return found - about.classes.begin();
  }
  const std::string nearest = nearest_name(text, about.classes);
  throw UsageError(where + " is no class of the network: '" + text + "'" +
                   (nearest.empty() ? "" : "; the nearest is '" + nearest + "'"));
}

}  // namespace

std::optional<int64_t> whole_number(const std::string& cell) {
  constexpr double kLargestExact = 9007199254740992;
  const std::optional<double> value = data::number_in(cell);
  if (!value || std::abs(*value) >= kLargestExact || *value != std::trunc(*value))
    return std::nullopt;
  return static_cast<int64_t>(*value);
}

size_t target_column(const data::CsvTable& table, const std::string& t) {
  int64_t position = 0;
  const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), position);
  if (error != std::errc() || end != t.data() + t.size()) return column_of(table, t, " (--target)");
  const auto n = static_cast<int64_t>(table.names.size());
  if (position < -n || position >= n)
    throw UsageError(
        concat(table.path, " has ", n, " columns and none at ", position, " (--target)"));
  return static_cast<size_t>(position < 0 ? position + n : position);
}

data::CsvTable read_table(const std::string& path, const About& about) {
  return user_input([&] {
    if (about.delimiter.size() != 1 && about.delimiter != "tab")
      throw UsageError("--delimiter must be one character or \"tab\", got " + about.delimiter);
    const char delimiter = about.delimiter == "tab" ? '\t' : about.delimiter[0];
    data::CsvTable table = data::read_csv(path, delimiter, about.header);
    if (table.rows.empty()) throw UsageError(path + " holds no rows");
    return table;
  });
}

std::vector<size_t> places_of(const data::CsvTable& table, const About& about) {
  std::vector<size_t> out;
  const bool in_order = !about.header && table.names.size() == about.columns.size();
  for (const data::CsvColumn& column : about.columns)
    out.push_back(in_order ? out.size()
                           : column_of(table, column.name, ", which the network was trained with"));
  return out;
}

void drop_missing_rows(data::CsvTable& table, const About& about, std::optional<size_t> target) {
  if (about.missing_values() != data::MissingValues::kDrop) return;
  std::vector<size_t> numbers, words;
  const std::vector<size_t> places = places_of(table, about);
  for (size_t i = 0; i < places.size(); ++i)
    (about.columns[i].words.empty() ? numbers : words).push_back(places[i]);
  if (target) (data::holds_numbers(table, *target) ? numbers : words).push_back(*target);
  data::drop_missing(table, numbers, words);
  if (table.rows.empty()) throw UsageError(table.path + ": every row lacks a value");
}

Tensor table_rows(const data::CsvTable& table, const About& about, const data::CsvAdvice& advice) {
  return user_input([&] {
    return data::numbers_of(table, about.columns, places_of(table, about), about.missing_values(),
                            advice);
  });
}

Tensor table_targets(const data::CsvTable& table, size_t target, const About& about) {
  const auto n = static_cast<int64_t>(table.rows.size());
  if (about.classes.empty()) {
    const Tensor y = user_input([&] {
      return data::numbers_of(table, {{table.names[target]}}, {target},
                              data::MissingValues::kError);
    });
    return (y.squeeze(1) - about.target_mean) / about.target_stddev;
  }
  const Tensor y = empty({n}, kLong);
  for (size_t r = 0; r < table.rows.size(); ++r)
    y.data_ptr<int64_t>()[r] = class_of(table.rows[r][target], about, table.place(r, target));
  return y;
}

Tensor text_tokens(const std::string& bytes, const About& about, const std::string& what) {
  std::array<int64_t, 256> token;
  token.fill(-1);
  for (size_t i = 0; i < about.vocabulary.size(); ++i)
    token[static_cast<unsigned char>(about.vocabulary[i])] = static_cast<int64_t>(i);
  const Tensor out = empty({static_cast<int64_t>(bytes.size())}, kLong);
  auto* t = out.data_ptr<int64_t>();
  for (size_t i = 0; i < bytes.size(); ++i) {
    t[i] = token[static_cast<unsigned char>(bytes[i])];
    if (t[i] >= 0) continue;
    const bool plain = bytes[i] > ' ' && bytes[i] <= '~';
    throw UsageError(concat(what, ": byte ", i, plain ? std::string(" ('") + bytes[i] + "')" : "",
                            " is one that the training text does not have"));
  }
  return out;
}

Tensor read_picture(const std::string& path, const About& about) {
  return user_input([&] {
    const bool grey = about.shape.channels == 1;
    const Tensor picture =
        vision::read_image(path, grey ? vision::ImageReadMode::kGray : vision::ImageReadMode::kRgb);
    if (picture.size(1) == about.shape.height && picture.size(2) == about.shape.width)
      return picture;
    vision::transforms::Resize resize(std::min(about.shape.height, about.shape.width));
    vision::transforms::CenterCrop crop({about.shape.height, about.shape.width});
    return crop(resize(picture));
  });
}

Tensor network_input(const Tensor& raw, const About& about) {
  const Tensor mean = tensor(about.mean, kFloat), stddev = tensor(about.stddev, kFloat);
  if (about.task != "csv")
    return (raw.to(kFloat) / 255 - mean.view({-1, 1, 1})) / stddev.view({-1, 1, 1});
  Tensor rows = raw;
  if (about.missing_values() == data::MissingValues::kMean) {
    std::vector<double> instead = about.mean;
    for (size_t i = 0; i < instead.size(); ++i)
      if (!about.columns[i].words.empty()) instead[i] = -1;  // no word
    rows = where(isnan(rows), tensor(instead, kFloat), rows);
  }
  return data::spread_words((rows - mean) / stddev, about.columns);
}

Tensor network_answer(const Tensor& output, const About& about) {
  if (!about.classes.empty()) return output.softmax(1);
  return output.squeeze(1) * about.target_stddev + about.target_mean;
}

}  // namespace taeda::tool
