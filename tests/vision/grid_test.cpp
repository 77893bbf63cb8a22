#include "taeda/vision/grid.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "taeda/base/error.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/cairo.h"
#include "taeda/vision/font.h"
#include "taeda/vision/image_io.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/values.h"
#include "tests/vision/idx_files.h"

namespace taeda::vision {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tensor iota(std::vector<int64_t> sizes) {
  Tensor t = taeda::empty(sizes);
  std::iota(t.data_ptr<float>(), t.data_ptr<float>() + t.numel(), 0.f);
  return t;
}

TEST(MakeGrid, PlacesPicturesInRows) {
  // torchvision.utils.make_grid(arange(12.).view(3, 1, 2, 2), nrow=2, padding=1, pad_value=-1)[0]
  const Tensor grid = make_grid(iota({3, 1, 2, 2}), {.nrow = 2, .padding = 1, .pad_value = -1});
  ASSERT_THAT(grid.sizes().vec(), ElementsAre(3, 7, 7));
  const std::vector<float> expected = {-1, -1, -1, -1, -1, -1, -1,  //
                                       -1, 0,  1,  -1, 4,  5,  -1,  //
                                       -1, 2,  3,  -1, 6,  7,  -1,  //
                                       -1, -1, -1, -1, -1, -1, -1,  //
                                       -1, 8,  9,  -1, -1, -1, -1,  //
                                       -1, 10, 11, -1, -1, -1, -1,  //
                                       -1, -1, -1, -1, -1, -1, -1};
  for (int64_t c = 0; c < 3; ++c) EXPECT_EQ(values<float>(grid.select(0, c)), expected);
}

TEST(MakeGrid, FewerPicturesThanARowHolds) {
  EXPECT_THAT(make_grid(iota({2, 3, 4, 5})).sizes().vec(), ElementsAre(3, 8, 16));
  EXPECT_THAT(make_grid(iota({4, 5})).sizes().vec(), ElementsAre(3, 4, 5));
  EXPECT_THAT(make_grid(iota({3, 4, 5})).sizes().vec(), ElementsAre(3, 4, 5));
}

TEST(MakeGrid, NormalizesToTheUnitRange) {
  const Tensor whole = make_grid(iota({2, 1, 1, 3}), {.padding = 0, .normalize = true});
  EXPECT_THAT(values<float>(whole.select(0, 0)),
              testing::Pointwise(testing::FloatEq(), {0.f, .2f, .4f, .6f, .8f, 1.f}));
  const Tensor each =
      make_grid(iota({2, 1, 1, 3}), {.padding = 0, .normalize = true, .scale_each = true});
  EXPECT_THAT(values<float>(each.select(0, 0)), ElementsAre(0, .5, 1, 0, .5, 1));
  const Tensor range = make_grid(
      iota({2, 1, 1, 3}), {.padding = 0, .normalize = true, .value_range = std::pair{1., 3.}});
  EXPECT_THAT(values<float>(range.select(0, 0)), ElementsAre(0, 0, .5, 1, 1, 1));
}

TEST(MakeGrid, RefusesOtherTensors) {
  EXPECT_THAT(error_of([] { make_grid(iota({3})); }),
              HasSubstr("pictures of 2, 3 or 4 dimensions, got shape [3]"));
  EXPECT_THAT(error_of([] { make_grid(iota({2, 3, 4, 4}), {.nrow = 0}); }), HasSubstr("nrow > 0"));
  EXPECT_THAT(error_of([] { make_grid(empty({0, 3, 4, 4})); }), HasSubstr("at least one picture"));
  EXPECT_THROW(make_grid(zeros({2, 3, 4, 4}, kByte), {.normalize = true}), TypeError);
}

std::string dots(const Tensor& picture) {
  std::string out;
  for (int64_t y = 0; y < picture.size(1); ++y, out += '\n')
    for (int64_t x = 0; x < picture.size(2); ++x)
      out += picture.data_ptr<uint8_t>()[y * picture.size(2) + x] ? '#' : '.';
  return out;
}

TEST(Draw, TextOfDots) {
  const Tensor picture = zeros({3, 9, 13}, kByte);
  draw_text(picture, 1, 1, "T4", {255, 0, 0});
  EXPECT_EQ(dots(picture),
            ".............\n"
            ".#####....#..\n"
            "...#.....##..\n"
            "...#....#.#..\n"
            "...#...#..#..\n"
            "...#...#####.\n"
            "...#......#..\n"
            "...#......#..\n"
            ".............\n");
  EXPECT_EQ(picture.select(0, 1).contiguous().data_ptr<uint8_t>()[14], 0);
}

TEST(Draw, CutsOffWhatLiesOutside) {
  const Tensor picture = zeros({3, 4, 4}, kByte);
  draw_text(picture, -3, -3, "ABC", {1, 2, 3});
  draw_frame(picture, -1, -1, 6, 6, 2, {4, 5, 6});
  EXPECT_EQ(values<uint8_t>(picture.select(0, 2))[0], 6);
  EXPECT_THAT(error_of([] {
                draw_text(zeros({1, 4, 4}, kByte), 0, 0, "a", {});
              }),
              HasSubstr("draw_text expects"));
}

TEST(Draw, TextInTheSystemsFont) {
  const Tensor picture = zeros({3, 24, 60}, kByte), above = zeros({3, 24, 60}, kByte);
  draw_text(picture, 2, 4, "Ag", {0, 255, 0}, 12);
  const Tensor green = picture.select(0, 1), other = picture.select(0, 0);
  EXPECT_EQ(other.sum().item<int64_t>(), 0);
  EXPECT_GT(green.narrow(0, 4, 15).gt(0).sum().item<int64_t>(), 20);
  EXPECT_EQ(green.narrow(0, 0, 4).sum().item<int64_t>(), 0);
  EXPECT_EQ(green.narrow(0, 19, 5).sum().item<int64_t>(), 0);
  EXPECT_EQ(green.narrow(1, 30, 30).sum().item<int64_t>(), 0);
  if (detail::cairo()) {  // smooth edges
    EXPECT_GT(green.gt(0).logical_and(green.lt(255)).sum().item<int64_t>(), 5);
  }
  draw_text(above, 2, -6, "Ag", {0, 255, 0}, 12);
  EXPECT_TRUE(equal(above.narrow(1, 0, 14), picture.narrow(1, 10, 14)));
}

TEST(Draw, WhatIsNotUtf8IsWrittenInDots) {
  const Tensor picture = zeros({3, 20, 20}, kByte), dotted = zeros({3, 20, 20}, kByte);
  draw_text(picture, 0, 0, "\xff", {1, 1, 1}, 10);
  draw_text(dotted, 0, 3, "\xff", {1, 1, 1});
  EXPECT_TRUE(equal(picture, dotted));
}

TEST(Draw, RefusesSizesThatNobodyReads) {
  for (const double size : {0.0, -3.0, 1e9, std::nan("")})
    EXPECT_THAT(error_of([&] {
                  draw_text(zeros({3, 4, 4}, kByte), 0, 0, "a", {}, size);
                }),
                HasSubstr("draw_text expects a size from 1 to 1000, got "));
}

TEST(Draw, EveryPrintableCharacterHasAPicture) {
  const auto same = [](const Glyph& a, const Glyph& b) {
    return std::equal(a.rows, a.rows + kGlyphHeight, b.rows);
  };
  for (char a : std::string(
           "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-/.,:%()!?+=_'*<># "))
    for (char b : std::string(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-/.,:%()!?+=_'*<># "))
      EXPECT_EQ(a == b, same(glyph_of(a), glyph_of(b))) << a << b;
  EXPECT_TRUE(same(glyph_of('\n'), glyph_of('\xff')));
}

TEST(Enlarge, RepeatsPixels) {
  EXPECT_THAT(values<float>(enlarge(iota({1, 2, 2}), 2)),
              ElementsAre(0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3));
  EXPECT_THROW(enlarge(iota({4}), 2), ValueError);
}

TEST(ToBytes, RoundsAndClips) {
  Tensor t = empty({5});
  const float in[] = {-1, 0, 0.5f, 1, 7};
  std::copy(in, in + 5, t.data_ptr<float>());
  EXPECT_THAT(values<uint8_t>(to_bytes(t)), ElementsAre(0, 0, 128, 255, 255));
  EXPECT_THROW(to_bytes(zeros({1}, kByte)), TypeError);
}

class Png : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_png()) GTEST_SKIP() << "built without libpng";
  }
  TemporaryFolder folder;
};

TEST_F(Png, RoundTripOfOneThreeAndFourChannels) {
  for (int64_t channels : {1, 3, 4}) {
    Tensor image = empty({channels, 5, 7}, kByte);
    for (int64_t i = 0; i < image.numel(); ++i)
      image.data_ptr<uint8_t>()[i] = static_cast<uint8_t>(i * 7);
    write_png(image, folder / "a.png");
    const Tensor back = read_png(folder / "a.png");
    EXPECT_EQ(back.sizes(), image.sizes());
    EXPECT_EQ(values<uint8_t>(back), values<uint8_t>(image));
  }
  EXPECT_EQ(folder.count(), 1u);
}

TEST_F(Png, SavesAGrid) {
  save_image(full({2, 1, 4, 4}, 0.5), folder / "g.png");
  const Tensor back = read_png(folder / "g.png");
  EXPECT_THAT(back.sizes().vec(), ElementsAre(3, 8, 14));
  EXPECT_EQ(values<uint8_t>(back)[0], 0);
  EXPECT_EQ(values<uint8_t>(back)[2 * 14 + 2], 128);
}

TEST_F(Png, RefusesWhatIsNoPicture) {
  EXPECT_THROW(write_png(empty({3, 4, 4}), folder / "a"), TypeError);
  EXPECT_THROW(write_png(empty({2, 4, 4}, kByte), folder / "a"), ValueError);
  EXPECT_THROW(write_png(empty({4, 4}, kByte), folder / "a"), ValueError);
  EXPECT_THAT(error_of([&] {
                write_png(zeros({3, 4, 4}, kByte), folder / "none/a");
              }),
              HasSubstr("cannot write"));
  write_bytes(folder / "text", "this is no picture");
  EXPECT_THAT(error_of([&] { read_png(folder / "text"); }),
              HasSubstr("cannot read " + (folder / "text") + ": "));
  write_bytes(folder / "empty", "");
  EXPECT_THAT(error_of([&] { read_png(folder / "empty"); }), HasSubstr("the file is empty"));
  EXPECT_THROW(read_png(folder / "none"), Error);
  EXPECT_EQ(folder.count(), 2u);
}

}  // namespace
}  // namespace taeda::vision
