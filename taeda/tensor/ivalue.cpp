#include "taeda/tensor/ivalue.h"

#include <algorithm>
#include <ostream>

namespace taeda::inline v0_2 {

IValue::IValue() noexcept = default;
IValue::IValue(const IValue& other) = default;
IValue::IValue(IValue&& other) noexcept = default;
IValue& IValue::operator=(const IValue& other) = default;
IValue& IValue::operator=(IValue&& other) noexcept = default;
IValue::~IValue() = default;

IValue::IValue(Tensor t) : value_(std::move(t)) {}
IValue::IValue(double v) : value_(v) {}
IValue::IValue(bool v) : value_(v) {}
IValue::IValue(std::string text) : value_(std::make_shared<const std::string>(std::move(text))) {}
IValue::IValue(std::string_view text) : IValue(std::string(text)) {}
IValue::IValue(const char* text) : IValue(std::string(text)) {}
IValue::IValue(Device device) : value_(device) {}
IValue::IValue(Generator generator) : value_(std::move(generator)) {}
IValue::IValue(Storage storage) : value_(std::move(storage)) {}
IValue::IValue(Stream stream) : value_(stream) {}
IValue::IValue(List list) : value_(std::make_shared<List>(std::move(list))) {}

IValue IValue::of_int(int64_t v) {
  IValue out;
  out.value_ = v;
  return out;
}

IValue IValue::of_complex(std::complex<double> v) {
  IValue out;
  out.value_ = v;
  return out;
}

IValue IValue::of_entries(DictPtr entries) {
  IValue out;
  out.value_ = std::move(entries);
  return out;
}

template <class T>
const T& IValue::get(const char* wanted) const {
  if (!std::holds_alternative<T>(value_)) refuse(wanted);
  return std::get<T>(value_);
}

template const Tensor& IValue::get(const char*) const;
template const double& IValue::get(const char*) const;
template const int64_t& IValue::get(const char*) const;
template const bool& IValue::get(const char*) const;
template const std::complex<double>& IValue::get(const char*) const;
template const Device& IValue::get(const char*) const;
template const Generator& IValue::get(const char*) const;
template const Storage& IValue::get(const char*) const;
template const Stream& IValue::get(const char*) const;
template const IValue::Text& IValue::get(const char*) const;
template const IValue::ListPtr& IValue::get(const char*) const;
template const IValue::TuplePtr& IValue::get(const char*) const;
template const IValue::DictPtr& IValue::get(const char*) const;
template const IValue::Capsule& IValue::get(const char*) const;

bool IValue::isNone() const { return std::holds_alternative<std::monostate>(value_); }
bool IValue::isTensor() const { return std::holds_alternative<Tensor>(value_); }
bool IValue::isDouble() const { return std::holds_alternative<double>(value_); }
bool IValue::isComplexDouble() const {
  return std::holds_alternative<std::complex<double>>(value_);
}
bool IValue::isInt() const { return std::holds_alternative<int64_t>(value_); }
bool IValue::isBool() const { return std::holds_alternative<bool>(value_); }
bool IValue::isString() const { return std::holds_alternative<Text>(value_); }
bool IValue::isDevice() const { return std::holds_alternative<Device>(value_); }
bool IValue::isGenerator() const { return std::holds_alternative<Generator>(value_); }
bool IValue::isStorage() const { return std::holds_alternative<Storage>(value_); }
bool IValue::isStream() const { return std::holds_alternative<Stream>(value_); }
bool IValue::isList() const { return std::holds_alternative<ListPtr>(value_); }
bool IValue::isTuple() const { return std::holds_alternative<TuplePtr>(value_); }
bool IValue::isGenericDict() const { return std::holds_alternative<DictPtr>(value_); }
bool IValue::isCapsule() const { return std::holds_alternative<Capsule>(value_); }
namespace {

/// Whether `v` is a list, and each of its elements is what `kind` asks for.
bool all_are(const IValue& v, bool (IValue::*kind)() const) {
  return v.isList() && std::all_of(v.toListRef().begin(), v.toListRef().end(),
                                   [kind](const IValue& item) { return (item.*kind)(); });
}

}  // namespace

bool IValue::isTensorList() const { return all_are(*this, &IValue::isTensor); }
bool IValue::isIntList() const { return all_are(*this, &IValue::isInt); }
bool IValue::isDoubleList() const { return all_are(*this, &IValue::isDouble); }
bool IValue::isComplexDoubleList() const { return all_are(*this, &IValue::isComplexDouble); }
bool IValue::isBoolList() const { return all_are(*this, &IValue::isBool); }

void IValue::swap(IValue& other) noexcept { value_.swap(other.value_); }

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

std::vector<Tensor> IValue::toTensorVector() const { return to_vector<Tensor>("Tensor"); }
std::vector<std::optional<Tensor>> IValue::toOptionalTensorVector() const {
  return to<std::vector<std::optional<Tensor>>>();
}
std::vector<int64_t> IValue::toIntVector() const { return to_vector<int64_t>("Int"); }
std::vector<double> IValue::toDoubleVector() const { return to_vector<double>("Double"); }
std::vector<std::complex<double>> IValue::toComplexDoubleVector() const {
  return to_vector<std::complex<double>>("ComplexDouble");
}
taeda::List<IValue> IValue::toList() const { return toListRef(); }
taeda::List<Tensor> IValue::toTensorList() const { return toTensorVector(); }
taeda::List<std::optional<Tensor>> IValue::toOptionalTensorList() const {
  return toOptionalTensorVector();
}
taeda::List<int64_t> IValue::toIntList() const { return toIntVector(); }
taeda::List<double> IValue::toDoubleList() const { return toDoubleVector(); }
taeda::List<bool> IValue::toBoolList() const { return to_vector<bool>("Bool"); }
taeda::List<std::complex<double>> IValue::toComplexDoubleList() const {
  return toComplexDoubleVector();
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
