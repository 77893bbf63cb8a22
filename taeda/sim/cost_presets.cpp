// Published figures of accelerators. Peaks are those without sparsity; float32 is what CUDA cores
// do, because float32 products are not rounded to TF32 unless asked for.
//
// h100: "NVIDIA H100 Tensor Core GPU" data sheet (2024), SXM: 34 / 67 / 989.5 TFLOPS in float64,
//       float32 and half, 3.35 TB/s; NVLink 900 GB/s and PCIe Gen5 128 GB/s for both ways together.
// a100: "NVIDIA A100 Tensor Core GPU" data sheet (2021), 80 GB SXM: 9.7 / 19.5 / 312 TFLOPS,
//       2039 GB/s; NVLink 600 GB/s, PCIe Gen4 64 GB/s.
// v100: "NVIDIA V100 Tensor Core GPU" data sheet (2020), SXM2: 7.8 / 15.7 / 125 TFLOPS, 900 GB/s;
//       NVLink 300 GB/s, PCIe Gen3 32 GB/s.
// p100: "NVIDIA Tesla P100 GPU Accelerator" data sheet (2016), SXM2: 5.3 / 10.6 / 21.2 TFLOPS,
//       732 GB/s; NVLink 160 GB/s, PCIe Gen3 32 GB/s.
// t4:   "NVIDIA T4" data sheet (2019): 8.1 / 65 TFLOPS, 320 GB/s, PCIe Gen3 32 GB/s, no NVLink;
//       float64 is 1/32 of float32 ("NVIDIA Turing GPU Architecture" white paper, 2018).
//
// The latencies and the rate of pageable memory are in no data sheet: 5 us a launch through a
// framework, 2 us for an empty kernel, 10 us for a copy, and half the link's rate through staging
// are round figures of the size that profilers show.
#include "taeda/base/error.h"
#include "taeda/device/sim_cost.h"

namespace taeda::inline v0_2::sim {

namespace {

constexpr double kTera = 1e12, kGiga = 1e9, kMicro = 1e-6;

CostModel with_latencies(CostModel m) {
  m.launch_latency = 5 * kMicro;
  m.shortest_kernel = 2 * kMicro;
  m.host_latency = m.peer_latency = 10 * kMicro;
  m.pageable_bandwidth = m.host_bandwidth / 2;
  return m;
}

}  // namespace

CostModel cost_model(const std::string& name) {
  if (name == "h100")
    return with_latencies({.name = name,
                           .memory_bandwidth = 3.35 * kTera,
                           .float64 = 34 * kTera,
                           .float32 = 67 * kTera,
                           .half = 989.5 * kTera,
                           .host_bandwidth = 64 * kGiga,
                           .peer_bandwidth = 450 * kGiga,
                           .memory = 80 * kGiga});
  if (name == "a100")
    return with_latencies({.name = name,
                           .memory_bandwidth = 2.039 * kTera,
                           .float64 = 9.7 * kTera,
                           .float32 = 19.5 * kTera,
                           .half = 312 * kTera,
                           .host_bandwidth = 32 * kGiga,
                           .peer_bandwidth = 300 * kGiga,
                           .memory = 80 * kGiga});
  if (name == "v100")
    return with_latencies({.name = name,
                           .memory_bandwidth = 0.9 * kTera,
                           .float64 = 7.8 * kTera,
                           .float32 = 15.7 * kTera,
                           .half = 125 * kTera,
                           .host_bandwidth = 16 * kGiga,
                           .peer_bandwidth = 150 * kGiga,
                           .memory = 32 * kGiga});
  if (name == "p100")
    return with_latencies({.name = name,
                           .memory_bandwidth = 0.732 * kTera,
                           .float64 = 5.3 * kTera,
                           .float32 = 10.6 * kTera,
                           .half = 21.2 * kTera,
                           .host_bandwidth = 16 * kGiga,
                           .peer_bandwidth = 80 * kGiga,
                           .memory = 16 * kGiga});
  if (name == "t4")
    return with_latencies({.name = name,
                           .memory_bandwidth = 0.32 * kTera,
                           .float64 = 8.1 / 32 * kTera,
                           .float32 = 8.1 * kTera,
                           .half = 65 * kTera,
                           .host_bandwidth = 16 * kGiga,
                           .peer_bandwidth = 16 * kGiga,
                           .memory = 16 * kGiga});
  throw ValueError("cost model: expected h100, a100, v100, p100 or t4, got '" + name + "'");
}

}  // namespace taeda::inline v0_2::sim
