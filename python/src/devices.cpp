#include "devices.h"

#include "bindings.h"
#include "taeda/base/device_types.h"
#include "taeda/device/sim_cost.h"
#include "taeda/taeda.h"
#include "waiting.h"

namespace taeda::python {

namespace {

/// A device type's name, as "cuda" or "sim".
DeviceType type_of(const std::string& name) { return Device(name).type(); }

py::dict properties(const std::string& type, int index) {
  const DeviceProperties p = accelerator::get_device_properties(type_of(type), index);
  py::dict out;
  out["name"] = p.name;
  out["total_memory"] = p.total_memory;
  out["major"] = p.major;
  out["minor"] = p.minor;
  out["multi_processor_count"] = p.multi_processor_count;
  out["warp_size"] = p.warp_size;
  out["L2_cache_size"] = p.L2_cache_size;
  out["max_threads_per_multi_processor"] = p.max_threads_per_multi_processor;
  return out;
}

void add_device_functions(py::module_& m) {
  m.def("is_available",
        [](const std::string& type) { return accelerator::is_available(type_of(type)); });
  m.def("accelerator_types", [] {
    std::vector<std::string> names;
    for (const DeviceType type : device_types())
      if (Device(type, -1).is_accelerator()) names.emplace_back(to_string(type));
    return names;
  });
  m.def("unavailable_reason",
        [](const std::string& type) { return accelerator::unavailable_reason(type_of(type)); });
  m.def("device_count", [](const std::string& type) { return device_count(type_of(type)); });
  m.def("current_device", [](const std::string& type) { return current_device(type_of(type)); });
  m.def("set_device", [](Device device) { set_device(device); });
  m.def("get_device_properties", &properties);
  m.def("preferred_type", []() -> std::optional<std::string> {
    const std::optional<DeviceType> type = accelerator::preferred_type();
    return type ? std::optional<std::string>(to_string(*type)) : std::nullopt;
  });
  m.def("can_device_access_peer", [](const std::string& type, int device, int peer) {
    return accelerator::can_device_access_peer(type_of(type), device, peer);
  });
  m.def("synchronize", [](Device device) {
    const ReleaseGil released;
    synchronize(device);
  });
  m.def("manual_seed", [](const std::string& type, uint64_t seed) {
    accelerator::manual_seed(type_of(type), seed);
  });
  m.def("manual_seed_all", [](const std::string& type, uint64_t seed) {
    accelerator::manual_seed_all(type_of(type), seed);
  });
  m.def("default_generator", [](Device device) {
    return py::reinterpret_steal<py::object>(from_generator(default_generator(device)));
  });
}

void add_memory_functions(py::module_& m) {
  m.def("memory_stats", [](Device d) { return allocator::memory_stats(d).to_map(); });
  m.def("memory_figures", [](Device d) {
    const MemoryStats s = allocator::memory_stats(d);
    return py::make_tuple(s.allocated, s.peak_allocated, s.reserved, s.peak_reserved);
  });
  m.def("reset_peak_memory_stats", [](Device d) { allocator::reset_peak_memory_stats(d); });
  m.def("reset_accumulated_memory_stats",
        [](Device d) { allocator::reset_accumulated_memory_stats(d); });
  m.def("memory_summary",
        [](Device d, bool abbreviated) { return allocator::memory_summary(d, abbreviated); });
  m.def("empty_cache", [](Device d) {
    const ReleaseGil released;
    allocator::empty_cache(d);
  });
  m.def("mem_get_info", [](Device d) {
    const accelerator::MemoryInfo info = accelerator::mem_get_info(d.type(), d.index());
    return py::make_tuple(info.free, info.total);
  });
  m.def("memory_fraction", [](Device d) { return allocator::memory_fraction(d); });
  m.def("new_pool", &allocator::new_pool);
  m.def("set_memory_fraction",
        [](Device d, double fraction) { allocator::set_memory_fraction(d, fraction); });
}

void add_streams(py::module_& m) {
  py::class_<Stream>(m, "StreamBase")
      .def(py::init([](Device device, int priority) { return new_stream(device, priority); }),
           py::arg("device"), py::arg("priority") = 0)
      .def(py::init<const Stream&>())
      .def(py::init([](Device device, int64_t handle, bool) {
        return external_stream(device, reinterpret_cast<void*>(handle));
      }))
      .def_property_readonly("device", &Stream::device)
      .def_property_readonly("stream_id", &Stream::id)
      .def_property_readonly("priority", &Stream::priority)
      .def("query", &Stream::query)
      .def("synchronize",
           [](const Stream& s) {
             const ReleaseGil released;
             s.synchronize();
           })
      .def("wait_event", &Stream::wait_event)
      .def("wait_stream", &Stream::wait_stream)
      .def("__eq__", [](const Stream& a, const Stream& b) { return a == b; })
      .def("__hash__", [](const Stream& s) {
        return std::hash<Device>()(s.device()) ^ std::hash<int64_t>()(static_cast<int64_t>(s.id()));
      });
  m.def("current_stream", [](Device d) { return current_stream(d); });
  m.def("default_stream", [](Device d) { return default_stream(d); });
  m.def("set_current_stream", [](const Stream& s) { set_current_stream(s); });
  py::class_<Event>(m, "EventBase")
      .def(py::init<bool>(), py::arg("enable_timing") = false)
      .def("record", [](Event& e, const Stream& s) { e.record(s); })
      .def("wait", [](const Event& e, const Stream& s) { e.wait(s); })
      .def("query", &Event::query)
      .def("synchronize",
           [](const Event& e) {
             const ReleaseGil released;
             e.synchronize();
           })
      .def("elapsed_time", [](const Event& a, const Event& b) {
        const ReleaseGil released;
        return a.elapsed_time(b);
      });
}

void add_graphs(py::module_& m) {
  const auto released = py::call_guard<ReleaseGil>();
  py::class_<DeviceGraph, std::unique_ptr<DeviceGraph, DeleteWithoutGil>>(m, "GraphBase")
      .def(py::init([](const std::string& type) {
        return std::unique_ptr<DeviceGraph, DeleteWithoutGil>(new DeviceGraph(type_of(type)));
      }))
      .def("capture_begin",
           [](DeviceGraph& g, allocator::PoolId pool, int mode) {
             const ReleaseGil waiting;
             g.capture_begin(pool, static_cast<CaptureMode>(mode));
           })
      .def("capture_end", &DeviceGraph::capture_end, released, "Ends the recording.")
      .def("replay", &DeviceGraph::replay, released, "Queues the work on the current stream.")
      .def("reset", &DeviceGraph::reset, released, "Gives up graph and memory.")
      .def("pool", &DeviceGraph::pool, "Its memory, for other graphs to share.")
      .def("register_generator_state",
           [](DeviceGraph& g, const py::object& generator) {
             g.register_generator_state(to_generator(generator.ptr()));
           })
      .def("enable_debug_mode", &DeviceGraph::enable_debug_mode)
      .def("debug_dump", &DeviceGraph::debug_dump, py::arg("debug_path"));
  m.def("is_capturing", [](Device d) { return is_current_stream_capturing(d); });
}

void configure_sim(int devices, size_t memory, const std::optional<std::string>& cost,
                   bool compute) {
  sim::Options options;
  options.memory = memory;
  if (cost) options.cost = sim::cost_model(*cost);
  options.compute = compute;
  const ReleaseGil released;
  sim::configure(devices, options);
}

void add_backends(py::module_& m) {
  py::dict switches;
  for (const auto& [name, which] :
       {std::pair{"matmul.allow_tf32", &backends::cuda::matmul::allow_tf32},
        {"cudnn.enabled", &backends::cudnn::enabled},
        {"cudnn.benchmark", &backends::cudnn::benchmark},
        {"cudnn.deterministic", &backends::cudnn::deterministic},
        {"cudnn.allow_tf32", &backends::cudnn::allow_tf32}}) {
    const backends::Switch* known = which;
    switches[name] = py::make_tuple(py::cpp_function([known] { return bool(*known); }),
                                    py::cpp_function([known](bool on) { *known = on; }));
  }
  m.attr("switches") = switches;
}

}  // namespace

void add_devices(PyObject* module) {
  py::module_ m = as_module(module).def_submodule("_device", "Accelerators.");
  add_device_functions(m);
  add_memory_functions(m);
  add_streams(m);
  add_graphs(m);
  add_backends(m);
  m.def("configure_sim", &configure_sim);
}

}  // namespace taeda::python
