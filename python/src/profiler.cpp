#include "bindings.h"
#include "logs.h"
#include "taeda/profiler/profile.h"

namespace taeda::python {

namespace {

using profiler::profile;
using profiler::ProfilerActivity;

/// record_function whose scope is a `with` block.
class Range {
 public:
  explicit Range(std::string name) : name_(std::move(name)) {}
  void enter() { open_.emplace(name_); }
  void leave() { open_.reset(); }

 private:
  std::string name_;
  std::optional<profiler::record_function> open_;
};

std::unique_ptr<profile> make(bool cpu, bool device, bool shapes, bool memory, bool modules) {
  std::vector<ProfilerActivity> activities;
  if (cpu) activities.push_back(ProfilerActivity::CPU);
  if (device) activities.push_back(ProfilerActivity::CUDA);
  return std::make_unique<profile>(profiler::ProfileOptions{.activities = activities,
                                                            .record_shapes = shapes,
                                                            .profile_memory = memory,
                                                            .with_modules = modules});
}

}  // namespace

void add_profiler(PyObject* module) {
  py::module_ m = as_module(module).def_submodule("_profiler");
  py::class_<Range>(m, "Range")
      .def(py::init<std::string>())
      .def("enter", &Range::enter)
      .def("leave", &Range::leave);
  using profiler::EventAverage;
  py::class_<EventAverage>(m, "EventAverage")
      .def_readonly("key", &EventAverage::key)
      .def_readonly("count", &EventAverage::count)
      .def_readonly("shapes", &EventAverage::shapes)
      .def_readonly("on_device", &EventAverage::on_device)
      .def_readonly("cpu_time_total", &EventAverage::cpu_time_total)
      .def_readonly("self_cpu_time_total", &EventAverage::self_cpu_time_total)
      .def_readonly("device_time_total", &EventAverage::device_time_total)
      .def_readonly("self_device_time_total", &EventAverage::self_device_time_total)
      .def_readonly("cpu_memory_usage", &EventAverage::cpu_memory_usage)
      .def_readonly("self_cpu_memory_usage", &EventAverage::self_cpu_memory_usage)
      .def_readonly("device_memory_usage", &EventAverage::device_memory_usage)
      .def_readonly("self_device_memory_usage", &EventAverage::self_device_memory_usage);
  using profiler::EventAverages;
  py::class_<EventAverages>(m, "EventAverages")
      .def("table", &EventAverages::table)
      .def("to_json", &EventAverages::to_json)
      .def("rows", &EventAverages::rows);
  using profiler::Event;
  py::class_<Event>(m, "Event")
      .def_readonly("name", &Event::name)
      .def_readonly("thread", &Event::thread)
      .def_readonly("start", &Event::start)
      .def_readonly("end", &Event::end)
      .def_readonly("shapes", &Event::shapes)
      .def_readonly("parent", &Event::parent)
      .def_property_readonly("on_device", &Event::on_device)
      .def_readonly("self_cpu_time", &Event::self_cpu_time)
      .def_readonly("device_time", &Event::device_time)
      .def_readonly("cpu_memory", &Event::cpu_memory)
      .def_readonly("device_memory", &Event::device_memory);
  py::class_<profile>(m, "Profile")
      .def(py::init(&make))
      .def("start", &profile::start)
      .def("stop", &profile::stop, py::call_guard<ReleaseGil>())
      .def("key_averages", &profile::key_averages)
      .def("export_chrome_trace", &profile::export_chrome_trace)
      .def("events", [](const profile& p) { return p.events().events; })
      .def("notes", &profile::notes);
}

}  // namespace taeda::python
