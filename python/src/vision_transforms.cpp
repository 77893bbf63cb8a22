// What transforms of pictures compute and draw, for the modules that PIL's pictures go through as
// well.
#include <variant>

#include "bindings.h"
#include "taeda/data/worker.h"
#include "taeda/vision/draws.h"
#include "taeda/vision/functional.h"
#include "vision.h"

namespace taeda::python {

namespace {

namespace T = vision::transforms;
namespace F = T::functional;
namespace D = T::draws;

using Pair = std::array<double, 2>;
using Sides = std::array<int64_t, 2>;  // height and width
using Place = std::array<int64_t, 4>;  // top, left, height and width
using Colour = std::optional<std::variant<double, std::vector<double>>>;

T::ImageSize size_of(Sides s) { return {s[0], s[1]}; }
T::Piece piece_of(Place p) { return {p[0], p[1], p[2], p[3]}; }
Place place_of(const T::Piece& p) { return {p.top, p.left, p.height, p.width}; }
T::Range range_of(Pair p) { return {p[0], p[1]}; }

T::Fill fill_of(const Colour& colour) {
  if (!colour) return {};
  if (const double* one = std::get_if<double>(&*colour)) return *one;
  return std::get<1>(*colour);
}

T::InterpolationMode mode_of(const std::string& name) {
  using Mode = T::InterpolationMode;
  if (name == "nearest") return Mode::kNearest;
  if (name == "bilinear") return Mode::kBilinear;
  if (name == "bicubic") return Mode::kBicubic;
  TAEDA_CHECK_VALUE(name == "nearest-exact", "Resampling mode '", name,
                    "' is not supported, only nearest and bilinear");
  return Mode::kNearestExact;
}

T::Continuation continuation_of(const std::string& name) {
  if (name == "constant") return kConstant;
  if (name == "edge") return kReplicate;
  if (name == "symmetric") return T::kSymmetric;
  TAEDA_CHECK_VALUE(name == "reflect",
                    "Padding mode should be either constant, edge, reflect or symmetric");
  return kReflect;
}

using StepOfAChange = std::pair<std::string, std::vector<double>>;
StepOfAChange python_step(const D::Step& step) { return {step.function, step.numbers}; }

using RuleOfAPair = std::tuple<std::string, double, std::optional<int64_t>>;
using PairOfRules = std::array<RuleOfAPair, 2>;

std::vector<PairOfRules> policy(int which) {
  std::vector<PairOfRules> found;
  for (const auto& pair : D::policy(static_cast<T::AutoAugmentPolicy>(which))) {
    const auto rule = [](const D::Rule& r) {
      return RuleOfAPair(r.name, r.probability, r.strength);
    };
    found.push_back({rule(pair[0]), rule(pair[1])});
  }
  return found;
}

std::vector<StepOfAChange> auto_augment(const PairOfRules& pair, const std::vector<double>& chances,
                                        const std::vector<int64_t>& signs, Sides size) {
  const auto rule = [](const RuleOfAPair& r) {
    return D::Rule{std::get<0>(r), std::get<1>(r), std::get<2>(r)};
  };
  std::vector<StepOfAChange> found;
  for (const D::Step& step :
       D::auto_augment({rule(pair[0]), rule(pair[1])}, chances, signs, size_of(size)))
    found.push_back(python_step(step));
  return found;
}

Tensor aug_mix(const Tensor& image, int64_t severity, int64_t mixture_width, int64_t chain_depth,
               double alpha, bool all_ops, const std::string& mode, const Colour& fill) {
  return D::aug_mix(
      image,
      {severity, mixture_width, chain_depth, alpha, all_ops, {mode_of(mode), fill_of(fill)}});
}

void add_places(py::module_& m) {
  using released = py::call_guard<ReleaseGil>;
  m.def("resized", [](Sides size, int64_t shorter, std::optional<int64_t> max_size) {
    const T::ImageSize found = F::resized(size_of(size), shorter, max_size);
    return std::pair(found.height, found.width);
  });
  m.def("sides_of", &F::sides_of);
  m.def("center_piece", [](Sides image, Sides size) {
    return place_of(F::center_piece(size_of(image), size_of(size)));
  });
  m.def("five_pieces", [](Sides image, Sides size) {
    std::vector<Place> found;
    for (const T::Piece& p : F::five_pieces(size_of(image), size_of(size)))
      found.push_back(place_of(p));
    return found;
  });
  m.def(
      "resize",
      [](const Tensor& image, Sides size, const std::string& mode, bool antialias) {
        return F::resize(image, size_of(size), mode_of(mode), antialias);
      },
      released());
  m.def(
      "pad",
      [](const Tensor& image, const std::vector<int64_t>& sides, const Colour& fill,
         const std::string& mode) {
        return F::pad(image, sides, fill_of(fill), continuation_of(mode));
      },
      released());
  m.def("crop", [](const Tensor& image, Place place) { return F::crop(image, piece_of(place)); });
}

void add_warps(py::module_& m) {
  using released = py::call_guard<ReleaseGil>;
  m.def("gaussian_blur", &F::gaussian_blur, released());
  m.def("inverse_affine_matrix", &F::inverse_affine_matrix);
  m.def("perspective_coefficients", &F::perspective_coefficients, released());
  m.def(
      "rotate",
      [](const Tensor& image, double angle, const std::string& mode, bool expand,
         std::optional<Pair> center, const Colour& fill) {
        return F::rotate(image, angle, {mode_of(mode), fill_of(fill)}, expand, center);
      },
      released());
  m.def(
      "affine",
      [](const Tensor& image, double angle, Pair translate, double scale, Pair shear,
         const std::string& mode, const Colour& fill, std::optional<Pair> center) {
        return F::affine(image, angle, translate, scale, shear, {mode_of(mode), fill_of(fill)},
                         center);
      },
      released());
  m.def(
      "perspective",
      [](const Tensor& image, const T::Corners& from, const T::Corners& to, const std::string& mode,
         const Colour& fill) {
        return F::perspective(image, from, to, {mode_of(mode), fill_of(fill)});
      },
      released());
  m.def(
      "elastic_transform",
      [](const Tensor& image, const Tensor& displacement, const std::string& mode,
         const Colour& fill) {
        return F::elastic_transform(image, displacement, {mode_of(mode), fill_of(fill)});
      },
      released());
}

void add_colours(py::module_& m) {
  using released = py::call_guard<ReleaseGil>;
  m.def("rgb_to_grayscale", &F::rgb_to_grayscale, py::arg(), py::arg() = 1, py::arg() = false,
        released());
  m.def("adjust_brightness", &F::adjust_brightness, released());
  m.def("adjust_contrast", &F::adjust_contrast, released());
  m.def("adjust_saturation", &F::adjust_saturation, released());
  m.def("adjust_hue", &F::adjust_hue, released());
  m.def("adjust_gamma", &F::adjust_gamma, released());
  m.def("adjust_sharpness", &F::adjust_sharpness, released());
  m.def("invert", &F::invert, released());
  m.def("posterize", &F::posterize, released());
  m.def("solarize", &F::solarize, released());
  m.def("autocontrast", &F::autocontrast, released());
  m.def("equalize", &F::equalize, released());
  m.def("convert_image_dtype", &F::convert_image_dtype, released());
}

void add_draws(py::module_& m) {
  m.def("uniform", &D::uniform);
  m.def("below", &D::below);
  m.def("draw_crop",
        [](Sides image, Sides size) { return place_of(D::crop(size_of(image), size_of(size))); });
  m.def("draw_resized_crop", [](Sides image, Pair scale, Pair ratio) {
    return place_of(D::resized_crop(size_of(image), range_of(scale), range_of(ratio)));
  });
  m.def("draw_erasing", [](const Tensor& image, Pair scale, Pair ratio, const Colour& value) {
    const auto [piece, values] =
        D::erasing(image, range_of(scale), range_of(ratio), fill_of(value));
    return std::tuple(piece.top, piece.left, piece.height, piece.width, values);
  });
  m.def("draw_perspective", [](Sides image, double distortion_scale) {
    return D::perspective(size_of(image), distortion_scale);
  });
  m.def("draw_elastic", [](Pair alpha, Pair sigma, Sides image) {
    return D::elastic(alpha, sigma, size_of(image));
  });
  m.def("draw_affine", [](Pair degrees, std::optional<Pair> translate, std::optional<Pair> scale,
                          const std::vector<double>& shears, Sides image) {
    const D::Affine d =
        D::affine(range_of(degrees), translate,
                  scale ? std::optional(range_of(*scale)) : std::nullopt, shears, size_of(image));
    return std::tuple(d.angle, d.translate, d.scale, d.shear);
  });
  m.def("policy", &policy);
  m.def("auto_augment", &auto_augment);
  m.def("rand_augment", [](int64_t magnitude, int64_t bins, Sides image) {
    return python_step(D::rand_augment(magnitude, bins, size_of(image)));
  });
  m.def("trivial_augment", [](int64_t bins) { return python_step(D::trivial_augment(bins)); });
  m.def("aug_mix", &aug_mix, py::call_guard<ReleaseGil>());
}

}  // namespace

void add_transforms(PyObject* vision) {
  auto m = py::reinterpret_borrow<py::module_>(vision);
  add_places(m);
  add_warps(m);
  add_colours(m);
  add_draws(m);
}

}  // namespace taeda::python
