#include "taeda/io/safetensors_header.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "taeda/base/error.h"
#include "taeda/io/file_bytes.h"
#include "taeda/io/json_events.h"

namespace taeda::inline v0_2::io {

namespace {

struct DtypeName {
  std::string_view name;
  int bits;
  ScalarType dtype;
};

constexpr ScalarType kNone = ScalarType::Undefined;
constexpr DtypeName kDtypes[] = {
    {"BOOL", 8, kBool},
    {"U8", 8, kByte},
    {"I8", 8, kChar},
    {"I16", 16, kShort},
    {"F16", 16, kHalf},
    {"BF16", 16, kBFloat16},
    {"I32", 32, kInt},
    {"F32", 32, kFloat},
    {"I64", 64, kLong},
    {"F64", 64, kDouble},
    {"C64", 64, kComplexFloat},
    {"U16", 16, kUInt16},
    {"U32", 32, kUInt32},
    {"U64", 64, kUInt64},
    {"F8_E4M3", 8, kFloat8_e4m3fn},
    {"F8_E5M2", 8, kFloat8_e5m2},
    {"F8_E8M0", 8, kFloat8_e8m0fnu},
    {"F4", 4, kNone},
    {"F6_E2M3", 6, kNone},
    {"F6_E3M2", 6, kNone},
};

const DtypeName* find_dtype(std::string_view name) {
  for (const DtypeName& d : kDtypes)
    if (d.name == name) return &d;
  return nullptr;
}

/// Whether `bits * product(shape)` is whole bytes, and how many; false when it overflows.
bool checked_bytes(const TensorInfo& t, int bits, uint64_t* bytes) {
  auto total = static_cast<uint64_t>(bits);
  for (int64_t s : t.shape)
    if (__builtin_mul_overflow(total, static_cast<uint64_t>(s), &total)) return false;
  *bytes = total / 8;
  return total % 8 == 0;
}

/// The format: tensors cover the data from its first byte to its last, without holes or overlaps.
void check_offsets(std::vector<TensorInfo>& tensors, uint64_t data_bytes) {
  for (const TensorInfo& t : tensors) {
    const int bits = dtype_bits(t.dtype);
    TAEDA_CHECK(bits > 0, "tensor '", t.name, "' has unknown dtype '", t.dtype, "'");
    TAEDA_CHECK(t.shape.size() <= kMaxDims, "tensor '", t.name, "' has ", t.shape.size(),
                " dimensions, more than ", kMaxDims);
    TAEDA_CHECK(t.begin <= t.end && t.end <= data_bytes, "tensor '", t.name, "' has offsets [",
                t.begin, ", ", t.end, "] outside the ", data_bytes, " bytes of data");
    uint64_t bytes = 0;
    TAEDA_CHECK(checked_bytes(t, bits, &bytes), "the size of tensor '", t.name,
                "' overflows or is no whole byte");
    TAEDA_CHECK(bytes == t.end - t.begin, "tensor '", t.name, "' of dtype ", t.dtype, " and shape ",
                IntArrayRef(t.shape), " needs ", bytes, " bytes, but its offsets span ",
                t.end - t.begin);
  }
  std::vector<const TensorInfo*> order;
  for (const TensorInfo& t : tensors) order.push_back(&t);
  std::sort(order.begin(), order.end(), [](const TensorInfo* a, const TensorInfo* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  uint64_t position = 0;
  for (const TensorInfo* t : order) {
    TAEDA_CHECK(t->begin >= position, "tensor '", t->name, "' overlaps another one");
    TAEDA_CHECK(t->begin == position, "hole of ", t->begin - position, " bytes before tensor '",
                t->name, "'");
    position = t->end;
  }
  TAEDA_CHECK(position == data_bytes, data_bytes - position,
              " bytes at the end belong to no tensor");
}

#if defined(TAEDA_HAS_JSON)

/// Takes the header's events one by one: this finds names that occur twice, which a parsed document
/// no longer shows, and needs no recursion. Depth 1: names; depth 2: fields, or metadata.
class HeaderReader : public JsonEvents {
 public:
  explicit HeaderReader(SafeTensorsHeader* out) : out_(*out) {}

  void null() override { refuse("null"); }
  void boolean() override { refuse("a boolean"); }
  void number_float(const std::string& text) override { refuse("the number " + text); }
  void number_integer(int64_t v) override { refuse("the negative number " + std::to_string(v)); }
  void number_unsigned(uint64_t v) override {
    if (!in_list_) refuse("the number " + std::to_string(v));
    TAEDA_CHECK(v <= INT64_MAX, "number ", v, " in tensor '", name_, "' is too large");
    numbers_.push_back(v);
  }
  void string(const std::string& text) override {
    if (in_list_ || depth_ != 2) refuse("the string \"" + text + "\"");
    if (name_ == "__metadata__") {
      out_.metadata[field_] = text;
    } else {
      TAEDA_CHECK(field_ == "dtype", "field '", field_, "' of tensor '", name_, "' is a string");
      info_.dtype = text;
    }
  }
  void start_object() override {
    if (in_list_ || ++depth_ > 2) refuse("an object");
    fields_.clear();
    info_ = TensorInfo{};
  }
  void end_object() override {
    if (--depth_ == 1 && name_ != "__metadata__") {
      for (const char* field : {"dtype", "shape", "data_offsets"})
        TAEDA_CHECK(fields_.count(field), "tensor '", name_, "' has no field '", field, "'");
      info_.name = name_;
      out_.tensors.push_back(std::move(info_));
    }
  }
  void key(const std::string& text) override {
    if (depth_ == 1) {
      name_ = text;
      TAEDA_CHECK(names_.insert(text).second, "the name '", text, "' occurs twice");
      return;
    }
    field_ = text;
    TAEDA_CHECK(fields_.insert(text).second, "the field '", text, "' of '", name_,
                "' occurs twice");
    TAEDA_CHECK(
        name_ == "__metadata__" || text == "dtype" || text == "shape" || text == "data_offsets",
        "tensor '", name_, "' has an unknown field '", text, "'");
  }
  void start_array() override {
    if (in_list_ || depth_ != 2 || name_ == "__metadata__" || field_ == "dtype") refuse("a list");
    in_list_ = true;
    numbers_.clear();
  }
  void end_array() override {
    in_list_ = false;
    if (field_ == "shape") {
      info_.shape.assign(numbers_.begin(), numbers_.end());
    } else {
      TAEDA_CHECK(numbers_.size() == 2, "data_offsets of tensor '", name_, "' are ",
                  numbers_.size(), " numbers, not 2");
      info_.begin = numbers_[0];
      info_.end = numbers_[1];
    }
  }
  void invalid(size_t position, const char* why) override {
    throw Error(
        taeda::detail::concat("the header is not valid JSON at byte ", position, ": ", why));
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(depth_ == 0 ? "the header is not a JSON object"
                            : taeda::detail::concat("unexpected ", what, " in '", name_, "'"));
  }

  SafeTensorsHeader& out_;
  TensorInfo info_;
  std::string name_, field_;
  std::set<std::string> names_, fields_;
  std::vector<uint64_t> numbers_;
  int depth_ = 0;
  bool in_list_ = false;
};

void parse_header(const std::string& text, SafeTensorsHeader* out) {
  HeaderReader reader(out);
  read_json(text, reader);
}

#else

void parse_header(const std::string&, SafeTensorsHeader*) {
  throw NotImplementedError(
      "this build of Taeda reads no safetensors files: nlohmann-json was not found");
}

#endif

}  // namespace

int dtype_bits(std::string_view name) {
  const DtypeName* d = find_dtype(name);
  return d ? d->bits : 0;
}

std::optional<ScalarType> dtype_from_safetensors(std::string_view name) {
  const DtypeName* d = find_dtype(name);
  if (!d || d->dtype == kNone) return std::nullopt;
  return d->dtype;
}

const char* safetensors_dtype(ScalarType dtype) {
  for (const DtypeName& d : kDtypes)
    if (d.dtype == dtype) return d.name.data();
  return nullptr;
}

uint64_t safetensors_bytes(const std::string& begin) {
  constexpr size_t kLength = 8;
  if (begin.size() <= kLength) return begin.size();
  SafeTensorsHeader header;
  try {
    parse_header(begin.substr(kLength), &header);
  } catch (const Error&) {
    return begin.size();  // whoever reads it says why
  }
  uint64_t data = 0;
  for (const TensorInfo& t : header.tensors) data = std::max(data, t.end);
  return begin.size() + std::min(data, UINT64_MAX - begin.size());
}

SafeTensorsHeader read_header(const FileBytes& file) {
  const uint64_t size = file.size();
  uint64_t length = 0;
  TAEDA_CHECK(size >= sizeof length, "it has ", size,
              " bytes, fewer than the 8 of the header's length");
  file.read(0, &length, sizeof length);
  TAEDA_CHECK(length <= kMaxHeaderBytes, "its header of ", length, " bytes is larger than ",
              kMaxHeaderBytes);
  TAEDA_CHECK(length <= size - sizeof length, "its header of ", length,
              " bytes goes beyond the file of ", size);
  std::string text(length, '\0');
  file.read(sizeof length, text.data(), length);
  SafeTensorsHeader out;
  out.data_offset = sizeof length + length;
  TAEDA_CHECK(text.starts_with('{'), "the header does not start with '{'");
  parse_header(text, &out);
  check_offsets(out.tensors, size - out.data_offset);
  return out;
}

}  // namespace taeda::inline v0_2::io
