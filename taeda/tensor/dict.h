// c10::Dict: a typed view of a dictionary of values.
#pragma once

#include <cstddef>
#include <memory>

#include "taeda/tensor/ivalue.h"

namespace taeda::inline v0_2 {

/// A dictionary in the order of insertion; copies share it. Keys are compared one by one.
/// `at` throws IndexError for a key that is not there.
template <class Key, class Value>
class Dict {
 public:
  class iterator;
  /// One entry, as iterators give it.
  /// It refers to the dictionary's element.
  class Item {
   public:
    explicit Item(IValue::Entry* entry) : entry_(entry) {}
    Key key() const { return entry_->first.to<Key>(); }
    Value value() const { return entry_->second.to<Value>(); }
    /// Replaces the value of the entry.
    template <class T>
    void setValue(T&& value) const {
      entry_->second = IValue(Value(std::forward<T>(value)));
    }

   private:
    friend iterator;
    IValue::Entry* entry_;
  };
  class iterator {
   public:
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    explicit iterator(IValue::Entry* at = nullptr) : item_(at) {}
    const Item& operator*() const { return item_; }
    const Item* operator->() const { return &item_; }
    iterator& operator++() {
      ++item_.entry_;
      return *this;
    }
    bool operator==(const iterator& other) const { return item_.entry_ == other.item_.entry_; }

   private:
    Item item_;
  };

  Dict() : entries_(std::make_shared<IValue::Entries>()) {}
  explicit Dict(std::shared_ptr<IValue::Entries> entries) : entries_(std::move(entries)) {}

  size_t size() const { return entries_->size(); }
  bool empty() const { return entries_->empty(); }
  iterator begin() const { return iterator(entries_->data()); }
  iterator end() const { return iterator(entries_->data() + entries_->size()); }
  iterator find(const Key& key) const {
    const IValue wanted(key);
    for (IValue::Entry& e : *entries_)
      if (e.first == wanted) return iterator(&e);
    return end();
  }
  bool contains(const Key& key) const { return !(find(key) == end()); }
  /// Throws IndexError for a key that is not there.
  Value at(const Key& key) const {
    const iterator found = find(key);
    TAEDA_CHECK_INDEX(!(found == end()), "Dict: there is no key ", IValue(key));
    return (*found).value();
  }
  /// Leaves an entry that is there as it is; says whether there was none.
  bool insert(const Key& key, const Value& value) {
    if (contains(key)) return false;
    entries_->emplace_back(IValue(key), IValue(value));
    return true;
  }
  void insert_or_assign(const Key& key, const Value& value) {
    const iterator found = find(key);
    if (found == end())
      entries_->emplace_back(IValue(key), IValue(value));
    else
      (*found).setValue(value);
  }
  const std::shared_ptr<IValue::Entries>& entries() const { return entries_; }

 private:
  std::shared_ptr<IValue::Entries> entries_;
};

inline Dict<IValue, IValue> IValue::toGenericDict() const { return to<Dict<IValue, IValue>>(); }

namespace impl {
using GenericDict = Dict<IValue, IValue>;
}  // namespace impl

}  // namespace taeda
