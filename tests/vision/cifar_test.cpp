#include "taeda/vision/cifar.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "taeda/data/loader.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/image_folder.h"
#include "taeda/vision/transforms.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/values.h"

namespace taeda::vision {
namespace {

using datasets::CIFAR10;
using datasets::CIFAR100;
using datasets::ImageFolder;
using testing::ElementsAre;
using testing::HasSubstr;

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A record whose planes are filled with the colours.
std::string record(const std::string& labels, char red, char green, char blue) {
  return labels + std::string(1024, red) + std::string(1024, green) + std::string(1024, blue);
}

TEST(Cifar10, ReadsTheBinaryVersion) {
  TemporaryFolder folder;
  const std::string inner = folder / "cifar-10-batches-bin";
  std::filesystem::create_directory(inner);
  for (int i = 1; i <= 5; ++i)
    write(inner + "/data_batch_" + std::to_string(i) + ".bin",
          record({static_cast<char>(i)}, 1, 2, 3) + record({0}, '\xff', 0, 0));
  write(inner + "/test_batch.bin", record({9}, 51, 0, 0));
  CIFAR10 train(folder.path()), test(folder.path(), CIFAR10::Mode::kTest);
  EXPECT_EQ(train.size(), 10u);
  EXPECT_TRUE(train.is_train());
  EXPECT_THAT(values<int64_t>(train.targets()), ElementsAre(1, 0, 2, 0, 3, 0, 4, 0, 5, 0));
  EXPECT_THAT(train.raw_images().sizes().vec(), ElementsAre(10, 3, 32, 32));
  EXPECT_EQ(train.raw_images()[0][2][31][31].item<int>(), 3);
  EXPECT_EQ(test.get(0).data[0][5][5].item<float>(), 0.2f);
  EXPECT_EQ(test.get(0).target.item<int64_t>(), 9);
  EXPECT_EQ(CIFAR10::classes()[9], "truck");
  data::DataLoader loader(train, {.batch_size = 4});
  EXPECT_THAT(loader.begin()->data.sizes().vec(), ElementsAre(4, 3, 32, 32));
}

TEST(Cifar10, SaysWhatIsWrong) {
  TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { CIFAR10(folder.path(), false); }),
            "cannot find test_batch.bin in " + folder.path() + " or " + folder.path() +
                "/cifar-10-batches-bin");
  const std::string path = folder / "test_batch.bin";
  write(path, record({9}, 1, 2, 3) + "x");
  EXPECT_EQ(error_of([&] { CIFAR10(folder.path(), false); }),
            path + " holds 3074 bytes, which are no whole number of images of 3073 bytes");
  write(path, record({1}, 1, 2, 3) + record({10}, 1, 2, 3));
  EXPECT_EQ(error_of([&] { CIFAR10(folder.path(), false); }),
            path + " has label 10 at byte 3073; expected 0 to 9");
}

TEST(Cifar100, HasLabelsOfTwoKinds) {
  TemporaryFolder folder;
  write(folder / "train.bin", record({19, 99}, 1, 2, 3) + record({0, 7}, 4, 5, 6));
  const CIFAR100 bare(folder.path());
  EXPECT_TRUE(bare.classes().empty());
  write(folder / "fine_label_names.txt", "apple\nfish\n\n");
  const CIFAR100 set(folder.path());
  EXPECT_THAT(values<int64_t>(set.targets()), ElementsAre(99, 7));
  EXPECT_THAT(values<int64_t>(set.coarse_targets()), ElementsAre(19, 0));
  EXPECT_EQ(set.raw_images()[1][0][0][0].item<int>(), 4);
  EXPECT_THAT(set.classes(), ElementsAre("apple", "fish"));
  write(folder / "train.bin", record({20, 1}, 1, 2, 3));
  EXPECT_THAT(error_of([&] { CIFAR100(folder.path()); }),
              HasSubstr("has label 20 at byte 0; expected 0 to 19"));
}

TEST(ImageFolderSet, FindsPicturesByClass) {
  if (!has_png()) GTEST_SKIP() << "built without libpng";
  TemporaryFolder folder;
  for (const char* name : {"dog/sub", "cat"}) std::filesystem::create_directories(folder / name);
  write_png(full({3, 4, 6}, 10, kByte), folder / "dog/sub/b.PNG");
  write_png(full({1, 8, 6}, 20, kByte), folder / "dog/a.png");
  write_png(full({4, 5, 5}, 30, kByte), folder / "cat/c.png");
  write(folder / "cat/notes.txt", "no picture");
  ImageFolder set(folder.path());
  EXPECT_THAT(set.classes(), ElementsAre("cat", "dog"));
  ASSERT_EQ(set.size(), 3u);
  EXPECT_EQ(set.samples()[1].first, folder / "dog/a.png");
  EXPECT_THAT(set.get(0).data.sizes().vec(), ElementsAre(3, 5, 5));
  EXPECT_THAT(set.get(1).data.sizes().vec(), ElementsAre(3, 8, 6));
  EXPECT_EQ(set.get(2).target.item<int64_t>(), 1);
  data::DataLoader loader(
      set.map(transforms::Compose({transforms::Resize({4, 4}), transforms::ToTensor()})),
      {.batch_size = 3, .num_workers = 2});
  EXPECT_THAT(loader.begin()->data.sizes().vec(), ElementsAre(3, 3, 4, 4));
  EXPECT_THAT(error_of([&] { set.get(3); }), HasSubstr("index 3 is out of bounds"));
}

TEST(ImageFolderSet, SaysWhatIsMissing) {
  TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { ImageFolder(folder / "none"); }),
              HasSubstr("No such file or directory"));
  EXPECT_EQ(error_of([&] { ImageFolder(folder.path()); }),
            "Couldn't find any class folder in " + folder.path() + ".");
  std::filesystem::create_directory(folder / "cat");
  EXPECT_THAT(error_of([&] { ImageFolder(folder.path()); }),
              HasSubstr("Found no valid file for the classes cat. Supported extensions are"));
}

}  // namespace
}  // namespace taeda::vision
