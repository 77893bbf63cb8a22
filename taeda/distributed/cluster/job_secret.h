// How the processes of a job get its secret from who starts them.
#pragma once

#include "taeda/distributed/cluster/child.h"
#include "taeda/distributed/cluster/descriptor.h"
#include "taeda/distributed/security.h"

namespace taeda::inline v0_2::distributed::cluster {

/// The job's secret in a file in memory, which children inherit. It stands neither in a variable
/// nor on a command line.
class JobSecret {
 public:
  /// That of the environment. With `invent`, where the environment has neither secret nor
  /// certificates, a new one, so that other users of this machine cannot take part.
  explicit JobSecret(bool invent);

  const Security& security() const { return security_; }
  void hand_to(ChildOptions& child) const;

 private:
  Security security_;
  Descriptor file_;
};

}  // namespace taeda::inline v0_2::distributed::cluster
