// A program that is not of the job, speaks Gloo's protocol, and connects before a rank's real peer
// does.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "taeda/distributed/store/hash_store.h"
#include "tests/distributed/group/ranks.h"

namespace taeda {
namespace {

using distributed::ProcessGroup;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Ne;

/// A connection to where a rank waits for its peer.
class Impostor {
 public:
  /// `address` is what the rank listens on: everybody on the machine sees it in /proc/net/tcp.
  explicit Impostor(const sockaddr_in& address)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    const timeval patience = {.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Impostor() { ::close(socket_); }
  Impostor(const Impostor&) = delete;
  Impostor& operator=(const Impostor&) = delete;

  bool connected() const { return connected_; }

  void write(const void* data, size_t size) { ::send(socket_, data, size, MSG_NOSIGNAL); }
  void read_until_closed() {
    char all[256];
    while (::recv(socket_, all, sizeof all, 0) > 0) {
    }
  }
  /// Offers a message and sends it when the rank asks for it, as a peer does.
  void send_message(uint64_t slot, const std::string& text) {
    const Preamble offer = {.opcode = kOffer, .slot = slot, .length = text.size()};
    write(&offer, sizeof offer);
    for (Preamble asked; ::recv(socket_, &asked, sizeof asked, MSG_WAITALL) == sizeof asked;) {
      if (asked.opcode != kAsk || asked.slot != slot) continue;
      const Preamble head = {.nbytes = sizeof(Preamble) + text.size(),
                             .opcode = kMessage,
                             .slot = slot,
                             .length = text.size()};
      write(&head, sizeof head);
      write(text.data(), text.size());
      return;
    }
  }

 private:
  /// What stands before everything that Gloo sends over TCP.
  struct Preamble {
    uint64_t nbytes = sizeof(Preamble), opcode = 0, slot = 0, offset = 0, length = 0, roffset = 0;
  };
  static constexpr uint64_t kMessage = 1, kOffer = 2, kAsk = 3;

  int socket_;
  bool connected_ = false;
};

/// The store of two ranks, in which impostors connect to both as soon as both have said where they
/// listen, before either connects.
class WatchedStore final : public distributed::Store {
 public:
  using Attack = std::function<void(Impostor&)>;
  explicit WatchedStore(Attack attack) : attack_(std::move(attack)) {}
  ~WatchedStore() override {
    for (std::thread& t : threads_) t.join();
  }

  void wait(const std::vector<std::string>& keys,
            std::optional<std::chrono::milliseconds> timeout) override {
    store_.wait(keys, timeout);
    if (keys.at(0).ends_with("gloo/0") || keys.at(0).ends_with("gloo/1"))
      std::call_once(once_, [this] { connect_to_both(); });
  }
  void set(const std::string& key, std::string_view value) override { store_.set(key, value); }
  std::string get(const std::string& key) override { return store_.get(key); }
  int64_t add(const std::string& key, int64_t amount) override { return store_.add(key, amount); }
  std::string compare_set(const std::string& key, std::string_view expected,
                          std::string_view desired) override {
    return store_.compare_set(key, expected, desired);
  }
  bool delete_key(const std::string& key) override { return store_.delete_key(key); }
  bool check(const std::vector<std::string>& keys) override { return store_.check(keys); }
  int64_t num_keys() override { return store_.num_keys(); }

 private:
  void connect_to_both() {
    for (const char* rank : {"0", "1"}) {
      const std::string value = store_.get("group/world/gloo/" + std::string(rank));
      sockaddr_in address = {};
      std::memcpy(&address, value.data(), sizeof address);
      auto impostor = std::make_shared<Impostor>(address);
      EXPECT_TRUE(impostor->connected());
      threads_.emplace_back([this, impostor] { attack_(*impostor); });
    }
  }

  distributed::HashStore store_;
  Attack attack_;
  std::once_flag once_;
  std::vector<std::thread> threads_;
};

/// What two ranks say that are about to exchange a secret.
std::vector<std::string> errors_under(WatchedStore::Attack attack,
                                      std::chrono::milliseconds timeout) {
  std::vector<std::string> errors(2, "no error");
  {
    const auto store = std::make_shared<WatchedStore>(std::move(attack));
    std::vector<std::thread> ranks;
    for (const int rank : {0, 1})
      ranks.emplace_back([&, rank] {
        try {
          ProcessGroup::create("gloo", store, rank, 2, {.timeout = timeout, .name = "world"});
        } catch (const Error& e) {
          errors[static_cast<size_t>(rank)] = e.what();
        }
      });
    for (std::thread& t : ranks) t.join();
  }
  return errors;
}

constexpr const char* kUnproven = "has not proved to be of this group";

TEST(Impostors, WhoShowsTheWrongProofIsNoPeer) {
  const auto errors = errors_under(
      [](Impostor& i) {
        i.send_message(uint64_t{0x92} << 56, std::string(32, '0'));
        i.read_until_closed();
      },
      std::chrono::seconds(20));
  EXPECT_THAT(errors, Contains(HasSubstr(kUnproven)));
  EXPECT_THAT(errors, Each(Ne("no error")));
}

TEST(Impostors, WhoSaysNothingIsNamedAtTheDeadline) {
  const auto errors =
      errors_under([](Impostor& i) { i.read_until_closed(); }, std::chrono::seconds(1));
  EXPECT_THAT(errors, Contains(HasSubstr(kUnproven)));
  EXPECT_THAT(errors, Each(Ne("no error")));
}

}  // namespace
}  // namespace taeda
