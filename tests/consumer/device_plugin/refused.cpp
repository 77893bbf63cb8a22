// A plug-in that cannot be used; why is in the macros that it is translated with.
#include <taeda/base/error.h>
#include <taeda/device/plugin.h>

#if !defined(NO_ENTRY)
namespace {

taeda::Backend* start(taeda::DeviceType) { throw taeda::Error("the hardware is asleep"); }

constexpr taeda::Plugin make() {
  taeda::Plugin p{.type = {.name = TYPE_NAME}, .start = start};
#if defined(OLDER_ABI)
  constexpr char kOlder[] = "taeda 0.0, of the past";
  p.abi = {};
  for (size_t i = 0; i < sizeof kOlder; ++i) p.abi.text[i] = kOlder[i];
#elif defined(NO_MAGIC)
  p.magic = 1;
#endif
  return p;
}

}  // namespace

const taeda::Plugin taeda_plugin = make();
#else
int nothing() { return 0; }
#endif
