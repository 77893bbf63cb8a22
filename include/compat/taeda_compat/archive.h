// torch::serialize: archives with keys, which hold values and other archives. A file is a
// safetensors file; keys of archives within archives are joined by dots.
#pragma once

#include <taeda_compat/ivalue.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace taeda_compat::serialize {

namespace detail {
/// A value that is no tensor as a text: a letter for its kind, then the value.
inline std::string to_text(const IValue& v) {
  std::ostringstream out;
  out.precision(17);
  if (v.isDouble())
    out << 'd' << v.toDouble();
  else if (v.isInt())
    out << 'i' << v.toInt();
  else if (v.isBool())
    out << 'b' << v.toBool();
  else if (v.isString())
    out << 's' << v.toStringRef();
  else
    out << 'n';
  return out.str();
}
inline IValue from_text(const std::string& key, const std::string& text) {
  const std::string value = text.empty() ? "" : text.substr(1);
  switch (text.empty() ? ' ' : text[0]) {
    case 'd': return IValue(io::Archive::parse_number(key, value));
    case 'i': return IValue(static_cast<int64_t>(std::stoll(value)));
    case 'b': return IValue(value == "1");
    case 's': return IValue(value);
    case 'n': return IValue();
    default: TAEDA_CHECK(false, "load: the value of '", key, "' is not one of an archive: ", text);
  }
  return {};
}
/// Lists are archives of "<key>.0", "<key>.1", ..., whose length stands at "<key>.size".
inline std::string length_key(const std::string& key) { return key + ".size"; }
}  // namespace detail

/// What is written to a file.
class OutputArchive {
 public:
  /// Stores a tensor; whether it is a buffer makes no difference.
  void write(const std::string& key, const Tensor& tensor, bool /*is_buffer*/ = false) {
    archive_.add(key, tensor);
  }
  /// Stores a value. Throws Error for a key that is there already.
  void write(const std::string& key, const IValue& value) {
    if (value.isTensor()) {
      write(key, value.toTensor());
    } else if (value.isList()) {
      const auto& list = value.toListRef();
      write(detail::length_key(key), IValue(list.size()));
      for (size_t i = 0; i < list.size(); ++i) write(key + "." + std::to_string(i), list[i]);
    } else {
      TAEDA_CHECK(archive_.metadata.emplace(key, detail::to_text(value)).second,
                  "write: the archive has '", key, "' already");
    }
  }
  /// Stores everything in `nested` below `key`.
  void write(const std::string& key, const OutputArchive& nested) {
    for (const auto& item : nested.archive_.tensors)
      archive_.add(key + "." + item.key(), item.value());
    for (const auto& [name, text] : nested.archive_.metadata)
      archive_.metadata[key + "." + name] = text;
  }

  void save_to(const std::string& path) const { io::save_archive(archive_, path); }
  void save_to(std::ostream& stream) const { io::save_archive(archive_, stream); }
  /// Hands the file to a function that says how many bytes it took.
  void save_to(const std::function<size_t(const void*, size_t)>& writer) const {
    std::ostringstream stream;
    save_to(stream);
    const std::string bytes = stream.str();
    const size_t taken = writer(bytes.data(), bytes.size());
    TAEDA_CHECK(taken == bytes.size(), "save_to: the writer took ", taken, " of ", bytes.size(),
                " bytes");
  }

  io::Archive& content() { return archive_; }
  const io::Archive& content() const { return archive_; }

 private:
  io::Archive archive_;
};

/// What was read from a file.
class InputArchive {
 public:
  void load_from(const std::string& path, std::optional<Device> device = {}) {
    take(io::load_archive(path), device);
  }
  void load_from(std::istream& stream, std::optional<Device> device = {}) {
    take(io::load_archive(stream), device);
  }
  void load_from(const char* data, size_t size, std::optional<Device> device = {}) {
    std::istringstream stream(std::string(data, size));
    load_from(stream, device);
  }

  /// False, changing nothing, if there is no such key.
  bool try_read(const std::string& key, Tensor& tensor, bool /*is_buffer*/ = false) {
    const Tensor* found = archive_.tensors.find(key);
    if (found) tensor = *found;
    return found != nullptr;
  }
  bool try_read(const std::string& key, IValue& value) {
    Tensor tensor;
    if (try_read(key, tensor)) {
      value = IValue(tensor);
      return true;
    }
    const auto found = archive_.metadata.find(key);
    if (found != archive_.metadata.end()) {
      value = detail::from_text(key, found->second);
      return true;
    }
    const auto length = archive_.metadata.find(detail::length_key(key));
    if (length == archive_.metadata.end()) return false;
    std::vector<IValue> list(static_cast<size_t>(detail::from_text(key, length->second).toInt()));
    for (size_t i = 0; i < list.size(); ++i) read(key + "." + std::to_string(i), list[i]);
    value = IValue(std::move(list));
    return true;
  }
  bool try_read(const std::string& key, InputArchive& archive) {
    io::Archive section = archive_.section(key + ".");
    if (section.tensors.is_empty() && section.metadata.empty()) return false;
    archive.archive_ = std::move(section);
    return true;
  }
  /// Throws Error if there is no such key.
  template <class T>
  requires(!std::is_const_v<T>) void read(const std::string& key, T& value,
                                          bool is_buffer = false) {
    bool found;
    if constexpr (std::derived_from<T, Tensor>)
      found = try_read(key, value, is_buffer);
    else
      found = try_read(key, value);
    TAEDA_CHECK(found, "No such serialized value '", key, "'");
  }
  /// The first parts of all keys, each once, in order.
  std::vector<std::string> keys() const {
    OrderedDict<std::string, bool> parts;
    const auto add = [&](const std::string& key) {
      const std::string part = key.substr(0, key.find('.'));
      if (!parts.contains(part)) parts.insert(part, true);
    };
    for (const auto& item : archive_.tensors) add(item.key());
    for (const auto& item : archive_.metadata) add(item.first);
    return parts.keys();
  }

  io::Archive& content() { return archive_; }
  const io::Archive& content() const { return archive_; }

 private:
  void take(io::Archive archive, std::optional<Device> device) {
    if (device)
      for (auto& item : archive.tensors) item.value() = item.value().to(*device);
    archive_ = std::move(archive);
  }

  io::Archive archive_;
};

/// Everything of a tensor, module or optimizer, as torch::save writes it.
template <io::Saveable T>
OutputArchive& operator<<(OutputArchive& archive, const T& value) {
  io::pack(archive.content(), "", value);
  return archive;
}
template <io::Saveable T>
InputArchive& operator>>(InputArchive& archive, T& value) {
  io::unpack(archive.content(), value);
  return archive;
}

}  // namespace taeda_compat::serialize

namespace taeda_compat {

/// Loads onto a device what save() wrote, from a path or a stream.
template <io::Saveable T, class Source>
void load(T& value, Source&& source, Device device) {
  serialize::InputArchive archive;
  archive.load_from(source, device);
  archive >> value;
}

}  // namespace taeda_compat
