#include "taeda/vision/mnist.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "taeda/data/loader.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/idx.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/values.h"
#include "tests/vision/idx_files.h"

namespace taeda::vision {
namespace {

using datasets::FashionMNIST;
using datasets::MNIST;
using testing::ElementsAre;
using testing::HasSubstr;

class Idx : public testing::Test {
 protected:
  std::string error(const std::string& bytes) {
    write_bytes(path, bytes);
    return error_of([&] { read_idx(path); });
  }
  TemporaryFolder folder;
  std::string path = folder / "f";
};

TEST_F(Idx, ReadsEveryTypePlainAndGzip) {
  write_bytes(path, idx_bytes(8, {2, 3}, "\1\2\3\4\5\xff"));
  Tensor t = read_idx(path);
  EXPECT_THAT(t.sizes().vec(), ElementsAre(2, 3));
  EXPECT_THAT(values<uint8_t>(t), ElementsAre(1, 2, 3, 4, 5, 255));
  write_bytes(path, gzip_bytes(idx_bytes(9, {2}, "\1\xff")));
  EXPECT_THAT(values<int8_t>(read_idx(path)), ElementsAre(1, -1));
  write_bytes(path, idx_bytes(0x0b, {2}, std::string("\1\2\xff\xff", 4)));
  EXPECT_THAT(values<int16_t>(read_idx(path)), ElementsAre(258, -1));
  write_bytes(path, idx_bytes(0x0c, {1}, std::string("\0\1\0\2", 4)));
  EXPECT_THAT(values<int32_t>(read_idx(path)), ElementsAre(65538));
  write_bytes(path, idx_bytes(0x0d, {1}, std::string("\x3f\xc0\0\0", 4)));
  EXPECT_THAT(values<float>(read_idx(path)), ElementsAre(1.5f));
  write_bytes(path, idx_bytes(0x0e, {1}, std::string("\xc0\0\0\0\0\0\0\0", 8)));
  EXPECT_THAT(values<double>(read_idx(path)), ElementsAre(-2));
  write_bytes(path, idx_bytes(8, {0, 28, 28}, ""));
  EXPECT_EQ(read_idx(path).numel(), 0);
}

TEST_F(Idx, NamesWhatIsWrong) {
  const std::string good = idx_bytes(8, {2, 3}, "123456");
  EXPECT_EQ(error(good.substr(0, 15)), path + " is truncated: expected 18 bytes, found 15");
  EXPECT_EQ(error(good.substr(0, 12)), path + " is truncated: expected 18 bytes, found 12");
  EXPECT_EQ(error(good.substr(0, 9)), path + " is truncated: expected at least 12 bytes, found 9");
  EXPECT_EQ(error(good.substr(0, 3)), path + " is truncated: expected at least 4 bytes, found 3");
  EXPECT_EQ(error(""), path + " is truncated: expected at least 4 bytes, found 0");
  EXPECT_EQ(error(good + "7"), path + " is too long: expected 18 bytes, found more");
  EXPECT_THAT(error("PK" + good), HasSubstr("is no IDX file: it starts with the bytes 80, 75"));
  EXPECT_THAT(error(idx_bytes(7, {1}, "1")),
              HasSubstr("is no IDX file: unknown type of numbers 7"));
  EXPECT_THAT(error(idx_bytes(8, {}, "")), HasSubstr("is no IDX file: 0 dimensions"));
  EXPECT_THAT(error(idx_bytes(8, {1, 1, 1, 1, 1, 1, 1, 1, 1}, "1")), HasSubstr("9 dimensions"));
  EXPECT_THAT(error(idx_bytes(8, {~0u, ~0u, ~0u}, "1")), HasSubstr("size overflows"));
  EXPECT_THAT(error(idx_bytes(8, {~0u, 100}, "1")),
              HasSubstr("is truncated: its content would take 429496729500 bytes of memory"));
  EXPECT_EQ(error_of([&] { read_idx(folder / "none"); }),
            "cannot read " + (folder / "none") + ": No such file or directory");
  EXPECT_EQ(error_of([&] { read_idx(folder.path()); }),
            "cannot read " + folder.path() + ": not a regular file");
}

TEST_F(Idx, NamesWhatIsWrongInGzip) {
  const std::string zipped = gzip_bytes(idx_bytes(8, {2, 3}, "123456"));
  EXPECT_EQ(error(zipped.substr(0, zipped.size() - 12)),
            path + " is truncated: expected 18 bytes, found 14");
  std::string damaged = zipped;
  damaged[damaged.size() - 10] ^= 1;
  EXPECT_THAT(error(damaged), HasSubstr(path + " is damaged: "));
}

class Mnist : public testing::Test {
 protected:
  Mnist() { write_fashion_files(folder.path(), 30, 20); }
  TemporaryFolder folder;
};

TEST_F(Mnist, ReadsImagesAndLabels) {
  FashionMNIST train(folder.path()), test(folder.path(), false);
  EXPECT_TRUE(train.is_train());
  EXPECT_FALSE(test.is_train());
  EXPECT_EQ(train.size(), 30u);
  EXPECT_EQ(test.size(), 20u);
  EXPECT_THAT(train.raw_images().sizes().vec(), ElementsAre(30, 1, 28, 28));
  EXPECT_EQ(train.raw_images().dtype(), kByte);
  EXPECT_EQ(train.targets().dtype(), kLong);
  EXPECT_EQ(train.classes().size(), 10u);
  EXPECT_EQ(FashionMNIST::classes()[9], "Ankle boot");
  EXPECT_EQ(MNIST::classes()[7], "7");
  EXPECT_EQ(MNIST(folder.path(), MNIST::Mode::kTest).size(), 20u);
}

TEST_F(Mnist, ExamplesAndBatchesAreFloatsUpToOne) {
  FashionMNIST set(folder.path());
  const auto one = set.get(13);
  EXPECT_THAT(one.data.sizes().vec(), ElementsAre(1, 28, 28));
  EXPECT_EQ(one.target.item<int64_t>(), 3);
  const auto batch = set.get_stacked(std::vector<size_t>{4, 13});
  EXPECT_THAT(batch.data.sizes().vec(), ElementsAre(2, 1, 28, 28));
  EXPECT_EQ(values<float>(batch.data.select(0, 1).contiguous()),
            values<float>(one.data.contiguous()));
  const auto* raw = set.raw_images().data_ptr<uint8_t>() + 13 * 784;
  const std::vector<float> pixels = values<float>(one.data.contiguous());
  for (size_t i = 0; i < 784; ++i) EXPECT_EQ(pixels[i], static_cast<float>(raw[i]) / 255.f);
  EXPECT_EQ(set.images().select(0, 13).contiguous().data_ptr<float>()[400], pixels[400]);
  EXPECT_THROW(set.get(30), IndexError);
}

TEST_F(Mnist, NormalizeKeepsTheFastPath) {
  auto set = FashionMNIST(folder.path()).map(data::transforms::Normalize<>(0.25, 0.5));
  const auto batch = set.get_stacked(std::vector<size_t>{2});
  const auto one = set.get(2);
  EXPECT_EQ(values<float>(batch.data), values<float>(one.data.contiguous()));
  const float raw =
      static_cast<float>(FashionMNIST(folder.path()).raw_images().data_ptr<uint8_t>()[2 * 784]);
  EXPECT_FLOAT_EQ(values<float>(batch.data)[0], (raw / 255 - 0.25f) / 0.5f);
  data::DataLoader loader(set, {.batch_size = 30});
  for (auto& [images, labels] : loader)
    EXPECT_THAT(images.sizes().vec(), ElementsAre(30, 1, 28, 28));
}

TEST_F(Mnist, FindsTorchvisionsFolders) {
  std::filesystem::create_directories(folder / "root/FashionMNIST/raw");
  write_fashion_files(folder / "root/FashionMNIST/raw", 10, 10);
  EXPECT_EQ(FashionMNIST(folder / "root").size(), 10u);
  EXPECT_EQ(
      error_of([&] { MNIST set(folder / "root"); }),
      "cannot find train-images-idx3-ubyte or train-images-idx3-ubyte.gz in " + (folder / "root"));
}

TEST_F(Mnist, RefusesFilesThatDoNotBelongTogether) {
  const std::string images = folder / "train-images-idx3-ubyte",
                    labels = folder / "train-labels-idx1-ubyte";
  const auto error = [&] { return error_of([&] { FashionMNIST set(folder.path()); }); };
  write_bytes(labels, idx_bytes(8, {29}, std::string(29, '\1')));
  EXPECT_EQ(error(), images + " has 30 images, but " + labels + " has 29 labels");
  write_bytes(labels, idx_bytes(8, {30}, std::string(29, '\1') + '\12'));
  EXPECT_EQ(error(), labels + " has label 10 at index 29; expected 0 to 9");
  write_bytes(labels, idx_bytes(8, {30, 1}, std::string(30, '\1')));
  EXPECT_THAT(
      error(),
      HasSubstr(labels + " should hold uint8 labels (N), but holds uint8 of shape [30, 1]"));
  write_bytes(images, idx_bytes(8, {30}, std::string(30, '\1')));
  EXPECT_THAT(error(), HasSubstr(images + " should hold uint8 images (N, height, width)"));
  write_bytes(images, idx_bytes(8, {0, 28, 28}, ""));
  write_bytes(labels, idx_bytes(8, {0}, ""));
  EXPECT_EQ(error(), images + " holds no images");
}

TEST(FashionMnist, DebiansFiles) {
  if (!std::filesystem::exists(FashionMNIST::kDebianRoot))
    GTEST_SKIP() << "dataset-fashion-mnist is not installed";
  FashionMNIST train, test(FashionMNIST::kDebianRoot, FashionMNIST::Mode::kTest);
  EXPECT_EQ(train.size(), 60000u);
  EXPECT_EQ(test.size(), 10000u);
  std::vector<int> count(10);
  for (int64_t label : values<int64_t>(test.targets())) ++count[static_cast<size_t>(label)];
  EXPECT_THAT(count, testing::Each(1000));
  EXPECT_EQ(test.get(0).target.item<int64_t>(), 9);
}

}  // namespace
}  // namespace taeda::vision
