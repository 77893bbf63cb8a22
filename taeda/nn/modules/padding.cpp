#include "taeda/nn/modules/padding.h"

#include "taeda/nn/settings.h"

namespace taeda::inline v0_2::nn::detail {

namespace {

Settings& of_kind(Settings& out, const char* kind, IntArrayRef padding) {
  return out.of(taeda::detail::concat(kind, "Pad", padding.size() / 2, "d"));
}

}  // namespace

void show_padding(Settings& out, PaddingMode mode, IntArrayRef padding) {
  const char* const kind = mode == kReflect     ? "Reflection"
                           : mode == kReplicate ? "Replication"
                                                : "Zero";
  of_kind(out, kind, padding).plain("padding", padding);
}

void show_padding(Settings& out, double value, IntArrayRef padding) {
  of_kind(out, "Constant", padding)("padding", padding)("value", value);
}

}  // namespace taeda::inline v0_2::nn::detail
