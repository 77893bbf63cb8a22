#include "taeda/distributed/store/grpc/authentication.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::grpc_store {

namespace {

std::string hmac(const std::string& key, const std::string& text) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const bool done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(),
                         out, &size) != nullptr;
  TAEDA_CHECK_AS(DistributedError, done, "OpenSSL makes no HMAC-SHA256");
  return std::string(reinterpret_cast<const char*>(out), size);
}

std::string eight_bytes(uint64_t number) {
  std::string out;
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(number >> shift & 0xff);
  return out;
}

}  // namespace

std::string new_nonce() {
  unsigned char out[32];
  TAEDA_CHECK_AS(DistributedError, RAND_bytes(out, sizeof out) == 1,
                 "OpenSSL gives no random bytes");
  return std::string(reinterpret_cast<const char*>(out), sizeof out);
}

bool same_code(const std::string& a, const std::string& b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string Greetings::code(const std::string& secret, const std::string& purpose) const {
  return hmac(secret, "taeda store " + purpose + eight_bytes(hello.size()) + hello +
                          eight_bytes(challenge.size()) + challenge);
}

std::string Greetings::client_proof(const std::string& secret) const {
  return code(secret, "client");
}

std::string Greetings::server_proof(const std::string& secret) const {
  return code(secret, "server");
}

std::string Greetings::session_key(const std::string& secret) const {
  return secret.empty() ? std::string() : code(secret, "session");
}

FrameCodes::FrameCodes(std::string key, From from) : key_(std::move(key)), from_(from) {}

std::string FrameCodes::next(const std::string& payload) {
  if (key_.empty()) return {};
  const char* who = from_ == From::kClient ? "c" : "s";
  return hmac(key_, who + eight_bytes(count_++) + payload);
}

}  // namespace taeda::distributed::grpc_store
