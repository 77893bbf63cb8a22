// Files and folders that exist as long as an object does (c10/util/tempfile.h).
#pragma once

#include <stdlib.h>
#include <taeda_compat/namespaces.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace taeda_compat {

/// A new file, `name`, open as `fd`; it goes with the object.
struct TempFile {
  explicit TempFile(std::string path, int opened = -1) : fd(opened), name(std::move(path)) {}
  TempFile(TempFile&& o) noexcept : fd(std::exchange(o.fd, -1)), name(std::exchange(o.name, {})) {}
  TempFile& operator=(TempFile&& o) noexcept {
    std::swap(fd, o.fd);
    std::swap(name, o.name);
    return *this;
  }
  ~TempFile() {
    if (fd >= 0) ::close(fd);
    if (!name.empty()) ::unlink(name.c_str());
  }
  int fd;
  std::string name;
};

/// A new folder, `name`; it and what it holds go with the object.
struct TempDir {
  explicit TempDir(std::string path) : name(std::move(path)) {}
  TempDir(TempDir&& o) noexcept : name(std::exchange(o.name, {})) {}
  TempDir& operator=(TempDir&& o) noexcept {
    std::swap(name, o.name);
    return *this;
  }
  ~TempDir() {
    std::error_code ignored;
    if (!name.empty()) std::filesystem::remove_all(name, ignored);
  }
  std::string name;
};

namespace detail {
/// Where the system keeps such files, the prefix, and six places for letters.
inline std::string template_of(const std::string& prefix) {
  return (std::filesystem::temp_directory_path() / (prefix + "XXXXXX")).string();
}
}  // namespace detail

/// Nothing if the system refuses, as errno says.
inline std::optional<TempFile> try_make_tempfile(const std::string& name_prefix = "torch-file-") {
  std::string name = detail::template_of(name_prefix);
  const int fd = ::mkstemp(name.data());
  if (fd < 0) return std::nullopt;
  return std::optional<TempFile>(std::in_place, std::move(name), fd);
}
/// Throws Error with the system's reason.
inline TempFile make_tempfile(const std::string& name_prefix = "torch-file-") {
  auto file = try_make_tempfile(name_prefix);
  TAEDA_CHECK(file, "Error generating temporary file: ", std::strerror(errno));
  return std::move(*file);
}

inline std::optional<TempDir> try_make_tempdir(const std::string& name_prefix = "torch-dir-") {
  std::string name = detail::template_of(name_prefix);
  if (!::mkdtemp(name.data())) return std::nullopt;
  return std::optional<TempDir>(std::in_place, std::move(name));
}
inline TempDir make_tempdir(const std::string& name_prefix = "torch-dir-") {
  auto folder = try_make_tempdir(name_prefix);
  TAEDA_CHECK(folder, "Error generating temporary directory: ", std::strerror(errno));
  return std::move(*folder);
}

}  // namespace taeda_compat
