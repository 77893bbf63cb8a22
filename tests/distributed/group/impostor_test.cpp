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
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Ne;

constexpr uint64_t kProofSlot = uint64_t{0x91} << 56;

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
  /// Ends the connection without waiting for anything.
  void reset() const {
    const linger at_once = {.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  /// What stands before a message of `length` bytes.
  void announce(uint64_t opcode, uint64_t slot, uint64_t length) {
    const Preamble head = {
        .nbytes = sizeof head + length, .opcode = opcode, .slot = slot, .length = length};
    write(&head, sizeof head);
  }
  /// Offers a message and sends it when the rank asks for it, as a peer does.
  void send_message(uint64_t slot, const std::string& text) {
    const Preamble offer = {.opcode = kOffer, .slot = slot, .length = text.size()};
    write(&offer, sizeof offer);
    for (Preamble asked; ::recv(socket_, &asked, sizeof asked, MSG_WAITALL) == sizeof asked;) {
      if (asked.opcode != kAsk || asked.slot != slot) continue;
      announce(kMessage, slot, text.size());
      write(text.data(), text.size());
      return;
    }
  }

  static constexpr uint64_t kMessage = 1, kOffer = 2, kAsk = 3;

 private:
  /// What stands before everything that Gloo sends over TCP.
  struct Preamble {
    uint64_t nbytes = sizeof(Preamble), opcode = 0, slot = 0, offset = 0, length = 0, roffset = 0;
  };
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
        i.send_message(kProofSlot, std::string(32, '0'));
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

TEST(Impostors, WhatIsNoMessageIsAnErrorThatNamesThePair) {
  const std::vector<WatchedStore::Attack> attacks = {
      [](Impostor& i) { i.write(std::string(1000, '\xff').data(), 1000); },
      [](Impostor& i) { i.write(std::string(1000, '\0').data(), 1000); },
      [](Impostor& i) { i.announce(0, kProofSlot, 32); },  // to memory that it names itself
      [](Impostor& i) { i.announce(Impostor::kMessage, 7, 32); },
      [](Impostor& i) { i.announce(Impostor::kMessage, kProofSlot, 1 << 20); },
      [](Impostor& i) { i.announce(Impostor::kOffer, 7, 0); },
      [](Impostor& i) {
        for (int n = 0; n < 4; ++n) i.announce(Impostor::kOffer, kProofSlot, 0);
      },
  };
  for (const WatchedStore::Attack& attack : attacks) {
    const auto errors = errors_under(
        [&](Impostor& i) {
          attack(i);
          i.read_until_closed();
        },
        std::chrono::seconds(20));
    EXPECT_THAT(errors, Contains(HasSubstr("the connection to [127.0.0.1]:")));
    EXPECT_THAT(errors, Each(AllOf(HasSubstr("rank 0"), HasSubstr("rank 1"))));
  }
}

TEST(Impostors, WhoLeavesAtOnceEndsNoProcess) {
  const auto errors = errors_under([](Impostor& i) { i.reset(); }, std::chrono::seconds(20));
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("rank 0"), HasSubstr("rank 1"))));
}

/// Of this process, whatever they are for: those of a group's ranks, which are threads, are enough.
void write_to_all_connections(const std::string& bytes) {
  constexpr int kMost = 1024;
  for (int file = 0; file < kMost; ++file) {
    sockaddr_in other = {};
    socklen_t size = sizeof other;
    if (::getpeername(file, reinterpret_cast<sockaddr*>(&other), &size) == 0 &&
        other.sin_family == AF_INET)
      ::send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

TEST(Impostors, AMemberThatSendsNoMessageIsNamed) {
  const auto errors = errors_of_ranks(2, [](ProcessGroup& group) {
    group.barrier({});
    if (group.rank() == 0) write_to_all_connections(std::string(1000, '\xff'));
    for (int n = 0; n < 2; ++n) group.barrier({});
  });
  EXPECT_THAT(errors, Contains(HasSubstr("what arrived is no message of Gloo's")));
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("rank 0"), HasSubstr("rank 1"))));
}

}  // namespace
}  // namespace taeda
