// Files that lose their end while they are read, and what is no file at all: errors, no signals.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <functional>

#include "taeda/io/file_bytes.h"
#include "taeda/io/npy.h"
#include "taeda/io/safetensors.h"
#include "taeda/ops/create/create.h"
#include "taeda/vision/cifar.h"
#include "taeda/vision/idx.h"
#include "taeda/vision/image_io.h"
#include "tests/error_of.h"
#include "tests/io/interposed.h"
#include "tests/io/temporary_folder.h"

namespace taeda::io {
namespace {

using testing::HasSubstr;

struct Reader {
  std::string name;  ///< the file's
  std::function<void(const std::string& path)> write, read;
};

void put_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// All readers whose files are read at a place.
std::vector<Reader> readers() {
  std::vector<Reader> out = {
      {"a.npy", [](const auto& path) { save_npy(ones({5000}), path); }, &load_npy},
      {"a.safetensors", [](const auto& path) { save_safetensors({{"a", ones({5000})}}, path); },
       [](const auto& path) { load_safetensors(path); }},
      {"text", [](const auto& path) { put_bytes(path, std::string(5000, 'x')); }, &read_file},
      {"test_batch.bin", [](const auto& path) { put_bytes(path, std::string(2 * 3073, '\1')); },
       [](const std::string& path) {
         vision::datasets::CIFAR10(path.substr(0, path.rfind('/')), false);
       }}};
  const Tensor pixels = zeros({3, 60, 60}, kByte);
  if (vision::has_png())
    out.push_back({"a.png", [=](const auto& path) { vision::write_png(pixels, path); },
                   [](const auto& path) { vision::read_image(path); }});
  if (vision::has_jpeg())
    out.push_back({"a.jpg", [=](const auto& path) { vision::write_jpeg(pixels, path); },
                   [](const auto& path) { vision::read_image(path); }});
  return out;
}

TEST(CutShort, IsAnErrorOfEveryReader) {
  const TemporaryFolder folder;
  for (const Reader& reader : readers()) {
    const std::string path = folder / reader.name;
    reader.write(path);
    EXPECT_EQ(error_of([&] { reader.read(path); }), "no error") << reader.name;
    const CutShort shorter;
    EXPECT_THAT(error_of([&] { reader.read(path); }), HasSubstr("was cut short to"))
        << reader.name;
    EXPECT_FALSE(CutShort::active) << reader.name << " is not read at a place";
  }
}

/// A pipe without a writer would be waited for.
TEST(CutShort, PipesAndFoldersAreRefused) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, folder.path()}) {
    const std::string expected = "cannot read " + path + ": not a regular file";
    EXPECT_EQ(error_of([&] { vision::read_idx(path); }), expected);
    EXPECT_EQ(error_of([&] { load_npy(path); }), expected);
    EXPECT_EQ(error_of([&] { vision::read_image(path); }), expected);
  }
}

/// A sparse file costs nothing and claims a lot.
TEST(CutShort, MoreThanMemoryIsTheLibrarysError) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizer's operator new ends the program";
#endif
  const TemporaryFolder folder;
  put_bytes(folder / "a", "");
  std::error_code error;
  std::filesystem::resize_file(folder / "a", uintmax_t{1} << 42, error);
  if (error) GTEST_SKIP() << "no file of this size here: " << error.message();
  EXPECT_THROW(read_file(folder / "a"), OutOfMemoryError);
}

}  // namespace
}  // namespace taeda::io
