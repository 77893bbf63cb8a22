// Small types that options of modules are made of.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <string>
#include <variant>

#include "taeda/base/error.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

using std::make_optional, std::nullopt, std::nullopt_t, std::optional;

/// How a loss is reduced, under libtorch's names: to a loss for each element, to their mean, which
/// is the default of all losses, or to their sum.
constexpr Reduction kNone = Reduction::None;
constexpr Reduction kMean = Reduction::Mean;
constexpr Reduction kSum = Reduction::Sum;
struct BatchMean {};
/// The sum divided by the batch size, for kl_div.
constexpr BatchMean kBatchMean;

/// What stands outside the borders of an input: one value, zero by default; the elements mirrored
/// at the border one; the border element; or the elements from the other end.
enum class PaddingMode { Zeros, Constant = Zeros, Reflect, Replicate, Circular };
constexpr PaddingMode kZeros = PaddingMode::Zeros;
constexpr PaddingMode kConstant = PaddingMode::Constant;
constexpr PaddingMode kReflect = PaddingMode::Reflect;
constexpr PaddingMode kReplicate = PaddingMode::Replicate;
constexpr PaddingMode kCircular = PaddingMode::Circular;

/// Two modes of padding under grid_sample's names, which takes these and, by default, kZeros.
constexpr PaddingMode kBorder = PaddingMode::Replicate;
constexpr PaddingMode kReflection = PaddingMode::Reflect;

/// How values between the elements of an input come about: the nearest element, straight lines
/// along one to three dimensions, cubics, or means. kLinear is a Nonlinearity's name, too.
enum class Interpolation { Nearest, Bilinear, Bicubic, Trilinear, Area, NearestExact, Linear };
constexpr Interpolation kNearest = Interpolation::Nearest;
constexpr Interpolation kBilinear = Interpolation::Bilinear;
constexpr Interpolation kBicubic = Interpolation::Bicubic;
constexpr Interpolation kTrilinear = Interpolation::Trilinear;
constexpr Interpolation kArea = Interpolation::Area;
constexpr Interpolation kNearestExact = Interpolation::NearestExact;

/// Padding of a convolution that follows from its kernel: none, or as much as keeps the sizes.
enum class AutoPadding { Valid, Same };
constexpr AutoPadding kValid = AutoPadding::Valid;
constexpr AutoPadding kSame = AutoPadding::Same;

/// Functions that initial values are scaled for (nn::init::calculate_gain), and that layers take as
/// their activation; a layer refuses those that it does not compute.
enum class Nonlinearity {
  Linear,
  Conv1D,
  Conv2D,
  Conv3D,
  ConvTranspose1D,
  ConvTranspose2D,
  ConvTranspose3D,
  Sigmoid,
  Tanh,
  ReLU,
  LeakyReLU,
  SELU,
  GELU,
  Mish,
  SiLU,
};
constexpr Nonlinearity kLinear = Nonlinearity::Linear;
constexpr Nonlinearity kConv1D = Nonlinearity::Conv1D;
constexpr Nonlinearity kConv2D = Nonlinearity::Conv2D;
constexpr Nonlinearity kConv3D = Nonlinearity::Conv3D;
constexpr Nonlinearity kConvTranspose1D = Nonlinearity::ConvTranspose1D;
constexpr Nonlinearity kConvTranspose2D = Nonlinearity::ConvTranspose2D;
constexpr Nonlinearity kConvTranspose3D = Nonlinearity::ConvTranspose3D;
constexpr Nonlinearity kSigmoid = Nonlinearity::Sigmoid;
constexpr Nonlinearity kTanh = Nonlinearity::Tanh;
constexpr Nonlinearity kReLU = Nonlinearity::ReLU;
constexpr Nonlinearity kLeakyReLU = Nonlinearity::LeakyReLU;
constexpr Nonlinearity kSELU = Nonlinearity::SELU;
constexpr Nonlinearity kGELU = Nonlinearity::GELU;
constexpr Nonlinearity kMish = Nonlinearity::Mish;
constexpr Nonlinearity kSiLU = Nonlinearity::SiLU;

/// Kinds of recurrent networks: with tanh, the default of RNN, with relu, LSTM and GRU.
enum class RecurrentKind { RNN_TANH, RNN_RELU, LSTM, GRU };
constexpr RecurrentKind kRNN_TANH = RecurrentKind::RNN_TANH;
constexpr RecurrentKind kRNN_RELU = RecurrentKind::RNN_RELU;
constexpr RecurrentKind kLSTM = RecurrentKind::LSTM;
constexpr RecurrentKind kGRU = RecurrentKind::GRU;

/// Which sizes of a weight [out, in, ...] decide the variance of initial values: the inputs of an
/// output, so that forward keeps it, or the outputs of an input, for backward.
enum class FanMode { FanIn, FanOut };
constexpr FanMode kFanIn = FanMode::FanIn;
constexpr FanMode kFanOut = FanMode::FanOut;

namespace nn {

/// Sizes as Python prints a tuple: "(2, 3)", "(2,)" for one value, "()" for an empty list.
std::string tuple_text(IntArrayRef values);

/// D values, one for each dimension of an image, given as one number for all or as a list of D; a
/// list of another length is refused.
template <size_t D, class T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(T value = 0) : is_number_(true) { values_.fill(value); }
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}
  ExpandingArray(const std::vector<T>& list) : ExpandingArray(ArrayRef<T>(list)) {}
  /// Throws ValueError unless there are D values, or one.
  ExpandingArray(ArrayRef<T> list) {
    if (list.size() == 1) {
      values_.fill(list[0]);
      return;
    }
    TAEDA_CHECK_VALUE(list.size() == D, "Expected ", D, " values, but instead got ", list.size());
    std::copy(list.begin(), list.end(), values_.begin());
  }

  operator ArrayRef<T>() const { return values_; }
  T operator[](size_t i) const { return values_[i]; }
  T& operator[](size_t i) { return values_[i]; }
  const std::array<T, D>* operator->() const { return &values_; }
  const std::array<T, D>& operator*() const { return values_; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }
  constexpr size_t size() const { return D; }
  /// The values as Python prints them: one number by default, where they were given as one, else a
  /// tuple.
  std::string text() const { return is_number_ ? std::to_string(values_[0]) : tuple_text(values_); }
  bool all(T value) const {
    return std::all_of(values_.begin(), values_.end(), [value](T v) { return v == value; });
  }

 private:
  std::array<T, D> values_;
  bool is_number_ = false;
};

/// D sizes, given as one for all or as a list of D; one that is absent stays what it is.
template <size_t D>
class ExpandingArrayWithOptionalElem {
 public:
  using Element = std::optional<int64_t>;
  ExpandingArrayWithOptionalElem(int64_t value) : ExpandingArrayWithOptionalElem(Element(value)) {}
  ExpandingArrayWithOptionalElem(Element value) : is_number_(true) { values_.fill(value); }
  ExpandingArrayWithOptionalElem(std::initializer_list<int64_t> list) { take(list); }
  ExpandingArrayWithOptionalElem(std::initializer_list<Element> list) { take(list); }
  ExpandingArrayWithOptionalElem(const std::vector<int64_t>& list) { take(list); }
  ExpandingArrayWithOptionalElem(const std::vector<Element>& list) { take(list); }
  ExpandingArrayWithOptionalElem(IntArrayRef list) { take(list); }
  ExpandingArrayWithOptionalElem(const std::array<Element, D>& values) : values_(values) {}
  ExpandingArrayWithOptionalElem(const ExpandingArray<D>& values) { take(*values); }

  const Element& operator[](size_t i) const { return values_[i]; }
  Element& operator[](size_t i) { return values_[i]; }
  const std::array<Element, D>* operator->() const { return &values_; }
  const std::array<Element, D>& operator*() const { return values_; }
  constexpr size_t size() const { return D; }
  /// The sizes, `absent` where there is none.
  std::array<int64_t, D> numbers(int64_t absent) const {
    std::array<int64_t, D> out;
    for (size_t i = 0; i < D; ++i) out[i] = values_[i].value_or(absent);
    return out;
  }
  /// The sizes as Python prints them: "7", or "(5, None)" where there is no second.
  std::string text() const {
    std::string out;
    for (const Element& value : values_) {
      const std::string one = value ? std::to_string(*value) : "None";
      if (is_number_) return one;
      out += (out.empty() ? "(" : ", ") + one;
    }
    return out + ")";
  }

 private:
  template <class List>
  void take(const List& list) {
    TAEDA_CHECK_VALUE(list.size() == D || list.size() == 1, "Expected ", D,
                      " values, but instead got ", list.size());
    for (size_t i = 0; i < D; ++i) values_[i] = list.begin()[list.size() == 1 ? 0 : i];
  }

  std::array<Element, D> values_;
  bool is_number_ = false;
};

/// A number as Python prints a float: "0.1", "1.0", "1e-05"; with the fewest digits that bring it
/// back, at most 17.
std::string float_text(double value);
/// "True" or "False", as Python prints a bool.
const char* bool_text(bool value);

/// Padding of a convolution: a number of elements for each dimension or for all, kValid for none,
/// or kSame for as many as keep the sizes. A list of another length than D is refused with
/// ValueError.
template <size_t D>
class KernelPadding {
 public:
  KernelPadding(int64_t value = 0) : amount_(value) {}
  KernelPadding(std::initializer_list<int64_t> list) : amount_(list) {}
  KernelPadding(const std::vector<int64_t>& list) : amount_(list) {}
  KernelPadding(IntArrayRef list) : amount_(list) {}
  KernelPadding(const ExpandingArray<D>& amount) : amount_(amount) {}
  KernelPadding(AutoPadding kind) : automatic_(kind) {}
  /// From an object of a class that converts to kValid or kSame, for which the numbers of elements
  /// are not used.
  template <class Kind>
  requires(std::is_class_v<Kind>&& std::is_convertible_v<Kind, AutoPadding>)
      KernelPadding(const Kind& kind)
      : automatic_(kind) {}
  /// From the form that a variant holds: numbers of elements, kValid or kSame.
  template <class... Form>
  requires(std::constructible_from<KernelPadding, Form>&&...)
      KernelPadding(const std::variant<Form...>& form)
      : KernelPadding(std::visit([](const auto& f) { return KernelPadding(f); }, form)) {}

  const std::optional<AutoPadding>& automatic() const { return automatic_; }
  const ExpandingArray<D>& amount() const { return amount_; }

 private:
  ExpandingArray<D> amount_;
  std::optional<AutoPadding> automatic_;
};

}  // namespace nn
}  // namespace taeda::inline v0_2
