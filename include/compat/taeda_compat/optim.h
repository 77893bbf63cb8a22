// libtorch's StepLR, and torch::optim::serialize with its helpers for optimizers of a program's
// own.
#pragma once

#include <taeda/io/keyed_archive.h>
#include <taeda_compat/namespaces.h>

#include <algorithm>
#include <deque>
#include <string>
#include <typeinfo>
#include <vector>

// Inner namespaces are Taeda's: what libtorch has there in addition.
namespace taeda::optim {

/// State and options of an optimizer; what they are of is not asked. Optimizer's own save and load,
/// so that those of a program's class may call this.
template <class ParamState = void, class Options = void>
void serialize(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.Optimizer::save(archive);
}
template <class ParamState = void, class Options = void>
void serialize(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.Optimizer::load(archive);
}
/// Numbers and lists below a key.
inline void serialize(serialize::OutputArchive& archive, const std::string& key,
                      const int64_t& value) {
  archive.write(key, IValue(value));
}
inline void serialize(serialize::InputArchive& archive, const std::string& key, int64_t& value) {
  IValue read;
  archive.read(key, read);
  value = read.toInt();
}
inline void serialize(serialize::OutputArchive& archive, const std::string& key,
                      const std::vector<int64_t>& values) {
  archive.write(key, IValue(values));
}
inline void serialize(serialize::InputArchive& archive, const std::string& key,
                      std::vector<int64_t>& values) {
  IValue read;
  archive.read(key, read);
  values = read.toIntVector();
}
/// Tensors below a key, as many as "<key>/size" says.
template <class Container>
requires(std::convertible_to<typename Container::value_type, Tensor>) void serialize(
    serialize::OutputArchive& archive, const std::string& key, const Container& buffers) {
  archive.write(key + "/size", IValue(static_cast<int64_t>(buffers.size())));
  int64_t i = 0;
  for (const Tensor& t : buffers) archive.write(key + "/" + std::to_string(i++), t);
}
template <class Container>
requires(std::convertible_to<typename Container::value_type, Tensor>) void serialize(
    serialize::InputArchive& archive, const std::string& key, Container& buffers) {
  int64_t size = 0;
  serialize(archive, key + "/size", size);
  buffers.clear();
  for (int64_t i = 0; i < size; ++i) {
    Tensor t;
    archive.read(key + "/" + std::to_string(i), t);
    buffers.insert(buffers.end(), t);
  }
}
/// The values in the form that an IValue takes, and back.
template <class T>
std::vector<T> deque_to_list(const std::deque<T>& values) {
  return {values.begin(), values.end()};
}
template <class T>
std::deque<T> list_to_deque(const std::vector<T>& list) {
  return {list.begin(), list.end()};
}

namespace detail {
/// Whether tensors are both undefined or have the same sizes and values.
inline bool same_values(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() ? a.equal(b) : a.defined() == b.defined();
}
template <class Container>
bool all_same_values(const Container& a, const Container& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_values);
}
}  // namespace detail

/// Whether states are of one class and hold equal steps, numbers and tensors.
inline bool operator==(const OptimizerParamState& a, const OptimizerParamState& b) {
  return typeid(a) == typeid(b) && a.step == b.step && std::ranges::equal(a.numbers, b.numbers) &&
         std::ranges::equal(a.tensors, b.tensors, detail::same_values);
}
/// The same of L-BFGS's states, which hold lists of tensors, too.
inline bool operator==(const LBFGSParamState& a, const LBFGSParamState& b) {
  return a.func_evals() == b.func_evals() && a.n_iter() == b.n_iter() && a.t() == b.t() &&
         a.prev_loss() == b.prev_loss() && detail::same_values(a.d(), b.d()) &&
         detail::same_values(a.H_diag(), b.H_diag()) &&
         detail::same_values(a.prev_flat_grad(), b.prev_flat_grad()) &&
         detail::all_same_values(a.old_dirs(), b.old_dirs()) &&
         detail::all_same_values(a.old_stps(), b.old_stps()) &&
         detail::all_same_values(a.ro(), b.ro()) && a.al().has_value() == b.al().has_value() &&
         (!a.al() || detail::all_same_values(*a.al(), *b.al()));
}

}  // namespace taeda::optim

namespace taeda_compat::optim {

/// libtorch's rule: the (k * step_size + 1)-th call of step() decays, one later than Python's.
class StepLR final : public taeda::optim::StepLR {
 public:
  using taeda::optim::StepLR::StepLR;
  double rate(size_t group, double base, double current, int64_t epoch) override {
    return taeda::optim::StepLR::rate(group, base, current, epoch - 1);
  }
};

}  // namespace taeda_compat::optim
