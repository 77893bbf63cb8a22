#include "taeda/io/archive.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <istream>
#include <ostream>
#include <string_view>

#include "taeda/base/error.h"
#include "taeda/io/atomic_file.h"
#include "taeda/io/file_bytes.h"
#include "taeda/io/npy.h"
#include "taeda/io/pickle_writer.h"
#include "taeda/io/pt_reader.h"
#include "taeda/io/pt_source.h"
#include "taeda/io/safetensors_header.h"
#include "taeda/io/sharded.h"
#include "taeda/io/zip_end.h"

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

namespace {

/// As Python's torch.load gives it: a tensor that was saved alone, or a dictionary.
IValue python_value(const Archive& archive) {
  const auto& tensors = archive.tensors;
  if (tensors.size() == 1 && tensors[0].key() == "tensor" && archive.metadata.empty())
    return tensors[0].value();
  IValue::Entries entries;
  for (const auto& [name, tensor] : tensors) entries.emplace_back(name, tensor);
  for (const auto& [name, text] : archive.metadata) {
    TAEDA_CHECK_VALUE(!tensors.contains(name), "'", name, "' names a tensor and a text");
    entries.emplace_back(name, text);
  }
  return IValue::dict(std::move(entries));
}

void check_arrays_alone(const Archive& archive, const std::string& path) {
  TAEDA_CHECK_VALUE(archive.metadata.empty(), "cannot write ", path,
                    ": NumPy's files have no place for values that are no tensors, such as '",
                    archive.metadata.begin()->first, "'");
}

}  // namespace

void save_archive(const Archive& archive, const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".pt" || ending == ".pth") {
    const std::vector<char> bytes = pickle_save(python_value(archive));
    write_file(path, {bytes.data(), bytes.size()});
  } else if (ending == ".npz") {
    check_arrays_alone(archive, path);
    save_npz(archive.tensors.pairs(), path);
  } else if (ending == ".npy") {
    check_arrays_alone(archive, path);
    TAEDA_CHECK_VALUE(archive.tensors.size() == 1, "an .npy file holds one tensor, not ",
                      archive.tensors.size(), ": write an .npz file");
    save_npy(archive.tensors[0].value(), path);
  } else if (path.ends_with(".index.json")) {
    save_sharded(archive, path);
  } else {
    save_safetensors(archive.tensors.pairs(), path, archive.metadata);
  }
}

void save_archive(const Archive& archive, std::ostream& out) {
  const std::string bytes = serialize_safetensors(archive.tensors.pairs(), archive.metadata);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  TAEDA_CHECK(out.good(), "cannot write ", bytes.size(), " bytes to the stream");
}

namespace {

constexpr std::string_view kZipBegins = "PK\x03\x04", kNpyBegins = "\x93NUMPY";
constexpr size_t kBeginBytes = 16;

/// As the length of a safetensors file's header, eight bytes of text would be beyond all memory.
bool is_json(std::string_view begin) {
  return begin.size() >= 8 && begin[0] == '{' && begin[7] != '\0';
}

/// A header of JSON behind its length. Its reader says more of what has that ending, of what is too
/// short to be told and has not the ending of another format, and of what is no file at all.
bool may_be_safetensors(const std::string& path, std::string_view begin) {
  const std::string ending = std::filesystem::path(path).extension().string();
  const bool other = ending == ".pt" || ending == ".pth" || ending == ".npz" || ending == ".npy";
  return ending == ".safetensors" || (begin.size() > 8 ? begin[8] == '{' : !other) ||
         !std::filesystem::is_regular_file(path);
}

Archive archive_of(const NamedTensors& tensors) {
  Archive out;
  for (const auto& [name, tensor] : tensors) out.add(name, tensor);
  return out;
}

Archive archive_of(PtFile file) {
  Archive out = archive_of(file.tensors);
  out.metadata = std::move(file.values);
  return out;
}

Archive archive_of(const SafeTensors& file) {
  Archive out = archive_of(file.all());
  out.metadata = file.metadata();
  return out;
}

}  // namespace

Archive load_archive(const std::string& path, bool mmap) {
  const std::string begin = beginning_of_file(path, kBeginBytes);
  if (begin.starts_with(kNpyBegins)) return archive_of(NamedTensors{{"tensor", load_npy(path)}});
  if (begin.starts_with(kZipBegins))
    return is_npz(path) ? archive_of(load_npz(path)) : archive_of(load_pt(path));
  if (is_legacy_pt(begin)) return archive_of(load_pt(path));
  if (is_json(begin)) return load_sharded(path, mmap);
  TAEDA_CHECK(
      may_be_safetensors(path, begin), path,
      " is no file of tensors: it begins neither as safetensors, .pt, .npy and .npz files do "
      "nor as an index of shards");
  return archive_of(SafeTensors::open(path, mmap));
}

namespace {

/// Takes bytes from the stream until there are `size`, or as many as it has.
void read_until(std::istream& in, std::string& bytes, uint64_t size) {
  constexpr uint64_t kStep = 1 << 20;  // what a header claims need not be there
  while (bytes.size() < size) {
    const size_t had = bytes.size();
    bytes.resize(had + std::min(kStep, size - had));
    const auto wanted = static_cast<std::streamsize>(bytes.size() - had);
    const std::streamsize got = in.rdbuf()->sgetn(bytes.data() + had, wanted);
    bytes.resize(had + static_cast<size_t>(got));
    if (got < wanted) break;
  }
}

/// The bytes of one archive: no more than is its own is taken from the stream where that can be
/// told while reading, and what was taken too much is given back where it can only be told then.
std::string bytes_of_one(std::istream& in) {
  std::string bytes;
  uint64_t length = 0;
  read_until(in, bytes, sizeof length);
  if (bytes.size() == sizeof length) std::memcpy(&length, bytes.data(), sizeof length);
  if (!bytes.starts_with(kZipBegins) && length <= kMaxHeaderBytes) {
    read_until(in, bytes, sizeof length + length);
    read_until(in, bytes, safetensors_bytes(bytes));
    return bytes;
  }
  read_until(in, bytes, UINT64_MAX);
  if (!bytes.starts_with(kZipBegins)) return bytes;
  const uint64_t own = first_archive_bytes(*FileBytes::view(bytes));
  if (own == 0 || own == bytes.size()) return bytes;
  const auto others = static_cast<std::streamoff>(bytes.size() - own);
  TAEDA_CHECK(in.rdbuf()->pubseekoff(-others, std::ios::cur, std::ios::in) != -1, others,
              " bytes follow the archive in a stream that cannot give them back");
  bytes.resize(own);
  return bytes;
}

}  // namespace

Archive load_archive(std::istream& in) {
  std::string bytes = bytes_of_one(in);
  TAEDA_CHECK(!in.bad(), "cannot read from the stream");
  if (bytes.starts_with(kNpyBegins))
    return archive_of(NamedTensors{{"tensor", parse_npy(bytes, "the stream")}});
  if (bytes.starts_with(kZipBegins) || is_legacy_pt(bytes))
    return archive_of(parse_pt(std::move(bytes), "the stream"));
  return archive_of(SafeTensors::parse(std::move(bytes), "the stream"));
}

}  // namespace taeda::io
