// One value of any kind: what archives hold, pickles are made of and registered operations take.
#pragma once

#include <any>
#include <complex>
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/base/scalar.h"
#include "taeda/device/generator.h"
#include "taeda/device/storage.h"
#include "taeda/device/stream.h"
#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2 {

/// libtorch's typed list: a vector with `get`, `set` and `vec`.
template <class T>
class List : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  List(std::vector<T> items) : std::vector<T>(std::move(items)) {}
  /// Element `i`; throws std::out_of_range where there is none.
  T get(size_t i) const { return this->at(i); }
  void set(size_t i, T value) { this->at(i) = std::move(value); }
  const std::vector<T>& vec() const { return *this; }
};

template <class Key, class Value>
class Dict;

/// None, a tensor, a number, a text, a device, a generator, a storage, a stream, a list, a tuple
/// or a dictionary of values, or an object of any other class in a capsule. Copies share tensors,
/// lists and dictionaries.
class IValue {
 public:
  using List = std::vector<IValue>;
  using Entry = std::pair<IValue, IValue>;
  /// In the order of insertion.
  using Entries = std::vector<Entry>;

  // What touches the variant is compiled once, in the library: its fifteen kinds would cost every
  // program a second of its compiler's time.
  IValue() noexcept;
  IValue(const IValue& other);
  IValue(IValue&& other) noexcept;
  IValue& operator=(const IValue& other);
  IValue& operator=(IValue&& other) noexcept;
  ~IValue();
  IValue(std::nullopt_t) : IValue() {}
  IValue(Tensor t);
  IValue(double v);
  IValue(float v) : IValue(static_cast<double>(v)) {}
  IValue(bool v);
  template <class I>
  requires((std::integral<I> && !std::same_as<I, bool>) || std::is_enum_v<I>) IValue(I v)
      : IValue(of_int(static_cast<int64_t>(v))) {}
  template <class T>
  IValue(std::complex<T> v) : IValue(of_complex(std::complex<double>(v))) {}
  template <class T>
  IValue(complex<T> v)
      : IValue(of_complex({static_cast<double>(v.re), static_cast<double>(v.im)})) {}
  IValue(std::string text);
  IValue(std::string_view text);
  IValue(const char* text);
  IValue(Device device);
  IValue(Generator generator);
  IValue(Storage storage);
  IValue(Stream stream);
  IValue(List list);
  template <class T>
  requires(std::constructible_from<IValue, T> && !std::same_as<T, IValue>)
      IValue(const std::vector<T>& list)
      : IValue(items_of(list)) {}
  template <class T>
  requires(std::constructible_from<IValue, T>) IValue(ArrayRef<T> list) : IValue(items_of(list)) {}
  template <class T>
  requires(std::constructible_from<IValue, T>) IValue(std::optional<T> v) : IValue() {
    if (v) *this = IValue(*std::move(v));
  }
  template <class... T>
  requires(std::constructible_from<IValue, T>&&...) IValue(std::tuple<T...> values)
      : IValue(
            tuple(std::apply([](auto&... v) { return List{IValue(std::move(v))...}; }, values))) {}
  template <class K, class V>
  IValue(Dict<K, V> dict) : IValue(of_entries(dict.entries())) {}
  IValue(const Scalar& v);
  /// A tuple of any length, a dictionary of any entries.
  static IValue tuple(List items);
  static IValue dict(Entries entries);
  /// Holds an object that no file and no registered operation knows.
  static IValue capsule(std::any object);

  bool isNone() const;
  bool isTensor() const;
  bool isDouble() const;
  bool isComplexDouble() const;
  bool isInt() const;
  bool isBool() const;
  bool isScalar() const { return isDouble() || isInt() || isBool() || isComplexDouble(); }
  bool isString() const;
  bool isDevice() const;
  bool isGenerator() const;
  bool isStorage() const;
  bool isStream() const;
  bool isList() const;
  bool isTuple() const;
  bool isGenericDict() const;
  bool isCapsule() const;
  bool isTensorList() const;
  /// Tensors and None.
  /// Throws Error for a list with any other element.
  bool isOptionalTensorList() const;
  bool isIntList() const;
  bool isDoubleList() const;
  bool isComplexDoubleList() const;
  bool isBoolList() const;

  // Each throws Error, naming what is wanted and what is there, for a value of another kind.

  const Tensor& toTensor() const { return get<Tensor>("Tensor"); }
  double toDouble() const { return get<double>("Double"); }
  std::complex<double> toComplexDouble() const {
    return get<std::complex<double>>("ComplexDouble");
  }
  int64_t toInt() const { return get<int64_t>("Int"); }
  bool toBool() const { return get<bool>("Bool"); }
  std::string toNone() const;
  const std::string& toStringRef() const { return *get<Text>("String"); }
  std::string_view toStringView() const { return toStringRef(); }
  /// libtorch's handle of a text: `v.toString()->string()`.
  class ConstantString {
   public:
    explicit ConstantString(std::string text) : text_(std::move(text)) {}
    const std::string& string() const { return text_; }
    std::string_view string_view() const { return text_; }
    const ConstantString* operator->() const { return this; }

   private:
    std::string text_;
  };
  ConstantString toString() const { return ConstantString(toStringRef()); }
  /// The text, or nothing for None.
  /// The others likewise: each throws Error for a value of another kind, naming both.
  std::optional<std::string> toOptionalStringRef() const;
  Device toDevice() const { return get<Device>("Device"); }
  Generator toGenerator() const { return get<Generator>("Generator"); }
  Storage toStorage() const { return get<Storage>("Storage"); }
  Stream toStream() const { return get<Stream>("Stream"); }
  ScalarType toScalarType() const { return static_cast<ScalarType>(toInt()); }
  TensorLayout toLayout() const { return static_cast<TensorLayout>(toInt()); }
  MemoryFormat toMemoryFormat() const { return static_cast<MemoryFormat>(toInt()); }
  const List& toListRef() const { return *get<ListPtr>("GenericList"); }
  const List& toTupleRef() const { return get<TuplePtr>("Tuple")->items; }
  const Entries& toEntriesRef() const { return *get<DictPtr>("GenericDict"); }
  const std::any& toCapsule() const { return *get<Capsule>("Capsule"); }
  const IValue& toIValue() const { return *this; }
  Scalar toScalar() const;
  std::vector<Tensor> toTensorVector() const;
  std::vector<std::optional<Tensor>> toOptionalTensorVector() const;
  std::vector<int64_t> toIntVector() const;
  DimVector toDimVector() const;
  std::vector<double> toDoubleVector() const;
  std::vector<std::complex<double>> toComplexDoubleVector() const;
  taeda::List<IValue> toList() const;
  taeda::List<Tensor> toTensorList() const;
  taeda::List<std::optional<Tensor>> toOptionalTensorList() const;
  taeda::List<int64_t> toIntList() const;
  taeda::List<double> toDoubleList() const;
  taeda::List<bool> toBoolList() const;
  taeda::List<std::complex<double>> toComplexDoubleList() const;
  Dict<IValue, IValue> toGenericDict() const;

  /// The value as a T: Tensor, a number, std::string, a std::vector or std::optional of those.
  template <class T>
  T to() const;
  template <class T>
  std::optional<T> toOptional() const {
    return to<std::optional<T>>();
  }

  /// Whether both are the same object; numbers and texts are compared by value.
  bool is(const IValue& other) const;
  bool isSameIdentity(const IValue& other) const { return is(other); }
  /// As Python's `==`, but that tensors are equal if they are the same object.
  friend bool operator==(const IValue& a, const IValue& b);
  /// A copy that shares nothing.
  IValue deepcopy() const;
  void swap(IValue& other) noexcept;
  /// How many values share this list, tuple, text or dictionary; of others there is one.
  size_t use_count() const;
  static IValue uninitialized() { return {}; }

  /// "Tensor", "Int", ...: the kind of the value, as libtorch's messages name it.
  const char* tagKind() const;
  friend std::ostream& operator<<(std::ostream& out, const IValue& v);

 private:
  struct Tuple {
    List items;
  };
  using Text = std::shared_ptr<const std::string>;
  using ListPtr = std::shared_ptr<List>;
  using TuplePtr = std::shared_ptr<const Tuple>;
  using DictPtr = std::shared_ptr<Entries>;
  using Capsule = std::shared_ptr<const std::any>;

  template <class L>
  static List items_of(const L& list) {
    List out;
    for (auto&& v : list) out.emplace_back(typename L::value_type(v));
    return out;
  }
  static IValue of_int(int64_t v);
  static IValue of_complex(std::complex<double> v);
  static IValue of_entries(DictPtr entries);
  template <class T>
  const T& get(const char* wanted) const;  // instantiated in ivalue.cpp, for every kind
  [[noreturn]] void refuse(const char* wanted) const;
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
  template <class K, class V>
  Dict<K, V> to_container(Dict<K, V>*) const {
    return Dict<K, V>(get<DictPtr>("GenericDict"));
  }

  std::variant<std::monostate, Tensor, double, int64_t, bool, Text, ListPtr, std::complex<double>,
               Device, Generator, Storage, Stream, TuplePtr, DictPtr, Capsule>
      value_;
};

template <class T>
T IValue::to() const {
  if constexpr (std::same_as<T, IValue>)
    return *this;
  else if constexpr (std::same_as<T, Tensor>)
    return toTensor();
  else if constexpr (std::same_as<T, Scalar>)
    return toScalar();
  else if constexpr (std::same_as<T, bool>)
    return toBool();
  else if constexpr (std::integral<T> || std::is_enum_v<T>)
    return static_cast<T>(toInt());
  else if constexpr (std::floating_point<T>)
    return static_cast<T>(toDouble());
  else if constexpr (std::same_as<T, std::string>)
    return toStringRef();
  else if constexpr (std::same_as<T, Device>)
    return toDevice();
  else if constexpr (std::same_as<T, Generator>)
    return toGenerator();
  else if constexpr (std::same_as<T, std::complex<double>>)
    return toComplexDouble();
  else
    return to_container(static_cast<T*>(nullptr));
}

}  // namespace taeda::inline v0_2
