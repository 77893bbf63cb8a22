// States of optimizers between processes: their names and numbers as text, their tensors as they
// are.
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "taeda/base/error.h"
#include "taeda/distributed/group/texts.h"
#include "taeda/distributed/zero/partition.h"
#include "taeda/ops/create/create.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::distributed::detail {

namespace {

using optim::OptimizerState;

constexpr std::string_view kOfParam = "state.";
constexpr int64_t kStateTag = kMaxTag - 1;

/// "state.7.step": 7; nothing for what is not a parameter's.
std::optional<size_t> param_of(std::string_view name) {
  if (!name.starts_with(kOfParam)) return std::nullopt;
  size_t number = 0;
  const auto [end, error] =
      std::from_chars(name.data() + kOfParam.size(), name.data() + name.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

/// A line for each number of a parameter, then one for each tensor.
std::string outline(const OptimizerState& state) {
  std::ostringstream out;
  out << std::hexfloat;
  for (const auto& item : state.numbers)
    if (param_of(item.key())) out << "number " << item.key() << ' ' << item.value() << '\n';
  for (const auto& item : state.tensors) {
    const Tensor& t = item.value();
    out << "tensor " << item.key() << ' ' << static_cast<int>(t.dtype()) << ' ' << t.dim();
    for (const int64_t size : t.sizes()) out << ' ' << size;
    out << '\n';
  }
  return out.str();
}

/// Adds what another process's outline says, and receives the tensors.
void receive_state(const std::string& text, int from, ProcessGroup& group, OptimizerState& into) {
  std::istringstream lines(text);
  std::string kind, name;
  while (lines >> kind >> name) {
    if (kind == "number") {
      std::string value;  // streams do not read what hexfloat wrote
      lines >> value;
      into.numbers.insert(name, std::strtod(value.c_str(), nullptr));
      continue;
    }
    int dtype = 0, dims = 0;
    lines >> dtype >> dims;
    DimVector sizes(static_cast<size_t>(dims));
    for (int64_t& size : sizes) lines >> size;
    const Tensor t = empty(sizes, static_cast<ScalarType>(dtype));
    group.recv(t, from, kStateTag, {});
    into.tensors.insert(name, t);
  }
}

}  // namespace

OptimizerState ZeroPartition::gather(const OptimizerState& own, int to) const {
  TAEDA_CHECK_VALUE(to >= 0 && to < group_->size(),
                    "consolidate_state_dict: expected a rank from 0 to ", group_->size() - 1,
                    ", got ", to);
  const int root = group_->ranks()[static_cast<size_t>(to)];
  const std::vector<std::string> texts =
      gather_texts(outline(own), root, group_, SourceLocation::current());
  OptimizerState out;
  out.kind = own.kind;
  out.numbers = own.numbers;
  if (rank() != to) {
    for (const auto& item : own.tensors) group_->send(item.value(), to, kStateTag, {});
    return out;
  }
  for (const auto& item : own.tensors) out.tensors.insert(item.key(), item.value().cpu().clone());
  for (int from = 0; from < group_->size(); ++from)
    if (from != to) receive_state(texts[static_cast<size_t>(from)], from, *group_, out);
  return out;
}

OptimizerState ZeroPartition::own_part(const ParamGroups& groups, const OptimizerState& state) {
  size_t count = 0;
  for (const auto& g : groups) count += g.params().size();
  const auto wanted = [&](const std::string& name) {
    const auto number = param_of(name);
    return !number || *number >= count || owner(groups, *number) == rank();
  };
  OptimizerState out;
  out.kind = state.kind;
  for (const auto& item : state.tensors)
    if (wanted(item.key())) out.tensors.insert(item.key(), item.value());
  for (const auto& item : state.numbers)
    if (wanted(item.key())) out.numbers.insert(item.key(), item.value());
  return out;
}

}  // namespace taeda::distributed::detail
