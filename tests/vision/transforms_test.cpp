#include "taeda/vision/transforms.h"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "taeda/base/error.h"
#include "taeda/data/loader.h"
#include "taeda/data/tensor_dataset.h"
#include "taeda/data/worker.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/functional.h"
#include "tests/error_of.h"

namespace taeda::vision::transforms {
namespace {

using namespace functional;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

std::vector<float> values(const Tensor& t) {
  const Tensor c = t.to(kFloat).contiguous();
  return {c.data_ptr<float>(), c.data_ptr<float>() + c.numel()};
}

/// 0, 1, 2, ... in one channel.
Tensor numbered(int64_t h, int64_t w) { return arange(h * w).to(kFloat).view({1, h, w}); }

TEST(ToTensor, MakesBytesFloats) {
  EXPECT_THAT(values(ToTensor()(tensor({{{0, 51, 255}}}).to(kByte))), ElementsAre(0, .2f, 1));
  EXPECT_THAT(values(ToTensor()(tensor({{{0.f, 7.f}}}))), ElementsAre(0, 7));
}

TEST(Compose, DoesOneAfterTheOther) {
  Compose both({ToTensor(), Normalize({.5}, {.25})});
  EXPECT_THAT(values(both(tensor({{{0, 255}}}).to(kByte))), ElementsAre(-2, 2));
  const data::Example<> example = both.apply({tensor({{{255}}}).to(kByte), tensor({3})});
  EXPECT_THAT(values(example.data), ElementsAre(2));
  EXPECT_THAT(values(example.target), ElementsAre(3));
}

TEST(Resize, AgreesWithPyTorchsInterpolate) {  // tests/golden/resize.py
  const Tensor x = numbered(4, 6).square().div(10);
  const auto near = [](std::vector<float> expected) {
    return Pointwise(FloatNear(1e-4f), expected);
  };
  EXPECT_THAT(values(Resize(ImageSize(3, 2))(x)),
              near({1.78f, 3.93f, 11.5f, 17.25f, 31.3f, 40.65f}));
  EXPECT_THAT(values(Resize(ImageSize(3, 2), {.antialias = false})(x)),
              near({.9f, 3, 10.9f, 17.8f, 32.9f, 44.6f}));
  EXPECT_THAT(values(Resize(ImageSize(3, 5))(x.narrow(1, 0, 2).narrow(2, 0, 3))),
              near({0, .04f, .1f, .28f, .4f, 1.8f, 2.08f, 2.5f, 3.04f, 3.4f, 3.6f, 4.12f, 4.9f,
                    5.8f, 6.4f}));
  EXPECT_THAT(values(Resize(ImageSize(3, 4), {.interpolation = InterpolationMode::kNearest})(x)),
              near({0, .1f, .9f, 1.6f, 3.6f, 4.9f, 8.1f, 10, 14.4f, 16.9f, 22.5f, 25.6f}));
}

TEST(Resize, OneNumberIsTheShorterSide) {
  EXPECT_THAT(Resize(2)(numbered(4, 6)).sizes().vec(), ElementsAre(1, 2, 3));
  EXPECT_THAT(Resize(3)(numbered(8, 6)).sizes().vec(), ElementsAre(1, 4, 3));
  const Tensor x = numbered(4, 6);
  EXPECT_EQ(Resize(4)(x).data_ptr(), x.data_ptr()) << "nothing to do";
  const Tensor bytes = Resize(ImageSize(1, 1))(tensor({{{0, 1}, {2, 3}}}).to(kByte));
  EXPECT_EQ(bytes.dtype(), kByte);
  EXPECT_THAT(values(bytes), ElementsAre(2)) << "1.5 is rounded to the even number";
  EXPECT_THAT(error_of([] { Resize(0); }), HasSubstr("must be positive, got 0"));
  EXPECT_THAT(error_of([] { Resize(ImageSize(2, -1)); }), HasSubstr("got 2 x -1"));
  EXPECT_THAT(error_of([] { Resize(2)(ones({4, 4})); }), HasSubstr("got shape [4, 4]"));
}

TEST(CenterCrop, TakesTheMiddle) {
  EXPECT_THAT(values(CenterCrop(2)(numbered(4, 4))), ElementsAre(5, 6, 9, 10));
  // (5 - 2) / 2 = 1.5 becomes 2, (3 - 2) / 2 = 0.5 becomes 0, as Python rounds.
  EXPECT_THAT(values(CenterCrop({2, 2})(numbered(5, 3))), ElementsAre(6, 7, 9, 10));
  EXPECT_THAT(values(CenterCrop({1, 4})(numbered(1, 2).add(1))), ElementsAre(0, 1, 2, 0));
}

TEST(Pad, TakesOneTwoOrFourNumbers) {
  EXPECT_THAT(values(Pad({1}, 9)(ones({1, 1, 1}))), ElementsAre(9, 9, 9, 9, 1, 9, 9, 9, 9));
  EXPECT_THAT(Pad({1, 2})(ones({1, 1, 1})).sizes().vec(), ElementsAre(1, 5, 3));
  EXPECT_THAT(values(Pad({1, 0, 2, 0})(ones({1, 1, 1}))), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(values(Pad({2, 0}, 0, kReflect)(numbered(1, 3))), ElementsAre(2, 1, 0, 1, 2, 1, 0));
  EXPECT_EQ(Pad({1})(ones({1, 1, 1}).to(kByte)).dtype(), kByte);
  EXPECT_THAT(error_of([] { Pad({1, 2, 3}); }), HasSubstr("not a 3 element tuple"));
}

TEST(RandomCrop, TakesEveryPlace) {
  manual_seed(0);
  RandomCrop crop({2, 2});
  std::set<std::vector<float>> seen;
  for (int i = 0; i < 200; ++i) seen.insert(values(crop(numbered(3, 3))));
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_TRUE(seen.contains({4, 5, 7, 8}));
  const Tensor x = numbered(2, 2);
  EXPECT_EQ(crop(x).data_ptr(), x.data_ptr());
  EXPECT_THAT(RandomCrop(4, {.padding = {1}})(numbered(3, 3)).sizes().vec(), ElementsAre(1, 4, 4));
  EXPECT_THAT(RandomCrop(4, {.pad_if_needed = true})(numbered(3, 5)).sizes().vec(),
              ElementsAre(1, 4, 4));
  EXPECT_EQ(error_of([] { RandomCrop(4)(numbered(3, 5)); }),
            "Required crop size (4, 4) is larger than input image size (3, 5)");
}

TEST(RandomFlip, MirrorsWithItsProbability) {
  EXPECT_THAT(values(RandomHorizontalFlip(1)(numbered(2, 2))), ElementsAre(1, 0, 3, 2));
  EXPECT_THAT(values(RandomVerticalFlip(1)(numbered(2, 2))), ElementsAre(2, 3, 0, 1));
  EXPECT_THAT(values(RandomHorizontalFlip(0)(numbered(1, 2))), ElementsAre(0, 1));
  manual_seed(0);
  RandomHorizontalFlip flip;
  int flipped = 0;
  for (int i = 0; i < 1000; ++i) flipped += values(flip(numbered(1, 2)))[0] == 1;
  EXPECT_NEAR(flipped, 500, 60);
  EXPECT_THAT(error_of([] { RandomHorizontalFlip(1.5); }), HasSubstr("between 0 and 1, got 1.5"));
}

TEST(Color, BlendsWithBlackGreyAndTheMean) {
  const Tensor x = tensor({{{.2f, .4f}}, {{.5f, .4f}}, {{.7f, .4f}}});
  const float grey = .2989f * .2f + .587f * .5f + .114f * .7f, flat = .4f * .9999f;
  EXPECT_THAT(values(rgb_to_grayscale(x)), Pointwise(FloatNear(1e-6f), {grey, flat}));
  EXPECT_THAT(values(adjust_brightness(x, 1.5)),
              Pointwise(FloatNear(1e-6f), {.3f, .6f, .75f, .6f, 1.f, .6f}));
  EXPECT_THAT(values(adjust_saturation(x, 0)),
              Pointwise(FloatNear(1e-6f), {grey, flat, grey, flat, grey, flat}));
  EXPECT_THAT(values(adjust_saturation(x, 1)), Pointwise(FloatNear(1e-6f), values(x)));
  const float mean = (grey + flat) / 2;
  EXPECT_THAT(values(adjust_contrast(x, 0)),
              Pointwise(FloatNear(1e-6f), std::vector<float>(6, mean)));
  EXPECT_THAT(values(adjust_contrast(x, .5).select(0, 0)),
              Pointwise(FloatNear(1e-6f), {.1f + mean / 2, .2f + mean / 2}));
}

TEST(Color, TurnsTheHue) {  // Python's colorsys.rgb_to_hsv and hsv_to_rgb
  const Tensor x = tensor({{{.2f, .9f, .4f}}, {{.5f, .1f, .4f}}, {{.7f, .3f, .4f}}});
  const auto near = [](std::vector<float> expected) {
    return Pointwise(FloatNear(1e-5f), expected);
  };
  EXPECT_THAT(values(adjust_hue(x, .25)), near({.65f, .7f, .4f, .2f, .9f, .4f, .7f, .1f, .4f}));
  EXPECT_THAT(values(adjust_hue(x, -.4)), near({.7f, .1f, .4f, .7f, .62f, .4f, .2f, .9f, .4f}));
  EXPECT_THAT(values(adjust_hue(x, 0)), near(values(x)));
  EXPECT_THAT(error_of([&] { adjust_hue(x, .6); }), HasSubstr("is not in [-0.5, 0.5]"));
  EXPECT_THAT(error_of([] {
                adjust_hue(ones({2, 1, 1}), .1);
              }),
              HasSubstr("permitted channel values are [1, 3], but found 2"));
}

TEST(ColorJitter, StaysWithinItsBounds) {
  manual_seed(0);
  ColorJitter bright(.5);
  std::set<float> seen;
  for (int i = 0; i < 100; ++i) {
    const float v = values(bright(full({3, 1, 1}, .4f)))[0];
    EXPECT_GE(v, .2f);
    EXPECT_LE(v, .6f);
    seen.insert(v);
  }
  EXPECT_GT(seen.size(), 50u);
  const Tensor x = rand({3, 4, 4});
  EXPECT_TRUE(ColorJitter()(x).equal(x));
  const Tensor all = ColorJitter(.4, .4, .4, .1)(x);
  EXPECT_FALSE(all.equal(x));
  EXPECT_GE(all.min().item<float>(), 0);
  EXPECT_LE(all.max().item<float>(), 1);
  EXPECT_TRUE(ColorJitter({0.5, 0.5})(x).allclose(x / 2));
  EXPECT_EQ(ColorJitter(.4, .4, .4, .1)(x.mul(255).to(kByte)).dtype(), kByte);
  EXPECT_THAT(error_of([] { ColorJitter(-1); }), HasSubstr("brightness is a single number"));
  EXPECT_THAT(error_of([] { ColorJitter(0, 0, 0, .7); }), HasSubstr("hue values should be"));
}

TEST(Grayscale, GivesOneOrThreeChannels) {
  EXPECT_THAT(Grayscale()(ones({3, 2, 2})).sizes().vec(), ElementsAre(1, 2, 2));
  EXPECT_THAT(Grayscale(3)(ones({3, 2, 2}, kByte)).sizes().vec(), ElementsAre(3, 2, 2));
  EXPECT_THAT(error_of([] { Grayscale(2); }), HasSubstr("either 1 or 3, got 2"));
}

TEST(RandomTransforms, ASeedGivesTorchvisionsNumbers) {  // tests/golden/transforms.py
  const Tensor x = numbered(4, 4);
  std::vector<float> corners, mirrored;
  manual_seed(5);
  for (int i = 0; i < 8; ++i) corners.push_back(values(RandomCrop(2)(x))[0]);
  EXPECT_THAT(corners, ElementsAre(8, 4, 9, 6, 1, 4, 10, 0));
  manual_seed(6);
  for (int i = 0; i < 12; ++i) mirrored.push_back(values(RandomHorizontalFlip()(x))[0] == 3);
  EXPECT_THAT(mirrored, ElementsAre(0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1));
  const Tensor pixel = tensor({{{.2f}}, {{.5f}}, {{.7f}}});
  ColorJitter jitter(.4, .4, .4, .1);
  manual_seed(7);
  EXPECT_THAT(values(jitter(pixel)), Pointwise(FloatNear(1e-4f), {.32385f, .71959f, .73977f}));
  EXPECT_THAT(values(jitter(pixel)), Pointwise(FloatNear(1e-4f), {.31587f, .8437f, .87007f}));
}

const Interpolated bilinear{.mode = InterpolationMode::kBilinear};

/// The sums of what seeds 0, 1 and 2 give for one picture (python/tests/golden/vision.json).
struct Row {
  const char* name;
  PictureFunction transform;
  std::vector<double> sums;
  bool bytes = false;
};

std::vector<Row> rows_of_floats() {
  return {
      {"crop", RandomCrop(7, {.padding = {2}}), {80.578, 74.715, 66.441}},
      {"crop reflect",
       RandomCrop({6, 9}, {.padding = {3}, .padding_mode = kReflect}),
       {87.326, 82.121, 83.004}},
      {"resized crop", RandomResizedCrop(8), {101.864, 100.69, 101.427}},
      {"resized crop, wide",
       RandomResizedCrop({5, 9}, {.scale = {0.5, 1}, .ratio = {0.5, 2}}),
       {69.747, 69.55, 70.376}},
      {"jitter", ColorJitter(0.4, 0.3, 0.2, 0.1), {196.614, 329.506, 274.544}},
      {"jitter, range", ColorJitter({0.5, 0.9}, 0, {1, 2}, 0), {156.401, 221.415, 202.308}},
      {"rotation", RandomRotation(30), {278.823, 245.914, 264.279}},
      {"rotation, expanding",
       RandomRotation({10, 60}, {.interpolation = bilinear.mode, .expand = true, .fill = 0.5}),
       {625.415, 564.867, 624.727}},
      {"affine",
       RandomAffine(20, {.translate = {{0.1, 0.2}}, .scale = {{0.8, 1.2}}, .shear = {10}}),
       {180.79, 281.994, 243.837}},
      {"affine, four shears",
       RandomAffine(5, {.shear = {-5, 5, -8, 8}, .interpolation = bilinear.mode, .fill = 1}),
       {284.719, 280.919, 278.897}},
      {"perspective", RandomPerspective({.p = 1}), {133.127, 157.428, 126.237}},
      {"erasing", RandomErasing({.p = 0.8}), {207.008, 244.745, 237.067}},
      {"erasing, noise", RandomErasing({.p = 1, .value = {}}), {227.547, 243.13, 233.274}},
      {"erasing, colour",
       RandomErasing({.p = 1, .value = {0.1, 0.2, 0.3}}),
       {233.408, 256.745, 251.467}},
      {"blur", GaussianBlur(5), {277.167, 276.88, 277.002}},
      {"blur, across", GaussianBlur({5, 5}), {277.167, 276.88, 277.002}},
      {"blur, wide", GaussianBlur({3, 5}, {1, 2}), {277.471, 277.488, 277.479}},
      {"apply", RandomApply({Pad({1})}), {278.823, 278.823, 278.823}},
      {"gray", RandomGrayscale(0.5), {276.553, 278.823, 278.823}},
      {"invert", RandomInvert(), {261.177, 278.823, 278.823}},
      {"solarize", RandomSolarize(0.5), {137.199, 278.823, 278.823}},
      {"sharpness", RandomAdjustSharpness(2, 1), {279.152, 279.152, 279.152}},
      {"contrast", RandomAutocontrast(1), {278.783, 278.783, 278.783}},
      {"five", FiveCrop(6), {283.197, 283.197, 283.197}},
      {"ten", TenCrop({5, 6}), {461.114, 461.114, 461.114}},
  };
}

std::vector<Row> rows_of_bytes() {
  using Policy = AutoAugmentPolicy;
  return {
      {"ImageNet", AutoAugment(), {71108, 71108, 69733}, true},
      {"CIFAR-10", AutoAugment(Policy::kCifar10, {.fill = 100}), {71108, 63662, 71108}, true},
      {"SVHN",
       AutoAugment(Policy::kSvhn, {.mode = bilinear.mode, .fill = {10, 20, 30}}),
       {66592, 33934, 64867},
       true},
      {"RandAugment", RandAugment(), {65428, 64348, 38900}, true},
      {"RandAugment, strong",
       RandAugment({.num_ops = 4, .magnitude = 20, .num_magnitude_bins = 25, .by = {.fill = 7}}),
       {45706, 33917, 44765},
       true},
      {"TrivialAugmentWide", TrivialAugmentWide(), {0, 71008, 44148}, true},
      {"AugMix", AugMix(), {69900, 68315, 70381}, true},
  };
}

TEST(RandomTransforms, GiveTorchvisionsNumbers) {
  const Tensor picture = rand({3, 12, 15}, Generator(kCPU, 4));
  const Tensor bytes = picture.mul(255.999).to(kByte);
  std::vector<Row> rows = rows_of_floats();
  for (Row& row : rows_of_bytes()) rows.push_back(std::move(row));
  for (const Row& row : rows)
    for (size_t seed = 0; seed < row.sums.size(); ++seed) {
      SCOPED_TRACE(std::string(row.name) + ", seed " + std::to_string(seed));
      manual_seed(seed);
      const Tensor found = row.transform(row.bytes ? bytes : picture);
      EXPECT_NEAR(found.to(kDouble).sum().item<double>(), row.sums[seed], row.bytes ? 60 : 6e-3);
    }
}

TEST(RandomTransforms, MovePixelsWithTheirNeighbours) {
  const Tensor picture = numbered(48, 48);
  manual_seed(0);
  EXPECT_TRUE(ElasticTransform({.alpha = {0, 0}})(picture).allclose(picture, 1e-3, 1e-2));
  const Tensor moved = ElasticTransform({.alpha = {200, 0}, .sigma = {4, 4}})(picture);
  EXPECT_FALSE(moved.allclose(picture, 1e-3, 1e-2));
  const Tensor inside = moved.narrow(1, 8, 32).narrow(2, 16, 16),
               rows = arange(8, 40).view({1, 32, 1});
  EXPECT_TRUE(inside.div(48).sub(rows).gt(-0.5).all().item<bool>()) << "each stays in its row";
  EXPECT_TRUE(inside.div(48).sub(rows).lt(1.5).all().item<bool>());
}

TEST(RandomTransforms, ChooseAndShuffle) {
  const auto add = [](double x) { return [x](const Tensor& t) { return t.add(x); }; };
  const auto twice = [](const Tensor& t) { return t.mul(2); };
  manual_seed(0);
  RandomOrder order({add(1), twice});
  RandomChoice choice({add(1), add(10)}, {1, 3});
  std::set<float> seen;
  int tens = 0;
  for (int i = 0; i < 400; ++i) {
    seen.insert(values(order(zeros({1, 1, 1})))[0]);
    tens += values(choice(zeros({1, 1, 1})))[0] == 10;
  }
  EXPECT_EQ(seen, (std::set<float>{1, 2}));
  EXPECT_NEAR(tens, 300, 40);
}

TEST(RandomTransforms, RefuseWhatTheyCannotDo) {
  const Tensor x = rand({3, 8, 8});
  const auto refused = [](auto call, const char* text) {
    EXPECT_THAT(error_of(call), HasSubstr(text));
  };
  refused([] { GaussianBlur(4); }, "Kernel size value should be an odd and positive number.");
  refused([] { GaussianBlur(3, {2, 1}); }, "sigma values should be positive");
  refused([] { RandomAffine(1, {.translate = {{2, 0}}}); }, "between 0 and 1");
  refused([] { RandomAffine(1, {.shear = {1, 2, 3}}); }, "length 2 or 4");
  refused([] { RandomRotation(-1); }, "If degrees is a single number, it must be positive.");
  refused([] { RandomErasing({.scale = {0, 2}}); }, "Scale should be between 0 and 1");
  refused([&] { RandomErasing({.p = 1, .value = {1, 2}})(x); }, "single value or 3 (number of");
  refused([&] { RandomRotation(3, {.interpolation = InterpolationMode::kBicubic})(x); },
          "Resampling mode 'bicubic' is not supported, only nearest and bilinear");
  refused([&] { RandomPosterize(3, 1)(x); }, "Only torch.uint8 image tensors are supported");
  refused([&] { FiveCrop(9)(x); }, "Requested crop size (9, 9) is bigger than input size (8, 8)");
  refused([] { RandAugment({.magnitude = 31}); }, "magnitude should be from 0 to 30, got 31");
  refused([] { AugMix({.severity = 11}); }, "The severity must be between [1, 10]. Got 11");
  refused([] { RandomChoice({RandomInvert()}, {1, 2}); }, "number of transforms: 2 != 1");
  refused([&] { Pad({1}, {1, 2})(x); }, "number of channels of the image (2 != 3)");
  refused([&] { Pad({1}, 0, kCircular)(x); }, "either constant, edge, reflect or symmetric");
  refused([] { Resize(8, {.max_size = 8})(rand({3, 4, 9})); }, "must be strictly greater than");
}

TEST(RandomTransforms, DoNotDependOnTheNumberOfWorkers) {
  const auto pictures = [](int workers) {
    auto set =
        data::datasets::TensorDataset(numbered(8, 8).expand({32, 1, 8, 8}).contiguous(), arange(32))
            .map(Compose({RandomCrop(5), RandomHorizontalFlip()}));
    data::DataLoader loader(std::move(set), {.batch_size = 4, .num_workers = workers, .seed = 3});
    std::vector<float> out;
    for (auto& batch : loader)
      for (float v : values(batch.data)) out.push_back(v);
    return out;
  };
  const std::vector<float> alone = pictures(0);
  EXPECT_EQ(alone.size(), 32u * 25);
  EXPECT_EQ(pictures(1), alone);
  EXPECT_EQ(pictures(3), alone);
}

}  // namespace
}  // namespace taeda::vision::transforms
