#if defined(TAEDA_HAS_GRPC)

#include "tests/distributed/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>

namespace taeda::distributed {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&::X509_free)>;

Key new_key() { return Key(::EVP_EC_gen("P-256"), ::EVP_PKEY_free); }

void extend(X509* certificate, int what, const char* text) {
  X509_EXTENSION* extension = ::X509V3_EXT_conf_nid(nullptr, nullptr, what, text);
  ::X509_add_ext(certificate, extension, -1);
  ::X509_EXTENSION_free(extension);
}

/// A certificate of `key` for this machine, signed by `issuer`; without one, an authority.
Certificate certify(const std::string& name, EVP_PKEY* key, X509* issuer, EVP_PKEY* issuer_key) {
  Certificate out(::X509_new(), ::X509_free);
  ::X509_set_version(out.get(), 2);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(out.get()), issuer ? 2 : 1);
  ::X509_gmtime_adj(::X509_getm_notBefore(out.get()), -60);
  ::X509_gmtime_adj(::X509_getm_notAfter(out.get()), 3600);
  ::X509_set_pubkey(out.get(), key);
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(out.get()), "CN", MBSTRING_ASC, text, -1, -1,
                               0);
  ::X509_set_issuer_name(out.get(), ::X509_get_subject_name(issuer ? issuer : out.get()));
  if (issuer)
    extend(out.get(), NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  else
    extend(out.get(), NID_basic_constraints, "critical,CA:TRUE");
  ::X509_sign(out.get(), issuer_key, ::EVP_sha256());
  return out;
}

template <class F>
void write(const std::string& path, F&& f) {
  FILE* file = std::fopen(path.c_str(), "w");
  f(file);
  std::fclose(file);
}

}  // namespace

Security certified_process(const TemporaryFolder& folder, const std::string& authority) {
  const Key root_key = new_key(), key = new_key();
  const Certificate root = certify(authority, root_key.get(), nullptr, root_key.get());
  const Certificate own = certify("rank", key.get(), root.get(), root_key.get());
  Security out{.tls_certificate = folder / (authority + ".pem"),
               .tls_key = folder / (authority + ".key"),
               .tls_authority = folder / (authority + ".ca")};
  write(out.tls_authority, [&](FILE* f) { ::PEM_write_X509(f, root.get()); });
  write(out.tls_certificate, [&](FILE* f) { ::PEM_write_X509(f, own.get()); });
  write(out.tls_key, [&](FILE* f) {
    ::PEM_write_PrivateKey(f, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return out;
}

}  // namespace taeda::distributed

#endif
