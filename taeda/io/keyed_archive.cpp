#include "taeda/io/keyed_archive.h"

#include <charconv>
#include <istream>
#include <sstream>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::serialize {

namespace {

/// A value that is no tensor as a text: a letter for its kind, then the value.
std::string to_text(const std::string& key, const IValue& v) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // memory that runs out would shorten the text
  out.precision(17);
  if (v.isDouble())
    out << 'd' << v.toDouble();
  else if (v.isInt())
    out << 'i' << v.toInt();
  else if (v.isBool())
    out << 'b' << v.toBool();
  else if (v.isString())
    out << 's' << v.toStringRef();
  else if (v.isNone())
    out << 'n';
  else
    TAEDA_CHECK(false, "write: the value of '", key, "' is a ", v.tagKind(),
                ", for which an archive has no place");
  return out.str();
}

int64_t whole_number(const std::string& key, const std::string& text) {
  int64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  TAEDA_CHECK(error == std::errc() && end == last, "load: the value of '", key,
              "' is no whole number: '", text, "'");
  return value;
}

IValue from_text(const std::string& key, const std::string& text) {
  const std::string value = text.empty() ? "" : text.substr(1);
  switch (text.empty() ? ' ' : text[0]) {
    case 'd': return IValue(io::Archive::parse_number(key, value));
    case 'i': return IValue(whole_number(key, value));
    case 'b': return IValue(value == "1");
    case 's': return IValue(value);
    case 'n': return IValue();
    default: TAEDA_CHECK(false, "load: the value of '", key, "' is not one of an archive: ", text);
  }
  return {};
}

/// Lists are archives of "<key>.0", "<key>.1", ..., whose length stands at "<key>.size".
std::string length_key(const std::string& key) { return key + ".size"; }

void require(bool found, const std::string& key) {
  TAEDA_CHECK(found, "No such serialized value '", key, "'");
}

}  // namespace

void OutputArchive::write(const std::string& key, const Tensor& tensor, bool) {
  archive_.add(key, tensor);
}

void OutputArchive::write(const std::string& key, const IValue& value) {
  if (value.isTensor()) {
    write(key, value.toTensor());
  } else if (value.isList()) {
    const auto& list = value.toListRef();
    write(length_key(key), IValue(list.size()));
    for (size_t i = 0; i < list.size(); ++i) write(key + "." + std::to_string(i), list[i]);
  } else {
    TAEDA_CHECK(archive_.metadata.emplace(key, to_text(key, value)).second,
                "write: the archive has '", key, "' already");
  }
}

void OutputArchive::write(const std::string& key, const OutputArchive& nested) {
  for (const auto& item : nested.archive_.tensors)
    archive_.add(key + "." + item.key(), item.value());
  for (const auto& [name, text] : nested.archive_.metadata)
    archive_.metadata[key + "." + name] = text;
}

void OutputArchive::save_to(const std::function<size_t(const void*, size_t)>& writer) const {
  TAEDA_CHECK_VALUE(writer, "save_to: expected a function that writes, but got an empty one");
  std::ostringstream stream;
  save_to(stream);
  const std::string bytes = stream.str();
  const size_t taken = writer(bytes.data(), bytes.size());
  TAEDA_CHECK(taken == bytes.size(), "save_to: the writer took ", taken, " of ", bytes.size(),
              " bytes");
}

void InputArchive::take(io::Archive archive, std::optional<Device> device) {
  if (device)
    for (auto& item : archive.tensors) item.value() = item.value().to(*device);
  archive_ = std::move(archive);
  asked_.clear();
}

void InputArchive::load_from(const std::string& path, std::optional<Device> device) {
  take(io::load_archive(path), device);
}

void InputArchive::load_from(std::istream& stream, std::optional<Device> device) {
  take(io::load_archive(stream), device);
}

void InputArchive::load_from(const char* data, size_t size, std::optional<Device> device) {
  TAEDA_CHECK_VALUE(data || size == 0, "load_from: ", size, " bytes at a null pointer");
  std::istringstream stream(size == 0 ? std::string() : std::string(data, size));
  load_from(stream, device);
  const std::streamsize left = stream.rdbuf()->in_avail();
  TAEDA_CHECK(left <= 0, "load_from: ", left, " of ", size, " bytes follow the archive");
}

void InputArchive::load_from(const std::function<size_t(uint64_t, void*, size_t)>& read,
                             const std::function<size_t()>& size, std::optional<Device> device) {
  TAEDA_CHECK_VALUE(read && size, "load_from: expected functions that read, but got an empty one");
  std::string bytes;
  const size_t wanted = size();
  try {
    bytes.resize(wanted);
  } catch (const std::exception&) {
    throw OutOfMemoryError(detail::concat("load_from: ", wanted, " bytes do not fit into memory"));
  }
  const size_t given = read(0, bytes.data(), bytes.size());
  TAEDA_CHECK(given == bytes.size(), "load_from: the reader gave ", given, " of ", bytes.size(),
              " bytes");
  load_from(bytes.data(), bytes.size(), device);
}

bool InputArchive::try_read(const std::string& key, Tensor& tensor, bool) {
  asked_.insert(key);
  const Tensor* found = archive_.tensors.find(key);
  if (found) tensor = *found;
  return found != nullptr;
}

bool InputArchive::try_read(const std::string& key, IValue& value) {
  Tensor tensor;
  if (try_read(key, tensor)) {
    value = IValue(tensor);
    return true;
  }
  const auto found = archive_.metadata.find(key);
  if (found != archive_.metadata.end()) {
    value = from_text(key, found->second);
    return true;
  }
  const auto length = archive_.metadata.find(length_key(key));
  if (length == archive_.metadata.end()) return false;
  const int64_t count = from_text(key, length->second).toInt();
  std::vector<IValue> list;  // grows as its elements are found: the length is only what a file says
  for (int64_t i = 0; i < count; ++i) read(key + "." + std::to_string(i), list.emplace_back());
  value = IValue(std::move(list));
  return true;
}

bool InputArchive::try_read(const std::string& key, InputArchive& archive) {
  io::Archive section = archive_.section(key + ".");
  if (section.tensors.is_empty() && section.metadata.empty()) return false;
  archive.archive_ = std::move(section);
  archive.asked_.clear();
  asked_.insert(key + ".");
  return true;
}

void InputArchive::read(const std::string& key, Tensor& tensor, bool is_buffer) {
  require(try_read(key, tensor, is_buffer), key);
}
void InputArchive::read(const std::string& key, IValue& value) {
  require(try_read(key, value), key);
}
void InputArchive::read(const std::string& key, InputArchive& archive) {
  require(try_read(key, archive), key);
}

std::vector<std::string> InputArchive::unread() const {
  std::vector<std::string> out;
  for (const auto& item : archive_.tensors) {
    const std::string& key = item.key();
    bool asked = asked_.contains(key);
    for (size_t dot = key.find('.'); dot != std::string::npos && !asked;
         dot = key.find('.', dot + 1))
      asked = asked_.contains(key.substr(0, dot + 1));
    if (!asked) out.push_back(key);
  }
  return out;
}

std::vector<std::string> InputArchive::keys() const {
  OrderedDict<std::string, bool> parts;
  const auto add = [&](const std::string& key) {
    const std::string part = key.substr(0, key.find('.'));
    if (!parts.contains(part)) parts.insert(part, true);
  };
  for (const auto& item : archive_.tensors) add(item.key());
  for (const auto& item : archive_.metadata) add(item.first);
  return parts.keys();
}

}  // namespace taeda::inline v0_2::serialize
