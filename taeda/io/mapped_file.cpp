#include "taeda/io/mapped_file.h"

#include <sys/mman.h>

#include "taeda/io/readable_file.h"

namespace taeda::inline v0_2::io {

std::shared_ptr<MappedFile> MappedFile::open(const std::string& path) {
  const ReadableFile file(path);  // a mapping does not need its descriptor any more
  const auto size = static_cast<size_t>(file.size());
  void* data = nullptr;
  if (size > 0) {
    data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.descriptor(), 0);
    file.check(data != MAP_FAILED);
  }
  return std::shared_ptr<MappedFile>(new MappedFile(static_cast<char*>(data), size));
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(data_, size_);
}

}  // namespace taeda::inline v0_2::io
