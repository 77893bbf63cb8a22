// torch::serialize: archives with keys, which hold values and other archives. A file is a
// safetensors file; keys of archives within archives are joined by dots.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "taeda/io/archive.h"
#include "taeda/io/serialize.h"
#include "taeda/tensor/ivalue.h"

namespace taeda::inline v0_2::serialize {

/// What is written to a file.
class OutputArchive {
 public:
  /// Stores a tensor; whether it is a buffer makes no difference.
  void write(const std::string& key, const Tensor& tensor, bool is_buffer = false);
  /// Stores None, a tensor, a number, a text or a list. Throws Error for a key that is there
  /// already, and for values of other kinds, which a file has no place for.
  void write(const std::string& key, const IValue& value);
  /// Stores everything in `nested` below `key`.
  void write(const std::string& key, const OutputArchive& nested);

  /// Throws Error if it cannot be written.
  void save_to(const std::string& path) const { io::save_archive(archive_, path); }
  void save_to(std::ostream& stream) const { io::save_archive(archive_, stream); }
  /// Hands the file to a function that says how many bytes it took.
  void save_to(const std::function<size_t(const void*, size_t)>& writer) const;

  /// The archive itself.
  io::Archive& content() { return archive_; }
  const io::Archive& content() const { return archive_; }

 private:
  io::Archive archive_;
};

/// What was read from a file.
class InputArchive {
 public:
  /// Tensors go to `device`, else to where they were. Throws Error for what is no archive.
  void load_from(const std::string& path, std::optional<Device> device = {});
  void load_from(std::istream& stream, std::optional<Device> device = {});
  void load_from(const char* data, size_t size, std::optional<Device> device = {});
  /// `read(position, buffer, count)` says how many bytes it gave, `size()` how many there are.
  void load_from(const std::function<size_t(uint64_t, void*, size_t)>& read,
                 const std::function<size_t()>& size, std::optional<Device> device = {});

  /// False, changing nothing, if there is no such key.
  bool try_read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  bool try_read(const std::string& key, IValue& value);
  bool try_read(const std::string& key, InputArchive& archive);
  /// Throws Error if there is no such key.
  void read(const std::string& key, Tensor& tensor, bool is_buffer = false);
  void read(const std::string& key, IValue& value);
  void read(const std::string& key, InputArchive& archive);
  /// The first parts of all keys, each once, in order.
  std::vector<std::string> keys() const;
  /// The keys of tensors that no read has asked for, not even as a part of an archive.
  std::vector<std::string> unread() const;

  /// The archive itself.
  io::Archive& content() { return archive_; }
  const io::Archive& content() const { return archive_; }

 private:
  void take(io::Archive archive, std::optional<Device> device);

  io::Archive archive_;
  std::unordered_set<std::string> asked_;
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

}  // namespace taeda::inline v0_2::serialize

namespace taeda::inline v0_2 {

/// Hands what save() writes to a function that says how many bytes it took.
template <io::Saveable T>
void save(const T& value, const std::function<size_t(const void*, size_t)>& writer) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(writer);
}

/// Loads what save() wrote - from a path, a stream, memory or functions - onto a device.
template <io::Saveable T, class Source, class... More>
requires(sizeof...(More) > 0 &&
         requires(serialize::InputArchive & archive, Source& source, More&... more) {
           archive.load_from(source, more...);
         }) void load(T& value, Source&& source, More&&... more) {
  serialize::InputArchive archive;
  archive.load_from(source, more...);
  archive >> value;
}

}  // namespace taeda::inline v0_2
