#include "taeda/io/atomic_file.h"

#include <gmock/gmock.h>


#include "taeda/base/error.h"
#include "taeda/io/mapped_file.h"
#include "tests/io/temporary_folder.h"

namespace taeda::io {
namespace {

TEST(AtomicFile, AppearsOnCommitOnly) {
  const TemporaryFolder folder;
  const std::string path = folder / "out";
  {
    AtomicFile file(path);
    file.write("new");
    EXPECT_FALSE(std::filesystem::exists(path));
    file.commit();
    EXPECT_EQ(contents(path), "new");
    EXPECT_THROW(file.commit(), Error);
  }
  {
    AtomicFile file(path);
    file.write("half-writ");
  }
  EXPECT_EQ(contents(path), "new") << "what was there stays";
  EXPECT_EQ(folder.count(), 1u) << "nothing is left behind";
  write_file(path, "");
  EXPECT_EQ(contents(path), "");
}

TEST(AtomicFile, WritersOfOneFileDoNotMeet) {
  const TemporaryFolder folder;
  AtomicFile a(folder / "out"), b(folder / "out");
  a.write("a");
  b.write("b");
  b.commit();
  a.commit();
  EXPECT_EQ(contents(folder / "out"), "a");
}

TEST(AtomicFile, NamesPathAndReason) {
  const TemporaryFolder folder;
  const auto error = [](const std::string& path) {
    try {
      write_file(path, "x");
    } catch (const Error& e) {
      return e.message();
    }
    return std::string("no error");
  };
  EXPECT_EQ(error(folder / "none/out"),
            "cannot write " + (folder / "none/out") + ": No such file or directory (open)");
  EXPECT_THAT(error(folder / ""), testing::HasSubstr("not the name of a file"));
  std::filesystem::create_directory(folder / "taken");
  EXPECT_THAT(error(folder / "taken"), testing::HasSubstr("Is a directory (rename)"));
  EXPECT_EQ(folder.count(), 1u);
}

TEST(AtomicFile, ReportsAFullDisk) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  AtomicFile file(TemporaryFolder().path());
  ASSERT_TRUE(std::freopen("/dev/full", "wb", file.stream()));
  file.write(std::string(10, 'x'));
  EXPECT_THROW(file.commit(), Error);
}

TEST(MappedFile, SeesTheWholeFile) {
  const TemporaryFolder folder;
  write_file(folder / "a", "some bytes");
  write_file(folder / "empty", "");
  const auto file = MappedFile::open(folder / "a");
  EXPECT_EQ(std::string(file->data(), file->size()), "some bytes");
  EXPECT_EQ(MappedFile::open(folder / "empty")->size(), 0u);
  EXPECT_THROW(MappedFile::open(folder / "none"), Error);
  EXPECT_THROW(MappedFile::open(folder.path()), Error);
}

}  // namespace
}  // namespace taeda::io
