#include "taeda/io/pt_source.h"

#include <cstring>
#include <map>

#include "taeda/base/error.h"
#include "taeda/io/file_bytes.h"
#include "taeda/io/zip_archive.h"

namespace taeda::inline v0_2::io {

namespace {

constexpr uint64_t kMostPickleBytes = 1 << 28;
/// A pickle of PyTorch's magic number, which files before 1.6 begin with.
constexpr std::string_view kLegacyMagic =
    "\x80\x02\x8a\x0al\xfc\x9c"
    "F\xf9 j\xa8P\x19.";
constexpr int64_t kLegacyProtocol = 1001;

struct StorageType {
  const char* name;
  ScalarType dtype;
};
constexpr StorageType kStorageTypes[] = {
    {"torch.FloatStorage", kFloat},
    {"torch.DoubleStorage", kDouble},
    {"torch.HalfStorage", kHalf},
    {"torch.BFloat16Storage", kBFloat16},
    {"torch.LongStorage", kLong},
    {"torch.IntStorage", kInt},
    {"torch.ShortStorage", kShort},
    {"torch.CharStorage", kChar},
    {"torch.ByteStorage", kByte},
    {"torch.BoolStorage", kBool},
    {"torch.ComplexFloatStorage", kComplexFloat},
    {"torch.ComplexDoubleStorage", kComplexDouble},
    {"torch.storage.UntypedStorage", kByte},
};

class ZipPtSource : public PtSource {
 public:
  explicit ZipPtSource(const std::string& path) : zip_(path) { open(); }
  ZipPtSource(std::string bytes, std::string name) : zip_(std::move(bytes), std::move(name)) {
    open();
  }

  Budget& budget() override { return zip_.budget(); }
  const PickleValue& root() const override { return pickle_->root(); }
  std::string storage(const std::string& key, ScalarType dtype, int64_t elements) override {
    const std::string name = folder_ + "data/" + key;
    const ZipReader::Entry* entry = zip_.find(name);
    TAEDA_CHECK(entry, "the bytes of storage ", key, " are missing");
    const auto bytes = static_cast<uint64_t>(element_size(dtype));
    TAEDA_CHECK(entry->size % bytes == 0 && entry->size / bytes == static_cast<uint64_t>(elements),
                "storage ", key, " should have ", elements, " elements of ", bytes,
                " bytes, but has ", entry->size, " bytes");
    return zip_.read(name);
  }

 private:
  void open() {
    for (const ZipReader::Entry& entry : zip_.entries())
      if (entry.name == "data.pkl" || entry.name.ends_with("/data.pkl"))
        folder_ = entry.name.substr(0, entry.name.size() - std::strlen("data.pkl"));
    const ZipReader::Entry* data = zip_.find(folder_ + "data.pkl");
    TAEDA_CHECK(data, "it has no data.pkl");
    TAEDA_CHECK(data->size <= kMostPickleBytes, "its pickle has ", data->size, " bytes");
    const std::string order = folder_ + "byteorder";
    TAEDA_CHECK(!zip_.find(order) || zip_.read(order, 16) == "little",
                "its numbers are not little-endian");
    pickle_ = std::make_unique<Pickle>(zip_.read(folder_ + "data.pkl"), zip_.budget());
  }

  ZipReader zip_;
  std::string folder_;
  std::unique_ptr<Pickle> pickle_;
};

/// Magic number, protocol, facts about the machine, the value, the storages' keys - a pickle each -
/// and for each key a number of elements and their bytes.
class LegacyPtSource : public PtSource {
 public:
  explicit LegacyPtSource(std::string bytes) : bytes_(std::move(bytes)), budget_(bytes_.size()) {
    at_ = kLegacyMagic.size();
    const auto protocol = next_pickle();
    TAEDA_CHECK(protocol->root().kind == PickleValue::Kind::Int &&
                    protocol->root().integer == kLegacyProtocol,
                "its protocol is not ", kLegacyProtocol);
    check_machine(next_pickle()->root());
    pickle_ = next_pickle();
    find_storages(next_pickle()->root());
  }

  Budget& budget() override { return budget_; }
  const PickleValue& root() const override { return pickle_->root(); }
  std::string storage(const std::string& key, ScalarType dtype, int64_t elements) override {
    const auto found = storages_.find(key);
    TAEDA_CHECK(found != storages_.end(), "the bytes of storage ", key, " are missing");
    const std::string_view bytes = found->second;
    const auto width = static_cast<uint64_t>(element_size(dtype));
    TAEDA_CHECK(bytes.size() / width == static_cast<uint64_t>(elements), "storage ", key,
                " should have ", elements, " elements of ", width, " bytes, but has ", bytes.size(),
                " bytes");
    budget_.charge(bytes.size(), "the bytes of a storage");
    return std::string(bytes);
  }

 private:
  std::unique_ptr<Pickle> next_pickle() {
    auto out =
        std::make_unique<Pickle>(Pickle::View{std::string_view(bytes_).substr(at_)}, budget_);
    at_ += out->bytes_used();
    return out;
  }
  static void check_machine(const PickleValue& facts) {
    TAEDA_CHECK(facts.kind == PickleValue::Kind::Dict, "it does not say what machine wrote it");
    for (const auto& [key, value] : facts.entries)
      TAEDA_CHECK(key->text != "little_endian" || value->integer == 1,
                  "its numbers are not little-endian");
  }
  void find_storages(const PickleValue& keys) {
    std::map<std::string_view, ScalarType> dtypes;
    for (const PickleValue* storage : pickle_->storages()) {
      const auto& id = storage->arguments->items;
      if (id.size() >= 3 && id[1]->kind == PickleValue::Kind::Name)
        dtypes.emplace(id[2]->text, storage_dtype(id[1]->text));
    }
    TAEDA_CHECK(keys.kind == PickleValue::Kind::List, "it does not list its storages");
    for (const PickleValue* key : keys.items) {
      const auto dtype = dtypes.find(key->text);
      TAEDA_CHECK(key->kind == PickleValue::Kind::Text && dtype != dtypes.end(),
                  "it lists a storage that no tensor has");
      storages_[std::string(key->text)] = next_storage(key->text, element_size(dtype->second));
    }
  }
  std::string_view next_storage(std::string_view key, uint64_t width) {
    uint64_t elements = 0;
    const uint64_t left = bytes_.size() - at_;
    const bool counted = left >= sizeof elements;
    if (counted) std::memcpy(&elements, bytes_.data() + at_, sizeof elements);
    TAEDA_CHECK(counted && elements <= (left - sizeof elements) / width, "the bytes of storage ",
                key, " are cut off");
    const auto out = std::string_view(bytes_).substr(at_ + sizeof elements, elements * width);
    at_ += sizeof elements + out.size();
    return out;
  }

  const std::string bytes_;
  Budget budget_;
  size_t at_ = 0;
  std::unique_ptr<Pickle> pickle_;
  std::map<std::string, std::string_view> storages_;
};

}  // namespace

ScalarType storage_dtype(std::string_view storage) {
  for (const StorageType& type : kStorageTypes)
    if (storage == type.name) return type.dtype;
  throw Error(taeda::detail::concat("it has a ", storage, ", whose dtype Taeda does not have"));
}

bool is_legacy_pt(std::string_view begin) { return begin.starts_with(kLegacyMagic); }

std::unique_ptr<PtSource> open_pt(const std::string& path) {
  if (is_legacy_pt(beginning_of_file(path, kLegacyMagic.size())))
    return std::make_unique<LegacyPtSource>(read_file(path));
  return std::make_unique<ZipPtSource>(path);
}

std::unique_ptr<PtSource> open_pt(std::string bytes, const std::string& name) {
  if (is_legacy_pt(bytes)) return std::make_unique<LegacyPtSource>(std::move(bytes));
  return std::make_unique<ZipPtSource>(std::move(bytes), name);
}

}  // namespace taeda::inline v0_2::io
