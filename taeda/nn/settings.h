// What modules show of their options, listed once for both dialects. Not part of the public
// interface: classes of a program's own override `extra_repr` or `pretty_print`.
#pragma once

#include <string>

#include "taeda/nn/module.h"
#include "taeda/nn/option.h"
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

  /// The layer: "Conv2d" of ("Conv2d") and of ("Conv", 2).
  Settings& of(const std::string& layer, size_t dims = 0);
  /// One without its name.
  Settings& value(const auto& value) { return put(text_of(value)); }
  Settings& operator()(const char* name, const auto& value) {
    return put(name + ("=" + text_of(value)));
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

  /// Empty if nobody has said what the layer is.
  const std::string& layer() const { return layer_; }
  const std::string& text() const { return text_; }

 private:
  bool is_python() const { return dialect_ == Dialect::Python; }
  Settings& put(const std::string& one);

  std::string text_of(bool value) const;
  std::string text_of(int64_t value) const { return std::to_string(value); }
  std::string text_of(IntArrayRef sizes) const;
  std::string text_of(Shape shape) const;
  std::string text_of(AutoPadding padding) const;
  std::string text_of(PaddingMode mode) const;
  /// Sizes of a kernel: always a list, but for libtorch's one dimension.
  template <size_t D>
  std::string text_of(const ExpandingArray<D>& sizes) const {
    return D == 1 && !is_python() ? std::to_string(sizes[0]) : text_of(IntArrayRef(sizes));
  }
  template <class T>
  std::string text_of(const Option<T>& option) const {
    return text_of(option());
  }

  Dialect dialect_;
  std::string layer_, text_;
};

}  // namespace taeda::inline v0_2::nn
