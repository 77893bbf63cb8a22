// Networks by name. The rate of a link is what its data sheet says, times the share of it that
// collectives reach where others measured them:
//
// NVLink     0.82: 370.7 of 450 GB/s on HGX H100 (ASTRA-sim's documentation, "Validation on GPU
//            Systems - NCCL over HGX-H100 Systems", 741.34 GB/s both ways).
// PCIe       0.8, and InfiniBand 0.95: what headers and flow control leave. Round figures.
// Ethernet   0.8 through the kernel's TCP. A round figure.
//
// Latencies of a hop are those by which NCCL chooses between algorithms (src/graph/tuning.cc,
// ring, protocol Simple): 3.4 us over NVLink, 5.7 us over PCIe, 14 us over InfiniBand, and 8.4 us
// once per collective. 30 us over TCP is a round figure.
#include "taeda/distributed/cost/network.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::cost {

namespace {

constexpr double kMicro = 1e-6, kGiga = 1e9;
constexpr double kNvlinkShare = 0.82, kPcieShare = 0.8, kInfinibandShare = 0.95, kTcpShare = 0.8;
constexpr double kNvlinkLatency = 3.4 * kMicro, kPcieLatency = 5.7 * kMicro,
                 kInfinibandLatency = 14 * kMicro, kTcpLatency = 30 * kMicro;
constexpr double kStartup = 8.4 * kMicro;
constexpr int64_t kDevicesPerNode = 8, kUnlimited = std::numeric_limits<int64_t>::max();

struct Preset {
  const char* name;
  double gigabits;  ///< of an adapter, each way; 0: all devices are in one node
  int64_t adapters;
};
/// InfiniBand with an adapter for each device, as in machines that are made for training; Ethernet
/// with one for the node.
constexpr Preset kPresets[] = {{"nvlink", 0, 0},   {"pcie", 0, 0},    {"ib100", 100, 8},
                               {"ib200", 200, 8},  {"ib400", 400, 8}, {"ib800", 800, 8},
                               {"eth10", 10, 1},   {"eth25", 25, 1},  {"eth50", 50, 1},
                               {"eth100", 100, 1}, {"eth400", 400, 1}};

Link pcie_link(const sim::CostModel& device) {
  return {kPcieLatency, device.host_bandwidth * kPcieShare};
}

/// Between two devices of a node: NVLink where the device has it.
Link local_link(const sim::CostModel& device) {
  if (device.peer_bandwidth > device.host_bandwidth)
    return {kNvlinkLatency, device.peer_bandwidth * kNvlinkShare};
  return pcie_link(device);
}

Network from_preset(const Preset& preset, const sim::CostModel& device) {
  const std::string name = preset.name;
  Network n{name, local_link(device), {}, kDevicesPerNode, preset.adapters, kStartup};
  if (preset.gigabits == 0) {
    TAEDA_CHECK_VALUE(name == "pcie" || device.peer_bandwidth > device.host_bandwidth,
                      "network nvlink: ", device.name, " has no NVLink");
    if (name == "pcie") n.local = pcie_link(device);
    n.remote = n.local;
    n.devices_per_node = kUnlimited;
    n.adapters = 1;
    return n;
  }
  const bool tcp = name.starts_with("eth");
  n.remote = {tcp ? kTcpLatency : kInfinibandLatency,
              preset.gigabits / 8 * kGiga * (tcp ? kTcpShare : kInfinibandShare)};
  return n;
}

struct Unit {
  const char* name;
  double factor;
};

/// A positive number with one of the units. Throws ValueError.
template <size_t n>
double quantity(const std::string& key, const std::string& text, const Unit (&units)[n]) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string names;
  for (const Unit& u : units) {
    if (end != text.c_str() && number > 0 && u.name == std::string(end)) return number * u.factor;
    names += (names.empty() ? "" : ", ") + std::string(u.name);
  }
  throw ValueError(taeda::detail::concat("network: ", key,
                                         " must be a positive number with one of ", names,
                                         " behind it, got '", text, "'"));
}

constexpr Unit kSeconds[] = {{"us", 1e-6}, {"ms", 1e-3}, {"ns", 1e-9}, {"s", 1}};
constexpr Unit kRates[] = {{"GB/s", 1e9}, {"MB/s", 1e6}, {"Gbit/s", 1e9 / 8}, {"Mbit/s", 1e6 / 8}};

int64_t count(const std::string& key, const std::string& text) {
  char* end = nullptr;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  TAEDA_CHECK_VALUE(!text.empty() && *end == 0 && number > 0, "network: ", key,
                    " must be a positive number, got '", text, "'");
  return number;
}

void set(Network& n, const std::string& setting) {
  const size_t equals = setting.find('=');
  const std::string key = setting.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
  if (key == "latency")
    n.remote.latency = quantity(key, value, kSeconds);
  else if (key == "bandwidth")
    n.remote.bandwidth = quantity(key, value, kRates);
  else if (key == "adapters")
    n.adapters = count(key, value);
  else if (key == "node")
    n.devices_per_node = count(key, value);
  else
    throw ValueError("network: expected one of " + network_names() +
                     ", or settings latency, bandwidth, adapters and node, got '" + setting + "'");
}

const Preset* find_preset(const std::string& name) {
  for (const Preset& p : kPresets)
    if (name == p.name) return &p;
  return nullptr;
}

}  // namespace

Link Network::share_of_remote(int64_t devices) const {
  const double each = node_bandwidth() / static_cast<double>(devices);
  return {remote.latency, std::min(each, remote.bandwidth)};
}

std::string network_names() {
  std::string out;
  for (const Preset& p : kPresets) out += (out.empty() ? "" : ", ") + std::string(p.name);
  return out;
}

Network network(const std::string& text, const sim::CostModel& device) {
  std::istringstream in(text);
  Network out{text, local_link(device), {}, kDevicesPerNode, 1, kStartup};
  bool first = true;
  for (std::string part; std::getline(in, part, ','); first = false) {
    const Preset* preset = first ? find_preset(part) : nullptr;
    if (preset)
      out = from_preset(*preset, device);
    else
      set(out, part);
  }
  TAEDA_CHECK_VALUE(out.remote.latency > 0 && out.remote.bandwidth > 0, "network: expected one of ",
                    network_names(), ", or a latency and a bandwidth, got '", text, "'");
  out.name = text;
  return out;
}

}  // namespace taeda::inline v0_2::distributed::cost
