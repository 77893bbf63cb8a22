#include "taeda/io/zip_archive.h"

#include <algorithm>
#include <filesystem>

#include "taeda/base/error.h"
#include "taeda/io/file_bytes.h"
#include "taeda/io/zip_end.h"

#if defined(TAEDA_HAS_ZIP)
#include <zip.h>
#endif

namespace taeda::inline v0_2::io {

const ZipReader::Entry* ZipReader::find(const std::string& name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

#if defined(TAEDA_HAS_ZIP)

namespace {

std::string message_of(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string out = zip_error_strerror(&error);
  zip_error_fini(&error);
  return out;
}

/// Deflate makes nothing smaller than this.
constexpr uint64_t kLargestRatio = 1032;

/// The bytes of the first archive of a file that others follow in it; none where it is the only
/// one. A file that begins otherwise, with a program that unpacks it, say, is read from its end.
std::string first_of_several(const std::string& path) {
  constexpr std::string_view kBegin = "PK\x03\x04";
  if (std::error_code e; !std::filesystem::is_regular_file(path, e)) return {};  // libzip says so
  const auto file = FileBytes::open(path);
  std::string out(std::min<uint64_t>(kBegin.size(), file->size()), '\0');
  file->read(0, out.data(), out.size());
  if (out != kBegin) return {};
  const uint64_t bytes = first_archive_bytes(*file);
  TAEDA_CHECK(bytes > 0, "cannot read ", path,
              ": it is cut off or damaged, for no zip archive ends in it that begins with it");
  if (bytes == file->size()) return {};
  out.resize(bytes);
  file->read(0, out.data(), bytes);
  return out;
}

/// Why an entry cannot be named so; empty if it can. Whoever unpacks an archive, on whatever
/// system, gets no file outside of the folder that he unpacks it into.
std::string objection(const std::string& name) {
  std::string path = name;
  std::ranges::replace(path, '\\', '/');
  const bool has_root =
      path.starts_with('/') || (path.size() > 2 && path[1] == ':' && path[2] == '/');
  const bool climbs = ("/" + path + "/").find("/../") != std::string::npos;
  if (path.find('\0') != std::string::npos) return "has a byte of zero in its name";
  if (!path.empty() && !has_root && !climbs) return "";
  return "'" + name + "' has no place within an archive: names are relative and have no part '..'";
}

}  // namespace

bool has_zip() { return true; }

struct ZipReader::Impl {
  std::string bytes;  // of an archive in memory
  zip_t* zip = nullptr;
  ~Impl() {
    if (zip) zip_discard(zip);
  }
};

ZipReader::ZipReader(const std::string& path)
    : path_(path), impl_(std::make_unique<Impl>()), budget_(Budget::of_file(path)) {
  if (std::string first = first_of_several(path); !first.empty()) {
    budget_ = Budget(first.size());
    open_bytes(std::move(first));
    return;
  }
  int code = 0;
  impl_->zip = zip_open(path.c_str(), ZIP_RDONLY, &code);
  TAEDA_CHECK(impl_->zip, "cannot read ", path, ": ", message_of(code));
  list_entries();
}

ZipReader::ZipReader(std::string bytes, std::string name)
    : path_(std::move(name)), impl_(std::make_unique<Impl>()), budget_(bytes.size()) {
  open_bytes(std::move(bytes));
}

void ZipReader::open_bytes(std::string bytes) {
  impl_->bytes = std::move(bytes);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source =
      zip_source_buffer_create(impl_->bytes.data(), impl_->bytes.size(), 0, &error);
  if (source) impl_->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (source && !impl_->zip) zip_source_free(source);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  TAEDA_CHECK(impl_->zip, "cannot read ", path_, ": ", reason);
  list_entries();
}

void ZipReader::list_entries() {
  const std::string& path = path_;
  const zip_int64_t count = zip_get_num_entries(impl_->zip, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    const bool good = zip_stat_index(impl_->zip, static_cast<zip_uint64_t>(i), 0, &stat) == 0;
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    TAEDA_CHECK(good && (stat.valid & kNeeded) == kNeeded, path, " is damaged: its entry ", i);
    TAEDA_CHECK(stat.size / kLargestRatio <= stat.comp_size + 1, path, " is damaged: ", stat.name,
                " cannot hold ", stat.size, " bytes");
    const std::string wrong = objection(stat.name);
    TAEDA_CHECK(wrong.empty(), path, ": its entry ", wrong);
    index_.try_emplace(stat.name, entries_.size());
    entries_.push_back({stat.name, stat.size});
  }
}

ZipReader::~ZipReader() = default;

std::string ZipReader::read(const std::string& name, uint64_t most) {
  const Entry* entry = find(name);
  TAEDA_CHECK(entry, path_, " has no entry ", name);
  try {
    budget_.charge(std::min(entry->size, most), name);
  } catch (const Error& e) {
    throw Error(path_ + " is damaged: " + e.message());
  }
  zip_file_t* file = zip_fopen(impl_->zip, name.c_str(), 0);
  TAEDA_CHECK(file, path_, ": cannot read ", name, ": ", zip_strerror(impl_->zip));
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> closer(file, &zip_fclose);
  std::string out(std::min(entry->size, most), '\0');
  size_t done = 0;
  while (done < out.size()) {
    const zip_int64_t n = zip_fread(file, out.data() + done, out.size() - done);
    TAEDA_CHECK(n > 0, path_, ": ", name,
                " is damaged: ", n < 0 ? zip_file_strerror(file) : "cut off");
    done += static_cast<size_t>(n);
  }
  if (done == entry->size) {  // the checksum is compared at the end
    char beyond = 0;
    const zip_int64_t n = zip_fread(file, &beyond, 1);
    TAEDA_CHECK(n == 0, path_, ": ", name,
                " is damaged: ", n < 0 ? zip_file_strerror(file) : "too long");
  }
  return out;
}

std::string make_zip(const std::vector<std::pair<std::string, std::string>>& entries,
                     bool compressed) {
  for (const auto& [name, content] : entries) {
    const std::string wrong = objection(name);
    TAEDA_CHECK_VALUE(wrong.empty(), "a zip archive's entry ", wrong);
  }
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* buffer = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_t* zip = buffer ? zip_open_from_source(buffer, ZIP_TRUNCATE, &error) : nullptr;
  if (!zip && buffer) zip_source_free(buffer);
  TAEDA_CHECK(zip, "cannot make a zip archive: ", zip_error_strerror(&error));
  zip_source_keep(buffer);
  const std::unique_ptr<zip_source_t, void (*)(zip_source_t*)> holder(buffer, &zip_source_free);
  std::unique_ptr<zip_t, void (*)(zip_t*)> open(zip, &zip_discard);
  for (const auto& [name, content] : entries) {
    zip_source_t* source = zip_source_buffer(zip, content.data(), content.size(), 0);
    const zip_int64_t index =
        source ? zip_file_add(zip, name.c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0 && source) zip_source_free(source);
    TAEDA_CHECK(index >= 0, "cannot make a zip archive: ", zip_strerror(zip));
    const auto at = static_cast<zip_uint64_t>(index);
    zip_set_file_compression(zip, at, compressed ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    zip_file_set_mtime(zip, at, 315532800, 0);  // 1980: the bytes depend on the content only
  }
  TAEDA_CHECK(zip_close(zip) == 0, "cannot make a zip archive: ", zip_strerror(zip));
  (void)open.release();
  zip_stat_t stat;
  zip_stat_init(&stat);
  std::string out;
  if (entries.empty() || zip_source_stat(buffer, &stat) != 0 || zip_source_open(buffer) != 0)
    return out;
  out.resize(stat.size);
  const zip_int64_t n = zip_source_read(buffer, out.data(), out.size());
  zip_source_close(buffer);
  TAEDA_CHECK(n == static_cast<zip_int64_t>(out.size()), "cannot make a zip archive");
  return out;
}

#else

namespace {
constexpr const char* kMissing =
    "zip archives (.npz, .pt) are not supported: this build has no libzip (Debian package "
    "libzip-dev)";
}

bool has_zip() { return false; }

struct ZipReader::Impl {};
ZipReader::ZipReader(const std::string& path) : path_(path), budget_(0) {
  throw NotImplementedError(kMissing);
}
ZipReader::ZipReader(std::string, std::string name) : path_(std::move(name)), budget_(0) {
  throw NotImplementedError(kMissing);
}
ZipReader::~ZipReader() = default;
std::string ZipReader::read(const std::string&, uint64_t) { return {}; }
std::string make_zip(const std::vector<std::pair<std::string, std::string>>&, bool) {
  throw NotImplementedError(kMissing);
}

#endif

}  // namespace taeda::inline v0_2::io
