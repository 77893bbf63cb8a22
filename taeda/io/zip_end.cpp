#include "taeda/io/zip_end.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace taeda::inline v0_2::io {

namespace {

constexpr std::string_view kEnd = "PK\x05\x06", kEnd64 = "PK\x06\x07", kEntry = "PK\x01\x02";
constexpr uint64_t kEndBytes = 22;    // of the record at an archive's end
constexpr uint64_t kEnd64Bytes = 76;  // of the two records before it in large archives
constexpr uint64_t kScanned = 1 << 20;

template <class T>
T number_at(const char* bytes, size_t at) {
  T out;
  std::memcpy(&out, bytes + at, sizeof out);
  return out;
}

/// The end of the archive whose last record is at `at`; 0 unless it begins at the first byte.
uint64_t end_of(const FileBytes& file, uint64_t at) {
  char record[kEndBytes];
  if (at > file.size() || file.size() - at < kEndBytes) return 0;
  file.read(at, record, sizeof record);
  if (std::string_view(record, kEnd.size()) != kEnd) return 0;
  uint64_t size = number_at<uint32_t>(record, 12), offset = number_at<uint32_t>(record, 16);
  uint64_t directory_end = at;
  if (char large[kEnd64Bytes]; at >= kEnd64Bytes) {
    file.read(at - kEnd64Bytes, large, sizeof large);
    if (std::string_view(large + 56, kEnd64.size()) == kEnd64) {
      size = number_at<uint64_t>(large, 40);
      offset = number_at<uint64_t>(large, 48);
      directory_end -= kEnd64Bytes;
    }
  }
  // Its directory lies where it would lie in a file of this archive alone.
  if (size > directory_end || directory_end - size != offset) return 0;
  if (char entry[kEntry.size()]; size > 0) {
    if (size < sizeof entry) return 0;
    file.read(offset, entry, sizeof entry);
    if (std::string_view(entry, sizeof entry) != kEntry) return 0;
  }
  const uint64_t end = at + kEndBytes + number_at<uint16_t>(record, 20);
  return end <= file.size() ? end : 0;
}

}  // namespace

uint64_t first_archive_bytes(const FileBytes& file) {
  const uint64_t size = file.size();
  if (size < kEndBytes) return 0;
  if (end_of(file, size - kEndBytes) == size) return size;
  std::string text;
  for (uint64_t at = 0; at + kEndBytes <= size; at += kScanned) {
    text.resize(std::min(kScanned + kEnd.size(), size - at));
    file.read(at, text.data(), text.size());
    for (size_t found = text.find(kEnd); found != std::string::npos;
         found = text.find(kEnd, found + 1))
      if (const uint64_t end = end_of(file, at + found)) return end;
  }
  return 0;
}

}  // namespace taeda::inline v0_2::io
