// PNG, JPEG, and the files of MNIST and CIFAR.
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "taeda/ops/create/create.h"
#include "taeda/vision/cifar.h"
#include "taeda/vision/idx.h"
#include "taeda/vision/image_io.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/zip.h"
#include "tests/io/temporary_folder.h"

namespace taeda::fuzz {
namespace {

Tensor tensor_of(std::string_view bytes) {
  Tensor out = empty({static_cast<int64_t>(bytes.size())}, kByte);
  std::copy(bytes.begin(), bytes.end(), static_cast<char*>(out.data_ptr()));
  return out;
}

/// A chunk is its length, its name, its data and a checksum of name and data.
std::string repaired_png(std::string bytes) {
  constexpr size_t kSignature = 8, kFrame = 12;
  for (size_t at = kSignature; at < bytes.size() && bytes.size() - at >= kFrame;) {
    const size_t room = bytes.size() - at - kFrame;
    if (big_at(bytes, at, 4) > room) put_big(bytes, at, room, 4);
    const size_t end = at + 8 + big_at(bytes, at, 4);
    put_big(bytes, end, crc32_of(bytes, at + 4, end), 4);
    at = end + 4;
  }
  return bytes;
}

/// A folder whose test_batch.bin is the input.
void read_cifar(std::string_view bytes) {
  static const TemporaryFolder folder;
  const MemoryFile file(bytes);
  const std::string link = folder / "test_batch.bin";
  ::unlink(link.c_str());
  std::filesystem::create_symlink(file.path(), link);
  vision::datasets::CIFAR10(folder.path(), false);
}

}  // namespace

Reader fuzz_png() {
  return {[](std::string_view bytes) { vision::decode_png(tensor_of(bytes)); }, &repaired_png};
}

Reader fuzz_jpeg() {
  return {[](std::string_view bytes) { vision::decode_jpeg(tensor_of(bytes)); }};
}

Reader fuzz_idx() {
  return {[](std::string_view bytes) { vision::read_idx(MemoryFile(bytes).path()); }};
}

Reader fuzz_cifar() { return {&read_cifar}; }

}  // namespace taeda::fuzz
