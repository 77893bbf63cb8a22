// A store behind mutual TLS, with certificates made for the test.

#if defined(TAEDA_HAS_GRPC) && !defined(__SANITIZE_THREAD__)  // missing_grpc() in stores.h

#include <gmock/gmock.h>

#include "taeda/distributed/store/tcp_store.h"
#include "tests/distributed/certificates.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"

namespace taeda::distributed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Tls : public testing::Test {
 protected:
  Security process_of(const std::string& authority) const {
    return certified_process(folder_, authority);
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

}  // namespace
}  // namespace taeda::distributed

#endif
