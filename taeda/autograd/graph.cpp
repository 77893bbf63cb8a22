#include "taeda/autograd/graph.h"

#include "taeda/autograd/saved.h"
#include "taeda/base/error.h"
#include "taeda/tensor/grad_mode.h"

namespace taeda::inline v0_2::autograd {

namespace {

struct HookPair final : RefCounted {
  graph::PackHook pack;
  graph::UnpackHook unpack;
  IntrusivePtr<HookPair> outer;  ///< of the scope around this one's
};

/// Each scope owns its own pair.
HookPair* innermost() { return static_cast<HookPair*>(SavedHooksMode::innermost()); }

/// While a hook runs there is none: what it saves itself is kept as it is.
class WithoutHooks {
 public:
  WithoutHooks() : previous_(innermost()) { SavedHooksMode::set_innermost(nullptr); }
  ~WithoutHooks() { SavedHooksMode::set_innermost(previous_); }
  WithoutHooks(const WithoutHooks&) = delete;
  WithoutHooks& operator=(const WithoutHooks&) = delete;

 private:
  HookPair* previous_;
};

struct PackedByHooks final : Packed {
  PackedByHooks(const Tensor& t, IntrusivePtr<HookPair> h)
      : hooks(std::move(h)), sizes(t.sizes()), dtype(t.dtype()), device(t.device()) {}

  Tensor unpack() const override {
    const WithoutHooks scope;
    NoGradGuard no_grad;
    const Tensor out = hooks->unpack(value);
    TAEDA_CHECK(out.defined(), "a saved tensor unpack hook returned an undefined tensor");
    TAEDA_CHECK(
        out.sizes() == IntArrayRef(sizes) && out.dtype() == dtype && out.device() == device,
        "a saved tensor unpack hook returned a tensor of shape ", out.sizes(), ", dtype ",
        to_string(out.dtype()), " on ", out.device(), " for one of shape ", IntArrayRef(sizes),
        ", dtype ", to_string(dtype), " on ", device);
    return out;
  }

  std::any value;
  IntrusivePtr<HookPair> hooks;
  DimVector sizes;
  ScalarType dtype;
  Device device;
};

}  // namespace

IntrusivePtr<Packed> pack(const Tensor& t) {
  HookPair* const hooks = innermost();
  const auto out = make_intrusive<PackedByHooks>(t, IntrusivePtr<HookPair>(hooks));
  const WithoutHooks scope;
  NoGradGuard no_grad;
  const Tensor given = t.detach();
  const int64_t version = given.unsafe_impl()->version();
  out->value = out->hooks->pack(given);
  TAEDA_CHECK(given.unsafe_impl()->version() == version,
              "A saved tensor pack hook is modifying its input in place. Tensors provided as input "
              "to pack hook can not be modified by in-place operations as this can lead to "
              "unexpected side-effects.");
  return IntrusivePtr<Packed>(out.get());
}

namespace graph {

saved_tensors_hooks::saved_tensors_hooks(PackHook pack, UnpackHook unpack) {
  TAEDA_CHECK(pack && unpack, "saved_tensors_hooks expects a pack and an unpack hook");
  auto hooks = make_intrusive<HookPair>();
  hooks->pack = std::move(pack);
  hooks->unpack = std::move(unpack);
  hooks->outer = IntrusivePtr<HookPair>(innermost());
  SavedHooksMode::set_innermost(hooks.detach());
}

saved_tensors_hooks::~saved_tensors_hooks() {
  const auto mine = IntrusivePtr<HookPair>::adopt(innermost());
  SavedHooksMode::set_innermost(mine->outer.get());
}

namespace {

struct OnHost {
  Tensor values;
  Device device;
};

}  // namespace

save_on_cpu::save_on_cpu(bool pin_memory)
    : saved_tensors_hooks(
          [pin_memory](const Tensor& t) -> std::any {
            if (t.is_cpu()) return OnHost{t, t.device()};
            Tensor values = t.cpu();
            return OnHost{pin_memory ? values.pin_memory() : values, t.device()};
          },
          [pin_memory](const std::any& packed) {
            const auto& kept = std::any_cast<const OnHost&>(packed);
            return kept.values.to(kept.device, pin_memory);
          }) {}

std::map<std::string, std::any>& metadata(Node& node) {
  using Notes = std::map<std::string, std::any>;
  std::shared_ptr<void>& notes = node.ensure_hooks().notes;
  if (!notes) notes = std::make_shared<Notes>();
  return *static_cast<Notes*>(notes.get());
}

}  // namespace graph

}  // namespace taeda::autograd
