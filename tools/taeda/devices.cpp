// `taeda devices`: the accelerators that programs can use, and how much of them is in use.
#include <cstdio>

#include "taeda/base/parallel_for.h"
#include "taeda/device/cuda.h"
#include "taeda/log/table.h"
#include "taeda/log/terminal.h"
#include "tools/taeda/command.h"
#include "tools/taeda/json.h"

namespace taeda::tool {

namespace {

struct DeviceRow {
  Device device;
  DeviceProperties properties;
  accelerator::MemoryInfo memory;
  std::vector<std::string> peers;  ///< devices whose memory it reaches

  std::string capability() const {
    if (properties.major + properties.minor == 0) return "";
    return std::to_string(properties.major) + "." + std::to_string(properties.minor);
  }
};

std::vector<DeviceRow> device_rows() {
  std::vector<DeviceRow> out;
  for (const Device& d : accelerators()) {
    DeviceRow row{d,
                  accelerator::get_device_properties(d.type(), d.index()),
                  accelerator::mem_get_info(d.type(), d.index()),
                  {}};
    for (int peer = 0; peer < device_count(d.type()); ++peer)
      if (peer != d.index() && accelerator::can_device_access_peer(d.type(), d.index(), peer))
        row.peers.push_back(std::to_string(peer));
    out.push_back(std::move(row));
  }
  return out;
}

void print_as_json(const std::vector<DeviceRow>& rows) {
  Json list = Json::array();
  list.push_back({{"device", "cpu"}, {"threads", get_num_threads()}});
  for (const DeviceRow& r : rows)
    list.push_back({{"device", r.device.str()},
                    {"name", r.properties.name},
                    {"memory_used", r.memory.total - r.memory.free},
                    {"memory_total", r.memory.total},
                    {"capability", r.capability()},
                    {"multiprocessors", r.properties.multi_processor_count},
                    {"peers", r.peers}});
  Json out = {{"devices", list}, {"cuda_available", cuda::is_available()}};
  for (const MissingType& m : missing_accelerators())
    out.set(m.name + "_unavailable_reason", m.reason);
  print_json(out);
}

int run_devices(bool json) {
  const std::vector<DeviceRow> rows = device_rows();
  if (json) {
    print_as_json(rows);
    return 0;
  }
  logging::Table table({"device", "name", "memory used", "total", "capability", "peers"});
  table.row({"cpu", threads_text(), "", "", "", ""});
  for (const DeviceRow& r : rows) {
    std::string peers;
    for (const std::string& p : r.peers) peers += (peers.empty() ? "" : " ") + p;
    table.row({r.device.str(), r.properties.name,
               bytes_text(static_cast<double>(r.memory.total - r.memory.free)),
               bytes_text(static_cast<double>(r.memory.total)), r.capability(), peers});
  }
  std::printf("%s", table.str().c_str());
  for (const MissingType& m : missing_accelerators())
    std::printf("%s", paragraph("no " + m.name + " device: " + m.reason).c_str());
  return 0;
}

}  // namespace

void add_devices(const Command& app) {
  const Command c = app.add_command("devices", "List the devices that can be used",
                                    {"taeda devices", "TAEDA_SIM_DEVICES=4 taeda devices --json"});
  auto json = std::make_shared<bool>(false);
  c.add_flag("--json", *json, "Print JSON");
  c.on_call([json] { return run_devices(*json); });
}

}  // namespace taeda::tool
