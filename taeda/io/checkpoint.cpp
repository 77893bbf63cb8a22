#include "taeda/io/checkpoint.h"

#include <set>

namespace taeda::inline v0_2::io {

Checkpoint& Checkpoint::set(const std::string& name, const std::string& text) {
  archive_.metadata[name] = text;
  return *this;
}

void Checkpoint::throw_absent(const std::string& section) const {
  std::set<std::string> sections;
  const auto add = [&](const std::string& name) {
    if (const size_t dot = name.find('.'); dot != std::string::npos)
      sections.insert(name.substr(0, dot));
  };
  for (const auto& [name, tensor] : archive_.tensors) add(name);
  for (const auto& [name, text] : archive_.metadata) add(name);
  std::string all;
  for (const std::string& name : sections) all += (all.empty() ? "" : ", ") + name;
  throw ValueError("the checkpoint has no section '" + section +
                   "'; there are: " + (all.empty() ? "none" : all));
}

const std::string& Checkpoint::text(const std::string& name) const {
  const auto found = archive_.metadata.find(name);
  TAEDA_CHECK_VALUE(found != archive_.metadata.end(), "the checkpoint has no value named '", name,
                    "'");
  return found->second;
}

}  // namespace taeda::inline v0_2::io
