// Who may take part in a job beyond one machine: those who know its secret, or have a certificate.
#pragma once

#include <string>

namespace taeda::inline v0_2::distributed {

/// How processes of a job know each other. Without secret and certificate everything stays on the
/// loopback interface. docs/distributed.md says what each of them protects from.
struct Security {
  std::string secret = {};           ///< bytes that only processes of the job know, at least 16
  std::string tls_certificate = {};  ///< paths of PEM files: this process's certificate,
  std::string tls_key = {};          ///< its private key,
  std::string tls_authority = {};    ///< and whose certificates are believed, on both sides

  bool has_tls() const { return !tls_certificate.empty(); }
  bool authenticates() const { return !secret.empty() || has_tls(); }

  /// TAEDA_DISTRIBUTED_SECRET_FILE (a path, mode 0600) or TAEDA_DISTRIBUTED_SECRET_FD (the number
  /// of an open descriptor; a pipe is read once), and TAEDA_DISTRIBUTED_TLS_CERT, _KEY and _CA, all
  /// three or none. Throws DistributedError naming variable and value.
  static Security from_environment();
};

/// The secret in a file, without white space at its end. Refuses a file that others than its owner
/// may read, one that is not this user's or root's, and less than 16 or more than 4096 bytes.
std::string read_secret(const std::string& path);

/// Throws DistributedError, saying what to do, if others than this machine's processes can reach
/// `address` and `security` could not tell who they are. `what` is what was about to be done there.
void check_reach(const std::string& address, const Security& security, const std::string& what);

}  // namespace taeda::distributed
