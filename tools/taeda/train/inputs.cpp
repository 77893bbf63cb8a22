#include "tools/taeda/train/inputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "taeda/base/nearest.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/create/create.h"
#include "taeda/vision/image_io.h"
#include "taeda/vision/transforms.h"
#include "tools/taeda/command.h"

namespace taeda::tool {

namespace {

using taeda::detail::concat;

size_t column_of(const data::CsvTable& table, const std::string& name, const std::string& path) {
  const auto found = std::find(table.names.begin(), table.names.end(), name);
  if (found != table.names.end()) return static_cast<size_t>(found - table.names.begin());
  const std::string nearest = nearest_name(name, table.names);
  throw UsageError(path + " has no column '" + name + "', which the network was trained with" +
                   (nearest.empty() ? "" : "; it has '" + nearest + "'"));
}

double number_in(const data::CsvTable& table, size_t row, size_t column, const std::string& path) {
  const std::string& text = table.rows[row][column];
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  while (*end == ' ') ++end;
  if (text.empty() || *end != '\0' || !std::isfinite(value))
    throw UsageError(concat(path, ": row ", row + 1, ", column '", table.names[column],
                            "' is no number: '", text, "'"));
  return value;
}

size_t target_column(const data::CsvTable& table, const std::string& t, const std::string& path) {
  int64_t position = 0;
  const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), position);
  if (error != std::errc() || end != t.data() + t.size()) return column_of(table, t, path);
  const auto n = static_cast<int64_t>(table.names.size());
  if (position < -n || position >= n)
    throw UsageError(concat(path, " has ", n, " columns and none at ", position, " (--target)"));
  return static_cast<size_t>(position < 0 ? position + n : position);
}

int64_t class_of(const std::string& text, const About& about, const std::string& where) {
  const auto found = std::find(about.classes.begin(), about.classes.end(), text);
  if (found != about.classes.end()) return found - about.classes.begin();
  const std::string nearest = nearest_name(text, about.classes);
  throw UsageError(where + " is no class of the network: '" + text + "'" +
                   (nearest.empty() ? "" : "; the nearest is '" + nearest + "'"));
}

}  // namespace

std::string target_name(const std::string& path, const std::string& target, const About& about) {
  if (!about.header) return target;
  const data::CsvTable table = read_table(path, about);
  return table.names[target_column(table, target, path)];
}

data::CsvTable read_table(const std::string& path, const About& about) {
  return user_input([&] {
    const char delimiter = about.delimiter == "tab" ? '\t' : about.delimiter[0];
    data::CsvTable table = data::read_csv(path, delimiter, about.header);
    if (table.rows.empty()) throw UsageError(path + " holds no rows");
    return table;
  });
}

Tensor table_inputs(const data::CsvTable& table, const About& about, const std::string& path) {
  std::vector<size_t> columns;
  const bool in_order = !about.header && table.names.size() == about.features.size();
  for (const std::string& name : about.features)
    columns.push_back(in_order ? columns.size() : column_of(table, name, path));
  const auto n = static_cast<int64_t>(table.rows.size()), d = static_cast<int64_t>(columns.size());
  const Tensor x = empty({n, d}, kFloat);
  auto* out = x.data_ptr<float>();
  for (size_t r = 0; r < table.rows.size(); ++r)
    for (size_t c : columns) *out++ = static_cast<float>(number_in(table, r, c, path));
  return (x - tensor(about.mean, kFloat)) / tensor(about.stddev, kFloat);
}

Tensor table_targets(const data::CsvTable& table, const About& about, const std::string& path) {
  const size_t column = target_column(table, about.target, path);
  const auto n = static_cast<int64_t>(table.rows.size());
  const Tensor y = empty({n}, about.classes.empty() ? kFloat : kLong);
  for (int64_t r = 0; r < n; ++r) {
    const auto row = static_cast<size_t>(r);
    if (about.classes.empty())
      y.data_ptr<float>()[r] = static_cast<float>(
          (number_in(table, row, column, path) - about.target_mean) / about.target_stddev);
    else
      y.data_ptr<int64_t>()[r] =
          class_of(table.rows[row][column], about,
                   concat(path, ": row ", r + 1, ", column '", table.names[column], "'"));
  }
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

Tensor picture_input(const Tensor& picture, const About& about) {
  vision::transforms::Normalize normalize(about.mean, about.stddev);
  return normalize(vision::transforms::ToTensor()(picture));
}

}  // namespace taeda::tool
