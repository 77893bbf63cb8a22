#include "taeda/rpc/functions.h"

#include <map>
#include <mutex>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::rpc::detail {

namespace {

struct Functions {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Function>> by_name;
  std::map<std::string, std::string> names;  ///< by key
};

Functions& all_functions() {
  static auto* all = new Functions;
  return *all;
}

}  // namespace

void throw_out_of_range(int64_t value, const char* type) {
  taeda::detail::fail<ValueError>("rpc: the integer " + std::to_string(value) +
                                  " does not fit into " + autograd::detail::demangled(type));
}

std::string key_of(const void* pointer, size_t size, const char* type) {
  return std::string(static_cast<const char*>(pointer), size) + type;
}

void add_function(Function function, const std::string& key) {
  TAEDA_CHECK_VALUE(!function.name.empty(), "rpc::register_function: a name must not be empty");
  Functions& all = all_functions();
  std::lock_guard lock(all.mutex);
  const std::string name = function.name, signature = function.signature();
  const auto [entry, added] =
      all.by_name.try_emplace(name, std::make_shared<const Function>(std::move(function)));
  TAEDA_CHECK_VALUE(added, "rpc::register_function: '", name, "' is registered already, as ",
                    entry->second->signature());
  if (!key.empty()) all.names.try_emplace(key, name);
}

std::shared_ptr<const Function> find_function(const std::string& name) {
  Functions& all = all_functions();
  std::lock_guard lock(all.mutex);
  const auto entry = all.by_name.find(name);
  return entry == all.by_name.end() ? nullptr : entry->second;
}

std::string name_of_key(const std::string& key) {
  Functions& all = all_functions();
  std::lock_guard lock(all.mutex);
  const auto entry = all.names.find(key);
  TAEDA_CHECK_VALUE(entry != all.names.end(),
                    "rpc: the function to be called is not registered in this process; "
                    "TAEDA_RPC_FUNCTION(f) does that, or rpc::register_function(\"f\", f)");
  return entry->second;
}

}  // namespace taeda::inline v0_2::distributed::rpc::detail
