// What modules show of their options, listed once for both dialects. Not part of the public
// interface: classes of a program's own override `extra_repr` or `pretty_print`.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "taeda/base/option.h"
#include "taeda/nn/module.h"
#include "taeda/nn/types.h"

namespace taeda::inline v0_2::nn {

/// "3, 16, kernel_size=(5, 5), bias=False" in Python's dialect; in libtorch's, "3, 16,
/// kernel_size=[5, 5], bias=false" and the layer's name, which classes derived from it print, too.
class Settings {
 public:
  /// Sizes that libtorch writes in braces: "{2, 3}".
  struct Shape {
    IntArrayRef sizes;
  };

  explicit Settings(Dialect dialect) : dialect_(dialect) {}

  /// The layer's class: typeid(Conv2dImpl).
  Settings& of(const std::type_info& layer);
  /// Its name: "Conv2d".
  Settings& of(std::string layer) { return layer_ = std::move(layer), *this; }
  /// One without its name.
  Settings& value(const auto& value) { return put(text_of(value)); }
  Settings& operator()(const char* name, const auto& value) {
    return put(name + ("=" + text_of(value)));
  }
  /// One whose name Python leaves out.
  Settings& plain(const char* name, const auto& value) {
    return is_python() ? put(text_of(value)) : (*this)(name, value);
  }
  /// One that Python does not show.
  Settings& libtorch(const char* name, const auto& value) {
    return is_python() ? *this : (*this)(name, value);
  }
  /// One that is shown if it has a value.
  template <class T>
  Settings& present(const char* name, const std::optional<T>& value) {
    return value ? (*this)(name, *value) : *this;
  }
  /// One that is shown where it differs from what is usual.
  template <class T>
  Settings& unless(const std::type_identity_t<T>& usual, const char* name, const T& value) {
    return value == usual ? *this : (*this)(name, value);
  }
  template <size_t D>
  Settings& unless_all(int64_t usual, const char* name, const ExpandingArray<D>& sizes) {
    return sizes.all(usual) ? *this : (*this)(name, sizes);
  }

  /// Sizes that Python shows as they were given: one number for all, or a tuple.
  template <size_t D>
  Settings& given(const char* name, const ExpandingArray<D>& sizes) {
    return is_python() ? put(name + ("=" + sizes.text())) : (*this)(name, sizes);
  }

  /// A float that Python shows without a fraction if it has none: "20".
  Settings& number(const char* name, double value);
  /// One that libtorch does not show.
  Settings& python(const char* name, const std::string& value) {
    return is_python() ? put(name + ("='" + value + "'")) : *this;
  }

  bool is_python() const { return dialect_ == Dialect::Python; }
  /// "Conv2d"; empty if nobody has said what the layer is.
  const std::string& layer() const { return layer_; }
  const std::string& text() const { return text_; }

 private:
  Settings& put(const std::string& one);

  std::string text_of(bool value) const;
  std::string text_of(int64_t value) const { return std::to_string(value); }
  std::string text_of(double value) const;
  std::string text_of(const char* text) const { return text; }
  std::string text_of(IntArrayRef sizes) const;
  std::string text_of(ArrayRef<double> values) const;
  std::string text_of(const std::optional<double>& value) const {
    return value ? text_of(*value) : "None";
  }
  std::string text_of(Shape shape) const;
  std::string text_of(AutoPadding padding) const;
  std::string text_of(PaddingMode mode) const;
  std::string text_of(Interpolation mode) const;
  std::string text_of(Reduction reduction) const;
  std::string text_of(const Tensor& tensor) const;
  /// Sizes of a kernel: always a list, but for libtorch's one dimension.
  template <size_t D>
  std::string text_of(const ExpandingArray<D>& sizes) const {
    return D == 1 && !is_python() ? std::to_string(sizes[0]) : text_of(IntArrayRef(sizes));
  }
  template <size_t D>
  std::string text_of(const ExpandingArrayWithOptionalElem<D>& sizes) const {
    if (is_python()) return sizes.text();
    std::string out;
    for (const auto& size : *sizes)
      out += (out.empty() ? "" : ", ") + (size ? std::to_string(*size) : "None");
    return D == 1 ? out : "[" + out + "]";
  }
  template <class T>
  std::string text_of(const Option<T>& option) const {
    return text_of(option());
  }

  Dialect dialect_;
  std::string layer_, text_;
};

}  // namespace taeda::inline v0_2::nn
