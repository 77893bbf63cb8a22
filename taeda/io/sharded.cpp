#include "taeda/io/sharded.h"

#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/base/json.h"
#include "taeda/io/atomic_file.h"
#include "taeda/io/file_bytes.h"
#include "taeda/io/json_events.h"

namespace taeda::inline v0_2::io {

namespace {

constexpr std::string_view kIndexEnding = ".index.json", kShardEnding = ".safetensors";
constexpr uint64_t kMostIndexBytes = 100'000'000;

/// "model-00001-of-00002.safetensors"
std::string shard_name(const std::string& stem, size_t number, size_t count) {
  char text[32];
  std::snprintf(text, sizeof text, "-%05zu-of-%05zu", number, count);
  return stem + text + std::string(kShardEnding);
}

/// The tensors in order, as few shards as hold them without dividing one.
std::vector<NamedTensors> divide(const Archive& archive, uint64_t shard_bytes) {
  std::vector<NamedTensors> out(1);
  uint64_t filled = 0;
  for (const auto& [name, tensor] : archive.tensors) {
    const auto bytes = static_cast<uint64_t>(tensor.nbytes());
    if (!out.back().empty() && filled + bytes > shard_bytes) {
      out.emplace_back();
      filled = 0;
    }
    out.back().emplace_back(name, tensor);
    filled += bytes;
  }
  return out;
}

using WeightMap = std::map<std::string, std::vector<std::string>>;  // names by shard

#if defined(TAEDA_HAS_JSON)

/// Takes an index's events one by one. A parsed document would need memory to be let go of, which
/// may be what has run out.
class IndexReader : public JsonEvents {
 public:
  void null() override { pass(false, "null"); }
  void boolean() override { pass(false, "a boolean"); }
  void number_integer(int64_t) override { pass(false, "a number"); }
  void number_unsigned(uint64_t) override { pass(false, "a number"); }
  void number_float(const std::string&) override { pass(false, "a number"); }
  void string(const std::string& text) override {
    if (!is_shard()) return pass(false, "a text");
    map[text].push_back(name_);
  }
  void start_object() override {
    pass(true, "an object");
    start();
  }
  void start_array() override {
    pass(false, "a list");
    start();
  }
  void end_object() override { --depth_; }
  void end_array() override { --depth_; }
  void key(const std::string& text) override {
    if (depth_ == 1) {
      in_map_ = text == "weight_map";
    } else if (is_shard()) {
      TAEDA_CHECK(names_.insert(text).second, "the name '", text, "' occurs twice");
      name_ = text;
    }
  }
  void invalid(size_t, const char* why) override {
    throw Error(std::string("it is not valid JSON: ") + why);
  }

  WeightMap map;
  bool found = false;  ///< whether there was a weight_map

 private:
  /// Whether what comes next is the shard of a name.
  bool is_shard() const { return in_map_ && depth_ == 2; }
  /// The index and its map are objects, shards are texts, and the rest does not matter.
  void pass(bool is_object, const char* what) const {
    TAEDA_CHECK(!is_shard(), "the shard of '", name_, "' is no text but ", what);
    TAEDA_CHECK(is_object || (depth_ > 0 && !(in_map_ && depth_ == 1)), "it has no weight_map");
  }
  void start() {
    TAEDA_CHECK(++depth_ <= 3, "it is nested more deeply than an index");
    found |= in_map_ && depth_ == 2;
  }

  int depth_ = 0;
  bool in_map_ = false;
  std::string name_;
  std::set<std::string> names_;
};

WeightMap read_weight_map(const std::string& text) {
  IndexReader reader;
  read_json(text, reader);
  TAEDA_CHECK(reader.found, "it has no weight_map");
  return std::move(reader.map);
}

#else

WeightMap read_weight_map(const std::string&) {
  throw NotImplementedError(
      "this build of Taeda reads no indices of shards: nlohmann-json was not found");
}

#endif

/// A name of a file in the index's folder: an index from anybody leads nowhere else.
void check_shard_name(const std::string& name) {
  TAEDA_CHECK(!name.empty() && name.find('/') == std::string::npos && name != "." && name != ".." &&
                  name.find('\0') == std::string::npos && !name.ends_with(".json"),
              "'", name, "' is no name of a shard beside it");
}

Archive load_shards(const std::string& path, bool mmap) {
  const auto index = FileBytes::open(path);
  TAEDA_CHECK(index->size() <= kMostIndexBytes, "it has ", index->size(), " bytes");
  std::string text(index->size(), '\0');
  index->read(0, text.data(), text.size());
  Archive out;
  for (const auto& [shard, names] : read_weight_map(text)) {
    check_shard_name(shard);
    const std::string file = std::filesystem::path(path).parent_path() / shard;
    const Archive part = load_archive(file, mmap);
    for (const std::string& name : names) {
      const Tensor* found = part.tensors.find(name);
      TAEDA_CHECK(found, "'", name, "' is not in ", shard);
      out.add(name, *found);
    }
    out.metadata.insert(part.metadata.begin(), part.metadata.end());
  }
  return out;
}

}  // namespace

void save_sharded(const Archive& archive, const std::string& path, uint64_t shard_bytes) {
  TAEDA_CHECK_VALUE(path.ends_with(kIndexEnding), "an index of shards is named *", kIndexEnding,
                    ", got ", path);
  TAEDA_CHECK_VALUE(!archive.tensors.is_empty(), "an index of shards needs a tensor");
  const std::filesystem::path index(path);
  std::string stem = index.filename().string();
  stem.resize(stem.size() - kIndexEnding.size());
  if (stem.ends_with(kShardEnding)) stem.resize(stem.size() - kShardEnding.size());
  const std::vector<NamedTensors> shards = divide(archive, shard_bytes);
  std::string map;
  uint64_t total = 0;
  for (size_t i = 0; i < shards.size(); ++i) {
    const std::string name = shard_name(stem, i + 1, shards.size());
    save_safetensors(shards[i], index.parent_path() / name, i == 0 ? archive.metadata : Metadata());
    for (const auto& [key, tensor] : shards[i]) {
      map += (map.empty() ? "\n    " : ",\n    ") + json::quoted(key) + ": " + json::quoted(name);
      total += static_cast<uint64_t>(tensor.nbytes());
    }
  }
  write_file(path, "{\n  \"metadata\": {\"total_size\": " + std::to_string(total) +
                       "},\n  \"weight_map\": {" + map + "\n  }\n}\n");
}

Archive load_sharded(const std::string& path, bool mmap) {
  try {
    return load_shards(path, mmap);
  } catch (const NotImplementedError&) {
    throw;
  } catch (const OutOfMemoryError&) {
    throw;
  } catch (const Error& e) {
    throw Error(path + " is no valid index of shards: " + e.message());
  }
}

}  // namespace taeda::inline v0_2::io
