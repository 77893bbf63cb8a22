#include "taeda/io/checkpoint.h"

namespace taeda::inline v0_2::io {

Checkpoint& Checkpoint::set(const std::string& name, const std::string& text) {
  archive_.metadata[name] = text;
  return *this;
}

const std::string& Checkpoint::text(const std::string& name) const {
  const auto found = archive_.metadata.find(name);
  TAEDA_CHECK_VALUE(found != archive_.metadata.end(), "the checkpoint has no value named '", name,
                    "'");
  return found->second;
}

}  // namespace taeda::inline v0_2::io
