#include "taeda/log/record_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::logging {

namespace {

/// Bit-reversed 0x1edc6f41.
constexpr uint32_t kCastagnoli = 0x82f63b78, kMaskDelta = 0xa282ead8;
constexpr size_t kHeaderBytes = 12, kFooterBytes = 4;

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kCastagnoli : 0);
    table[i] = crc;
  }
  return table;
}

/// The format's numbers are little-endian.
std::string little_endian(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

uint64_t number_at(std::string_view bytes, size_t at, size_t count) {
  uint64_t out = 0;
  for (size_t i = 0; i < count; ++i) out |= uint64_t{static_cast<uint8_t>(bytes[at + i])} << 8 * i;
  return out;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  static constexpr std::array<uint32_t, 256> kTable = make_table();
  uint32_t crc = ~uint32_t{0};
  for (char c : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff];
  return ~crc;
}

uint32_t masked_crc32c(std::string_view bytes) {
  const uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + kMaskDelta;
}

RecordFile::RecordFile(std::string path)
    : path_(std::move(path)),
      fd_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  TAEDA_CHECK(fd_ >= 0, "cannot write ", path_, ": ", std::strerror(errno));
}

RecordFile::~RecordFile() { ::close(fd_); }

void RecordFile::append(std::string_view record) {
  const std::string length = little_endian(record.size(), 8);
  buffer_ += length + little_endian(masked_crc32c(length), 4);
  buffer_ += record;
  buffer_ += little_endian(masked_crc32c(record), 4);
  ends_.push_back(buffer_.size());
}

void RecordFile::write_out() {
  size_t done = 0;
  int reason = 0;
  while (done < buffer_.size()) {
    const ssize_t n = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      reason = errno;
      break;
    }
    done += static_cast<size_t>(n);
  }
  const auto whole = std::upper_bound(ends_.begin(), ends_.end(), done);
  const auto lost = ends_.end() - whole;
  const size_t kept = whole == ends_.begin() ? 0 : *(whole - 1);
  if (done > kept) {
    const off_t end = ::lseek(fd_, 0, SEEK_END);
    if (end >= 0 && ::ftruncate(fd_, end - static_cast<off_t>(done - kept)) != 0) reason = errno;
  }
  buffer_.clear();
  ends_.clear();
  TAEDA_CHECK(lost == 0, "cannot write ", path_, ": ", std::strerror(reason), " (", lost,
              lost == 1 ? " record" : " records", " lost)");
}

namespace {

void collect_records(const std::string& path, const std::string& bytes,
                     std::vector<std::string>& out) {
  for (size_t at = 0; at < bytes.size();) {
    const auto check = [&](bool good, const char* what) {
      TAEDA_CHECK(good, path, ": record ", out.size(), " at byte ", at, " ", what);
    };
    const size_t left = bytes.size() - at;
    check(left >= kHeaderBytes, "is cut off");
    const std::string_view length = std::string_view(bytes).substr(at, 8);
    check(number_at(bytes, at + 8, 4) == masked_crc32c(length), "is damaged: its length");
    const uint64_t size = number_at(length, 0, 8);
    check(size <= left - kHeaderBytes && left - kHeaderBytes - size >= kFooterBytes, "is cut off");
    std::string record = bytes.substr(at + kHeaderBytes, size);
    check(number_at(bytes, at + kHeaderBytes + size, 4) == masked_crc32c(record),
          "is damaged: its content");
    out.push_back(std::move(record));
    at += kHeaderBytes + size + kFooterBytes;
  }
}

}  // namespace

std::vector<std::string> read_records(const std::string& path, std::string* damage) {
  TAEDA_CHECK(!std::filesystem::is_directory(path), "cannot read ", path, ": it is a folder");
  std::ifstream file(path, std::ios::binary);
  TAEDA_CHECK(file, "cannot read ", path, ": ", std::strerror(errno));
  std::string content{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> out;
  try {
    collect_records(path, std::move(content), out);
  } catch (const Error& e) {
    if (!damage) throw;
    *damage = e.message();
  }
  return out;
}

}  // namespace taeda::inline v0_2::logging
