// Tensors over files.
#include "taeda/ops/create/from_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "tests/error_of.h"

namespace taeda {
namespace {

/// A name in the folder for temporary files, which nobody has; the file goes with it.
struct Place {
  std::string name = ::testing::TempDir() + "taeda_from_file_" + std::to_string(getpid());
  ~Place() { std::filesystem::remove(name); }
};

TEST(FromFile, ReadsAndKeepsChangesToItself) {
  const Place place;
  std::ofstream(place.name, std::ios::binary).write("\1\0\0\0\2\0\0\0\3\0\0\0", 12);
  const Tensor t = from_file(place.name, false, 3, kInt);
  EXPECT_TRUE(t.equal(tensor({1, 2, 3}, kInt)));
  t.fill_(7);
  EXPECT_TRUE(from_file(place.name, {}, 2, kInt).equal(tensor({1, 2}, kInt)));
  EXPECT_EQ(from_file(place.name).sizes(), IntArrayRef({0}));
}

TEST(FromFile, SharesChanges) {
  const Place place;
  from_file(place.name, true, 4, kDouble).copy_(arange(4, kDouble));
  EXPECT_EQ(std::filesystem::file_size(place.name), 32u);
  EXPECT_TRUE(from_file(place.name, false, 4, kDouble).equal(arange(4, kDouble)));
}

TEST(FromFile, Refuses) {
  const Place place;
  EXPECT_NE(error_of([&] { from_file(place.name, false, 1); }).find(place.name), std::string::npos);
  std::ofstream(place.name, std::ios::binary).write("1234", 4);
  EXPECT_EQ(error_of([&] { from_file(place.name, false, 2); }),
            "from_file: file <" + place.name + "> has 4 bytes, but the tensor needs 8");
  EXPECT_EQ(error_of([&] { from_file(place.name, false, -1); }),
            "from_file: size must be non-negative, but got -1");
  EXPECT_NE(error_of([&] { from_file(place.name, false, 1, TensorOptions("sim:0")); }), "no error");
}

}  // namespace
}  // namespace taeda
