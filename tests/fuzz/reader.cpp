#include "tests/fuzz/reader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "taeda/base/error.h"

namespace taeda::fuzz {

bool feed(const Reader& reader, std::string_view bytes) {
  try {
    reader.read(bytes);
    return true;
  } catch (const Error&) {
    return false;
  }
}

MemoryFile::MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
  if (descriptor_ < 0 ||
      ::write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("no file in memory");
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

unsigned Numbers::byte() {
  if (bytes_.empty()) return 0;
  const auto out = static_cast<unsigned char>(bytes_[0]);
  bytes_.remove_prefix(1);
  return out;
}

long long Numbers::any() {
  constexpr unsigned kWide = 0xf0;
  const unsigned first = byte();
  if (first < kWide) return static_cast<int>(first) - 16;
  unsigned long long out = 0;
  for (int i = 0; i < 8; ++i) out = out << 8 | byte();
  return static_cast<long long>(out);
}

std::vector<std::string_view> messages_in(std::string_view bytes) {
  std::vector<std::string_view> out;
  for (Numbers numbers(bytes); !numbers.empty();) {
    const size_t low = numbers.byte(), size = low | numbers.byte() << 8;
    out.push_back(numbers.rest().substr(0, size));
    numbers = Numbers(numbers.rest().substr(out.back().size()));
  }
  return out;
}

void put_little(std::string& bytes, size_t at, unsigned long long value, size_t width) {
  for (size_t i = 0; i < width; ++i) bytes[at + i] = static_cast<char>(value >> 8 * i);
}
void put_big(std::string& bytes, size_t at, unsigned long long value, size_t width) {
  for (size_t i = 0; i < width; ++i) bytes[at + width - 1 - i] = static_cast<char>(value >> 8 * i);
}
unsigned long long little_at(const std::string& bytes, size_t at, size_t width) {
  unsigned long long out = 0;
  for (size_t i = width; i > 0; --i) out = out << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return out;
}
unsigned long long big_at(const std::string& bytes, size_t at, size_t width) {
  unsigned long long out = 0;
  for (size_t i = 0; i < width; ++i) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

}  // namespace taeda::fuzz
