#include "taeda/vision/augment.h"

#include <cmath>
#include <map>
#include <numbers>
#include <sstream>

#include "taeda/base/error.h"
#include "taeda/data/worker.h"
#include "taeda/distributions/gamma_numbers.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/random/random.h"
#include "taeda/ops/shape/shape.h"
#include "taeda/vision/draws.h"
#include "taeda/vision/functional.h"

namespace taeda::inline v0_2::vision::transforms {

namespace draws {

namespace {

// The papers' pairs of changes, each with its probability and the step of its strength out of ten.
constexpr std::array<const char*, 3> kPolicies = {
    "Posterize 0.4 8 + Rotate 0.6 9, Solarize 0.6 5 + AutoContrast 0.6 -, Equalize 0.8 - + "
    "Equalize 0.6 -, Posterize 0.6 7 + Posterize 0.6 6, Equalize 0.4 - + Solarize 0.2 4, "
    "Equalize 0.4 - + Rotate 0.8 8, Solarize 0.6 3 + Equalize 0.6 -, Posterize 0.8 5 + "
    "Equalize 1 -, Rotate 0.2 3 + Solarize 0.6 8, Equalize 0.6 - + Posterize 0.4 6, Rotate "
    "0.8 8 + Color 0.4 0, Rotate 0.4 9 + Equalize 0.6 -, Equalize 0 - + Equalize 0.8 -, "
    "Invert 0.6 - + Equalize 1 -, Color 0.6 4 + Contrast 1 8, Rotate 0.8 8 + Color 1 2, Color "
    "0.8 8 + Solarize 0.8 7, Sharpness 0.4 7 + Invert 0.6 -, ShearX 0.6 5 + Equalize 1 -, "
    "Color 0.4 0 + Equalize 0.6 -, Equalize 0.4 - + Solarize 0.2 4, Solarize 0.6 5 + "
    "AutoContrast 0.6 -, Invert 0.6 - + Equalize 1 -, Color 0.6 4 + Contrast 1 8, Equalize "
    "0.8 - + Equalize 0.6 -",
    "Invert 0.1 - + Contrast 0.2 6, Rotate 0.7 2 + TranslateX 0.3 9, Sharpness 0.8 1 + "
    "Sharpness 0.9 3, ShearY 0.5 8 + TranslateY 0.7 9, AutoContrast 0.5 - + Equalize 0.9 -, "
    "ShearY 0.2 7 + Posterize 0.3 7, Color 0.4 3 + Brightness 0.6 7, Sharpness 0.3 9 + "
    "Brightness 0.7 9, Equalize 0.6 - + Equalize 0.5 -, Contrast 0.6 7 + Sharpness 0.6 5, "
    "Color 0.7 7 + TranslateX 0.5 8, Equalize 0.3 - + AutoContrast 0.4 -, TranslateY 0.4 3 + "
    "Sharpness 0.2 6, Brightness 0.9 6 + Color 0.2 8, Solarize 0.5 2 + Invert 0 -, Equalize "
    "0.2 - + AutoContrast 0.6 -, Equalize 0.2 - + Equalize 0.6 -, Color 0.9 9 + Equalize 0.6 "
    "-, AutoContrast 0.8 - + Solarize 0.2 8, Brightness 0.1 3 + Color 0.7 0, Solarize 0.4 5 + "
    "AutoContrast 0.9 -, TranslateY 0.9 9 + TranslateY 0.7 9, AutoContrast 0.9 - + Solarize "
    "0.8 3, Equalize 0.8 - + Invert 0.1 -, TranslateY 0.7 9 + AutoContrast 0.9 -",
    "ShearX 0.9 4 + Invert 0.2 -, ShearY 0.9 8 + Invert 0.7 -, Equalize 0.6 - + Solarize 0.6 "
    "6, Invert 0.9 - + Equalize 0.6 -, Equalize 0.6 - + Rotate 0.9 3, ShearX 0.9 4 + "
    "AutoContrast 0.8 -, ShearY 0.9 8 + Invert 0.4 -, ShearY 0.9 5 + Solarize 0.2 6, Invert "
    "0.9 - + AutoContrast 0.8 -, Equalize 0.6 - + Rotate 0.9 3, ShearX 0.9 4 + Solarize 0.3 "
    "3, ShearY 0.8 8 + Invert 0.7 -, Equalize 0.9 - + TranslateY 0.6 6, Invert 0.9 - + "
    "Equalize 0.6 -, Contrast 0.3 3 + Rotate 0.8 4, Invert 0.8 - + TranslateY 0 2, ShearY 0.7 "
    "6 + Solarize 0.4 8, Invert 0.6 - + Rotate 0.8 4, ShearY 0.3 7 + TranslateX 0.9 3, ShearX "
    "0.1 6 + Invert 0.6 -, Solarize 0.7 2 + TranslateY 0.6 7, ShearY 0.8 4 + Invert 0.8 -, "
    "ShearX 0.7 9 + TranslateY 0.8 3, ShearY 0.8 5 + AutoContrast 0.7 -, ShearX 0.7 2 + "
    "Invert 0.1 -"};

std::vector<std::array<Rule, 2>> parsed(const char* text) {
  std::vector<std::array<Rule, 2>> rows;
  std::istringstream in(text);
  Rule first, second;
  std::string strength, plus;
  const auto read = [&](Rule& r) {
    in >> r.name >> r.probability >> strength;
    r.strength = strength[0] == '-' ? std::nullopt : std::optional<int64_t>(strength[0] - '0');
  };
  while (in) {
    read(first);
    in >> plus;
    read(second);  // with a comma, if another pair follows
    rows.push_back({first, second});
    if (strength.back() != ',') break;
  }
  return rows;
}

/// The strengths of changes: how many there are, and the largest.
struct Strengths {
  int64_t steps;
  double shear, across, down, turn, colours;
  double bits, fewer;  ///< posterize keeps so many bits, less up to `fewer`
};

Strengths usual(int64_t steps, ImageSize image) {
  const double part = 150. / 331.;
  return {steps,
          0.3,
          part * static_cast<double>(image.width),
          part * static_cast<double>(image.height),
          30,
          0.9,
          8,
          4};
}

double on_line(double from, double to, int64_t steps, int64_t step) {
  TAEDA_CHECK_VALUE(step >= 0 && step < steps, "a strength should be from 0 to ", steps - 1,
                    ", got ", step);
  return linspace(from, to, steps)[step].item<double>();
}

bool has_strength(const std::string& name) {
  return name != "AutoContrast" && name != "Equalize" && name != "Invert" && name != "Identity";
}

bool both_ways(const std::string& name) {
  return has_strength(name) && name != "Posterize" && name != "Solarize";
}

/// What a change of some strength is as a function.
Step step_of(const std::string& name, const Strengths& s, int64_t step, bool backward) {
  if (name == "Identity") return {"", {}};
  if (name == "AutoContrast") return {"autocontrast", {}};
  if (name == "Equalize") return {"equalize", {}};
  if (name == "Invert") return {"invert", {}};
  const auto value = [&](double most) {
    const double found = on_line(0, most, s.steps, step);
    return backward ? -found : found;
  };
  if (name == "Solarize") return {"solarize", {on_line(255, 0, s.steps, step)}};
  if (name == "Posterize") {
    const double lost =
        std::nearbyint(static_cast<double>(step) / (static_cast<double>(s.steps - 1) / s.fewer));
    return {"posterize", {s.bits - lost}};
  }
  if (name == "Rotate") return {"rotate", {value(s.turn)}};
  if (name == "Brightness") return {"adjust_brightness", {1 + value(s.colours)}};
  if (name == "Color") return {"adjust_saturation", {1 + value(s.colours)}};
  if (name == "Contrast") return {"adjust_contrast", {1 + value(s.colours)}};
  if (name == "Sharpness") return {"adjust_sharpness", {1 + value(s.colours)}};
  const auto shear = [&] { return std::atan(value(s.shear)) * (180 / std::numbers::pi); };
  if (name == "ShearX") return {"affine", {0, 0, shear(), 0}};
  if (name == "ShearY") return {"affine", {0, 0, 0, shear()}};
  if (name == "TranslateX") return {"affine", {std::trunc(value(s.across)), 0, 0, 0}};
  TAEDA_CHECK_VALUE(name == "TranslateY", "The provided operator ", name, " is not recognized.");
  return {"affine", {0, std::trunc(value(s.down)), 0, 0}};
}

/// A random one of some changes, of the strength `magnitude` or a random one of `steps`.
Step drawn(const std::vector<std::string>& names, const Strengths& s,
           std::optional<int64_t> magnitude, int64_t steps) {
  const std::string& name = names[static_cast<size_t>(below(static_cast<int64_t>(names.size())))];
  const int64_t step = !has_strength(name) ? 0 : magnitude ? *magnitude : below(steps);
  return step_of(name, s, step, both_ways(name) && below(2) == 1);
}

const std::vector<std::string> kChanges = {
    "Identity", "ShearX",   "ShearY",    "TranslateX", "TranslateY", "Rotate",       "Brightness",
    "Color",    "Contrast", "Sharpness", "Posterize",  "Solarize",   "AutoContrast", "Equalize"};
const std::vector<std::string> kMixed = {
    "ShearX",       "ShearY",   "TranslateX", "TranslateY", "Rotate",   "Posterize", "Solarize",
    "AutoContrast", "Equalize", "Brightness", "Color",      "Contrast", "Sharpness"};
constexpr size_t kMixedColours = 4;

Tensor mixing_weights(int64_t rows, int64_t count, double alpha) {
  return distributions::standard_dirichlet(
      full({rows, count}, alpha, TensorOptions(get_default_dtype())), &data::worker_generator());
}

}  // namespace

Tensor apply(const Tensor& image, const Step& step, const Interpolated& by) {
  using Numbers = const std::vector<double>&;
  using Function = Tensor (*)(const Tensor&, Numbers);
  namespace F = functional;
  static const std::map<std::string, Function> kColours = {
      {"adjust_brightness",
       [](const Tensor& x, Numbers n) { return F::adjust_brightness(x, n[0]); }},
      {"adjust_saturation",
       [](const Tensor& x, Numbers n) { return F::adjust_saturation(x, n[0]); }},
      {"adjust_contrast", [](const Tensor& x, Numbers n) { return F::adjust_contrast(x, n[0]); }},
      {"adjust_sharpness", [](const Tensor& x, Numbers n) { return F::adjust_sharpness(x, n[0]); }},
      {"posterize",
       [](const Tensor& x, Numbers n) { return F::posterize(x, static_cast<int64_t>(n[0])); }},
      {"solarize", [](const Tensor& x, Numbers n) { return F::solarize(x, n[0]); }},
      {"autocontrast", [](const Tensor& x, Numbers) { return F::autocontrast(x); }},
      {"equalize", [](const Tensor& x, Numbers) { return F::equalize(x); }},
      {"invert", [](const Tensor& x, Numbers) { return F::invert(x); }},
      {"", [](const Tensor& x, Numbers) { return x; }}};
  const auto& n = step.numbers;
  if (step.function == "rotate") return F::rotate(image, n[0], by);
  if (step.function == "affine")
    return F::affine(image, 0, {n[0], n[1]}, 1, {n[2], n[3]}, by, std::array<double, 2>{0, 0});
  return kColours.at(step.function)(image, n);
}

const std::vector<std::array<Rule, 2>>& policy(AutoAugmentPolicy which) {
  static const std::array<std::vector<std::array<Rule, 2>>, 3> all = {
      parsed(kPolicies[0]), parsed(kPolicies[1]), parsed(kPolicies[2])};
  return all.at(static_cast<size_t>(which));
}

std::vector<Step> auto_augment(const std::array<Rule, 2>& pair, const std::vector<double>& chances,
                               const std::vector<int64_t>& signs, ImageSize image) {
  std::vector<Step> steps;
  for (size_t i = 0; i < 2; ++i)
    if (static_cast<float>(chances.at(i)) <= static_cast<float>(pair[i].probability))
      steps.push_back(step_of(pair[i].name, usual(10, image), pair[i].strength.value_or(0),
                              both_ways(pair[i].name) && signs.at(i) == 0));
  return steps;
}

Step rand_augment(int64_t magnitude, int64_t num_magnitude_bins, ImageSize image) {
  return drawn(kChanges, usual(num_magnitude_bins, image), magnitude, 0);
}

Step trivial_augment(int64_t num_magnitude_bins) {
  return drawn(kChanges, {num_magnitude_bins, 0.99, 32, 32, 135, 0.99, 8, 6}, {},
               num_magnitude_bins);
}

Tensor aug_mix(const Tensor& image, const AugMixOptions& o) {
  TAEDA_CHECK_VALUE(o.severity >= 1 && o.severity <= 10,
                    "The severity must be between [1, 10]. Got ", o.severity, " instead.");
  std::vector<std::string> names = kMixed;
  if (!o.all_ops) names.resize(names.size() - kMixedColours);
  const double w = static_cast<double>(image.size(-1)), h = static_cast<double>(image.size(-2));
  const Strengths strengths{10, 0.3, w / 3, h / 3, 30, 0.9, 4, 4};
  const Tensor batch = image.dim() < 4 ? image.unsqueeze(0) : image;
  DimVector each(static_cast<size_t>(batch.dim()), 1);
  each[0] = batch.size(0);
  const Tensor kept = mixing_weights(each[0], 2, o.alpha).to(image.device());
  const Tensor weights = mixing_weights(each[0], o.mixture_width, o.alpha).to(image.device()) *
                         kept.select(1, 1).unsqueeze(1);
  Tensor mix = kept.select(1, 0).reshape(each) * batch;
  for (int64_t i = 0; i < o.mixture_width; ++i) {
    Tensor made = batch;
    const int64_t depth = o.chain_depth > 0 ? o.chain_depth : 1 + below(3);
    for (int64_t k = 0; k < depth; ++k)
      made = apply(made, drawn(names, strengths, {}, o.severity), o.by);
    mix = mix + weights.select(1, i).reshape(each) * made;
  }
  return mix.view(image.sizes()).to(image.dtype());
}

}  // namespace draws

AutoAugment::AutoAugment(AutoAugmentPolicy policy, Interpolated by)
    : Change("AutoAugment", [&pairs = draws::policy(policy), by = std::move(by)](Tensor image) {
        const int64_t number = draws::below(static_cast<int64_t>(pairs.size()));
        const std::vector<double> chances{draws::uniform(), draws::uniform()};
        const std::vector<int64_t> signs{draws::below(2), draws::below(2)};
        for (const draws::Step& step :
             draws::auto_augment(pairs[static_cast<size_t>(number)], chances, signs,
                                 {image.size(-2), image.size(-1)}))
          image = draws::apply(image, step, by);
        return image;
      }) {}

RandAugment::RandAugment(RandAugmentOptions options)
    : Change("RandAugment", [o = options](Tensor image) {
        const ImageSize size(image.size(-2), image.size(-1));
        for (int64_t i = 0; i < o.num_ops; ++i)
          image = draws::apply(image, draws::rand_augment(o.magnitude, o.num_magnitude_bins, size),
                               o.by);
        return image;
      }) {
  TAEDA_CHECK_VALUE(options.magnitude >= 0 && options.magnitude < options.num_magnitude_bins,
                    "magnitude should be from 0 to ", options.num_magnitude_bins - 1, ", got ",
                    options.magnitude);
}

TrivialAugmentWide::TrivialAugmentWide(int64_t num_magnitude_bins, Interpolated by)
    : Change("TrivialAugmentWide", [num_magnitude_bins, by = std::move(by)](const Tensor& image) {
        return draws::apply(image, draws::trivial_augment(num_magnitude_bins), by);
      }) {}

AugMix::AugMix(AugMixOptions options)
    : Change("AugMix", [o = options](const Tensor& image) { return draws::aug_mix(image, o); }) {
  TAEDA_CHECK_VALUE(options.severity >= 1 && options.severity <= 10,
                    "The severity must be between [1, 10]. Got ", options.severity, " instead.");
}

}  // namespace taeda::inline v0_2::vision::transforms
