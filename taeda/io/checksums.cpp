#include "taeda/io/checksums.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <numeric>

#include "taeda/base/error.h"
#include "taeda/base/parallel_for.h"

#if defined(TAEDA_HAS_ZLIB)
#include <zlib.h>
#endif

namespace taeda::inline v0_2::io {

namespace {

std::vector<size_t> order_of_names(const std::vector<TensorInfo>& infos) {
  std::vector<size_t> order(infos.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return infos[a].name < infos[b].name; });
  return order;
}

/// A text that no other text is the beginning of.
void append(std::string& to, std::string_view part) {
  to += std::to_string(part.size());
  to += ':';
  to += part;
}

uint32_t parse_checksum(std::string_view digits) {
  uint32_t out = 0;
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, out, 16);
  TAEDA_CHECK(error == std::errc() && end == last, "its checksums are damaged");
  return out;
}

}  // namespace

#if defined(TAEDA_HAS_ZLIB)

bool has_checksums() { return true; }

uint32_t checksum_of(const void* data, size_t bytes) {
  constexpr size_t kBlock = size_t{4} << 20;
  const auto* from = static_cast<const unsigned char*>(data);
  std::vector<uLong> parts((bytes + kBlock - 1) / kBlock);
  const auto length = [&](size_t i) { return std::min(kBlock, bytes - i * kBlock); };
  parallel_for(0, static_cast<int64_t>(parts.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      parts[i] = ::crc32_z(0, from + i * kBlock, length(i));
  });
  uLong out = ::crc32_z(0, nullptr, 0);
  for (size_t i = 0; i < parts.size(); ++i)
    out = ::crc32_combine(out, parts[i], static_cast<z_off_t>(length(i)));
  return static_cast<uint32_t>(out);
}

#else

bool has_checksums() { return false; }
uint32_t checksum_of(const void*, size_t) { return 0; }

#endif

namespace {

/// Of the header's content; `metadata` without the checksums.
uint32_t header_checksum(const std::vector<TensorInfo>& infos, const std::vector<size_t>& order,
                         const Metadata& metadata) {
  std::string text;
  for (size_t i : order) {
    append(text, infos[i].name);
    append(text, infos[i].dtype);
    for (int64_t size : infos[i].shape) text += std::to_string(size) + ",";
  }
  for (const auto& [key, value] : metadata) {
    append(text, key);
    append(text, value);
  }
  return checksum_of(text.data(), text.size());
}

}  // namespace

std::string checksum_text(const std::vector<TensorInfo>& infos, const Metadata& metadata,
                          const std::vector<uint32_t>& tensors) {
  const std::vector<size_t> order = order_of_names(infos);
  std::string out;
  const auto add = [&](uint32_t value) {
    char digits[kChecksumDigits + 1];
    std::snprintf(digits, sizeof digits, "%08x", value);
    out += digits;
  };
  add(header_checksum(infos, order, metadata));
  for (size_t i : order) add(tensors[i]);
  return out;
}

std::vector<uint32_t> take_checksums(const std::vector<TensorInfo>& infos, Metadata& metadata) {
  const auto found = metadata.find(kChecksumKey);
  if (found == metadata.end()) return {};
  const std::string text = found->second;
  metadata.erase(found);
  if (!has_checksums()) return {};
  TAEDA_CHECK(text.size() == checksum_text_size(infos.size()), "it has ", infos.size(),
              " tensors, but its checksums (", kChecksumKey, ") are ", text.size(),
              " characters: its header is damaged, or another program added or removed tensors and "
              "kept the checksums");
  const auto digits = [&](size_t i) {
    return parse_checksum(std::string_view(text).substr(i * kChecksumDigits, kChecksumDigits));
  };
  const std::vector<size_t> order = order_of_names(infos);
  TAEDA_CHECK(digits(0) == header_checksum(infos, order, metadata),
              "its header is damaged: names, dtypes, shapes or metadata do not fit their checksum");
  std::vector<uint32_t> out(infos.size());
  size_t position = 0;
  for (size_t i : order) out[i] = digits(++position);
  return out;
}

}  // namespace taeda::inline v0_2::io
