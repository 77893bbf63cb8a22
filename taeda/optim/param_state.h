// What optimizers keep for each parameter, and the map that programs find it in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "taeda/tensor/tensor.h"

namespace taeda::inline v0_2::serialize {
class InputArchive;
class OutputArchive;
}  // namespace taeda::inline v0_2::serialize

namespace taeda::inline v0_2::optim {

/// State of an optimizer for one parameter: at most kMaxTensors tensors and kMaxNumbers numbers,
/// which the optimizer names.
struct ParamState {
  static constexpr size_t kMaxTensors = 3;
  static constexpr size_t kMaxNumbers = 2;
  int64_t step = 0;
  Tensor tensors[kMaxTensors];
  double numbers[kMaxNumbers] = {};
};

/// State of an optimizer for one parameter as an object of a class, which gives the tensors,
/// undefined by default, their names (`AdamParamState::exp_avg()`). Optimizers of programs may keep
/// other members in classes of their own.
class OptimizerParamState : public ParamState {
 public:
  virtual ~OptimizerParamState();
  virtual std::unique_ptr<OptimizerParamState> clone() const;
  /// Writes the step and the tensors to an archive, and reads them, by their names; a missing one
  /// is an Error.
  virtual void serialize(serialize::OutputArchive& archive) const;
  virtual void serialize(serialize::InputArchive& archive);
  /// Names of `tensors`, of the first ones at least.
  virtual ArrayRef<const char*> tensor_names() const { return {}; }
};

/// Gives a state class its `clone`, which copies all elements of its tensors.
template <class Derived>
class OptimizerCloneableParamState : public OptimizerParamState {
 public:
  std::unique_ptr<OptimizerParamState> clone() const override {
    return std::unique_ptr<OptimizerParamState>(new Derived(static_cast<const Derived&>(*this)));
  }
};

/// States by their parameter: the address of its TensorImpl, or (as in libtorch up to 2.0) that
/// address as `c10::guts::to_string` writes it. A parameter has one from its first step on, so the
/// map is empty at first.
class ParamStateMap {
 public:
  using Pointer = std::unique_ptr<OptimizerParamState>;
  using Map = std::unordered_map<const void*, Pointer>;
  using iterator = Map::iterator;
  using const_iterator = Map::const_iterator;

  /// The state of a parameter; an empty one is made where there is none.
  Pointer& operator[](const void* key) { return states_[key]; }
  Pointer& operator[](const std::string& key) { return states_[address(key)]; }
  /// Throws Error for a parameter without a state.
  const Pointer& at(const void* key) const;
  const Pointer& at(const std::string& key) const { return at(address(key)); }
  Pointer& at(const void* key) { return const_cast<Pointer&>(std::as_const(*this).at(key)); }
  Pointer& at(const std::string& key) { return at(address(key)); }
  iterator find(const void* key) { return states_.find(key); }
  iterator find(const std::string& key) { return find(address(key)); }
  const_iterator find(const void* key) const { return states_.find(key); }
  const_iterator find(const std::string& key) const { return find(address(key)); }
  size_t count(const void* key) const { return states_.count(key); }
  size_t count(const std::string& key) const { return count(address(key)); }
  size_t erase(const void* key) { return states_.erase(key); }
  size_t erase(const std::string& key) { return erase(address(key)); }
  void clear() { states_.clear(); }
  size_t size() const { return states_.size(); }
  bool empty() const { return states_.empty(); }
  iterator begin() { return states_.begin(); }
  iterator end() { return states_.end(); }
  const_iterator begin() const { return states_.begin(); }
  const_iterator end() const { return states_.end(); }

 private:
  static const void* address(const std::string& key);
  Map states_;
};

}  // namespace taeda::inline v0_2::optim

/// `what(name)` for each of up to 16 names.
#define TAEDA_EACH(what, ...) TAEDA_AGAIN(TAEDA_EACH_FROM(what, __VA_ARGS__))
#define TAEDA_EACH_FROM(what, name, ...) \
  what(name) __VA_OPT__(TAEDA_EACH_NEXT TAEDA_NOTHING(what, __VA_ARGS__))
#define TAEDA_EACH_NEXT() TAEDA_EACH_FROM
#define TAEDA_NOTHING ()
#define TAEDA_AGAIN(...) TAEDA_AGAIN_2(TAEDA_AGAIN_2(TAEDA_AGAIN_2(TAEDA_AGAIN_2(__VA_ARGS__))))
#define TAEDA_AGAIN_2(...) TAEDA_AGAIN_1(TAEDA_AGAIN_1(TAEDA_AGAIN_1(TAEDA_AGAIN_1(__VA_ARGS__))))
#define TAEDA_AGAIN_1(...) __VA_ARGS__

/// What TAEDA_PARAM_STATE declares of each tensor: its name, and its accessors.
#define TAEDA_QUOTED(name) #name,
#define TAEDA_STATE_TENSOR(name)                                           \
  auto& name(const Tensor& value) {                                        \
    tensors[place_of(#name)] = value;                                      \
    return *this;                                                          \
  }                                                                        \
  const Tensor& name() const noexcept { return tensors[place_of(#name)]; } \
  Tensor& name() noexcept { return tensors[place_of(#name)]; }
/// Declares the class of a parameter's state: the count of its steps, 0 at first, and tensors,
/// undefined at first, with accessors as TORCH_ARG declares them.
#define TAEDA_PARAM_STATE(State, ...)                                                \
  class State final : public OptimizerCloneableParamState<State> {                   \
   public:                                                                           \
    static constexpr const char* kNames[] = {TAEDA_EACH(TAEDA_QUOTED, __VA_ARGS__)}; \
    static constexpr size_t place_of(std::string_view name) {                        \
      size_t k = 0;                                                                  \
      while (kNames[k] != name) ++k;                                                 \
      return k;                                                                      \
    }                                                                                \
    ArrayRef<const char*> tensor_names() const override { return kNames; }           \
    auto& step(const int64_t& value) {                                               \
      ParamState::step = value;                                                      \
      return *this;                                                                  \
    }                                                                                \
    const int64_t& step() const noexcept { return ParamState::step; }                \
    int64_t& step() noexcept { return ParamState::step; }                            \
    TAEDA_EACH(TAEDA_STATE_TENSOR, __VA_ARGS__)                                      \
  }
