#include "taeda/tensor/ivalue.h"

#include <algorithm>
#include <ostream>

namespace taeda::inline v0_2 {

IValue::IValue(const Scalar& v) {
  if (v.is_boolean())
    value_ = v.to<bool>();
  else if (v.is_integral())
    value_ = v.to<int64_t>();
  else if (v.is_complex())
    value_ = v.to<std::complex<double>>();
  else
    value_ = v.to<double>();
}

IValue IValue::tuple(List items) {
  IValue out;
  out.value_ = std::make_shared<const Tuple>(Tuple{std::move(items)});
  return out;
}

IValue IValue::dict(Entries entries) {
  IValue out;
  out.value_ = std::make_shared<Entries>(std::move(entries));
  return out;
}

IValue IValue::capsule(std::any object) {
  IValue out;
  out.value_ = std::make_shared<const std::any>(std::move(object));
  return out;
}

bool IValue::isOptionalTensorList() const {
  return isList() && std::all_of(toListRef().begin(), toListRef().end(),
                                 [](const IValue& v) { return v.isTensor() || v.isNone(); });
}

std::string IValue::toNone() const {
  if (!isNone()) refuse("None");
  return "None";
}

std::optional<std::string> IValue::toOptionalStringRef() const {
  if (isNone()) return std::nullopt;
  return toStringRef();
}

Scalar IValue::toScalar() const {
  if (isDouble()) return toDouble();
  if (isBool()) return toBool();
  if (isComplexDouble()) return toComplexDouble();
  return get<int64_t>("Scalar");
}

DimVector IValue::toDimVector() const {
  DimVector out;
  for (int64_t v : toIntVector()) out.push_back(v);
  return out;
}

void IValue::refuse(const char* wanted) const {
  throw Error(taeda::detail::concat("Expected ", wanted, " but got ", tagKind()));
}

bool IValue::is(const IValue& other) const {
  if (value_.index() != other.value_.index()) return false;
  return std::visit(
      [&](const auto& mine) {
        using T = std::remove_cvref_t<decltype(mine)>;
        const T& theirs = std::get<T>(other.value_);
        if constexpr (std::same_as<T, Tensor>)
          return mine.is_same(theirs);
        else if constexpr (std::same_as<T, Text>)
          return *mine == *theirs;
        else
          return mine == theirs;
      },
      value_);
}

bool operator==(const IValue& a, const IValue& b) {
  const auto number = [](const IValue& v) { return v.isInt() || v.isDouble() || v.isBool(); };
  if (number(a) && number(b) && a.value_.index() != b.value_.index())
    return a.toScalar().cast<double>() == b.toScalar().cast<double>();
  if (a.isList() && b.isList()) return a.toListRef() == b.toListRef();
  if (a.isTuple() && b.isTuple()) return a.toTupleRef() == b.toTupleRef();
  if (a.isGenericDict() && b.isGenericDict())
    return *std::get<IValue::DictPtr>(a.value_) == *std::get<IValue::DictPtr>(b.value_);
  return a.is(b);
}

IValue IValue::deepcopy() const {
  const auto copies = [](const List& list) {
    List out;
    for (const IValue& v : list) out.push_back(v.deepcopy());
    return out;
  };
  if (isTensor()) return toTensor().defined() ? toTensor().detach().clone() : Tensor();
  if (isList()) return copies(toListRef());
  if (isTuple()) return tuple(copies(toTupleRef()));
  if (isGenerator()) return toGenerator().clone();
  if (!isGenericDict()) return *this;
  Entries entries;
  for (const auto& [key, value] : *std::get<DictPtr>(value_))
    entries.emplace_back(key.deepcopy(), value.deepcopy());
  return dict(std::move(entries));
}

size_t IValue::use_count() const {
  const auto count = [](const auto& v) -> size_t {
    if constexpr (requires { v.use_count(); })
      return static_cast<size_t>(v.use_count());
    else
      return 1;
  };
  return std::visit(count, value_);
}

const char* IValue::tagKind() const {
  static constexpr const char* names[] = {"None",   "Tensor",      "Double",      "Int",
                                          "Bool",   "String",      "GenericList", "ComplexDouble",
                                          "Device", "Generator",   "Storage",     "Stream",
                                          "Tuple",  "GenericDict", "Capsule"};
  return names[value_.index()];
}

namespace {

void print_items(std::ostream& out, const IValue::List& items, const char* open,
                 const char* close) {
  out << open;
  for (size_t i = 0; i < items.size(); ++i) out << (i ? ", " : "") << items[i];
  out << close;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const IValue& v) {
  if (v.isTensor()) return out << v.toTensor();
  if (v.isDouble()) return out << v.toDouble();
  if (v.isInt()) return out << v.toInt();
  if (v.isBool()) return out << (v.toBool() ? "True" : "False");
  if (v.isString()) return out << '"' << v.toStringRef() << '"';
  if (v.isDevice()) return out << v.toDevice();
  if (v.isComplexDouble()) return out << v.toComplexDouble();
  if (v.isList()) {
    print_items(out, v.toListRef(), "[", "]");
  } else if (v.isTuple()) {
    print_items(out, v.toTupleRef(), "(", ")");
  } else if (v.isGenericDict()) {
    out << '{';
    const char* separator = "";
    for (const auto& [key, value] : *std::get<IValue::DictPtr>(v.value_)) {
      out << separator << key << ": " << value;
      separator = ", ";
    }
    out << '}';
  } else {
    out << (v.isNone() ? "None" : v.tagKind());
  }
  return out;
}

}  // namespace taeda::inline v0_2
