// Random state. The CPU's generator is mt19937 with PyTorch's mapping to numbers, so that a seed
// gives PyTorch's sequence; an accelerator's is a seed and a counter for Philox (kernels/philox.h).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "taeda/base/array_ref.h"
#include "taeda/base/device.h"
#include "taeda/base/half.h"
#include "taeda/base/macros.h"
#include "taeda/device/generator_arg.h"

namespace taeda::inline v0_2 {

/// The seed of every generator until it is seeded; PyTorch's.
constexpr uint64_t kDefaultSeed = 67280421310721;

/// What one kernel needs to draw its numbers: element i uses counter (i, counter()) under key().
/// In a graph, seed and first offset lie in device memory, where every replay finds new ones.
struct PhiloxState {
  uint64_t seed = 0;
  uint64_t offset = 0;
  const uint64_t* base = nullptr;  ///< of a graph: seed, offset of the replay
  Device device;                   ///< where `base` is

  TAEDA_HD uint64_t key() const { return base ? base[0] : seed; }
  TAEDA_HD uint64_t counter() const { return base ? base[1] + offset : offset; }
  /// Calls f(name, index, address, bytes) for the memory.
  template <class F>
  void for_each_extent(F&& f) const {
    if (base) f("random state", 0, base, static_cast<int64_t>(2 * sizeof(uint64_t)));
  }
  /// Moves the address by `delta` bytes (device address to host alias).
  void rebase(ptrdiff_t delta) {
    if (base) base += delta / static_cast<ptrdiff_t>(sizeof(uint64_t));
  }
};

/// A handle; copies share the state. Every method may be called from any thread and is atomic: two
/// threads that fill from one generator get disjoint stretches of its sequence.
class Generator {
 public:
  explicit Generator(Device device = kCPU, uint64_t seed = kDefaultSeed);

  Device device() const;
  /// Restarts the sequence. The CPU uses the lower 32 bits, as PyTorch does.
  const Generator& manual_seed(uint64_t seed) const;
  void set_current_seed(uint64_t seed) const { manual_seed(seed); }
  uint64_t current_seed() const;
  /// Seeds from the system's entropy and returns the seed.
  uint64_t seed() const;
  /// The whole state as bytes, in PyTorch's layout (5056 for the CPU, 16 for accelerators).
  std::vector<uint8_t> get_state() const;
  /// Throws Error for bytes that are no state of such a generator.
  void set_state(ArrayRef<uint8_t> bytes) const;
  /// An independent generator in the same state.
  Generator clone() const;
  /// Bytes in a tensor, as libtorch keeps them.
  template <class T>
  requires requires(const T& t) { t.cpu().contiguous().template data_ptr<uint8_t>(); }
  void set_state(const T& bytes) const {
    const T host = bytes.cpu().contiguous();
    set_state(ArrayRef<uint8_t>(host.template data_ptr<uint8_t>(),
                                static_cast<size_t>(host.numel())));
  }
  bool defined() const { return static_cast<bool>(state_); }
  /// For programs that lock a generator around several calls. Each call is atomic without it.
  std::mutex& mutex() const;
  friend bool operator==(const Generator&, const Generator&) = default;

  // The CPU's sequence. Throws Error on an accelerator's generator.

  uint32_t random() const;
  uint64_t random64() const;
  /// In [0, 1), of 53 bits.
  double uniform() const;
  /// Standard normal, one of a pair of which the second is kept for the next call.
  double normal() const;
  void fill_random(uint32_t* out, int64_t n) const;
  void fill_random64(uint64_t* out, int64_t n) const;
  /// In [from, to), of 53 bits for double, else of 24: 16-bit floats are floats that were rounded.
  template <class T>
  void fill_uniform(T* out, int64_t n, double from = 0, double to = 1) const;
  /// Fewer than 16 numbers come from normal(); more by Box-Muller on blocks of 16 uniform numbers,
  /// the last block being drawn anew when n is no multiple of 16.
  template <class T>
  void fill_normal(T* out, int64_t n, double mean = 0, double std = 1) const;
  /// In [from, from + range); a range of 0 stands for 2^64. T is any arithmetic type, Half or
  /// BFloat16.
  template <class T>
  void fill_randint(T* out, int64_t n, int64_t from, uint64_t range) const;
  /// Which of n numbers of 53 bits in [0, 1) are below `p`, one of 2^0, 2^1, ... each, in
  /// (n + 63) / 64 words; the last word's other bits are 0.
  void fill_below(uint64_t* bits, int64_t n, double p) const;
  /// A permutation of 0..n-1, by Fisher and Yates.
  void fill_permutation(int64_t* out, int64_t n) const;

  /// The state for one kernel, and steps past it. Throws Error on the CPU's generator.
  PhiloxState next_philox() const;

  // For graphs (device/graph.h). Between the two, only `next_philox` may be called, for streams
  // that are being captured.

  /// From here on next_philox counts from what will lie at `base`, in the device's memory.
  void begin_capture(const uint64_t* base) const;
  /// How many states were given out since.
  uint64_t end_capture() const;
  /// Seed and offset at which a replay starts; steps past the `count` states that it uses.
  PhiloxState advance(uint64_t count) const;

 private:
  struct State;
  State& cpu_state(const char* what) const;

  std::shared_ptr<State> state_;
};

inline GeneratorArg::GeneratorArg(const std::optional<Generator>& generator)
    : GeneratorArg(generator ? const_cast<Generator*>(&*generator) : nullptr) {}

/// The generator that operations on `device` use when they are given none.
Generator& default_generator(Device device);
/// Seeds the default generators of all devices, also of those that appear later.
void manual_seed(uint64_t seed);

}  // namespace taeda
