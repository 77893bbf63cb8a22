// A store behind mutual TLS, with certificates made for the test.

#if defined(TAEDA_HAS_GRPC) && !defined(__SANITIZE_THREAD__)  // missing_grpc() in stores.h

#include <gmock/gmock.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>

#include "taeda/distributed/store/tcp_store.h"
#include "tests/distributed/rpc/functions.h"
#include "tests/distributed/rpc/workers.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"

namespace taeda::distributed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

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

class Tls : public testing::Test {
 protected:
  /// The files of a process whose certificate a new authority of that name signed.
  Security process_of(const std::string& authority) {
    const Key root_key = new_key(), key = new_key();
    const Certificate root = certify(authority, root_key.get(), nullptr, root_key.get());
    const Certificate own = certify("rank", key.get(), root.get(), root_key.get());
    Security out{.tls_certificate = folder_ / (authority + ".pem"),
                 .tls_key = folder_ / (authority + ".key"),
                 .tls_authority = folder_ / (authority + ".ca")};
    write(out.tls_authority, [&](FILE* f) { ::PEM_write_X509(f, root.get()); });
    write(out.tls_certificate, [&](FILE* f) { ::PEM_write_X509(f, own.get()); });
    write(out.tls_key, [&](FILE* f) {
      ::PEM_write_PrivateKey(f, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return out;
  }
  template <class F>
  static void write(const std::string& path, F&& f) {
    FILE* file = std::fopen(path.c_str(), "w");
    f(file);
    std::fclose(file);
  }
  static TCPStoreOptions options(uint16_t port, const Security& security) {
    return {.port = port,
            .is_master = port == 0,
            .timeout = std::chrono::seconds(20),
            .job = "tests",
            .security = security};
  }
  static std::string refusal(const std::string& host, uint16_t port, const Security& security) {
    TCPStoreOptions client = options(port, security);
    client.timeout = std::chrono::milliseconds(300);
    return error_of([&] { TCPStore store(host, client); });
  }

  TemporaryFolder folder_;
};

TEST_F(Tls, ProcessesWithCertificatesMeetBeyondThisMachine) {
  const Security job = process_of("job");
  TCPStoreOptions master = options(0, job);
  master.interface_name = "0.0.0.0";
  TCPStore store("localhost", master);
  TCPStore other("localhost", options(store.port(), job));
  other.set("key", "1");
  EXPECT_EQ(store.get("key"), "1");
  EXPECT_EQ(TCPStore("127.0.0.1", options(store.port(), job)).get("key"), "1");
}

TEST_F(Tls, OthersCannotConnect) {
  const Security job = process_of("job"), stranger = process_of("stranger");
  TCPStoreOptions master = options(0, job);
  master.interface_name = "0.0.0.0";
  TCPStore store("localhost", master);
  Security impostor = stranger;
  impostor.tls_authority = job.tls_authority;  // it believes the server, but nobody signed for it
  for (const Security& other : {Security(), stranger, impostor})
    EXPECT_THAT(refusal("localhost", store.port(), other), HasSubstr("has timed out after 300ms"));
  EXPECT_EQ(store.add("n", 1), 1);
  EXPECT_THAT(refusal("127.0.0.2", store.port(), job), HasSubstr("has timed out"))
      << "no certificate names this address";
}

TEST_F(Tls, ASecretIsAskedForAsWell) {
  Security job = process_of("job");
  job.secret = kTestSecret;
  TCPStore store("localhost", options(0, job));
  Security other = job;
  other.secret = "what others might guess";
  EXPECT_THAT(error_of([&] { TCPStore("localhost", options(store.port(), other)); }),
              HasSubstr("this process does not know the job's secret"));
  TCPStore("localhost", options(store.port(), job)).set("key", "1");
  EXPECT_EQ(store.get("key"), "1");
}

TEST_F(Tls, AFileThatIsMissingIsNamed) {
  Security job = process_of("job");
  job.tls_key = folder_ / "none";
  EXPECT_EQ(error_of([&] { TCPStore store("localhost", options(0, job)); }),
            "TLS: the file '" + job.tls_key + "' cannot be read or is empty");
}

TEST_F(Tls, WorkersCallThoseWhoseCertificatesTheyBelieve) {
  const Security job = process_of("job"), stranger = process_of("stranger");
  const auto all = [&](int64_t) { return rpc::RpcBackendOptions{.security = job}; };
  rpc::run_workers(
      rpc::Net::Grpc, 2, [](int64_t) { EXPECT_EQ(rpc::rpc_sync("worker1", rpc::who), "worker1"); },
      all);
  const auto two_authorities = [&](int64_t rank) {
    return rpc::RpcBackendOptions{.security = rank == 0 ? job : stranger};
  };
  rpc::run_workers(
      rpc::Net::Grpc, 2,
      [](int64_t rank) {
        EXPECT_THAT(error_of([&] { rpc::rpc_sync(1 - rank, rpc::who); }),
                    HasSubstr("in function 'who': the connection to worker worker" +
                              std::to_string(1 - rank) + " is gone"));
      },
      two_authorities);
}

}  // namespace
}  // namespace taeda::distributed

#endif
