#include "taeda/distributed/security.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "taeda/distributed/network.h"
#include "tests/variable.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"

namespace taeda::distributed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SecurityTest : public testing::Test {
 protected:
  /// A file with this text and these permissions; its path.
  std::string file(const std::string& text, mode_t mode = 0600) {
    const std::string path = folder_ / "secret";
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }

  TemporaryFolder folder_;
  Variable file_{"TAEDA_DISTRIBUTED_SECRET_FILE", {}},
      descriptor_{"TAEDA_DISTRIBUTED_SECRET_FD", {}};
  Variable certificate_{"TAEDA_DISTRIBUTED_TLS_CERT", {}}, key_{"TAEDA_DISTRIBUTED_TLS_KEY", {}};
};

TEST_F(SecurityTest, ASecretIsAFileOfItsOwner) {
  EXPECT_EQ(read_secret(file("0123456789abcdef\n")), "0123456789abcdef");
  const std::string open = file("0123456789abcdef\n", 0640);
  EXPECT_EQ(error_of([&] { read_secret(open); }),
            "the secret file '" + open +
                "' can be read or written by others than its owner; do "
                "`chmod 600 " +
                open + "`");
  EXPECT_THAT(error_of([&] { read_secret(folder_ / "none"); }),
              HasSubstr("cannot be opened (No such file or directory)"));
  EXPECT_THAT(error_of([&] { read_secret(file("short\n")); }),
              HasSubstr("must hold 16 to 4096 bytes, but it holds 5; `openssl rand"));
  EXPECT_THAT(error_of([&] { read_secret(file(std::string(5000, 'x'))); }),
              HasSubstr("must hold 16 to 4096 bytes, but it holds more"));
}

TEST_F(SecurityTest, TheEnvironmentNamesAFileOrADescriptor) {
  EXPECT_FALSE(Security::from_environment().authenticates());
  const std::string path = file("0123456789abcdef\n");
  {
    const Variable variable("TAEDA_DISTRIBUTED_SECRET_FILE", path);
    EXPECT_EQ(Security::from_environment().secret, "0123456789abcdef");
    const Variable both("TAEDA_DISTRIBUTED_SECRET_FD", "3");
    EXPECT_THAT(error_of([] { Security::from_environment(); }), HasSubstr("are both set"));
  }
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(::write(ends[1], "fedcba9876543210", 16), 16);
  ::close(ends[1]);
  const Variable variable("TAEDA_DISTRIBUTED_SECRET_FD", std::to_string(ends[0]));
  EXPECT_EQ(Security::from_environment().secret, "fedcba9876543210");
  EXPECT_EQ(Security::from_environment().secret, "fedcba9876543210") << "it is kept";
  ::close(ends[0]);
  const Variable wrong("TAEDA_DISTRIBUTED_SECRET_FD", "three");
  EXPECT_EQ(error_of([] { Security::from_environment(); }),
            "TAEDA_DISTRIBUTED_SECRET_FD=three is not the number of a descriptor");
}

TEST_F(SecurityTest, TlsNeedsAllThreeFiles) {
  const Variable certificate("TAEDA_DISTRIBUTED_TLS_CERT", "a.pem");
  EXPECT_THAT(error_of([] { Security::from_environment(); }),
              AllOf(HasSubstr("mutual TLS needs"), HasSubstr("but they are 'a.pem', '' and ''")));
  const Variable key("TAEDA_DISTRIBUTED_TLS_KEY", "b.pem"), ca("TAEDA_DISTRIBUTED_TLS_CA", "c.pem");
  EXPECT_TRUE(Security::from_environment().has_tls());
}

TEST(Network, KnowsWhatOthersCanReach) {
  EXPECT_TRUE(is_loopback("127.0.0.1"));
  EXPECT_TRUE(is_loopback("127.0.1.1"));
  EXPECT_TRUE(is_loopback("::1"));
  for (const char* address : {"0.0.0.0", "::", "192.0.2.1", "128.0.0.1", "fe80::1", "localhost"})
    EXPECT_FALSE(is_loopback(address)) << address;
}

TEST(Network, NamesBecomeAddresses) {
  EXPECT_EQ(resolve("localhost"), "127.0.0.1");
  EXPECT_EQ(resolve("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(interface_address("lo"), "127.0.0.1");
  EXPECT_EQ(listen_address("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(listen_address("192.0.2.7", "lo"), "127.0.0.1");
  const Variable named("TAEDA_DISTRIBUTED_INTERFACE", "lo");
  EXPECT_EQ(listen_address("192.0.2.7"), "127.0.0.1");
  EXPECT_EQ(listen_address("127.0.0.5"), "127.0.0.5") << "clients would not find it elsewhere";
  EXPECT_EQ(listen_address("192.0.2.7", "0.0.0.0"), "0.0.0.0") << "an option comes first";
  EXPECT_EQ(endpoint("host", 80), "host:80");
  EXPECT_EQ(endpoint("::1", 80), "[::1]:80");
}

TEST(Network, ALinkLocalAddressIsNotLoopback) {
  EXPECT_THAT(error_of([] { check_reach("fe80::1", {}, "testing"); }),
              HasSubstr("testing fe80::1, beyond this machine, is refused"));
  EXPECT_EQ(error_of([] { check_reach("::1", {}, "testing"); }), "no error");
  EXPECT_EQ(error_of([] { check_reach("fe80::1", {.secret = "x"}, "testing"); }), "no error");
}

}  // namespace
}  // namespace taeda::distributed
