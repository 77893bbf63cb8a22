#include "taeda/distributed/store/grpc/messages.h"

namespace taeda::inline v0_2::distributed::grpc_store {

std::string objection(const Request& request) {
  const auto too_long = [](const char* what, size_t size, size_t most) {
    return std::string(what) + " of " + std::to_string(size) + " bytes, at most " +
           std::to_string(most);
  };
  if (request.keys_size() > kMostKeysOfRequest)
    return std::to_string(request.keys_size()) + " keys at once, at most " +
           std::to_string(kMostKeysOfRequest);
  size_t all = 0;
  for (const std::string& key : request.keys()) {
    if (key.size() > kMostKeyBytes) return too_long("a key", key.size(), kMostKeyBytes);
    all += key.size();
  }
  if (all > kMostValueBytes) return too_long("keys", all, kMostValueBytes);
  const std::string key = request.keys_size() ? request.keys(0).substr(0, 100) : "";
  for (const std::string* value : {&request.value(), &request.expected()})
    if (value->size() > kMostValueBytes)
      return too_long(("a value for key '" + key + "'").c_str(), value->size(), kMostValueBytes);
  return {};
}

const char* name_of(taeda_store::Operation operation) {
  switch (operation) {
    case taeda_store::SET: return "set";
    case taeda_store::GET: return "get";
    case taeda_store::ADD: return "add";
    case taeda_store::COMPARE_SET: return "compare_set";
    case taeda_store::DELETE_KEY: return "delete_key";
    case taeda_store::CHECK: return "check";
    case taeda_store::WAIT: return "wait";
    case taeda_store::NUM_KEYS: return "num_keys";
    case taeda_store::WAIT_WORKERS: return "wait_for_workers";
    default: return "request";
  }
}

}  // namespace taeda::inline v0_2::distributed::grpc_store
