// References to values that stay at another worker; torch.distributed.rpc.RRef.
#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/base/source_location.h"
#include "taeda/rpc/references.h"
#include "taeda/rpc/rpc.h"

namespace taeda::inline v0_2::distributed::rpc {

template <class T, class Caller>
class RRefProxy;

/// A reference to a T that one worker owns; copies are one. The value lives as long as any worker
/// has a reference to it. Sending an RRef sends the reference, not the value; T itself need not be
/// a type that can be sent, unless to_here() is called.
template <class T>
class RRef {
 public:
  using Site = SourceLocation;

  RRef() = default;
  /// Refers to a value of this worker.
  explicit RRef(T value, Site site = Site::current())
      : handle_(Agent::current()->references().own(make_value(std::move(value)), site)) {}
  explicit RRef(RRefHandlePtr handle) : handle_(std::move(handle)) {}

  bool is_owner() const { return handle().is_owner(); }
  WorkerInfo owner() const { return handle().agent->worker(handle().info.owner); }
  std::string owner_name() const { return owner().name; }
  /// Whether the owner is known to have heard of this reference. One that came from a third worker
  /// is known to when something came back from the owner.
  bool confirmed_by_owner() const { return handle().confirmed; }

  /// A copy of the value. Throws what the function that makes it threw, DistributedError if there
  /// is no answer within `timeout` seconds.
  T to_here(double timeout = kUnsetRpcTimeout) const {
    if (is_owner()) return local_value();
    static_assert(Sendable<T>,
                  "values of this type cannot be sent: use local_value() at the owner");
    const auto made =
        handle()
            .fetch([](Reader& in) { return std::make_shared<T>(Codec<T>::read(in)); }, timeout)
            ->value();
    handle().confirmed = true;
    return *static_cast<T*>(made.get());
  }
  /// The value itself. Throws Error at any worker but the owner, and TypeError for a value that is
  /// no T.
  T& local_value() const { return *static_cast<T*>(handle().local_value().as(typeid(T))); }

  /// Calls functions at the owner: rref.rpc_sync().call(&Counter::add, 2). @{
  auto rpc_sync(double timeout = kUnsetRpcTimeout) const;
  auto rpc_async(double timeout = kUnsetRpcTimeout) const;
  auto remote(double timeout = kUnsetRpcTimeout, Site site = Site::current()) const;
  /// @}

  const RRefHandlePtr& handle_ptr() const { return handle_; }

 private:
  RRefHandle& handle() const {
    TAEDA_CHECK(handle_, "an empty RRef was used");
    return *handle_;
  }

  RRefHandlePtr handle_;
};

template <class T>
struct Codec<RRef<T>> {
  static std::string name() { return "RRef[" + type_name<T>() + "]"; }
  static void write(Writer& out, const RRef<T>& value) {
    TAEDA_CHECK(value.handle_ptr(), "an empty RRef cannot be sent");
    References::share(value.handle_ptr(), out);
  }
  static RRef<T> read(Reader& in) { return RRef<T>(References::receive(in, type_name<T>())); }
};

namespace detail {

template <class R>
RRef<R> create(const WorkerRef& to, const std::string& function, const auto& arguments,
               double timeout, const SourceLocation& site) {
  using Arguments = std::decay_t<decltype(arguments)>;
  const auto names = []<class... A>(const std::tuple<A...>*) { return arguments_of<A...>(); };
  const Target target = {function, names(static_cast<const Arguments*>(nullptr)), type_name<R>()};
  return RRef<R>(Agent::current()->references().create(
      to, target.result, function,
      [&](Writer& out) {
        write_target(out, target);
        Codec<Arguments>::write(out, arguments);
      },
      timeout, site));
}

}  // namespace detail

/// Calls a function at worker `to`, where its result stays, and returns a reference to it at once.
template <class R, class... A>
RRef<detail::Result<R>> remote(const WorkerRef& to, R (*func)(A...),
                               const detail::ArgumentsFor<A...>& args,
                               double timeout = kUnsetRpcTimeout,
                               SourceLocation site = SourceLocation::current()) {
  return detail::create<detail::Result<R>>(to, detail::name_of_key(detail::key_of(func)), args,
                                           timeout, site);
}
template <class R>
RRef<detail::Result<R>> remote(const WorkerRef& to, R (*func)(),
                               SourceLocation site = SourceLocation::current()) {
  return remote(to, func, {}, kUnsetRpcTimeout, site);
}
/// The same with the function's name: remote<Tensor>("worker1", "add", std::tuple(x, y)).
template <class R, class... A>
RRef<R> remote(const WorkerRef& to, const std::string& func, const std::tuple<A...>& args = {},
               double timeout = kUnsetRpcTimeout, SourceLocation site = SourceLocation::current()) {
  return detail::create<R>(to, func, args, timeout, site);
}

/// What an RRef's rpc_sync(), rpc_async() and remote() return. `call` takes a member that was
/// registered with TAEDA_RPC_METHOD, or a registered function whose first parameter is the RRef.
template <class T, class Caller>
class RRefProxy {
 public:
  RRefProxy(RRef<T> rref, Caller caller) : rref_(std::move(rref)), caller_(std::move(caller)) {}

  template <class C, class R, class... A>
  auto call(R (C::*f)(A...), std::type_identity_t<std::decay_t<A>>... args) const {
    return send<R>(detail::key_of(f), std::move(args)...);
  }
  template <class C, class R, class... A>
  auto call(R (C::*f)(A...) const, std::type_identity_t<std::decay_t<A>>... args) const {
    return send<R>(detail::key_of(f), std::move(args)...);
  }
  template <class R, class... A>
  auto call(R (*f)(const RRef<T>&, A...), std::type_identity_t<std::decay_t<A>>... args) const {
    return send<R>(detail::key_of(f), std::move(args)...);
  }

 private:
  template <class R, class... A>
  auto send(const std::string& key, A... args) const {
    return caller_.template operator()<std::decay_t<R>>(
        rref_.owner(), detail::name_of_key(key),
        std::tuple<RRef<T>, A...>(rref_, std::move(args)...));
  }

  const RRef<T> rref_;
  const Caller caller_;
};

template <class T>
auto RRef<T>::rpc_sync(double timeout) const {
  return RRefProxy(*this,
                   [timeout]<class R>(const WorkerRef& to, const std::string& f, const auto& args) {
                     return detail::call<R>(to, f, args, timeout).wait();
                   });
}

template <class T>
auto RRef<T>::rpc_async(double timeout) const {
  return RRefProxy(*this,
                   [timeout]<class R>(const WorkerRef& to, const std::string& f, const auto& args) {
                     return detail::call<R>(to, f, args, timeout);
                   });
}

template <class T>
auto RRef<T>::remote(double timeout, Site site) const {
  return RRefProxy(
      *this, [timeout, site]<class R>(const WorkerRef& to, const std::string& f, const auto& args) {
        return detail::create<detail::Result<R>>(to, f, args, timeout, site);
      });
}

}  // namespace taeda::inline v0_2::distributed::rpc
