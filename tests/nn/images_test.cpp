// Padding, resampling, unfolding, sampling, unpooling, distances and the losses of many classes.
#include <functional>

#include "common.h"
#include "taeda/autograd/gradcheck.h"
#include "taeda/device/generator.h"
#include "taeda/nn/nn.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/ops/random/random.h"
#include "tests/error_of.h"

namespace taeda::nn {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_helpers;
namespace F = functional;

#include "golden_images.inc"

TEST(ImagePrinting, IsPythons) {
  const auto expect = [](const char* name, const auto& module) {
    EXPECT_EQ(module->repr(), golden_image_prints.at(name)) << name;
  };
  expect("constant_pad1d", ConstantPad1d(2, 3.5));
  expect("constant_pad3d", ConstantPad3d({.padding = {1, 2, 3, 4, 5, 6}, .value = 2.5}));
  expect("zero_pad2d", ZeroPad2d(1));
  expect("reflection_pad1d", ReflectionPad1d({.padding = {1, 2}}));
  expect("replication_pad3d", ReplicationPad3d(2));
  expect("softmax2d", Softmax2d());
  expect("cosine_similarity", CosineSimilarity());
  expect("pairwise_distance", PairwiseDistance());
  expect("upsample_size", Upsample({.size = std::vector<int64_t>{3, 4}, .mode = kBilinear}));
  expect("upsample_factor", Upsample({.scale_factor = std::vector<double>{2, 1.5},
                                      .mode = kBicubic,
                                      .align_corners = true}));
  expect("pixel_shuffle", PixelShuffle(2));
  expect("pixel_unshuffle", PixelUnshuffle(2));
  expect("unfold", Unfold({.kernel_size = {2, 3}, .padding = 1}));
  expect("fold", Fold({.output_size = {4, 5}, .kernel_size = 2}));
  expect("lp_pool1d", LPPool1d(2, 3));
  expect("lp_pool2d", LPPool2d({.norm_type = 1.5, .kernel_size = {3, 2}, .stride = 2}));
  expect("local_response_norm", LocalResponseNorm(2));
  expect("cross_map_lrn2d", CrossMapLRN2d(2));
  expect("dropout3d", Dropout3d());
  expect("feature_alpha_dropout", FeatureAlphaDropout());
  expect("rrelu", RReLU({.lower = 0.1, .upper = 0.3, .inplace = true}));
  expect("avg_pool3d", AvgPool3d(2));
  expect("max_pool3d", MaxPool3d({.kernel_size = 2, .padding = 1}));
  expect("adaptive_avg_pool3d", AdaptiveAvgPool3d({.output_size = {1, 2, 3}}));
  expect("adaptive_max_pool3d", AdaptiveMaxPool3d(2));
  expect("instance_norm3d", InstanceNorm3d(3));
  expect("max_unpool1d", MaxUnpool1d(2));
  expect("max_unpool2d", MaxUnpool2d({.kernel_size = {2, 3}}));
  expect("multi_margin_loss", MultiMarginLoss());
}

Tensor image() { return randn({1, 2, 4, 5}); }

F::InterpolateFuncOptions sized(std::vector<int64_t> size, InterpolationMode mode) {
  return {.size = std::move(size), .mode = mode};
}
F::InterpolateFuncOptions scaled(std::vector<double> factor, InterpolationMode mode) {
  return {.scale_factor = std::move(factor), .mode = mode};
}
Tensor sampled(const F::GridSampleFuncOptions& o) {
  const Tensor x = randn({2, 2, 4, 5});
  return F::grid_sample(x, randn({2, 3, 2, 2}).mul(1.5), o);
}
F::GridSampleFuncOptions grid(PaddingMode padding, bool align_corners) {
  return {.padding_mode = padding, .align_corners = align_corners};
}

/// How each entry of golden_images is computed.
struct Case {
  const char* name;
  Tensor (*make)();
};
const Case kCases[] = {
    {"nearest",
     [] {
       return F::interpolate(image(), sized({7, 3}, kNearest));
     }},
    {"nearest_factor",
     [] {
       return F::interpolate(image(), scaled({1.5, 2.3}, kNearest));
     }},
    {"nearest_exact",
     [] {
       return F::interpolate(image(), sized({7, 3}, kNearestExact));
     }},
    {"linear",
     [] {
       return F::interpolate(randn({1, 2, 5}), sized({8}, kLinear));
     }},
    {"bilinear",
     [] {
       return F::interpolate(image(), sized({7, 3}, kBilinear));
     }},
    {"bilinear_corners",
     [] {
       return F::interpolate(image(), with(sized({7, 1}, kBilinear),
                                           &F::InterpolateFuncOptions::align_corners, true));
     }},
    {"bilinear_factor",
     [] {
       return F::interpolate(image(), scaled({1.7, 0.6}, kBilinear));
     }},
    {"bilinear_recomputed",
     [] {
       return F::interpolate(image(),
                             with(scaled({1.7, 0.6}, kBilinear),
                                  &F::InterpolateFuncOptions::recompute_scale_factor, true));
     }},
    {"bicubic",
     [] {
       return F::interpolate(image(), sized({6, 4}, kBicubic));
     }},
    {"bicubic_corners",
     [] {
       return F::interpolate(
           image(), with(sized({6, 4}, kBicubic), &F::InterpolateFuncOptions::align_corners, true));
     }},
    {"trilinear",
     [] {
       return F::interpolate(randn({1, 1, 2, 3, 2}), sized({3, 2, 5}, kTrilinear));
     }},
    {"area",
     [] {
       return F::interpolate(image(), sized({2, 3}, kArea));
     }},
    {"unfold",
     [] {
       return F::unfold(randn({1, 2, 5, 4}),
                        {.kernel_size = {2, 3}, .dilation = {2, 1}, .padding = 1, .stride = 2});
     }},
    {"fold",
     [] {
       return F::fold(randn({2, 12, 6}), {.output_size = {5, 4},
                                          .kernel_size = {2, 3},
                                          .dilation = {2, 1},
                                          .padding = 1,
                                          .stride = 2});
     }},
    {"grid_zeros", [] { return sampled({}); }},
    {"grid_border", [] { return sampled(grid(kBorder, true)); }},
    {"grid_reflection", [] { return sampled(grid(kReflection, false)); }},
    {"grid_reflection_corners", [] { return sampled(grid(kReflection, true)); }},
    {"grid_nearest", [] { return sampled(F::GridSampleFuncOptions{.mode = kNearest}); }},
    {"grid_volume",
     [] {
       const Tensor x = randn({1, 1, 2, 3, 4});
       return F::grid_sample(x, randn({1, 2, 1, 3, 3}));
     }},
    {"affine",
     [] {
       return F::affine_grid(randn({2, 2, 3}), {2, 1, 2, 3});
     }},
    {"affine_volume",
     [] {
       return F::affine_grid(randn({1, 3, 4}), {1, 1, 2, 1, 3}, true);
     }},
    {"unpool1d",
     [] {
       const auto [x, i] = MaxPool1d(2)->forward_with_indices(randn({1, 2, 7}));
       return F::max_unpool1d(x, i, {.kernel_size = 2, .output_size = std::vector<int64_t>{7}});
     }},
    {"unpool2d",
     [] {
       MaxPool2d pool({.kernel_size = 3, .stride = 2, .padding = 1});
       const auto [x, i] = pool->forward_with_indices(randn({2, 5, 7}));
       return MaxUnpool2d({.kernel_size = 3, .stride = 2, .padding = 1})(x, i);
     }},
    {"unpool3d",
     [] {
       const auto [x, i] = MaxPool3d(2)->forward_with_indices(randn({1, 1, 2, 4, 2}));
       return MaxUnpool3d(2)(x, i);
     }},
    {"lp_pool1d",
     [] {
       return LPPool1d({.norm_type = 2, .kernel_size = 3, .stride = 2, .ceil_mode = true})(
           randn({1, 2, 7}));
     }},
    {"lp_pool2d",
     [] {
       return LPPool2d({.norm_type = 1.5, .kernel_size = {3, 2}})(randn({1, 2, 5, 4}).abs());
     }},
    {"lrn3",
     [] {
       return LocalResponseNorm({.size = 3, .alpha = 0.5, .k = 2})(randn({2, 5, 3}));
     }},
    {"lrn4",
     [] {
       return LocalResponseNorm({.size = 4, .alpha = 0.5})(randn({1, 5, 2, 2}));
     }},
    {"cross3",
     [] {
       return CrossMapLRN2d({.size = 3, .alpha = 0.5})(randn({1, 5, 2, 2}));
     }},
    {"cross4",
     [] {
       return CrossMapLRN2d({.size = 4, .alpha = 0.5, .beta = 0.6, .k = 2})(randn({1, 5, 2, 2}));
     }},
    {"multi_margin",
     [] {
       return MultiMarginLoss({.reduction = kNone})(randn({3, 4}), tensor({1, 3, 0}));
     }},
    {"multi_margin_square",
     [] {
       const Tensor x = randn({3, 4}), weight = randn({4}).abs();
       return MultiMarginLoss({.p = 2, .margin = 0.5, .weight = weight})(x, tensor({1, 3, 0}));
     }},
    {"multilabel_margin",
     [] {
       return MultiLabelMarginLoss(kNone)(randn({3, 4}),
                                          tensor({{3, 0, -1, 1}, {-1, 0, 0, 0}, {1, 1, 2, 0}}));
     }},
    {"multilabel_soft_margin",
     [] {
       const Tensor x = randn({2, 3}), weight = randn({3}).abs();
       return MultiLabelSoftMarginLoss({.weight = weight, .reduction = kNone})(
           x, tensor({{1., 0., 1.}, {0., 0., 1.}}));
     }},
    {"triplet",
     [] {
       const Tensor a = randn({3, 4}), p = randn({3, 4}), n = randn({3, 4});
       const auto distance = [](const Tensor& x, const Tensor& y) {
         return x.sub(y).abs().sum({1});
       };
       return TripletMarginWithDistanceLoss(
           {.distance_function = distance, .margin = 2, .swap = true, .reduction = kNone})(a, p, n);
     }},
    {"pdist",
     [] {
       return F::pdist(randn({4, 3}));
     }},
    {"pdist1",
     [] {
       return F::pdist(randn({4, 3}), 1);
     }},
    {"rrelu", [] { return F::rrelu(randn({6})); }},
    {"gumbel",
     [] {
       return F::gumbel_softmax(randn({2, 4}), 0.7);
     }},
    {"gumbel_hard",
     [] {
       return F::gumbel_softmax(randn({3, 4}), 0.7, /*hard=*/true);
     }},
};

TEST(ImageFunctions, MatchPyTorch) {
  EXPECT_EQ(std::size(kCases), golden_images.size());
  for (const Case& c : kCases) {
    manual_seed(0);
    EXPECT_THAT(to_doubles(c.make()), near(golden_images.at(c.name), 2e-5)) << c.name;
  }
}

TEST(ImageFunctions, HaveGradients) {
  manual_seed(2);
  using Function = std::function<Tensor(const Tensor&)>;
  const auto check = [](const char* name, IntArrayRef sizes, const Function& f, bool twice) {
    const Tensor x = randn(sizes, kDouble).requires_grad_();
    const auto wrapped = [&](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{f(in[0])};
    };
    EXPECT_EQ(error_of([&] { autograd::gradcheck(wrapped, {x}); }), "no error") << name;
    if (twice) {
      EXPECT_EQ(error_of([&] { autograd::gradgradcheck(wrapped, {x}); }), "no error") << name;
    }
  };
  check(
      "interpolate", {1, 1, 3, 2},
      [](const Tensor& x) {
        return F::interpolate(x, sized({4, 3}, kBicubic)).square();
      },
      true);
  check(
      "unfold", {1, 3, 3},
      [](const Tensor& x) { return F::unfold(x, {.kernel_size = 2}).square(); }, true);
  check(
      "fold", {4, 4},
      [](const Tensor& x) { return F::fold(x, {.output_size = 3, .kernel_size = 2}).square(); },
      true);
  const Tensor where = randn({1, 2, 2, 2}, kDouble), picture = randn({1, 1, 3, 4}, kDouble);
  check(
      "grid_sample of the image", {1, 1, 3, 4},
      [&](const Tensor& x) { return F::grid_sample(x, where, grid(kReflection, false)); }, false);
  check(
      "grid_sample of the grid", {1, 2, 2, 2},
      [&](const Tensor& g) { return F::grid_sample(picture, g.mul(0.4)).square(); }, true);
  check(
      "affine_grid", {1, 2, 3},
      [](const Tensor& x) {
        return F::affine_grid(x, {1, 1, 2, 2}).square();
      },
      false);
  check(
      "max_unpool", {1, 4, 4},
      [](const Tensor& x) {
        const auto [y, i] = MaxPool2d(2)->forward_with_indices(x);
        return MaxUnpool2d(2)(y, i);
      },
      false);
  check(
      "lp_pool", {1, 1, 4}, [](const Tensor& x) { return LPPool1d(3, 2)(x.square().add(1)); },
      true);
  check(
      "cross map", {1, 3, 1, 2}, [](const Tensor& x) { return CrossMapLRN2d(3)(x); }, true);
  check(
      "multi margin", {2, 3},
      [](const Tensor& x) {
        return F::multi_margin_loss(x, tensor({2, 0}), {.p = 2});
      },
      false);
  check(
      "multilabel margin", {2, 3},
      [](const Tensor& x) {
        return F::multilabel_margin_loss(x, tensor({{2, -1, 0}, {0, 1, -1}}));
      },
      false);
  check(
      "pdist", {3, 2}, [](const Tensor& x) { return F::pdist(x); }, true);
  check(
      "pixel shuffle", {4, 1, 2}, [](const Tensor& x) { return F::pixel_shuffle(x, 2).square(); },
      false);
}

TEST(ImageFunctions, RunOnDevices) {
  const Device device("sim:0");
  const Tensor x = image(), places = randn({1, 2, 2, 2});
  const auto same = [&](const Tensor& here, const Tensor& there) {
    EXPECT_EQ(there.device(), device);
    EXPECT_TRUE(there.cpu().allclose(here, 1e-5, 1e-6));
  };
  const auto bicubic = sized({3, 7}, kBicubic);
  same(F::interpolate(x, bicubic), F::interpolate(x.to(device), bicubic));
  same(F::grid_sample(x, places), F::grid_sample(x.to(device), places.to(device)));
  const Tensor columns = F::unfold(x, {.kernel_size = 2});
  same(columns, F::unfold(x.to(device), {.kernel_size = 2}));
  same(F::fold(columns, {.output_size = {4, 5}, .kernel_size = 2}),
       F::fold(columns.to(device), {.output_size = {4, 5}, .kernel_size = 2}));
}

TEST(ImageModules, DoWhatTheirFunctionsDo) {
  const Tensor x = arange(1, 5, kFloat).view({1, 2, 2});
  EXPECT_THAT(to_doubles(ReflectionPad2d(1)(x)),
              ElementsAre(4, 3, 4, 3, 2, 1, 2, 1, 4, 3, 4, 3, 2, 1, 2, 1));
  EXPECT_THAT(to_doubles(ReplicationPad1d({.padding = {1, 0}})(x)), ElementsAre(1, 1, 2, 3, 3, 4));
  EXPECT_THAT(to_doubles(ZeroPad2d({.padding = {1, 0, 0, 1}})(x)),
              ElementsAre(0, 1, 2, 0, 3, 4, 0, 0, 0));
  EXPECT_THAT(to_doubles(ConstantPad1d({.padding = {-1, 1}, .value = 9})(x)),
              ElementsAre(2, 9, 4, 9));
  EXPECT_EQ(ReplicationPad3d(1)(ones({1, 1, 2, 2, 2})).size(2), 4);
  EXPECT_THAT(to_doubles(Softmax2d()(zeros({4, 1, 2}))), Each(0.25));
  EXPECT_NEAR(CosineSimilarity()(ones({1, 4}), ones({1, 4})).item<double>(), 1, 1e-6);
  EXPECT_NEAR(PairwiseDistance()(ones({1, 4}), zeros({1, 4})).item<double>(), 2, 1e-5);
  EXPECT_THAT(to_doubles(PixelShuffle(2)(arange(4, kFloat).view({4, 1, 1}))),
              ElementsAre(0, 1, 2, 3));
  const Tensor pixels = randn({2, 3, 4, 6});
  EXPECT_TRUE(PixelShuffle(2)(PixelUnshuffle(2)(pixels)).equal(pixels));
  EXPECT_TRUE(Fold({.output_size = {4, 6}, .kernel_size = 2, .stride = 2})(
                  Unfold({.kernel_size = 2, .stride = 2})(pixels))
                  .equal(pixels));
  EXPECT_EQ(Upsample({.scale_factor = std::vector<double>{2, 2}})(pixels).size(3), 12);
  const auto half = scaled({1, 1}, kNearest);
  EXPECT_FALSE(F::interpolate(pixels, half).is_same(pixels));
  const Tensor volume = randn({1, 2, 4, 4, 4});
  EXPECT_NEAR(AvgPool3d(4)(volume).mean().item<double>(), volume.mean().item<double>(), 1e-6);
  EXPECT_TRUE(MaxPool3d(4)(volume).equal(AdaptiveMaxPool3d(1)(volume)));
  EXPECT_TRUE(AdaptiveAvgPool3d(1)(volume).allclose(AvgPool3d(4)(volume), 1e-5, 1e-6));
  EXPECT_TRUE(std::get<1>(AdaptiveMaxPool3d(1)->forward_with_indices(volume))
                  .equal(std::get<1>(MaxPool3d(4)->forward_with_indices(volume))));
  EXPECT_NEAR(InstanceNorm3d(2)(volume).select(1, 0).mean().item<double>(), 0, 1e-6);
  const std::vector<double> dropped = to_doubles(Dropout3d(0.5)(ones({2, 3, 2, 1, 1})));
  for (size_t i = 0; i < dropped.size(); i += 2) EXPECT_EQ(dropped[i], dropped[i + 1]);
  FeatureAlphaDropout alpha(0.5);
  alpha->eval();
  EXPECT_TRUE(alpha(volume).is_same(volume));
  RReLU leaky({.lower = 0.25, .upper = 0.75});
  const Tensor negative = full({100}, -1.0);
  EXPECT_THAT(to_doubles(leaky(negative)),
              Each(testing::AllOf(testing::Le(-0.25), testing::Ge(-0.75))));
  EXPECT_THAT(to_doubles(leaky(negative.neg())), Each(1));
  leaky->eval();
  EXPECT_THAT(to_doubles(leaky(negative)), Each(-0.5));
  const Tensor single = tensor({0.5, 0.1, 0.9});
  EXPECT_NEAR(F::multi_margin_loss(single, tensor(2)).item<double>(), (0.6 + 0.2) / 3, 1e-6);
  EXPECT_NEAR(F::multilabel_margin_loss(single, tensor({2, -1, -1})).item<double>(),
              (0.6 + 0.2) / 3, 1e-6);
}

TEST(ImageFunctions, RejectOptionsOfInterpolation) {
  const Tensor x = image();
  const auto fails = [&](const F::InterpolateFuncOptions& o) {
    return error_of([&] { F::interpolate(x, o); });
  };
  EXPECT_EQ(fails({}), "either size or scale_factor should be defined");
  EXPECT_EQ(fails(with(sized({3, 3}, kNearest), &F::InterpolateFuncOptions::scale_factor,
                       std::vector<double>{2, 2})),
            "only one of size or scale_factor should be defined");
  EXPECT_THAT(fails(sized({3}, kNearest)),
              HasSubstr("Input and output must have the same number of spatial dimensions"));
  EXPECT_THAT(fails(scaled({2}, kNearest)), HasSubstr("Input and scale_factor must have"));
  EXPECT_THAT(fails(with(sized({2, 2}, kNearest), &F::InterpolateFuncOptions::align_corners, true)),
              HasSubstr("align_corners option can only be set with the interpolating modes"));
  EXPECT_EQ(fails(sized({2}, kLinear)), "Got 4D input, but linear mode needs 3D input");
  EXPECT_THAT(fails(sized({0, 2}, kNearest)),
              HasSubstr("Input and output sizes should be greater than 0"));
  EXPECT_EQ(fails(with(sized({2, 2}, kNearest), &F::InterpolateFuncOptions::recompute_scale_factor,
                       true)),
            "recompute_scale_factor is not meaningful with an explicit size.");
  EXPECT_THAT(error_of([] {
                F::interpolate(ones({4, 4}), sized({2}, kNearest));
              }),
              HasSubstr("Only 3D, 4D and 5D input Tensors supported (got 2D)"));
  EXPECT_EQ(error_of([] { sized({2}, kTanh); }), "Expected a mode of interpolation");
}

TEST(ImageFunctions, RejectWhatDoesNotFit) {
  const Tensor x = image();
  EXPECT_EQ(error_of([&] { F::pixel_shuffle(x, 3); }),
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            "of upscale_factor, but input.size(-3)=2 is not divisible by 9");
  EXPECT_EQ(error_of([&] { F::pixel_shuffle(x, -1); }),
            "pixel_shuffle expects a positive upscale_factor, but got -1");
  EXPECT_THAT(error_of([&] { F::pixel_shuffle(x[0][0], 2); }), HasSubstr("at least 3 dimensions"));
  EXPECT_THAT(error_of([&] { F::pixel_unshuffle(x, 3); }),
              HasSubstr("input.size(-2)=4 is not divisible by 3"));
  EXPECT_THAT(error_of([&] { F::pixel_unshuffle(x, 2); }),
              HasSubstr("input.size(-1)=5 is not divisible by 2"));
  EXPECT_THAT(error_of([&] { F::pixel_unshuffle(x, 0); }), HasSubstr("positive downscale_factor"));
  EXPECT_THAT(error_of([&] { F::pixel_unshuffle(x[0][0], 1); }),
              HasSubstr("at least 3 dimensions"));
  const auto unfolded = [&](const F::UnfoldFuncOptions& o) {
    return error_of([&] { F::unfold(x, o); });
  };
  EXPECT_EQ(unfolded(F::UnfoldFuncOptions{.kernel_size = 7}),
            "Given input with spatial size (4, 5), kernel_size=(7, 7), dilation=(1, 1), "
            "padding=(0, 0), calculated shape of the array of sliding blocks as (-2, -1), but its "
            "components must be at least one.");
  EXPECT_THAT(unfolded(F::UnfoldFuncOptions{.kernel_size = 0}),
              HasSubstr("kernel size should be greater than zero"));
  EXPECT_THAT(unfolded(F::UnfoldFuncOptions{.kernel_size = 2, .stride = 0}),
              HasSubstr("stride should be greater"));
  EXPECT_THAT(unfolded(F::UnfoldFuncOptions{.kernel_size = 2, .dilation = 0}),
              HasSubstr("dilation should be"));
  EXPECT_THAT(unfolded(F::UnfoldFuncOptions{.kernel_size = 2, .padding = -1}),
              HasSubstr("padding should be non-negative, but got pad_height: -1 pad_width: -1"));
  EXPECT_THAT(error_of([&] { F::unfold(x[0][0], {.kernel_size = 2}); }),
              HasSubstr("Expected 3D or 4D"));
  const auto folded = [](const Tensor& t) {
    return error_of([&] { F::fold(t, {.output_size = 3, .kernel_size = 2}); });
  };
  EXPECT_THAT(folded(ones({1, 6, 4})), HasSubstr("input.size(1)=6 and kernel_size=(2, 2)."));
  EXPECT_THAT(folded(ones({1, 8, 5})),
              HasSubstr("sliding blocks 2 * 2 = 4, but got input.size(2)=5."));
  EXPECT_THAT(folded(ones({8})), HasSubstr("Expected 2D or 3D (batch mode) tensor"));
  const auto sample = [&](IntArrayRef sizes) {
    return error_of([&] { F::grid_sample(x, ones(sizes)); });
  };
  EXPECT_THAT(sample({2, 2, 2, 2}), HasSubstr("expected grid and input to have same batch size"));
  EXPECT_THAT(sample({1, 2, 2, 3}), HasSubstr("expected grid to have size 2 in last dimension"));
  EXPECT_THAT(sample({1, 2, 2}), HasSubstr("same number of dimensions"));
  EXPECT_THAT(error_of([&] {
                F::grid_sample(ones({1, 1, 0, 2}), ones({1, 1, 1, 2}));
              }),
              HasSubstr("with dimension 2 being empty"));
  EXPECT_THAT(error_of([] {
                F::grid_sample(ones({1, 1, 2, 2, 2}), ones({1, 1, 1, 1, 3}), {.mode = kBicubic});
              }),
              HasSubstr("bicubic interpolation only supports 4D input"));
  const Tensor place = ones({1, 1, 1, 2});
  EXPECT_THAT(error_of([&] { F::grid_sample(x, place, grid(kCircular, false)); }),
              HasSubstr("expected padding_mode to be"));
  EXPECT_THAT(error_of([] {
                F::affine_grid(ones({2, 3, 3}), {2, 1, 2, 2});
              }),
              HasSubstr("Expected a batch of 2D affine matrices of shape Nx2x3 for size "
                        "(2, 1, 2, 2)."));
  EXPECT_THAT(error_of([] {
                F::affine_grid(ones({2, 2, 3}), {2, 1, 2});
              }),
              HasSubstr("affine_grid only supports 4D and 5D sizes"));
  EXPECT_EQ(error_of([] {
              F::affine_grid(ones({2, 2, 3}), {2, 1, 0, 1});
            }),
            "Expected non-zero, positive output size. Got (2, 1, 0, 1)");
}

TEST(ImageFunctions, RejectWhatDoesNotFitPoolsAndLosses) {
  const Tensor x = image(), index = zeros({1, 2, 4, 5}, kLong);
  const F::MaxUnpool2dFuncOptions two{2};
  const auto unpool = [&](const Tensor& i, const F::MaxUnpool2dFuncOptions& o) {
    return error_of([&] { F::max_unpool2d(x, i, o); });
  };
  EXPECT_THAT(unpool(zeros({1, 2, 4, 4}, kLong), two),
              HasSubstr("Expected shape of indices to be"));
  EXPECT_THAT(unpool(x, two), HasSubstr("elements in indices should be type int64 but got:"));
  EXPECT_THAT(unpool(index.add(99), two), HasSubstr("Found an invalid max index: 99"));
  EXPECT_THAT(unpool(index, {.kernel_size = 2, .output_size = std::vector<int64_t>{20, 20}}),
              HasSubstr("invalid output_size \"(20, 20)\" (dim 0 must be between 6 and 10)"));
  EXPECT_THAT(unpool(index, {.kernel_size = 2, .output_size = std::vector<int64_t>{20}}),
              HasSubstr("2 or 4 elements, but it has a length of '1'"));
  EXPECT_THAT(error_of([&] {
                F::detail::max_unpool(x, index, {2, 2}, {}, {0, 0}, {});
              }),
              HasSubstr("max_unpool2d expects 2 elements in stride and padding, but got 0 and 2"));
  EXPECT_THAT(error_of([&] { F::max_unpool1d(x, index, {.kernel_size = 2}); }),
              HasSubstr("should be a 2d or 3d Tensor, but got a tensor with 4 dimensions."));
  EXPECT_THAT(error_of([] {
                CrossMapLRN2d(2)(ones({2, 2}));
              }),
              HasSubstr("CrossMapLRN2d: Expected input to be 4D, got 2D instead."));
  EXPECT_THAT(error_of([] {
                Softmax2d()(ones({2, 2}));
              }),
              HasSubstr("Softmax2d requires a 3D or 4D tensor as input"));
  EXPECT_EQ(error_of([&] { F::rrelu(x, 0.5, 0.1); }),
            "Lower bound should be less than or equal to the upper bound");
  const Tensor scores = ones({2, 3});
  const auto margin = [&](const Tensor& target, const MultiMarginLossOptions& o = {}) {
    return error_of([&] { F::multi_margin_loss(scores, target, o); });
  };
  EXPECT_EQ(margin(tensor({1})), "inconsistent target size, got: [1]");
  EXPECT_EQ(margin(tensor({1, 3})), "target out of range");
  EXPECT_EQ(margin(tensor({1, 3}, kInt)), "expected scalar type Long but found Int");
  EXPECT_EQ(margin(tensor({1, 2}), MultiMarginLossOptions{.p = 3}),
            "only p == 1 and p == 2 supported");
  EXPECT_THAT(margin(tensor({1, 2}), MultiMarginLossOptions{.weight = ones({2})}),
              HasSubstr("inconsistent weight size"));
  EXPECT_THAT(error_of([&] { F::multi_margin_loss(x, tensor({1})); }),
              HasSubstr("Expected non-empty vector or matrix"));
  EXPECT_EQ(error_of([&] {
              F::multilabel_margin_loss(scores, tensor({{1, 2}}));
            }),
            "inconsistent size [1, 2] for argument #2 'target'");
  EXPECT_EQ(error_of([&] {
              F::multilabel_margin_loss(scores, tensor({{1, 2, 5}, {1, 2, -1}}));
            }),
            "argument #2 'target' is out of range");
  EXPECT_THAT(error_of([&] { F::multilabel_margin_loss(x, index); }),
              HasSubstr("Expected non-empty vector or matrix"));
  EXPECT_EQ(error_of([] { F::pdist(ones({3})); }), "pdist only supports 2D tensors, got: 1D");
  EXPECT_EQ(error_of([] {
              F::pdist(ones({3, 2}), -1);
            }),
            "pdist only supports non-negative p values");
}

}  // namespace
}  // namespace taeda::nn
