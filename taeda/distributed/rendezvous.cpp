#include "taeda/distributed/rendezvous.h"

#include <charconv>
#include <optional>

#include "taeda/base/error.h"
#include "taeda/distributed/cluster/agent_store.h"
#include "taeda/distributed/environment.h"
#include "taeda/distributed/network.h"
#include "taeda/distributed/store/file_store.h"
#include "taeda/distributed/store/hash_store.h"
#include "taeda/distributed/store/tcp_store.h"

namespace taeda::inline v0_2::distributed {

namespace {

/// An init_method, taken apart.
struct Url {
  std::string text, scheme, host, path;
  std::optional<int64_t> port, rank, world_size;

  [[noreturn]] void fail(const std::string& why) const {
    taeda::detail::fail<ValueError>("Error initializing torch.distributed using " + scheme +
                                    ":// rendezvous: " + why);
  }
};

int64_t number(const Url& url, const std::string& what, const std::string& text) {
  int64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 0)
    url.fail(what + " expected a number, but got '" + text + "' in '" + url.text + "'");
  return out;
}

/// Reads ?rank=1&world_size=4.
void parse_query(const std::string& query, Url& url) {
  for (size_t at = 0; at < query.size();) {
    const size_t end = std::min(query.find('&', at), query.size());
    const std::string part = query.substr(at, end - at);
    const size_t equals = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, equals);
    const std::string value = equals < part.size() ? part.substr(equals + 1) : "";
    if (name == "rank")
      url.rank = number(url, "rank", value);
    else if (name == "world_size")
      url.world_size = number(url, "world_size", value);
    else
      url.fail("'" + name + "' in '" + url.text + "' is neither rank nor world_size");
    at = end + 1;
  }
}

void parse_host(const std::string& text, Url& url) {
  const size_t bracket = text.rfind(']');
  const size_t colon = text.rfind(':');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  if (has_port) url.port = number(url, "port number", text.substr(colon + 1));
  url.host = text.substr(0, has_port ? colon : text.size());
  if (bracket != std::string::npos && url.host.starts_with('['))
    url.host = text.substr(1, bracket - 1);
}

Url parse(const std::string& text) {
  Url url;
  url.text = text;
  const size_t colon = text.find("://");
  url.scheme = text.substr(0, colon);
  const bool known = url.scheme == "env" || url.scheme == "tcp" || url.scheme == "file";
  TAEDA_CHECK_VALUE(colon != std::string::npos && known, "No rendezvous handler for '", text,
                    "'; there are env://, tcp://host:port and file:///path");
  const std::string rest = text.substr(colon + 3);
  const size_t question = std::min(rest.find('?'), rest.size());
  const std::string place = rest.substr(0, question);
  if (question < rest.size()) parse_query(rest.substr(question + 1), url);
  const size_t slash = std::min(place.find('/'), place.size());
  url.path = place.substr(slash);
  parse_host(place.substr(0, slash), url);
  return url;
}

/// Which process this is, by the call's arguments or by the url.
Rendezvous place_in(const Url& url, int64_t rank, int64_t world_size) {
  TAEDA_CHECK_VALUE((rank < 0 || !url.rank) && (world_size < 0 || !url.world_size),
                    "The url: ", url.text,
                    " has node-specific arguments(rank, world_size) already.");
  Rendezvous out;
  out.rank = rank >= 0 ? rank : url.rank.value_or(-1);
  out.world_size = world_size >= 0 ? world_size : url.world_size.value_or(-1);
  if (url.scheme == "env") {
    if (out.rank < 0) out.rank = rank_from_environment();
    if (out.world_size < 0) out.world_size = world_size_from_environment();
  }
  if (out.rank < 0) url.fail("rank parameter missing");
  if (out.world_size < 0) url.fail("world size parameter missing");
  if (out.rank >= out.world_size)
    url.fail("rank " + std::to_string(out.rank) + " is not one of a world of size " +
             std::to_string(out.world_size));
  return out;
}

StorePtr served_store(const std::string& host, uint16_t port, const Rendezvous& place,
                      std::chrono::milliseconds timeout) {
  TAEDA_CHECK_VALUE(port != 0,
                    "taeda.distributed: port 0, which the system replaces by one that it chooses, "
                    "is none where ",
                    place.world_size,
                    " processes are to meet; set MASTER_PORT, or the port of "
                    "tcp://host:port, to one that is free");
  set_meeting_host(host);
  const bool by_agent = cluster::agent_serves(host, port);
  const auto store =
      std::make_shared<TCPStore>(host, TCPStoreOptions{.port = port,
                                                       .is_master = place.rank == 0 && !by_agent,
                                                       .world_size = place.world_size,
                                                       .timeout = timeout,
                                                       .multi_tenant = true});
  return by_agent ? cluster::part_of_this_start(store) : store;
}

}  // namespace

Rendezvous rendezvous(const std::string& init_method, int64_t rank, int64_t world_size,
                      std::chrono::milliseconds timeout) {
  const Url url = parse(init_method.empty() ? "env://" : init_method);
  if (url.scheme == "tcp" && !url.port) url.fail("port number missing");
  if (url.scheme == "tcp" && (*url.port > 65535 || url.host.empty()))
    url.fail("a host and a port up to 65535 expected, but got '" + url.text + "'");
  if (url.scheme == "file" && url.path.empty()) url.fail("path missing");
  if (url.scheme == "file" && !url.host.empty())
    url.fail("the path in '" + url.text + "' is not absolute; write file:///path");

  Rendezvous out = place_in(url, rank, world_size);
  if (url.scheme == "file") {
    out.store = std::make_shared<FileStore>(url.path, out.world_size, timeout);
  } else if (out.world_size == 1) {
    out.store = std::make_shared<HashStore>(timeout);  // there is nobody to meet
  } else if (url.scheme == "tcp") {
    out.store = served_store(url.host, static_cast<uint16_t>(*url.port), out, timeout);
  } else {
    const std::string host = master_address_from_environment();
    out.store = served_store(host, master_port_from_environment(), out, timeout);
  }
  return out;
}

}  // namespace taeda::inline v0_2::distributed
