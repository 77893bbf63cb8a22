// Proofs that the other side knows the job's secret, and codes for what is said afterwards. The
// codes and the random numbers are OpenSSL's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taeda::inline v0_2::distributed::grpc_link {

/// 32 random bytes.
std::string new_nonce();

/// Whether two codes are equal, in a time that does not tell where they differ.
bool same_code(const std::string& a, const std::string& b);

/// The bytes of a code.
inline constexpr size_t kCodeBytes = 32;

/// What both sides said before they knew each other, as bytes. Codes cover all of it, so nobody
/// between them can change a greeting, and numbers that are used once keep it from being repeated.
struct Greetings {
  std::string hello, challenge;

  std::string client_proof(const std::string& secret) const;
  std::string server_proof(const std::string& secret) const;
  /// The key for codes of later frames.
  std::string session_key(const std::string& secret) const;

 private:
  std::string code(const std::string& secret, const std::string& purpose) const;
};

/// Codes for the frames of one direction of a session, in their order.
class FrameCodes {
 public:
  enum class From { kClient, kServer };
  /// Without a key all codes are empty.
  FrameCodes(std::string key, From from);
  /// For the next frame.
  std::string next(const std::string& payload);
  /// The same for a payload in pieces.
  std::string next(const std::vector<std::string_view>& pieces);
  bool has_key() const { return !key_.empty(); }

 private:
  std::string key_;
  From from_;
  uint64_t count_ = 0;
};

}  // namespace taeda::inline v0_2::distributed::grpc_link
