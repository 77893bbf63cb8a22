#include "taeda/nn/settings.h"

#include <sstream>
#include <string_view>

#include "taeda/base/type_name.h"
#include "taeda/nn/functional/upsampling.h"

namespace taeda::inline v0_2::nn {

Settings& Settings::of(const std::type_info& layer) {
  layer_ = taeda::detail::short_type_name(layer.name());
  layer_.resize(layer_.size() - std::string_view("Impl").size());
  return *this;
}

Settings& Settings::put(const std::string& one) {
  if (!text_.empty()) text_ += ", ";
  text_ += one;
  return *this;
}

Settings& Settings::number(const char* name, double value) {
  std::string text = text_of(value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return put(name + ("=" + text));
}

std::string Settings::text_of(bool value) const {
  return is_python() ? bool_text(value) : value ? "true" : "false";
}

std::string Settings::text_of(double value) const {
  if (is_python()) return float_text(value);
  std::ostringstream out;
  out << value;
  return std::move(out).str();
}

std::string Settings::text_of(IntArrayRef sizes) const {
  if (is_python()) return tuple_text(sizes);
  std::string out;
  for (int64_t size : sizes) out += (out.empty() ? "" : ", ") + std::to_string(size);
  return "[" + out + "]";
}

std::string Settings::text_of(ArrayRef<double> values) const {
  std::string out;
  for (double value : values) out += (out.empty() ? "" : ", ") + text_of(value);
  return is_python() ? "(" + out + ")" : "[" + out + "]";
}

std::string Settings::text_of(Shape shape) const {
  const std::string list = text_of(shape.sizes);
  return is_python() ? list : "{" + list.substr(1, list.size() - 2) + "}";
}

std::string Settings::text_of(AutoPadding padding) const {
  const std::string name = padding == kSame ? "same" : "valid";
  return is_python() ? name : "'" + name + "'";
}

std::string Settings::text_of(PaddingMode mode) const {
  switch (mode) {
    case kReflect: return is_python() ? "reflect" : "kReflect";
    case kReplicate: return is_python() ? "replicate" : "kReplicate";
    case kCircular: return is_python() ? "circular" : "kCircular";
    default: return is_python() ? "zeros" : "kZeros";
  }
}

std::string Settings::text_of(Interpolation mode) const {
  if (is_python()) return InterpolationMode(mode).name();
  switch (mode) {
    case Interpolation::Nearest: return "kNearest";
    case Interpolation::Linear: return "kLinear";
    case Interpolation::Bilinear: return "kBilinear";
    case Interpolation::Bicubic: return "kBicubic";
    case Interpolation::Trilinear: return "kTrilinear";
    case Interpolation::Area: return "kArea";
    default: return "kNearestExact";
  }
}

std::string Settings::text_of(Reduction reduction) const {
  return reduction == kMean ? "kMean" : reduction == kSum ? "kSum" : "kNone";
}

std::string Settings::text_of(const Tensor& tensor) const {
  if (!tensor.defined()) return "[ Tensor (undefined) ]";
  std::ostringstream out;
  out << tensor;
  return std::move(out).str();
}

}  // namespace taeda::inline v0_2::nn
