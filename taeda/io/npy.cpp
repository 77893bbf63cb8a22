#include "taeda/io/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/io/atomic_file.h"
#include "taeda/io/file_bytes.h"
#include "taeda/io/zip_archive.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::io {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kPrefix = 8;                 // magic and version
constexpr size_t kMostHeaderBytes = 1 << 20;  // headers of numbers have some 100
constexpr size_t kAlignment = 64;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they are");

/// Reads the header's text, a dictionary as Python prints it.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  NpyHeader parse() {
    NpyHeader out;
    std::set<std::string> seen;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      TAEDA_CHECK(seen.insert(key).second, "its header has '", key, "' twice");
      expect(':');
      if (key == "descr")
        out.descr = descr();
      else if (key == "fortran_order")
        out.fortran_order = boolean();
      else if (key == "shape")
        out.shape = shape();
      else
        throw Error("its header has an unknown key '" + key + "'");
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    TAEDA_CHECK(at_ == text_.size() && seen.size() == 3, "its header is incomplete");
    return out;
  }

 private:
  void skip() {
    while (at_ < text_.size() &&
           std::string_view(" \t\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) { TAEDA_CHECK(accept(c), "its header lacks a '", c, "' at character ", at_); }
  std::string string() {
    skip();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    TAEDA_CHECK(quote == '\'' || quote == '"', "its header lacks a text at character ", at_);
    const size_t end = text_.find(quote, at_ + 1);
    TAEDA_CHECK(end != std::string_view::npos, "its header has a text without an end");
    const std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }
  std::string descr() {
    skip();
    TAEDA_CHECK_TYPE(at_ >= text_.size() || text_[at_] != '[',
                     "it holds records, which Taeda does not have");
    return string();
  }
  bool boolean() {
    skip();
    for (const auto& [word, value] : {std::pair("True", true), std::pair("False", false)})
      if (text_.substr(at_).starts_with(word)) {
        at_ += std::strlen(word);
        return value;
      }
    throw Error("its header lacks True or False");
  }
  std::vector<int64_t> shape() {
    std::vector<int64_t> out;
    expect('(');
    while (!accept(')')) {
      skip();
      int64_t size = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      TAEDA_CHECK(error == std::errc() && size >= 0, "its shape has no size at character ", at_);
      at_ = static_cast<size_t>(end - text_.data());
      out.push_back(size);
      TAEDA_CHECK(out.size() <= size_t{kMaxDims}, "it has more than ", kMaxDims, " dimensions");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }

  std::string_view text_;
  size_t at_ = 0;
};

struct NpyType {
  const char* code;  ///< kind and bytes
  ScalarType dtype;
};
constexpr NpyType kTypes[] = {
    {"f2", kHalf},         {"f4", kFloat},
    {"f8", kDouble},       {"i1", kChar},
    {"i2", kShort},        {"i4", kInt},
    {"i8", kLong},         {"u1", kByte},
    {"c8", kComplexFloat}, {"c16", kComplexDouble},
    {"b1", kBool},         {"V2", kBFloat16},  // what NumPy writes for ml_dtypes.bfloat16
};

std::optional<ScalarType> dtype_of(std::string_view descr) {
  if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
    return std::nullopt;
  for (const NpyType& type : kTypes)
    if (descr.substr(1) == type.code) return type.dtype;
  return std::nullopt;
}

/// Unsigned integers of more than 8 bits, with which kernels do not compute: a signed dtype that
/// holds them.
struct UnsignedType {
  const char* code;
  size_t bytes;
  ScalarType dtype;
};
constexpr UnsignedType kUnsignedTypes[] = {{"u2", 2, kInt}, {"u4", 4, kLong}, {"u8", 8, kLong}};

const UnsignedType* unsigned_of(std::string_view descr) {
  if (descr.size() < 3 || std::string_view("<>=").find(descr[0]) == std::string_view::npos)
    return nullptr;
  for (const UnsignedType& type : kUnsignedTypes)
    if (descr.substr(1) == type.code) return &type;
  return nullptr;
}

/// Numbers of `From` as those of `To`, which is at least as wide.
template <class From, class To>
void widen(const std::string& from, void* to) {
  for (size_t i = 0; i * sizeof(From) < from.size(); ++i) {
    From value = 0;
    std::memcpy(&value, from.data() + i * sizeof value, sizeof value);
    TAEDA_CHECK(std::in_range<To>(value), "it holds ", value, ", which int64 does not");
    static_cast<To*>(to)[i] = static_cast<To>(value);
  }
}

std::string descr_of(ScalarType dtype) {
  for (const NpyType& type : kTypes)
    if (type.dtype == dtype) return (element_size(dtype) == 1 ? "|" : "<") + std::string(type.code);
  throw TypeError(taeda::detail::concat("NumPy files have no dtype ", dtype_name(dtype)));
}

/// Elements times bytes, or nothing if that is beyond what memory can hold.
std::optional<uint64_t> bytes_of(const NpyHeader& h) {
  uint64_t out = h.element_bytes;
  const bool empty = std::find(h.shape.begin(), h.shape.end(), 0) != h.shape.end();
  if (empty) return 0;
  for (int64_t size : h.shape)
    if (__builtin_mul_overflow(out, static_cast<uint64_t>(size), &out)) return std::nullopt;
  return out <= INT64_MAX ? std::optional(out) : std::nullopt;
}

void reverse_bytes(char* data, size_t bytes, size_t width) {
  for (size_t at = 0; at + width <= bytes; at += width) std::reverse(data + at, data + at + width);
}

/// The elements behind the header, in the file's order.
Tensor read_elements(const FileBytes& file, const NpyHeader& h, const std::vector<int64_t>& sizes,
                     size_t bytes) {
  const UnsignedType* widened = unsigned_of(h.descr);
  const ScalarType dtype = widened ? widened->dtype : *dtype_of(h.descr);
  Tensor out = make_tensor(sizes, dtype, kCPU);
  if (bytes == 0) return out;
  std::string narrow(widened ? bytes : 0, '\0');
  char* data = widened ? narrow.data() : static_cast<char*>(out.data_ptr());
  file.read(h.data_offset, data, bytes);
  if (h.descr[0] == '>') reverse_bytes(data, bytes, h.element_bytes / (is_complex(dtype) ? 2 : 1));
  if (dtype == kBool)
    for (size_t i = 0; i < bytes; ++i) data[i] = data[i] != 0;
  if (h.element_bytes == 2 && widened) widen<uint16_t, int32_t>(narrow, out.data_ptr());
  if (h.element_bytes == 4 && widened) widen<uint32_t, int64_t>(narrow, out.data_ptr());
  if (h.element_bytes == 8 && widened) widen<uint64_t, int64_t>(narrow, out.data_ptr());
  return out;
}

Tensor read_checked(const FileBytes& file) {
  std::string head(std::min<uint64_t>(file.size(), kPrefix + 4 + kMostHeaderBytes), '\0');
  file.read(0, head.data(), head.size());
  const NpyHeader h = parse_npy_header(head);
  TAEDA_CHECK_TYPE(h.element_bytes > 0, "it has dtype '", h.descr, "', which Taeda does not have");
  const std::optional<uint64_t> expected = bytes_of(h);
  const size_t found = file.size() - h.data_offset;
  TAEDA_CHECK(expected == found, "its header promises ",
              expected ? std::to_string(*expected) : "too many", " bytes of data, it has ", found);
  std::vector<int64_t> sizes = h.shape;
  if (h.fortran_order) std::reverse(sizes.begin(), sizes.end());
  const Tensor out = read_elements(file, h, sizes, found);
  if (!h.fortran_order) return out;
  if (found == 0) return make_tensor(h.shape, out.dtype(), kCPU);
  std::vector<int64_t> back(sizes.size());
  for (size_t d = 0; d < back.size(); ++d) back[d] = static_cast<int64_t>(back.size() - 1 - d);
  return out.permute(back).contiguous();
}

/// `name` is for messages.
Tensor read_npy(const FileBytes& file, const std::string& name) {
  const std::string prefix = name + " is no valid .npy file: ";
  try {
    return read_checked(file);
  } catch (const TypeError& e) {
    throw TypeError(name + ": " + e.message());
  } catch (const OutOfMemoryError&) {
    throw;
  } catch (const Error& e) {
    throw Error(prefix + e.message());
  }
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes) {
  TAEDA_CHECK(bytes.starts_with(kMagic), "it does not start as one");
  TAEDA_CHECK(bytes.size() >= kPrefix + 4, "it is cut off");
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(bytes[at])); };
  const size_t version = byte(6);
  TAEDA_CHECK(version >= 1 && version <= 3, "it has version ", version);
  const size_t width = version == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t i = 0; i < width; ++i) length |= byte(kPrefix + i) << 8 * i;
  const size_t begin = kPrefix + width;
  TAEDA_CHECK(length <= kMostHeaderBytes, "its header has ", length, " bytes");
  TAEDA_CHECK(bytes.size() - begin >= length, "it is cut off");
  NpyHeader out = HeaderParser(bytes.substr(begin, length)).parse();
  out.data_offset = begin + length;
  if (const auto dtype = dtype_of(out.descr))
    out.element_bytes = static_cast<size_t>(element_size(*dtype));
  else if (const UnsignedType* type = unsigned_of(out.descr))
    out.element_bytes = type->bytes;
  return out;
}

Tensor parse_npy(std::string_view bytes, const std::string& name) {
  return read_npy(*FileBytes::view(bytes), name);
}

Tensor load_npy(const std::string& path) { return read_npy(*FileBytes::open(path), path); }

std::string serialize_npy(const Tensor& tensor) {
  TAEDA_CHECK_VALUE(tensor.defined(), "an undefined tensor cannot be saved");
  TAEDA_CHECK_VALUE(tensor.is_strided(),
                    "a sparse tensor cannot be saved: save its indices and values");
  const NoGradGuard no_grad;
  const Tensor t = tensor.detach().cpu().contiguous();
  std::string shape = "(";
  for (int64_t size : t.sizes()) shape += std::to_string(size) + (t.dim() == 1 ? "," : ", ");
  if (t.dim() > 1) shape.resize(shape.size() - 2);
  std::string header =
      "{'descr': '" + descr_of(t.dtype()) + "', 'fortran_order': False, 'shape': " + shape + "), }";
  const size_t begin = kPrefix + 2;
  const size_t padding = kAlignment - (begin + header.size() + 1) % kAlignment;
  header += std::string(padding % kAlignment, ' ') + "\n";
  std::string out(kMagic);
  out += std::string("\x01\0", 2);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  if (t.nbytes() > 0)
    out.append(static_cast<const char*>(t.data_ptr()), static_cast<size_t>(t.nbytes()));
  return out;
}

void save_npy(const Tensor& tensor, const std::string& path) {
  write_file(path, serialize_npy(tensor));
}

NamedTensors load_npz(const std::string& path) {
  ZipReader zip(path);
  NamedTensors out;
  for (const ZipReader::Entry& entry : zip.entries()) {
    const std::string& name = entry.name;
    TAEDA_CHECK(name.ends_with(".npy"), path, " is no .npz file: it holds ", name);
    out.emplace_back(name.substr(0, name.size() - 4),
                     parse_npy(zip.read(name), name + " in " + path));
  }
  return out;
}

bool is_npz(const std::string& path) {
  const ZipReader zip(path);
  return !zip.entries().empty() && std::ranges::all_of(zip.entries(), [](const auto& entry) {
    return entry.name.ends_with(".npy");
  });
}

void save_npz(const NamedTensors& tensors, const std::string& path, bool compressed) {
  TAEDA_CHECK_VALUE(!tensors.empty(), "an .npz file needs an array");
  std::vector<std::pair<std::string, std::string>> entries;
  std::set<std::string> names;
  for (const auto& [name, tensor] : tensors) {
    TAEDA_CHECK_VALUE(names.insert(name).second, "two tensors are named '", name, "'");
    entries.emplace_back(name + ".npy", serialize_npy(tensor));
  }
  write_file(path, make_zip(entries, compressed));
}

}  // namespace taeda::inline v0_2::io
