#include "taeda/distributed/grpc/gate.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "taeda/base/error.h"
#include "taeda/distributed/grpc/endpoint.h"
#include "taeda/distributed/grpc/handshake.h"
#include "taeda/distributed/network.h"

namespace taeda::inline v0_2::distributed::grpc_link {

namespace {

/// What every HTTP/2 client begins with is that long, and so is more than what TLS begins with.
constexpr int kFirstBytes = 24;
/// After the server's own time for greetings, which tells the client why.
constexpr std::chrono::seconds kStay = kGreetingTimeout + std::chrono::seconds(1);
// What events are about, beside the numbers of guests.
constexpr uint64_t kListener = 0, kWake = UINT64_MAX;

void set(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

/// Ends a connection that gRPC reads from, with all that it has not read yet.
void cut(int socket) {
  const sockaddr nobody = {.sa_family = AF_UNSPEC, .sa_data = {}};
  if (::connect(socket, &nobody, sizeof nobody) != 0) ::shutdown(socket, SHUT_RDWR);
}

uint64_t bytes_received(int socket) {
  tcp_info info = {};
  socklen_t size = sizeof info;
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_received
                                                                        : 0;
}

/// "ipv6:%5B::1%5D:29500", as gRPC writes it, without what not everybody writes like this.
std::string plain(const std::string& peer) {
  std::string out;
  for (size_t i = peer.starts_with("ipv") ? 5 : 0; i < peer.size(); ++i) {
    char c = peer[i];
    if (c == '%' && peer.compare(i, 3, "%5B") == 0)
      c = '[', i += 2;
    else if (c == '%' && peer.compare(i, 3, "%5D") == 0)
      c = ']', i += 2;
    else if (c == '%' && peer.compare(i, 3, "%25") == 0)
      i += 2;
    if (c != '[' && c != ']') out += c;
  }
  return out;
}

/// The same of who is at the other end of a connection.
std::string peer_of(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  char host[NI_MAXHOST], port[NI_MAXSERV];
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::getpeername(socket, generic, &size) != 0 ||
      ::getnameinfo(generic, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return {};
  const std::string text = std::string(host) + ":" + port;
  constexpr std::string_view kMapped = "::ffff:";  // an IPv4 address at a socket for both
  return text.starts_with(kMapped) && text.find('.') != std::string::npos
             ? text.substr(kMapped.size())
             : text;
}

int bound_socket(const sockaddr* address, socklen_t size, bool both_families) {
  const int s = ::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (s < 0) return -1;
  set(s, SOL_SOCKET, SO_REUSEADDR, 1);  // connections of an earlier server that are still closing
  if (address->sa_family == AF_INET6) set(s, IPPROTO_IPV6, IPV6_V6ONLY, both_families ? 0 : 1);
  if (::bind(s, address, size) == 0 && ::listen(s, SOMAXCONN) == 0) return s;
  const int reason = errno;
  ::close(s);
  errno = reason;
  return -1;
}

/// A socket that listens at a numeric address; for all of them, of both families where there are
/// two. -1, with errno, where it cannot be had.
int listen_at(const std::string& address, uint16_t port) {
  if (address == "0.0.0.0" || address == "::") {
    sockaddr_in6 all = {};
    all.sin6_family = AF_INET6;
    all.sin6_port = htons(port);
    const int s = bound_socket(reinterpret_cast<sockaddr*>(&all), sizeof all, true);
    if (s >= 0 || errno != EAFNOSUPPORT) return s;
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
  addrinfo* found = nullptr;
  errno = EADDRNOTAVAIL;
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return -1;
  const int s = bound_socket(found->ai_addr, found->ai_addrlen, false);
  ::freeaddrinfo(found);
  return s;
}

void watch(int events, int change, int socket, uint64_t about, uint32_t what) {
  epoll_event event = {.events = what, .data = {.u64 = about}};
  ::epoll_ctl(events, change, socket, &event);
}

bool no_descriptors() { return errno == EMFILE || errno == ENFILE; }

}  // namespace

Gate::Gate(const std::string& what, const std::string& address, uint16_t port, bool tls)
    : most_bytes_(tls ? kMostUnprovenTlsBytes : kMostUnprovenBytes),
      listener_(listen_at(address, port)) {
  check_listening(what, address, port, listener_ < 0 ? std::strerror(errno) : "");
  port_ = port_of(listener_);
  events_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int reason = errno;
  if (events_ < 0 || wake_ < 0) {
    close();
    check_listening(what, address, port, std::strerror(reason));
  }
  watch(events_, EPOLL_CTL_ADD, wake_, kWake, EPOLLIN);
}

Gate::~Gate() { close(); }

void Gate::lead_to(grpc::ServerBuilder& builder,
                   std::shared_ptr<grpc::ServerCredentials> credentials) {
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  acceptor_ =
      builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, std::move(credentials));
}

void Gate::open() {
  watch(events_, EPOLL_CTL_ADD, listener_, kListener, EPOLLIN);
  usher_ = std::thread([this] { hand_over(); });
  thread_ = std::thread([this] { work(); });
}

void Gate::close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  const uint64_t one = 1;
  if (thread_.joinable() && ::write(wake_, &one, sizeof one) == sizeof one) thread_.join();
  std::unique_lock lock(mutex_);
  // Those that the usher may be reading from are ended first.
  while (!guests_.empty()) turn_away(guests_.begin()->first);
  lock.unlock();
  something_to_hand_over_.notify_one();
  if (usher_.joinable()) usher_.join();
  lock.lock();
  while (!members_.empty()) forget(members_.begin()->first);
  for (int* file : {&listener_, &events_, &wake_})
    if (const int f = std::exchange(*file, -1); f >= 0) ::close(f);
}

void Gate::work() {
  std::array<epoll_event, 64> events;
  while (true) {
    const int n = ::epoll_wait(events_, events.data(), events.size(), turn());
    for (int i = 0; i < n; ++i) {
      const uint64_t about = events[static_cast<size_t>(i)].data.u64;
      if (about == kListener)
        accept_all();
      else if (about != kWake)
        look_at(about, events[static_cast<size_t>(i)].events);
    }
    std::lock_guard lock(mutex_);
    if (closed_) return;
    while (!guests_.empty() && guests_.begin()->second.until <= Clock::now())
      turn_away(guests_.begin()->first);
  }
}

/// On the usher's thread.
void Gate::hand_over() {
  std::unique_lock lock(mutex_);
  while (true) {
    something_to_hand_over_.wait(lock, [this] { return closed_ || !to_hand_over_.empty(); });
    const std::vector<int> sockets = std::exchange(to_hand_over_, {});
    const bool closed = closed_;
    lock.unlock();  // gRPC may call back
    for (const int socket : sockets) {
      if (closed) {
        ::close(socket);
        continue;
      }
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.listener_fd = listener_;
      connection.fd = socket;
      acceptor_->HandleNewConnection(&connection);
    }
    if (closed) return;
    lock.lock();
  }
}

/// For how many milliseconds nothing is to be done, unless something happens.
int Gate::turn() {
  std::lock_guard lock(mutex_);
  if (guests_.empty()) return -1;
  const auto left = guests_.begin()->second.until - Clock::now();
  return static_cast<int>(std::max<int64_t>(0, left / std::chrono::milliseconds(1) + 1));
}

void Gate::accept_all() {
  constexpr int kAtOnce = 64;  // then those that have come are looked at
  for (int i = 0; i < kAtOnce; ++i) {
    const int s = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    std::lock_guard lock(mutex_);
    if (s < 0 && no_descriptors() && make_room()) continue;
    if (s < 0) return;
    set(s, IPPROTO_TCP, TCP_NODELAY, 1);
    set(s, SOL_SOCKET, SO_RCVLOWAT, kFirstBytes);
    const uint64_t number = ++last_;
    guests_[number] = {s, peer_of(s), Clock::now() + kStay};
    watch(events_, EPOLL_CTL_ADD, s, number, EPOLLIN | EPOLLRDHUP);
  }
}

/// With the lock held. Who has waited longest without a word goes first.
bool Gate::make_room() {
  if (guests_.empty() && !members_.empty()) {  // they stay, and are counted no more
    forget(members_.begin()->first);
    return true;
  }
  if (guests_.empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the server has to end some
    return false;
  }
  auto first = guests_.begin();
  for (auto it = first; it != guests_.end(); ++it)
    if (!it->second.inside) {
      first = it;
      break;
    }
  turn_away(first->first);
  return true;
}

void Gate::look_at(uint64_t number, uint32_t events) {
  const std::lock_guard lock(mutex_);
  Guests& house = house_of(number);
  const auto it = house.find(number);
  if (it == house.end()) return;
  Guest& guest = it->second;
  const bool ended = events & (EPOLLHUP | EPOLLERR);
  if (guest.inside) {
    if (ended)
      forget(number);
    else if (&house == &guests_ && bytes_received(guest.socket) > most_bytes_)
      turn_away(number);
    return;
  }
  if (ended || (events & EPOLLRDHUP)) return turn_away(number);
  const int second = ::fcntl(guest.socket, F_DUPFD_CLOEXEC, 0);
  if (second < 0) return turn_away(number);
  set(second, SOL_SOCKET, SO_RCVLOWAT, 1);
  guest.inside = true;
  inside_[guest.peer] = number;
  watch(events_, EPOLL_CTL_MOD, guest.socket, number, EPOLLIN | EPOLLRDHUP | EPOLLET);
  to_hand_over_.push_back(second);
  something_to_hand_over_.notify_one();
}

/// With the lock held.
void Gate::turn_away(uint64_t number) {
  const Guest& guest = house_of(number).at(number);
  if (guest.inside) cut(guest.socket);
  forget(number);
}

/// With the lock held.
void Gate::forget(uint64_t number) {
  Guests& house = house_of(number);
  const auto it = house.find(number);
  const Guest& guest = it->second;
  watch(events_, EPOLL_CTL_DEL, guest.socket, number, 0);  // gRPC has it still
  ::close(guest.socket);
  if (const auto known = inside_.find(guest.peer);
      known != inside_.end() && known->second == number)
    inside_.erase(known);
  house.erase(it);
}

void Gate::begin_stream(const std::string& peer) {
  std::lock_guard lock(mutex_);
  const auto known = inside_.find(plain(peer));
  if (known == inside_.end()) return;
  const uint64_t number = known->second;
  Guest& guest = house_of(number).at(number);
  if (guest.until <= Clock::now()) {
    guest.until = Clock::now() + kStay;
    guest.streams = 0;
  }
  if (++guest.streams > kMostStreams) turn_away(number);
}

void Gate::proved(const std::string& peer) {
  std::lock_guard lock(mutex_);
  const auto known = inside_.find(plain(peer));
  if (known == inside_.end() || members_.contains(known->second)) return;
  const auto member = members_.insert(guests_.extract(known->second)).position;
  watch(events_, EPOLL_CTL_MOD, member->second.socket, member->first, EPOLLET);  // its end alone
}

}  // namespace taeda::inline v0_2::distributed::grpc_link
