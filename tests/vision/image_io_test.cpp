#include "taeda/vision/image_io.h"

#include <gmock/gmock.h>

#include <fstream>

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/join.h"
#include "taeda/ops/shape/shape.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"

namespace taeda::vision {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A smooth picture: JPEG keeps it nearly as it is.
Tensor ramp(int64_t channels) {
  return (arange(channels * 16 * 16).view({channels, 16, 16}) / 4).to(kByte);
}

int64_t largest_difference(const Tensor& a, const Tensor& b) {
  return (a.to(kLong) - b.to(kLong)).abs().max().item<int64_t>();
}

TEST(PngInMemory, GoesThereAndBack) {
  if (!has_png()) GTEST_SKIP() << "built without libpng";
  for (int64_t channels : {1, 3, 4}) {
    const Tensor image = ramp(channels), file = encode_png(image);
    EXPECT_EQ(file.dim(), 1);
    EXPECT_TRUE(decode_png(file).equal(image));
  }
  EXPECT_THAT(error_of([] { decode_png(ones({10}, kByte)); }),
              HasSubstr("cannot read a PNG image: "));
  EXPECT_THAT(error_of([] { decode_png(ones({10})); }),
              HasSubstr("expects a uint8 tensor of one dimension, got float"));
  EXPECT_THAT(error_of([] {
                encode_png(ones({2, 4, 4}, kByte));
              }),
              HasSubstr("encode_png expects 1, 3 or 4 channels, got 2"));
}

TEST(Jpeg, GoesThroughMemoryAndFiles) {
  if (!has_jpeg()) GTEST_SKIP() << "built without libjpeg";
  TemporaryFolder folder;
  for (int64_t channels : {1, 3}) {
    const Tensor image = ramp(channels), file = encode_jpeg(image, 95);
    const Tensor back = decode_jpeg(file);
    EXPECT_EQ(back.sizes(), image.sizes());
    EXPECT_LE(largest_difference(back, image), 8);
    EXPECT_LT(encode_jpeg(image, 5).numel(), file.numel());
    write_jpeg(image, folder / "f.jpg", 95);
    EXPECT_TRUE(read_image(folder / "f.jpg").equal(back));
  }
}

TEST(Jpeg, SaysWhatIsWrong) {
  if (!has_jpeg()) GTEST_SKIP() << "built without libjpeg";
  EXPECT_THAT(error_of([] { decode_jpeg(ones({10}, kByte)); }),
              HasSubstr("cannot read a JPEG image: Not a JPEG file"));
  EXPECT_THAT(error_of([] { decode_jpeg(ones({10})); }), HasSubstr("uint8 tensor of one"));
  const Tensor file = encode_jpeg(ramp(3));
  EXPECT_THAT(error_of([&] { decode_jpeg(file.narrow(0, 0, file.numel() - 40)); }),
              HasSubstr("cannot read a JPEG image: Premature end of JPEG file"));
  EXPECT_THAT(error_of([] { encode_jpeg(ramp(4)); }), HasSubstr("1 or 3 channels"));
  EXPECT_THAT(error_of([] { encode_jpeg(ramp(3).to(kFloat)); }), HasSubstr("expects a uint8"));
  EXPECT_THAT(error_of([] { encode_jpeg(ramp(3), 0); }), HasSubstr("between 1 and 100, got 0"));
}

TEST(ReadImage, PicturesOfMorePixelsAreForThoseWhoAsk) {
  const int64_t usual = max_image_pixels();
  EXPECT_EQ(usual, 178956970);
  std::vector<Tensor> files;
  if (has_png()) files.push_back(encode_png(ramp(3)));
  if (has_jpeg()) files.push_back(encode_jpeg(ramp(3)));
  for (const Tensor& file : files) {
    const int64_t pixels = ramp(3).numel() / 3;
    set_max_image_pixels(pixels - 1);
    const bool png = has_png() && &file == &files[0];
    const auto read = [&] { png ? decode_png(file) : decode_jpeg(file); };
    EXPECT_THAT(error_of(read),
                HasSubstr("16 x 16 pixels are more than 255; vision::set_max_image_pixels lets "
                          "larger ones in"));
    set_max_image_pixels(pixels);
    EXPECT_NO_THROW(read());
  }
  set_max_image_pixels(usual);
  EXPECT_EQ(error_of([] { set_max_image_pixels(0); }),
            "set_max_image_pixels: expected 1 or more, got 0");
}

TEST(ReadImage, ChoosesByContentAndConvertsChannels) {
  if (!has_png()) GTEST_SKIP() << "built without libpng";
  TemporaryFolder folder;
  const std::string path = folder / "named.jpg";  // and yet a PNG file
  const Tensor rgba = cat({full({1, 1, 2}, 100, kByte), full({1, 1, 2}, 50, kByte),
                           full({1, 1, 2}, 200, kByte), full({1, 1, 2}, 255, kByte)});
  write_png(rgba, path);
  EXPECT_TRUE(read_image(path).equal(rgba));
  EXPECT_TRUE(read_image(path, ImageReadMode::kRgb).equal(rgba.narrow(0, 0, 3)));
  const Tensor gray = read_image(path, ImageReadMode::kGray);
  EXPECT_THAT(gray.sizes().vec(), ElementsAre(1, 1, 2));
  EXPECT_EQ(gray[0][0][0].item<int>(), 82);  // 0.299 * 100 + 0.587 * 50 + 0.114 * 200 = 82.05
  write_png(full({1, 2, 2}, 7, kByte), path);
  EXPECT_THAT(read_image(path, ImageReadMode::kRgb).sizes().vec(), ElementsAre(3, 2, 2));
  std::ofstream(path) << "text";
  EXPECT_EQ(error_of([&] { read_image(path); }),
            "cannot read " + path + ": it is no PNG or JPEG file");
}

}  // namespace
}  // namespace taeda::vision
