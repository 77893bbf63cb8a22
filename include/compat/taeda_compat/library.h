// TORCH_LIBRARY: operations of a program, registered by name and called by name.
#pragma once

#include <taeda_compat/namespaces.h>

#include <any>
#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

namespace taeda_compat {

/// Which calls an implementation is for.
enum class DispatchKey { CPU, CUDA, Sim, Meta, Autograd, CompositeImplicitAutograd };

/// The implementations of one operation. Those that hold a lambda or a function of one signature.
class OperatorEntry {
 public:
  using Boxed = std::function<std::vector<IValue>(const std::vector<IValue>&)>;
  struct Kernel {
    std::any typed;  ///< std::function of the signature
    Boxed boxed;
  };

  explicit OperatorEntry(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  /// Throws Error if the key has an implementation already.
  void add(DispatchKey key, Kernel kernel) {
    Kernel& place = kernels_[static_cast<size_t>(key)];
    TAEDA_CHECK(!place.boxed, "Tried to register the operator ", name_, " twice for one key");
    place = std::move(kernel);
  }
  /// Autograd's while one of the tensors wants a gradient, else the device's, else the one for all.
  const Kernel& choose(bool wants_gradient, const std::optional<Device>& device) const {
    if (wants_gradient)
      if (const Kernel* k = find(DispatchKey::Autograd)) return *k;
    if (device)
      if (const Kernel* k = find(key_of(device->type()))) return *k;
    if (const Kernel* k = find(DispatchKey::CompositeImplicitAutograd)) return *k;
    TAEDA_CHECK_NOT_IMPLEMENTED(false, "Could not run '", name_, "' with arguments from the '",
                                device ? to_string(device->type()) : "cpu", "' backend");
    return kernels_[0];
  }

 private:
  static DispatchKey key_of(DeviceType type) {
    switch (type) {
      case kCUDA: return DispatchKey::CUDA;
      case kSim: return DispatchKey::Sim;
      case kMeta: return DispatchKey::Meta;
      default: return DispatchKey::CPU;
    }
  }
  const Kernel* find(DispatchKey key) const {
    const Kernel& kernel = kernels_[static_cast<size_t>(key)];
    return kernel.boxed ? &kernel : nullptr;
  }

  std::string name_;
  std::array<Kernel, static_cast<size_t>(DispatchKey::CompositeImplicitAutograd) + 1> kernels_;
};

namespace library_detail {

/// What decides about an implementation: the tensors among a call's arguments.
struct Seen {
  bool wants_gradient = false;
  std::optional<Device> device;

  void operator()(const Tensor& t) {
    if (!t.defined()) return;
    wants_gradient |= GradMode::is_enabled() && t.requires_grad();
    if (!device) device = t.device();
  }
  void operator()(const std::optional<Tensor>& t) {
    if (t) (*this)(*t);
  }
  void operator()(ArrayRef<Tensor> list) {
    for (const Tensor& t : list) (*this)(t);
  }
  void operator()(const std::vector<Tensor>& list) { (*this)(ArrayRef<Tensor>(list)); }
  void operator()(const IValue& v) {
    if (v.isTensor()) (*this)(v.toTensor());
    if (v.isList())
      for (const IValue& inner : v.toListRef()) (*this)(inner);
  }
  template <class T>
  void operator()(const T&) {}
};

/// What a boxed argument is kept in while it is passed: lists are owned.
template <class T>
struct Kept {
  using type = std::remove_cvref_t<T>;
};
template <class T>
struct Kept<ArrayRef<T>> {
  using type = std::vector<T>;
};

template <class R>
std::vector<IValue> box(R result) {
  return {IValue(std::move(result))};
}
template <class... R>
std::vector<IValue> box(std::tuple<R...> result) {
  return std::apply([](auto&... r) { return std::vector<IValue>{IValue(std::move(r))...}; },
                    result);
}

template <class R, class... Args>
OperatorEntry::Kernel make_kernel(std::function<R(Args...)> f) {
  auto boxed = [f](const std::vector<IValue>& in) {
    TAEDA_CHECK(in.size() == sizeof...(Args), "expected ", sizeof...(Args), " arguments, got ",
                in.size());
    return [&]<size_t... i>(std::index_sequence<i...>)->std::vector<IValue> {
      std::tuple<typename Kept<Args>::type...> kept(
          in[i].template to<typename Kept<Args>::type>()...);
      if constexpr (std::is_void_v<R>) {
        f(std::get<i>(kept)...);
        return {};
      } else {
        return box(f(std::get<i>(kept)...));
      }
    }
    (std::index_sequence_for<Args...>{});
  };
  return {std::move(f), std::move(boxed)};
}

}  // namespace library_detail

template <class Signature>
class TypedOperatorHandle;

/// An operation that was found by its name with the signature of its implementations.
template <class R, class... Args>
class TypedOperatorHandle<R(Args...)> {
 public:
  explicit TypedOperatorHandle(const OperatorEntry& entry) : entry_(&entry) {}
  /// Throws Error if the implementation has another signature.
  R call(Args... args) const {
    library_detail::Seen seen;
    (seen(args), ...);
    const auto& kernel = entry_->choose(seen.wants_gradient, seen.device);
    const auto* f = std::any_cast<std::function<R(Args...)>>(&kernel.typed);
    TAEDA_CHECK(f, "Tried to access or call the operator '", entry_->name(),
                "' with a wrong signature");
    return (*f)(std::forward<Args>(args)...);
  }

 private:
  const OperatorEntry* entry_;
};

class OperatorHandle {
 public:
  explicit OperatorHandle(const OperatorEntry& entry) : entry_(&entry) {}
  template <class Signature>
  TypedOperatorHandle<Signature> typed() const {
    return TypedOperatorHandle<Signature>(*entry_);
  }
  /// Takes the arguments from the stack and leaves the results there.
  void callBoxed(std::vector<IValue>& stack) const {
    library_detail::Seen seen;
    for (const IValue& v : stack) seen(v);
    stack = entry_->choose(seen.wants_gradient, seen.device).boxed(stack);
  }

 private:
  const OperatorEntry* entry_;
};

/// All operations that were registered, by "namespace::name".
class Dispatcher {
 public:
  static Dispatcher& singleton() {
    static Dispatcher all;
    return all;
  }
  /// Throws Error for a name that is not registered.
  OperatorHandle findSchemaOrThrow(const std::string& name,
                                   const std::string& overload = "") const {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(overload.empty() ? name : name + "." + overload);
    TAEDA_CHECK(found != entries_.end(), "Could not find schema for ", name, ".", overload);
    return OperatorHandle(found->second);
  }
  void add(const std::string& name, DispatchKey key, OperatorEntry::Kernel kernel) {
    const std::scoped_lock lock(mutex_);
    entries_.try_emplace(name, name).first->second.add(key, std::move(kernel));
  }
  void define(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    entries_.try_emplace(name, name);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, OperatorEntry> entries_;
};

/// A schema is its text.
inline std::string schema(const char* text) { return text; }

/// What TORCH_LIBRARY's block registers its operations with.
class Library {
 public:
  explicit Library(std::string space, DispatchKey key = DispatchKey::CompositeImplicitAutograd)
      : space_(std::move(space)), key_(key) {}

  /// `name` may be a whole schema, "add(Tensor a, Tensor b) -> Tensor": what is before the bracket
  /// counts.
  Library& def(const std::string& name) {
    Dispatcher::singleton().define(full(name));
    return *this;
  }
  template <class F>
  Library& def(const std::string& name, F&& f) {
    return impl(name, std::forward<F>(f));
  }
  template <class F>
  Library& impl(const std::string& name, F&& f) {
    Dispatcher::singleton().add(full(name), key_,
                                library_detail::make_kernel(std::function(std::forward<F>(f))));
    return *this;
  }

 private:
  std::string full(const std::string& name) const {
    const std::string plain = name.substr(0, name.find('('));
    return plain.find("::") == std::string::npos ? space_ + "::" + plain : plain;
  }

  std::string space_;
  DispatchKey key_;
};

/// Runs a block of TORCH_LIBRARY when the program starts.
struct LibraryInit {
  LibraryInit(void (*block)(Library&), const char* space,
              DispatchKey key = DispatchKey::CompositeImplicitAutograd) {
    Library library(space, key);
    block(library);
  }
};

/// While one of these stands, the devices' implementations answer and nothing is recorded: for
/// Autograd's implementation, which calls the operation that it differentiates.
class AutoDispatchBelowAutograd {
 private:
  NoGradGuard guard_;
};
using AutoDispatchBelowADInplaceOrView = AutoDispatchBelowAutograd;

}  // namespace taeda_compat

#define TAEDA_COMPAT_JOIN_(a, b) a##b
#define TAEDA_COMPAT_JOIN(a, b) TAEDA_COMPAT_JOIN_(a, b)
#define TAEDA_COMPAT_LIBRARY(ns, block, ...)                                \
  static void block(::taeda_compat::Library&);                              \
  static const ::taeda_compat::LibraryInit TAEDA_COMPAT_JOIN(block, _init)( \
      &block, #ns __VA_OPT__(, ) __VA_ARGS__);                              \
  static void block
#define TORCH_LIBRARY(ns, m) \
  TAEDA_COMPAT_LIBRARY(ns, torch_library_##ns)(::taeda_compat::Library & m)
// __COUNTER__ counts at each use: it must be read once.
#define TAEDA_COMPAT_FRAGMENT(ns, m, block) \
  TAEDA_COMPAT_LIBRARY(ns, block)(::taeda_compat::Library & m)
#define TORCH_LIBRARY_FRAGMENT(ns, m) \
  TAEDA_COMPAT_FRAGMENT(ns, m, TAEDA_COMPAT_JOIN(torch_library_fragment_##ns##_, __COUNTER__))
#define TORCH_LIBRARY_IMPL(ns, key, m)                                                   \
  TAEDA_COMPAT_LIBRARY(ns, torch_library_##ns##_##key, ::taeda_compat::DispatchKey::key) \
  (::taeda_compat::Library & m)
#define TORCH_FN(f) &f
