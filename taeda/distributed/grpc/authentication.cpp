#include "taeda/distributed/grpc/authentication.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <memory>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::grpc_link {

namespace {

/// Threads of gRPC, and those that a failed group left waiting for the store, go on until the
/// process has ended. OpenSSL must not free its tables under them when it begins to; this comes
/// before anything else uses OpenSSL, or has no effect.
[[maybe_unused]] const int openssl_stays = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

/// HMAC-SHA256 of the pieces, one after the other.
std::string hmac(const std::string& secret, const std::vector<std::string_view>& pieces) {
  const auto bytes_of = [](std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  };
  const Key key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_HMAC, nullptr, bytes_of(secret), secret.size()),
      EVP_PKEY_free);
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  unsigned char out[EVP_MAX_MD_SIZE];
  size_t size = sizeof out;
  bool good = key && context &&
              EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1;
  for (const std::string_view piece : pieces)
    good = good && EVP_DigestSignUpdate(context.get(), bytes_of(piece), piece.size()) == 1;
  good = good && EVP_DigestSignFinal(context.get(), out, &size) == 1 && size == kCodeBytes;
  TAEDA_CHECK_AS(DistributedError, good, "OpenSSL makes no HMAC-SHA256");
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
  return hmac(secret, {"taeda store ", purpose, eight_bytes(hello.size()), hello,
                       eight_bytes(challenge.size()), challenge});
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
  return next(std::vector<std::string_view>{payload});
}

std::string FrameCodes::next(const std::vector<std::string_view>& pieces) {
  if (key_.empty()) return {};
  const std::string place = (from_ == From::kClient ? "c" : "s") + eight_bytes(count_++);
  std::vector<std::string_view> all = {place};
  all.insert(all.end(), pieces.begin(), pieces.end());
  return hmac(key_, all);
}

}  // namespace taeda::inline v0_2::distributed::grpc_link
