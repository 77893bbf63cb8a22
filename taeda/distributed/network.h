// Names and addresses of machines and their interfaces.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace taeda::inline v0_2::distributed {

/// The numeric address of `host`: "localhost" is 127.0.0.1, an address is itself, a name is what
/// the system says first. Throws DistributedError when it knows none.
std::string resolve(const std::string& host);

/// The address of a network interface ("eth0"), IPv4 where it has one; an address is itself. Throws
/// DistributedError naming the interfaces there are.
std::string interface_address(const std::string& name);

/// Where a server for `host` listens: on the interface that is named (a name, an address, or
/// 0.0.0.0 or :: for all); else, unless `host` is loopback, on that of TAEDA_DISTRIBUTED_INTERFACE;
/// else on the address of `host` and nowhere else.
std::string listen_address(const std::string& host, const std::string& interface_name = "");

/// The address of this machine from which packets to `host` go out.
std::string address_towards(const std::string& host);

/// Remembers where this process meets the others of its job, for own_address().
void set_meeting_host(const std::string& host);

/// Where others of the job reach this process: on the interface that is named; else on that of
/// TAEDA_DISTRIBUTED_INTERFACE, or `also` where there is such a variable; else on the way to where
/// they all meet; else, and where that is this machine alone, on loopback.
std::string own_address(const std::string& interface_name = "", const char* also = nullptr);

/// Whether only processes of this machine can reach the numeric `address`.
bool is_loopback(const std::string& address);

/// "host:port", with brackets around an IPv6 address.
std::string endpoint(const std::string& host, uint16_t port);

/// Why this process cannot listen there, in the system's words; empty if it can.
std::string listen_objection(const std::string& address, uint16_t port);

/// The port that a socket is bound to; 0 where it is to none.
uint16_t port_of(int socket);

/// Why this process would not reach a server of its own at `address`, in the system's words; empty
/// if it would, and also if it cannot listen there.
std::string self_objection(const std::string& address);

/// Why this process cannot connect there within `timeout`, in the system's words; empty if it can.
std::string connect_objection(const std::string& host, uint16_t port,
                              std::chrono::milliseconds timeout);

}  // namespace taeda::inline v0_2::distributed
