#include "taeda/optim/param_state.h"

#include <charconv>

#include "taeda/base/error.h"
#include "taeda/io/keyed_archive.h"

namespace taeda::inline v0_2::optim {

OptimizerParamState::~OptimizerParamState() = default;

std::unique_ptr<OptimizerParamState> OptimizerParamState::clone() const {
  return std::make_unique<OptimizerParamState>(*this);
}

void OptimizerParamState::serialize(serialize::OutputArchive& archive) const {
  archive.write("step", IValue(step));
  const ArrayRef<const char*> names = tensor_names();
  for (size_t k = 0; k < names.size(); ++k)
    if (tensors[k].defined()) archive.write(names[k], tensors[k], /*is_buffer=*/true);
}

void OptimizerParamState::serialize(serialize::InputArchive& archive) {
  IValue value;
  archive.read("step", value);
  step = value.toInt();
  const ArrayRef<const char*> names = tensor_names();
  for (size_t k = 0; k < names.size(); ++k) archive.try_read(names[k], tensors[k], true);
}

const ParamStateMap::Pointer& ParamStateMap::at(const void* key) const {
  const auto found = states_.find(key);
  TAEDA_CHECK(found != states_.end() && found->second,
              "the optimizer has no state for the given parameter");
  return found->second;
}

const void* ParamStateMap::address(const std::string& key) {
  uintptr_t value = 0;
  const size_t skipped = key.starts_with("0x") ? 2 : 0;
  const char* const last = key.data() + key.size();
  const auto [end, error] = std::from_chars(key.data() + skipped, last, value, 16);
  TAEDA_CHECK(error == std::errc() && end == last,
              "Expected the address of a parameter as the key of its state, but got '", key, "'");
  return reinterpret_cast<const void*>(value);
}

}  // namespace taeda::optim
