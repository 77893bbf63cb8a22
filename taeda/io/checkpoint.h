// Everything that a run needs to go on, in one file: model, optimizer, schedule, counters.
//
//     Checkpoint c;
//     c.put("model", model).put("optimizer", optimizer).set("epoch", 3);
//     c.save("run/checkpoint.safetensors");
#pragma once

#include "taeda/io/serialize.h"

namespace taeda::inline v0_2::io {

/// Named sections; names of a section's tensors start with "<section>.".
class Checkpoint {
 public:
  Checkpoint() = default;
  /// Throws Error for a file that is missing or damaged, naming the tensor. With `mmap` tensors lie
  /// in the mapped file, unchecked, and are read when used: see SafeTensors::open.
  static Checkpoint load(const std::string& path, bool mmap = false) {
    return Checkpoint(load_archive(path, mmap));
  }
  /// Replaces the file in one step: a crash leaves the old one or the new one.
  void save(const std::string& path) const { save_archive(archive_, path); }

  /// Adds the state of `value` under `section`.
  template <Saveable T>
  Checkpoint& put(const std::string& section, const T& value) {
    pack(archive_, section + ".", value);
    return *this;
  }
  /// Adds a number or a text.
  Checkpoint& set(const std::string& name, double value) {
    archive_.add_number(name, value);
    return *this;
  }
  Checkpoint& set(const std::string& name, const std::string& text);

  /// Gives `value` the state of `section`. Throws Error where it lacks something, and ValueError,
  /// listing the sections that there are, where it lacks all.
  template <Saveable T>
  void get(const std::string& section, T& value) const {
    const Archive part = archive_.section(section + ".");
    try {
      unpack(part, value);
    } catch (const Error&) {
      if (part.tensors.is_empty() && part.metadata.empty()) throw_absent(section);
      throw;
    }
  }
  /// Throws ValueError when `name` was not set.
  double number(const std::string& name) const { return Archive::parse_number(name, text(name)); }
  const std::string& text(const std::string& name) const;

 private:
  [[noreturn]] void throw_absent(const std::string& section) const;

  explicit Checkpoint(Archive archive) : archive_(std::move(archive)) {}
  Archive archive_;
};

}  // namespace taeda::inline v0_2::io
