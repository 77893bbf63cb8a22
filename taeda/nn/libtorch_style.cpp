#include "taeda/nn/libtorch_style.h"

#include <ostream>
#include <string>
#include <string_view>
#include <typeinfo>

#include "taeda/base/type_name.h"
#include "taeda/nn/containers/functional.h"
#include "taeda/nn/containers/lists.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/modules/adaptive.h"
#include "taeda/nn/modules/loss.h"
#include "taeda/nn/modules/transformer.h"
#include "taeda/nn/settings.h"

namespace taeda::inline v0_2::nn::detail {

namespace {

using Out = std::ostream;

/// "Parameter containing: [Float of size [2, 3]]" for each parameter.
template <class Container>
void describe_parameters(Out& out, const char* name, const Container& parameters) {
  out << "torch::nn::" << name << "(\n";
  for (const auto& [key, tensor] : parameters) {
    out << '(' << key << "): Parameter containing: [" << to_string(tensor.dtype()) << " of size "
        << tensor.sizes() << "]\n";
  }
  out << ')';
}

/// "torch::nn::Name" if the module is one of these classes NameImpl.
template <class... M>
std::string handle_name(const Module& module) {
  std::string name;
  const auto attempt = [&]<class T>(const T* m) {
    if (m) name = "torch::nn::" + taeda::detail::short_type_name(typeid(T).name());
    return m != nullptr;
  };
  if ((attempt(dynamic_cast<const M*>(&module)) || ...)) name.resize(name.size() - 4);
  return name;
}

/// The line of classes without brackets, and of those that have no settings to show.
std::string bare_name(const Module& module) {
  std::string name = handle_name<IdentityImpl, FunctionalImpl>(module);
  if (!name.empty()) return name + "()";
  return handle_name<SmoothL1LossImpl, HuberLossImpl, SequentialImpl, ModuleListImpl,
                     ModuleDictImpl, MultiheadAttentionImpl, AdaptiveLogSoftmaxWithLossImpl>(
      module);
}

void print_tree(Out& out, const Module& module, const std::string& indent) {
  module.pretty_print(out);
  if (module.named_children().is_empty()) return;
  out << "(\n";
  const std::string inner = indent + "  ";
  for (const auto& [name, child] : module.named_children()) {
    out << inner << '(' << name << "): ";
    print_tree(out, *child, inner);
    out << '\n';
  }
  out << indent << ')';
}

}  // namespace

std::string libtorch_class_name(const Module& module) {
  std::string name = taeda::detail::type_name(typeid(module).name());
  constexpr std::string_view ours = "taeda::", theirs = "torch::";
  for (size_t at = 0; (at = name.find(ours, at)) != std::string::npos; at += theirs.size())
    name.replace(at, ours.size(), theirs);
  return name;
}

void print_libtorch_line(Out& out, const Module& module) {
  if (const auto* list = dynamic_cast<const ParameterListImpl*>(&module))
    return describe_parameters(out, "ParameterList", *list);
  if (const auto* dict = dynamic_cast<const ParameterDictImpl*>(&module))
    return describe_parameters(out, "ParameterDict", *dict);
  if (const std::string bare = bare_name(module); !bare.empty()) {
    out << bare;
    return;
  }
  Settings shown(Dialect::Libtorch);
  module.settings(shown);
  if (shown.layer().empty())
    out << module.name();
  else
    out << "torch::nn::" << shown.layer() << '(' << shown.text() << ')';
}

void print_libtorch_tree(Out& out, const Module& module) { print_tree(out, module, ""); }

}  // namespace taeda::inline v0_2::nn::detail
