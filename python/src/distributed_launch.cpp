#include "distributed.h"
#include "taeda/distributed/cluster/launch_flags.h"
#include "taeda/distributed/cluster/progress.h"

namespace taeda::python {

namespace {

namespace cluster = distributed::cluster;
using cluster::LaunchFlag;
using std::chrono::duration_cast;
using std::chrono::seconds;
using Given = std::map<std::string, std::string>;
using Words = std::vector<std::string>;

/// (name, letter, kind, initial, help) of each flag.
py::list launch_flags() {
  py::list out;
  for (const LaunchFlag& flag : cluster::launch_flags()) {
    const char* kind = flag.kind == LaunchFlag::Kind::kSwitch   ? "switch"
                       : flag.kind == LaunchFlag::Kind::kNumber ? "number"
                                                                : "text";
    out.append(py::make_tuple(flag.name, flag.letter, kind, flag.initial(), flag.help));
  }
  return out;
}

cluster::LaunchOptions options_of(Given given, const Words& program, const std::string& python) {
  return cluster::launch_options(std::move(given), program, {.python = python, .is_python = true});
}

/// What flags mean, for programs that look.
py::dict launch_options(Given given, const Words& program, const std::string& python) {
  const cluster::LaunchOptions o = options_of(std::move(given), program, python);
  const cluster::AgentOptions& a = o.agents;
  const auto in_seconds = [](auto time) { return duration_cast<seconds>(time).count(); };
  py::dict out;
  out["command"] = o.command;
  out["host"] = a.host;
  out["port"] = a.port;
  out["job"] = a.job;
  out["min_nodes"] = a.min_nodes;
  out["max_nodes"] = a.max_nodes;
  out["node_rank"] = a.node_rank;
  out["processes"] = a.processes;
  out["join_timeout"] = in_seconds(a.join_timeout);
  out["last_call_timeout"] = in_seconds(a.last_call);
  out["keep_alive_timeout"] = in_seconds(a.keep_alive);
  out["max_restarts"] = o.max_restarts;
  out["shutdown_timeout"] = in_seconds(o.shutdown_timeout);
  out["log_dir"] = o.log_folder;
  return out;
}

/// What `taeda launch` does; it hears signals itself.
int launch(Given given, const Words& program, const std::string& python) {
  const cluster::LaunchOptions options = options_of(std::move(given), program, python);
  const ReleaseGil released;
  return cluster::launch(options);
}

}  // namespace

void add_launch(py::module_& m) {
  m.def("launch_flags", &launch_flags, "What a launcher can be told.");
  m.def("launch_options", &launch_options, "What flags, texts by name, mean.");
  m.def("launch", &launch, "Runs a program on several processes; the status to exit with.");
  m.def("local_processes", &cluster::local_processes, "Of a number, auto, cpu or gpu.");
  m.def("least_and_most_nodes", &cluster::least_and_most_nodes, "Of a number, or min:max.");
  m.def("report_progress", &distributed::report_progress, py::arg("step"), py::arg("images") = 0,
        "Tells a launcher that shows it how far this process is.");
}

}  // namespace taeda::python
