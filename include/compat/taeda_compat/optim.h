// libtorch's StepLR, and torch::optim::serialize with its helpers for optimizers of a program's
// own.
#pragma once

#include <taeda/io/keyed_archive.h>
#include <taeda_compat/namespaces.h>

#include <deque>
#include <string>
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
