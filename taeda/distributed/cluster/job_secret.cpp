#include "taeda/distributed/cluster/job_secret.h"

#include <sys/random.h>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::cluster {

namespace {

std::string new_secret() {
  unsigned char bytes[32];
  TAEDA_CHECK_AS(DistributedError, ::getrandom(bytes, sizeof bytes, 0) == sizeof bytes,
                 "the system gives no random bytes for a secret");
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

}  // namespace

JobSecret::JobSecret(bool invent) : security_(Security::from_environment()) {
  if (invent && !security_.authenticates()) security_.secret = new_secret();
  if (!security_.secret.empty()) file_ = file_of_text("taeda_secret", security_.secret);
}

void JobSecret::hand_to(ChildOptions& child) const {
  if (!file_) return;
  child.inherited.push_back(file_.get());
  child.environment["TAEDA_DISTRIBUTED_SECRET_FILE"] = std::nullopt;
  child.environment["TAEDA_DISTRIBUTED_SECRET_FD"] = std::to_string(file_.get());
}

}  // namespace taeda::inline v0_2::distributed::cluster
