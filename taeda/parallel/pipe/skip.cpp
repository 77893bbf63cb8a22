#include "taeda/parallel/pipe/skip.h"

#include <algorithm>
#include <set>

namespace taeda::inline v0_2::nn {

namespace {

constinit thread_local detail::SkipScope* current = nullptr;

std::map<std::string, Tensor>& tensors() {
  static thread_local std::map<std::string, Tensor> outside;
  return current ? current->tensors : outside;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

detail::SkipScope::SkipScope() : previous_(current) { current = this; }
detail::SkipScope::~SkipScope() { current = previous_; }

void Skippable::stash(const std::string& name, const Tensor& tensor) const {
  TAEDA_CHECK(contains(stashes_, name), "'", name, "' has not been declared as stashable");
  tensors()[name] = tensor;
}

Tensor Skippable::pop(const std::string& name) const {
  TAEDA_CHECK(contains(pops_, name), "'", name, "' has not been declared as poppable");
  auto& all = tensors();
  const auto it = all.find(name);
  TAEDA_CHECK(it != all.end(), "'", name, "' has not been stashed");
  Tensor out = std::move(it->second);
  all.erase(it);
  return out;
}

std::vector<const Skippable*> detail::skippables_of(const std::shared_ptr<Module>& module) {
  std::vector<const Skippable*> out;
  for (const std::shared_ptr<Module>& m : module->modules())
    if (const auto* s = dynamic_cast<const Skippable*>(m.get())) out.push_back(s);
  return out;
}

void verify_skippables(const SequentialImpl& module) {
  std::set<std::string> stashed, popped;
  std::string faults;
  const auto fault = [&](const auto&... text) {
    faults += taeda::detail::concat(faults.empty() ? "* " : "\n* ", text...);
  };
  for (const auto& [key, child] : module.named_children())
    for (const Skippable* s : detail::skippables_of(child)) {
      for (const std::string& name : s->stashable()) {
        if (contains(s->poppable(), name))
          fault("'", key, "' declared '", name, "' both as stashable and as poppable");
        else if (!stashed.insert(name).second)
          fault("'", key, "' redeclared '", name, "' as stashable");
      }
      for (const std::string& name : s->poppable()) {
        if (contains(s->stashable(), name)) continue;
        if (popped.contains(name))
          fault("'", key, "' redeclared '", name, "' as poppable");
        else if (!stashed.contains(name))
          fault("'", key, "' declared '", name, "' as poppable but it was not stashed");
        else
          popped.insert(name);
      }
    }
  for (const std::string& name : stashed)
    if (!popped.contains(name)) fault("no module declared '", name, "' as poppable but stashed");
  TAEDA_CHECK_TYPE(faults.empty(), "one or more pairs of stash and pop do not match:\n\n", faults);
}

}  // namespace taeda::nn
