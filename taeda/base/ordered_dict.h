// A dictionary that remembers the order of insertion.
#pragma once

#include <initializer_list>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "taeda/base/error.h"

namespace taeda::inline v0_2 {

/// One entry of an OrderedDict. Binds as `auto& [key, value]`.
/// An element of the dictionary, not a copy.
template <class Key, class Value>
class OrderedDictItem {
 public:
  OrderedDictItem(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
  const Key& key() const { return pair_.first; }
  /// The value may be changed, the key not.
  /// Both stay where they are for as long as the element is in the dictionary.
  Value& value() { return pair_.second; }
  const Value& value() const { return pair_.second; }
  Value& operator*() { return value(); }
  const Value& operator*() const { return value(); }
  Value* operator->() { return &value(); }
  const Value* operator->() const { return &value(); }
  const std::pair<Key, Value>& pair() const { return pair_; }

  /// For `auto& [key, value] = item`.
  template <size_t I>
  auto& get() & {
    if constexpr (I == 0)
      return key();
    else
      return value();
  }
  template <size_t I>
  const auto& get() const& {
    if constexpr (I == 0)
      return key();
    else
      return value();
  }
  template <size_t I>
  auto&& get() && {
    if constexpr (I == 0)
      return key();
    else
      return std::move(value());
  }

 private:
  std::pair<Key, Value> pair_;
};

/// Keys are unique; iteration is in the order of insertion. The interface is libtorch's.
/// Throws Error for a key that is asked for and not there, and for one that is inserted twice.
template <class Key, class Value>
class OrderedDict {
 public:
  using Item = OrderedDictItem<Key, Value>;
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  OrderedDict() : OrderedDict(std::string("Key")) {}
  /// `description` names the entries in errors: "Parameter", "Submodule".
  explicit OrderedDict(std::string description) : description_(std::move(description)) {}
  OrderedDict(std::initializer_list<Item> items);

  size_t size() const { return items_.size(); }
  bool is_empty() const { return items_.empty(); }
  bool empty() const { return items_.empty(); }
  Iterator begin() { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator begin() const { return items_.begin(); }
  ConstIterator end() const { return items_.end(); }
  /// The first and the last item; throw IndexError if there is none.
  Item& front() { return const_cast<Item&>(std::as_const(*this).front()); }
  const Item& front() const {
    TAEDA_CHECK_INDEX(!empty(), "front() of an empty OrderedDict");
    return items_.front();
  }
  Item& back() { return const_cast<Item&>(std::as_const(*this).back()); }
  const Item& back() const {
    TAEDA_CHECK_INDEX(!empty(), "back() of an empty OrderedDict");
    return items_.back();
  }
  const std::string& description() const { return description_; }
  /// libtorch's name of it.
  const std::string& key_description() const { return description_; }

  /// Throws Error if the key is there already.
  Value& insert(Key key, Value value);
  /// Inserts every item of `other`.
  void update(const OrderedDict& other);
  /// Throws Error if the key is not there.
  void erase(const Key& key);
  void clear();
  void reserve(size_t n);

  bool contains(const Key& key) const;
  /// The value, or nullptr.
  Value* find(const Key& key);
  const Value* find(const Key& key) const { return const_cast<OrderedDict*>(this)->find(key); }
  /// Throws Error if the key is not there.
  Value& operator[](const Key& key) { return items_[position(key)].value(); }
  const Value& operator[](const Key& key) const { return items_[position(key)].value(); }
  /// By position; throws IndexError.
  Item& operator[](size_t i) { return const_cast<Item&>(std::as_const(*this)[i]); }
  const Item& operator[](size_t i) const {
    TAEDA_CHECK_INDEX(i < items_.size(), "Index ", i, " is out of bounds");
    return items_[i];
  }

  const std::vector<Item>& items() const { return items_; }
  std::vector<std::pair<Key, Value>> pairs() const;
  std::vector<Key> keys() const;
  std::vector<Value> values() const;

 private:
  size_t position(const Key& key) const;

  std::string description_;
  std::vector<Item> items_;
  std::unordered_map<Key, size_t> index_;
};

// Outside of the class, so that `extern template` spares programs their instantiation.

template <class Key, class Value>
OrderedDict<Key, Value>::OrderedDict(std::initializer_list<Item> items) : OrderedDict() {
  for (const Item& item : items) insert(item.key(), item.value());
}

template <class Key, class Value>
Value& OrderedDict<Key, Value>::insert(Key key, Value value) {
  TAEDA_CHECK(!contains(key), description_, " '", key, "' already defined");
  index_.emplace(key, items_.size());
  return items_.emplace_back(std::move(key), std::move(value)).value();
}

template <class Key, class Value>
void OrderedDict<Key, Value>::update(const OrderedDict& other) {
  for (const Item& item : other) insert(item.key(), item.value());
}

template <class Key, class Value>
void OrderedDict<Key, Value>::erase(const Key& key) {
  const size_t at = position(key);
  items_.erase(items_.begin() + static_cast<ptrdiff_t>(at));
  index_.erase(key);
  for (auto& [k, i] : index_) i -= i > at;
}

template <class Key, class Value>
void OrderedDict<Key, Value>::clear() {
  items_.clear();
  index_.clear();
}

template <class Key, class Value>
void OrderedDict<Key, Value>::reserve(size_t n) {
  items_.reserve(n);
}

template <class Key, class Value>
bool OrderedDict<Key, Value>::contains(const Key& key) const {
  return index_.contains(key);
}

template <class Key, class Value>
Value* OrderedDict<Key, Value>::find(const Key& key) {
  const auto it = index_.find(key);
  return it == index_.end() ? nullptr : &items_[it->second].value();
}

template <class Key, class Value>
std::vector<std::pair<Key, Value>> OrderedDict<Key, Value>::pairs() const {
  std::vector<std::pair<Key, Value>> out;
  for (const Item& item : items_) out.push_back(item.pair());
  return out;
}

template <class Key, class Value>
std::vector<Key> OrderedDict<Key, Value>::keys() const {
  std::vector<Key> out;
  for (const Item& item : items_) out.push_back(item.key());
  return out;
}

template <class Key, class Value>
std::vector<Value> OrderedDict<Key, Value>::values() const {
  std::vector<Value> out;
  for (const Item& item : items_) out.push_back(item.value());
  return out;
}

template <class Key, class Value>
size_t OrderedDict<Key, Value>::position(const Key& key) const {
  const auto it = index_.find(key);
  TAEDA_CHECK(it != index_.end(), description_, " '", key, "' is not defined");
  return it->second;
}

}  // namespace taeda::inline v0_2

template <class Key, class Value>
struct std::tuple_size<taeda::OrderedDictItem<Key, Value>> : std::integral_constant<size_t, 2> {};
template <class Key, class Value>
struct std::tuple_element<0, taeda::OrderedDictItem<Key, Value>> {
  using type = const Key;
};
template <class Key, class Value>
struct std::tuple_element<1, taeda::OrderedDictItem<Key, Value>> {
  using type = Value;
};
