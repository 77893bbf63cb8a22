// The part of Python's pickle format that state dicts need, read without running anything.
// Format: docs.python.org/3/library/pickletools.html, protocols 2 to 5.
//
// A pickle is a program for a stack machine, and Python's runs whatever it names. This one makes
// numbers, texts and containers, knows the few names in `kKnownNames`, and refuses all others.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "taeda/io/budget.h"

namespace taeda::inline v0_2::io {

struct PickleValue {
  enum class Kind { None, Bool, Int, Float, Text, Tuple, List, Dict, Name, Storage, Call };
  Kind kind = Kind::None;
  int64_t integer = 0;    ///< Bool, Int
  double real = 0;        ///< Float
  /// Text; Name ("torch.FloatStorage"); Call: the name that was called; Dict: the class, if it
  /// holds the members of a module
  std::string_view text;
  std::vector<PickleValue*> items;         ///< Tuple, List
  const PickleValue* arguments = nullptr;  ///< Call; Storage: what identifies it. A Tuple
  std::vector<std::pair<const PickleValue*, const PickleValue*>> entries;  ///< Dict
};

/// The value of a pickle; values live as long as this does, and their texts are parts of its bytes.
class Pickle {
 public:
  /// Throws Error with the reason alone.
  Pickle(std::string bytes, Budget& budget);
  explicit Pickle(std::string bytes);
  /// Of memory that outlives it, which may go on behind its end.
  struct View {
    std::string_view bytes;
  };
  Pickle(View bytes, Budget& budget);
  Pickle(const Pickle&) = delete;
  Pickle& operator=(const Pickle&) = delete;

  const PickleValue& root() const { return *root_; }
  /// The storages that it names, some perhaps more than once.
  const std::vector<const PickleValue*>& storages() const { return storages_; }
  /// Up to its end.
  size_t bytes_used() const { return used_; }

 private:
  friend class PickleMachine;
  std::string owned_;
  std::string_view bytes_;
  size_t used_ = 0;
  std::set<std::string, std::less<>> names_;
  std::deque<PickleValue> values_;
  std::vector<const PickleValue*> storages_;
  const PickleValue* root_ = nullptr;
};

}  // namespace taeda::io
