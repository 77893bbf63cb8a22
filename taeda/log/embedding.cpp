#include "taeda/log/embedding.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "taeda/base/error.h"
#include "taeda/io/atomic_file.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/grid.h"
#include "taeda/vision/image_io.h"

namespace taeda::inline v0_2::logging {

namespace {

/// The projector's web page refuses larger pictures.
constexpr int64_t kMaxSprite = 8192;

/// Columns in the picture of all pictures, which must be square.
int64_t sprite_columns(int64_t n) {
  return static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(n))));
}

int64_t columns_of(const std::string& line) {
  return 1 + std::count(line.begin(), line.end(), '\t');
}

void check(const Embedding& e) {
  TAEDA_CHECK_VALUE(e.points.defined() && e.points.dim() == 2,
                    "mat should be 2D, where mat.size(0) "
                    "is the number of data points");
  const int64_t n = e.points.size(0);
  TAEDA_CHECK_VALUE(e.labels.empty() || static_cast<int64_t>(e.labels.size()) == n,
                    "#labels should equal with #data points");
  for (const std::string& label : e.labels)
    TAEDA_CHECK_VALUE(
        e.header.empty() || columns_of(label) == static_cast<int64_t>(e.header.size()),
        "len of header must be equal to the number of columns in metadata, got ", e.header.size(),
        " and ", columns_of(label), " in '", label, "'");
  if (!e.pictures.defined()) return;
  const Tensor& p = e.pictures;
  TAEDA_CHECK_VALUE(p.dim() == 4 && p.size(0) == n, "#images should equal with #data points");
  TAEDA_CHECK_VALUE(p.size(2) == p.size(3), "Image should be square, see tensorflow/tensorboard");
  TAEDA_CHECK_VALUE(sprite_columns(n) * p.size(3) <= kMaxSprite,
                    "the pictures of an embedding take ", sprite_columns(n) * p.size(3),
                    " pixels side by side, more than ", kMaxSprite);
}

/// A name as part of a path.
std::string file_name(const std::string& tag) {
  std::string out;
  for (char c : tag) {
    std::array<char, 4> code{};
    std::snprintf(code.data(), code.size(), "%%%02x", static_cast<unsigned char>(c));
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
    out += plain ? std::string(1, c) : std::string(code.data());
  }
  return out;
}

std::string table_of(const Tensor& points) {
  const Tensor t = points.detach().to(Device(kCPU), kFloat).contiguous();
  const float* p = t.data_ptr<float>();
  std::string out;
  for (int64_t i = 0; i < t.numel(); ++i) {
    std::array<char, 32> text{};
    out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), p[i]).ptr);
    out += (i + 1) % t.size(1) == 0 ? '\n' : '\t';
  }
  return out;
}

std::string labels_of(const Embedding& e) {
  std::string out;
  for (size_t i = 0; i < e.header.size(); ++i) out += (i ? "\t" : "") + e.header[i];
  if (!e.header.empty()) out += '\n';
  for (const std::string& label : e.labels) out += label + "\n";
  return out;
}

Tensor sprite_of(const Tensor& pictures) {
  const Tensor bytes = pictures.dtype() == kByte ? pictures.cpu() : vision::to_bytes(pictures);
  const int64_t columns = sprite_columns(bytes.size(0)), empty = columns * columns - bytes.size(0);
  const Tensor all =
      empty == 0 ? bytes
                 : cat({bytes, zeros({empty, bytes.size(1), bytes.size(2), bytes.size(3)}, kByte)});
  return vision::make_grid(all, {.nrow = columns, .padding = 0});
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

/// An entry of projector_config.pbtxt, a ProjectorConfig in the text form of Protocol Buffers.
std::string config_entry(const std::string& name, const std::string& folder, const Embedding& e) {
  std::ostringstream out;
  out << "embeddings {\n  tensor_name: " << quoted(name)
      << "\n  tensor_path: " << quoted(folder + "/tensors.tsv") << "\n";
  if (!e.labels.empty()) out << "  metadata_path: " << quoted(folder + "/metadata.tsv") << "\n";
  if (e.pictures.defined())
    out << "  sprite {\n    image_path: " << quoted(folder + "/sprite.png")
        << "\n    single_image_dim: " << e.pictures.size(3)
        << "\n    single_image_dim: " << e.pictures.size(2) << "\n  }\n";
  out << "}\n";
  return out.str();
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  if (file.peek() != std::ifstream::traits_type::eof()) out << file.rdbuf();
  return out.str();
}

}  // namespace

void write_embedding(const std::string& log_dir, const Embedding& embedding, const std::string& tag,
                     int64_t step) {
  check(embedding);
  std::array<char, 24> number{};
  std::snprintf(number.data(), number.size(), "%05lld", static_cast<long long>(step));
  const std::string folder = std::string(number.data()) + "/" + file_name(tag);
  const std::string path = log_dir + "/" + folder;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  TAEDA_CHECK(std::filesystem::is_directory(path), "cannot make the folder ", path, ": ",
              error.message());
  io::write_file(path + "/tensors.tsv", table_of(embedding.points));
  if (!embedding.labels.empty()) io::write_file(path + "/metadata.tsv", labels_of(embedding));
  if (embedding.pictures.defined())
    vision::write_png(sprite_of(embedding.pictures), path + "/sprite.png");
  const std::string config = log_dir + "/projector_config.pbtxt";
  io::write_file(config,
                 content_of(config) + config_entry(tag + ":" + number.data(), folder, embedding));
}

}  // namespace taeda::logging
