#include "taeda/io/archive.h"

#include <charconv>
#include <fstream>
#include <istream>
#include <iterator>
#include <ostream>
#include <string_view>

#include "taeda/base/error.h"
#include "taeda/io/pt_reader.h"

namespace taeda::inline v0_2::io {

namespace {

/// "a, b, c", cut after a few.
std::string list_names(const OrderedDict<std::string, Tensor>& tensors) {
  constexpr size_t kShown = 8;
  std::string out;
  for (size_t i = 0; i < tensors.size() && i < kShown; ++i)
    out += (i ? ", " : "") + tensors[i].key();
  if (tensors.size() > kShown) out += ", ...";
  return out.empty() ? "none" : out;
}

/// The name without the prefix, if it has it.
std::optional<std::string> without(const std::string& name, const std::string& prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return name.substr(prefix.size());
}

}  // namespace

const Tensor& Archive::at(const std::string& name) const {
  const Tensor* found = tensors.find(name);
  TAEDA_CHECK_VALUE(found, "no tensor named '", name,
                    "' was saved; there are: ", list_names(tensors));
  return *found;
}

const Tensor& Archive::only() const {
  return tensors.size() == 1 ? tensors[0].value() : at("tensor");
}

Archive Archive::section(const std::string& prefix) const {
  Archive out;
  for (const auto& [name, tensor] : tensors)
    if (auto rest = without(name, prefix)) out.add(*rest, tensor);
  for (const auto& [name, text] : metadata)
    if (auto rest = without(name, prefix)) out.metadata[*rest] = text;
  return out;
}

void Archive::add_number(const std::string& name, double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  metadata[name] = std::string(text, end);
}

double Archive::parse_number(const std::string& name, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  TAEDA_CHECK_VALUE(error == std::errc() && end == text.data() + text.size(), "'", name,
                    "' is no number: '", text, "'");
  return value;
}

void save_archive(const Archive& archive, const std::string& path) {
  save_safetensors(archive.tensors.pairs(), path, archive.metadata);
}

void save_archive(const Archive& archive, std::ostream& out) {
  const std::string bytes = serialize_safetensors(archive.tensors.pairs(), archive.metadata);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  TAEDA_CHECK(out.good(), "cannot write ", bytes.size(), " bytes to the stream");
}

namespace {

constexpr std::string_view kZipBegins = "PK\x03\x04";

/// Whether the file is there and begins as a zip archive.
bool is_zip(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char begin[4] = {};
  return file.read(begin, sizeof begin) && std::string_view(begin, sizeof begin) == kZipBegins;
}

Archive archive_of(PtFile file) {
  Archive out;
  for (const auto& [name, tensor] : file.tensors) out.add(name, tensor);
  out.metadata = std::move(file.values);
  return out;
}

Archive archive_of(const SafeTensors& file) {
  Archive out;
  for (const auto& [name, tensor] : file.all()) out.add(name, tensor);
  out.metadata = file.metadata();
  return out;
}

}  // namespace

Archive load_archive(const std::string& path, bool mmap) {
  if (is_zip(path)) return archive_of(load_pt(path));
  return archive_of(SafeTensors::open(path, mmap));
}

Archive load_archive(std::istream& in) {
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  TAEDA_CHECK(!in.bad(), "cannot read from the stream");
  if (bytes.starts_with(kZipBegins)) return archive_of(parse_pt(std::move(bytes), "the stream"));
  return archive_of(SafeTensors::parse(std::move(bytes), "the stream"));
}

}  // namespace taeda::io
