// File descriptors that close themselves.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace taeda::inline v0_2::distributed::cluster {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void close();
  /// The number, which the caller closes.
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// A pipe, which programs do not inherit unless told; reading never waits. Throws DistributedError
/// where there is none to be had.
struct Pipe {
  Pipe();
  Descriptor read, write;
};

/// A file in memory that holds `text` and cannot be changed any more; any process that has the
/// descriptor can read it, from its beginning.
Descriptor file_of_text(const char* name, std::string_view text);
/// What such a file holds.
std::string text_of_file(int file);

/// Writes all of `text`; false where the other side is gone.
bool write_all(int file, std::string_view text);

/// Appends to `out` what can be read from `file` without waiting, about `most` bytes: who writes
/// faster than this process reads must not keep it here. False when its end has come.
bool read_available(int file, std::string& out, size_t most = 1 << 20);

}  // namespace taeda::inline v0_2::distributed::cluster
