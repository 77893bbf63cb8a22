// Reads event files by the documented numbers of TensorFlow's messages, without Protocol Buffers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "taeda/log/record_file.h"

namespace taeda::logging {

/// A message of the wire format (protobuf.dev/programming-guides/encoding): its fields by number.
class WireMessage {
 public:
  explicit WireMessage(std::string_view bytes) {
    while (!bytes.empty()) {
      const uint64_t key = varint(bytes);
      std::string& value = fields_[static_cast<int>(key >> 3)].emplace_back();
      switch (key & 7) {
        case 0: {
          const uint64_t number = varint(bytes);
          value.assign(reinterpret_cast<const char*>(&number), 8);
          break;
        }
        case 1: value = take(bytes, 8); break;
        case 2: value = take(bytes, varint(bytes)); break;
        case 5: value = take(bytes, 4); break;
        default: throw std::runtime_error("unknown wire type");
      }
    }
  }

  bool has(int field) const { return fields_.contains(field); }
  const std::vector<std::string>& all(int field) const {
    static const std::vector<std::string> none;
    const auto found = fields_.find(field);
    return found == fields_.end() ? none : found->second;
  }
  std::string text(int field) const { return has(field) ? all(field).back() : ""; }
  WireMessage message(int field) const { return WireMessage(text(field)); }
  std::vector<WireMessage> messages(int field) const {
    std::vector<WireMessage> out;
    for (const std::string& bytes : all(field)) out.emplace_back(bytes);
    return out;
  }
  int64_t integer(int field) const { return number<int64_t>(text(field)); }
  double real(int field) const { return number<double>(text(field)); }
  float single(int field) const { return number<float>(text(field)); }
  /// A packed repeated double.
  std::vector<double> reals(int field) const {
    const std::string bytes = text(field);
    std::vector<double> out(bytes.size() / 8);
    std::memcpy(out.data(), bytes.data(), out.size() * 8);
    return out;
  }
  /// The value of a key in a map field.
  std::string at(int field, const std::string& key) const {
    for (const WireMessage& entry : messages(field))
      if (entry.text(1) == key) return entry.text(2);
    throw std::runtime_error("no key " + key);
  }

 private:
  template <class T>
  static T number(const std::string& bytes) {
    T out{};
    std::memcpy(&out, bytes.data(), std::min(bytes.size(), sizeof out));
    return out;
  }
  static std::string take(std::string_view& bytes, uint64_t n) {
    if (n > bytes.size()) throw std::runtime_error("message is cut off");
    const std::string out(bytes.substr(0, n));
    bytes.remove_prefix(n);
    return out;
  }
  static uint64_t varint(std::string_view& bytes) {
    uint64_t out = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(take(bytes, 1)[0]);
      out |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return out;
    }
  }

  std::map<int, std::vector<std::string>> fields_;
};

/// The event files of a folder, oldest first.
inline std::vector<std::string> event_files(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("events.out.tfevents."))
      out.push_back(entry.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

/// All events of a folder.
inline std::vector<WireMessage> events_of(const std::string& folder) {
  std::vector<WireMessage> out;
  for (const std::string& path : event_files(folder))
    for (const std::string& record : read_records(path)) out.emplace_back(record);
  return out;
}

/// The values of all summaries with a tag, and the event that each belongs to.
struct TaggedValue {
  WireMessage event, value;
};
inline std::vector<TaggedValue> values_of(const std::string& folder, const std::string& tag) {
  std::vector<TaggedValue> out;
  for (const WireMessage& event : events_of(folder))
    for (const WireMessage& value : event.message(5).messages(1))
      if (value.text(1) == tag) out.push_back({event, value});
  return out;
}

}  // namespace taeda::logging
