#include "taeda/device/graph.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>
#include <vector>

#include "taeda/base/error.h"
#include "taeda/device/host_graph.h"
#include "taeda/device/registry.h"

namespace taeda::inline v0_2 {

namespace {

using allocator::PoolId;

constinit std::atomic<int> under_way{0};

/// A piece of device memory, taken outside of any graph's pool.
class Memory {
 public:
  Memory(Device device, size_t bytes) : device_(device), p_(allocator::allocate(device, bytes)) {}
  Memory(Memory&& other) noexcept : device_(other.device_), p_(std::exchange(other.p_, nullptr)) {}
  Memory& operator=(Memory&&) = delete;
  ~Memory() {
    if (p_) allocator::deallocate(device_, p_);
  }
  void* get() const { return p_; }

 private:
  Device device_;
  void* p_;
};

/// A generator that the graph draws from.
struct Source {
  Generator generator;
  Memory base;  ///< seed and offset of the replay
  uint64_t count = 0;
};

/// Numbers that the host works out for every replay.
struct Numbers {
  std::function<void(double*)> fill;
  Memory memory;
  std::vector<double> values;
};

/// The graph that this thread is capturing.
constinit thread_local DeviceGraph* capturing_graph = nullptr;

}  // namespace

namespace detail {

void throw_no_graphs(DeviceType type) {
  throw NotImplementedError(concat("graphs are not implemented for ", to_string(type), " devices"));
}

}  // namespace detail

struct DeviceGraph::Impl {
  explicit Impl(DeviceType t) : type(t) {}

  /// A place for `bytes` on the device, in no graph's pool. Its use is ordered by `replay`.
  Memory outside_memory(size_t bytes) const {
    const StreamGuard on_default(default_stream(stream.device()));
    const detail::HostCapturePause not_recorded;
    return Memory(stream.device(), bytes);
  }
  Backend& backend() const { return backend_of(type); }
  int index() const { return stream.device().index(); }
  /// Ends the capture in the books, whatever became of it.
  void leave_capture() {
    --under_way;
    capturing_graph = nullptr;
    allocator::end_pool(stream.device());
    for (Source& s : sources) s.count = s.generator.end_capture();
    state = State::Empty;
  }

  enum class State { Empty, Capturing, Captured };

  const DeviceType type;
  State state = State::Empty;
  Stream stream;  ///< that the capture runs on
  PoolId pool = 0;
  GraphHandle handle = nullptr;
  bool debug = false;
  std::vector<Generator> registered;
  std::vector<Source> sources;
  std::vector<Numbers> numbers;
  std::exception_ptr error;  ///< of a capture that ended with its scope
  Stream last_replay;
};

DeviceGraph::DeviceGraph(DeviceType type) : impl_(std::make_unique<Impl>(type)) {
  // Says which type is none, or has none. That there are no graphs of shapes a capture says.
  if (const Device device(type); device.type() != kMeta) backend_of(device.type());
}

DeviceGraph::~DeviceGraph() {
  try {
    if (impl_->state == Impl::State::Capturing) {
      const StreamGuard guard(impl_->stream);
      capture_end();
    }
    reset();
  } catch (const std::exception&) {  // of earlier kernels; who waits for the device next learns it
  }
}

DeviceType DeviceGraph::type() const { return impl_->type; }

void DeviceGraph::register_generator_state(const Generator& generator) {
  TAEDA_CHECK(generator.device().type() == impl_->type, "a graph of ", to_string(impl_->type),
              " work cannot draw from a ", generator.device(), " generator");
  TAEDA_CHECK(impl_->state == Impl::State::Empty,
              "register_generator_state should be called before capture_begin");
  impl_->registered.push_back(generator);
}

void DeviceGraph::capture_begin(PoolId pool, CaptureMode mode) {
  Impl& g = *impl_;
  TAEDA_CHECK(
      g.state == Impl::State::Empty,
      "This CUDAGraph instance already owns a captured graph. To capture a new graph, create "
      "a new instance.");
  if (g.type == kMeta) detail::throw_no_graphs(g.type);
  g.stream = current_stream(Device(g.type));
  TAEDA_CHECK(g.stream.id() != 0 || g.type == kCPU,
              "CUDA graphs must be captured on a non-default stream. (However, after capture, it's "
              "ok to replay them on the default stream.)");
  TAEDA_CHECK(!capturing_graph, "this thread is already capturing a graph");
  g.error = nullptr;
  g.sources.clear();
  g.numbers.clear();
  std::vector<Generator> generators = g.registered;
  const Generator& usual = default_generator(g.stream.device());
  if (std::find(generators.begin(), generators.end(), usual) == generators.end())
    generators.push_back(usual);
  if (g.type == kCPU) generators.clear();  // their draws are recorded as they are
  for (const Generator& generator : generators)
    g.sources.push_back({generator, g.outside_memory(2 * sizeof(uint64_t)), 0});
  const PoolId used = pool ? pool : allocator::new_pool();
  allocator::begin_pool(g.stream.device(), used);
  try {
    g.backend().begin_capture(g.index(), g.stream.id(), mode);
  } catch (...) {
    allocator::end_pool(g.stream.device());
    allocator::release_pool(g.stream.device(), used);
    throw;
  }
  g.pool = used;
  // What the default stream has yet to do may still use the memory that `outside_memory` found.
  g.last_replay = default_stream(g.stream.device());
  for (const Source& s : g.sources)
    s.generator.begin_capture(static_cast<const uint64_t*>(s.base.get()));
  g.state = Impl::State::Capturing;
  ++under_way;
  capturing_graph = this;
}

void DeviceGraph::capture_end() {
  Impl& g = *impl_;
  TAEDA_CHECK(g.state == Impl::State::Capturing,
              "Called CUDAGraph::capture_end without a preceding capture_begin.");
  TAEDA_CHECK(current_stream(g.stream.device()) == g.stream,
              "Capture must end on the same stream it began on.");
  try {
    g.handle = g.backend().end_capture(g.index(), g.stream.id());
  } catch (...) {
    g.leave_capture();
    allocator::release_pool(g.stream.device(), std::exchange(g.pool, 0));
    throw;
  }
  g.leave_capture();
  g.state = Impl::State::Captured;
}

void DeviceGraph::replay() {
  Impl& g = *impl_;
  if (g.error) std::rethrow_exception(std::exchange(g.error, nullptr));
  TAEDA_CHECK(g.state == Impl::State::Captured,
              "Called CUDAGraph::replay without a preceding successful capture.");
  const Stream stream = current_stream(g.stream.device());
  const int index = g.index();
  TAEDA_CHECK(captures_under_way() == 0 || !g.backend().is_capturing(index, stream.id()),
              "CUDAGraph::replay cannot be captured into another graph");
  // The memory that the host fills in is one for all replays: they must not overtake each other.
  if (g.last_replay.device() == stream.device() && g.last_replay != stream)
    stream.wait_stream(g.last_replay);
  const auto write = [&](void* to, const void* from, size_t bytes) {
    g.backend().copy(to, index, from, -1, bytes, index, stream.id());
  };
  for (Source& s : g.sources) {
    if (s.count == 0) continue;
    const PhiloxState start = s.generator.advance(s.count);
    const uint64_t words[] = {start.seed, start.offset};
    write(s.base.get(), words, sizeof words);
  }
  for (Numbers& n : g.numbers) {
    n.fill(n.values.data());
    write(n.memory.get(), n.values.data(), n.values.size() * sizeof(double));
  }
  g.backend().replay(g.handle, index, stream.id());
  g.last_replay = stream;
}

void DeviceGraph::reset() {
  Impl& g = *impl_;
  TAEDA_CHECK(g.state != Impl::State::Capturing, "Called CUDAGraph::reset during its capture.");
  g.error = nullptr;
  if (g.state == Impl::State::Empty) return;
  g.state = Impl::State::Empty;
  std::exception_ptr error;
  try {
    g.backend().device_synchronize(g.index());  // replays may still be using all of it
  } catch (...) {
    error = std::current_exception();
  }
  g.backend().delete_graph(std::exchange(g.handle, nullptr));
  g.sources.clear();
  g.numbers.clear();
  g.last_replay = Stream();
  allocator::release_pool(g.stream.device(), std::exchange(g.pool, 0));
  if (error) std::rethrow_exception(error);
}

PoolId DeviceGraph::pool() const {
  TAEDA_CHECK(impl_->state == Impl::State::Captured,
              "Called CUDAGraph::pool() without a preceding successful capture.");
  return impl_->pool;
}

void DeviceGraph::enable_debug_mode() { impl_->debug = true; }

void DeviceGraph::debug_dump(const std::string& path) const {
  TAEDA_CHECK(impl_->debug, "CUDA Graphs debug not enabled, set with [graph].enable_debug_mode()");
  TAEDA_CHECK(impl_->state == Impl::State::Captured,
              "Called CUDAGraph::debug_dump without a preceding successful capture.");
  impl_->backend().dump_graph(impl_->handle, path);
}

GraphCapture::GraphCapture(DeviceGraph& graph, PoolId pool, std::optional<Stream> stream,
                           CaptureMode mode)
    : graph_(graph) {
  const Device device = resolve(stream ? stream->device() : Device(graph.type()));
  synchronize(device);
  if (device.is_accelerator()) allocator::empty_cache(device);
  guard_.emplace(stream ? *stream : new_stream(device));
  graph.capture_begin(pool, mode);
}

void GraphCapture::end() {
  if (!guard_) return;
  std::exception_ptr error;
  try {
    graph_.capture_end();
  } catch (...) {
    error = std::current_exception();
  }
  guard_.reset();
  if (error) std::rethrow_exception(error);
}

GraphCapture::~GraphCapture() {
  try {
    end();
  } catch (...) {
    graph_.impl_->error = std::current_exception();
  }
}

int captures_under_way() { return under_way.load(std::memory_order_relaxed); }

bool is_current_stream_capturing(Device device) {
  if (device.is_cpu()) return detail::host_recording();
  if (!device.is_accelerator() || captures_under_way() == 0) return false;
  const Stream stream = current_stream(device);
  return backend_of(device.type()).is_capturing(stream.device().index(), stream.id());
}

GraphNumbers graph_numbers(Device device, size_t count, std::function<void(double*)> fill) {
  TAEDA_CHECK(capturing_graph && capturing_graph->impl_->stream.device() == resolve(device),
              "graph_numbers: no graph is being captured on ", device, " by this thread");
  TAEDA_CHECK_VALUE(fill, "graph_numbers: expected a function as fill, but got an empty one");
  auto& g = *capturing_graph->impl_;
  g.numbers.push_back(
      {std::move(fill), g.outside_memory(count * sizeof(double)), std::vector<double>(count)});
  return {g.stream.device(), static_cast<double*>(g.numbers.back().memory.get()), count};
}

}  // namespace taeda::inline v0_2
