// c10::IValue: one value of any kind that archives hold and registered operations take.
#pragma once

#include <taeda_compat/namespaces.h>

#include <string>
#include <utility>
#include <vector>

namespace taeda_compat {

/// None, a tensor, a number, a text, or a list of values. Copies share tensors.
class IValue {
 public:
  using List = std::vector<IValue>;

  IValue() = default;
  IValue(std::nullopt_t) {}
  IValue(Tensor t) : value_(std::move(t)) {}
  IValue(double v) : value_(v) {}
  IValue(float v) : value_(static_cast<double>(v)) {}
  IValue(bool v) : value_(v) {}
  template <std::integral I>
  requires(!std::same_as<I, bool>) IValue(I v) : value_(static_cast<int64_t>(v)) {}
  IValue(std::string text) : value_(std::move(text)) {}
  IValue(const char* text) : value_(std::string(text)) {}
  IValue(List list) : value_(std::move(list)) {}
  template <class T>
  requires(std::constructible_from<IValue, T> && !std::same_as<T, IValue>)
      IValue(const std::vector<T>& list)
      : value_(List()) {
    for (const T& v : list) std::get<List>(value_).emplace_back(v);
  }
  template <class T>
  requires(std::constructible_from<IValue, T>) IValue(std::optional<T> v) {
    if (v) *this = IValue(*std::move(v));
  }
  IValue(const Scalar& v) {
    if (v.is_boolean())
      value_ = v.toBool();
    else if (v.is_integral())
      value_ = v.toLong();
    else
      value_ = v.toDouble();
  }

  bool isNone() const { return holds<std::monostate>(); }
  bool isTensor() const { return holds<Tensor>(); }
  bool isDouble() const { return holds<double>(); }
  bool isInt() const { return holds<int64_t>(); }
  bool isBool() const { return holds<bool>(); }
  bool isScalar() const { return isDouble() || isInt() || isBool(); }
  bool isString() const { return holds<std::string>(); }
  bool isList() const { return holds<List>(); }
  bool isTensorList() const { return all_are<Tensor>(); }
  bool isIntList() const { return all_are<int64_t>(); }
  bool isDoubleList() const { return all_are<double>(); }
  bool isBoolList() const { return all_are<bool>(); }

  // Each throws Error, naming what is wanted and what is there, for a value of another kind.
  const Tensor& toTensor() const { return get<Tensor>("Tensor"); }
  double toDouble() const { return get<double>("Double"); }
  int64_t toInt() const { return get<int64_t>("Int"); }
  bool toBool() const { return get<bool>("Bool"); }
  const std::string& toStringRef() const { return get<std::string>("String"); }
  const List& toListRef() const { return get<List>("List"); }
  Scalar toScalar() const {
    if (isDouble()) return toDouble();
    if (isBool()) return toBool();
    return get<int64_t>("Scalar");
  }
  std::vector<Tensor> toTensorVector() const { return to_vector<Tensor>("Tensor"); }
  std::vector<int64_t> toIntVector() const { return to_vector<int64_t>("Int"); }
  std::vector<double> toDoubleVector() const { return to_vector<double>("Double"); }

  /// The value as a T: Tensor, a number, std::string, a std::vector or std::optional of those.
  template <class T>
  T to() const {
    if constexpr (std::same_as<T, IValue>)
      return *this;
    else if constexpr (std::same_as<T, Tensor>)
      return toTensor();
    else if constexpr (std::same_as<T, Scalar>)
      return toScalar();
    else if constexpr (std::same_as<T, bool>)
      return toBool();
    else if constexpr (std::integral<T>)
      return static_cast<T>(toInt());
    else if constexpr (std::floating_point<T>)
      return static_cast<T>(toDouble());
    else if constexpr (std::same_as<T, std::string>)
      return toStringRef();
    else
      return to_container(static_cast<T*>(nullptr));
  }

  /// "Tensor", "Int", ...: the kind of the value, as libtorch's messages name it.
  const char* tagKind() const {
    static constexpr const char* names[] = {"None", "Tensor", "Double",     "Int",
                                            "Bool", "String", "GenericList"};
    return names[value_.index()];
  }

 private:
  template <class T>
  bool holds() const {
    return std::holds_alternative<T>(value_);
  }
  template <class T>
  bool all_are() const {
    if (!isList()) return false;
    for (const IValue& v : std::get<List>(value_))
      if (!v.holds<T>()) return false;
    return true;
  }
  template <class T>
  const T& get(const char* wanted) const {
    TAEDA_CHECK(holds<T>(), "Expected ", wanted, " but got ", tagKind());
    return std::get<T>(value_);
  }
  template <class T>
  std::vector<T> to_vector(const char* wanted) const {
    std::vector<T> out;
    for (const IValue& v : toListRef()) out.push_back(v.get<T>(wanted));
    return out;
  }
  template <class T>
  std::vector<T> to_container(std::vector<T>*) const {
    std::vector<T> out;
    for (const IValue& v : toListRef()) out.push_back(v.to<T>());
    return out;
  }
  template <class T>
  std::optional<T> to_container(std::optional<T>*) const {
    if (isNone()) return std::nullopt;
    return to<T>();
  }

  std::variant<std::monostate, Tensor, double, int64_t, bool, std::string, List> value_;
};

}  // namespace taeda_compat
