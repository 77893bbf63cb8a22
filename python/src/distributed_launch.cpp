#include "distributed.h"
#include "taeda/distributed/cluster/launch.h"
#include "taeda/distributed/cluster/progress.h"

namespace taeda::python {

namespace {

namespace cluster = distributed::cluster;
using std::chrono::seconds;

cluster::AgentOptions agent_options(const py::dict& given) {
  cluster::AgentOptions out;
  out.host = given["host"].cast<std::string>();
  out.port = given["port"].cast<uint16_t>();
  out.job = given["job"].cast<std::string>();
  out.name = given["name"].cast<std::string>();
  out.min_nodes = given["min_nodes"].cast<int64_t>();
  out.max_nodes = given["max_nodes"].cast<int64_t>();
  out.node_rank = given["node_rank"].cast<std::optional<int64_t>>();
  out.processes = given["processes"].cast<int64_t>();
  out.join_timeout = seconds(given["join_timeout"].cast<int64_t>());
  out.last_call = seconds(given["last_call_timeout"].cast<int64_t>());
  out.keep_alive = seconds(given["keep_alive_timeout"].cast<int64_t>());
  out.security = distributed::Security::from_environment();
  return out;
}

/// What `taeda launch` does; it hears signals itself.
int launch(const py::dict& given) {
  cluster::LaunchOptions options;
  options.command = given["command"].cast<std::vector<std::string>>();
  options.agents = agent_options(given);
  options.max_restarts = given["max_restarts"].cast<int64_t>();
  options.log_folder = given["log_dir"].cast<std::string>();
  options.redirects = cluster::OutputChoice::parse(given["redirects"].cast<std::string>());
  options.tee = cluster::OutputChoice::parse(given["tee"].cast<std::string>());
  options.local_address = given["local_addr"].cast<std::string>();
  options.shutdown_timeout = seconds(given["shutdown_timeout"].cast<int64_t>());
  options.monitor = given["monitor"].cast<bool>();
  const ReleaseGil released;
  return cluster::launch(options);
}

}  // namespace

void add_launch(py::module_& m) {
  m.def("launch", &launch, "Runs a program on several processes; the status to exit with.");
  m.def("report_progress", &distributed::report_progress, py::arg("step"), py::arg("images") = 0,
        "Tells a launcher that shows it how far this process is.");
}

}  // namespace taeda::python
