// Published figures of accelerators. Peaks are those without sparsity; float32 is what CUDA cores
// do, because float32 products are not rounded to TF32 unless asked for.
//
// b200: "NVIDIA DGX B200" data sheet (2024), of eight: 8 TB/s and 180 GB each, 4.5 PFLOPS in half
// with
//       sparsity; "NVIDIA HGX" (2024): 37 / 75 TFLOPS; NVLink 1.8 TB/s, PCIe Gen5.
// h200: "NVIDIA H200 Tensor Core GPU" data sheet (2024), SXM: as h100, with 141 GB at 4.8 TB/s.
// l40s: "NVIDIA L40S" data sheet (2023): 91.6 / 362 TFLOPS, 864 GB/s, PCIe Gen4, no NVLink;
//       float64 is 1/64 of float32 ("NVIDIA Ada GPU Architecture" white paper, 2023).
// rtx4090: the same white paper: 82.6 TFLOPS, 165.2 in half with sums in float32, 1008 GB/s, 24 GB.
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
#include <cctype>

#include "taeda/base/error.h"
#include "taeda/device/sim_cost.h"

namespace taeda::inline v0_2::sim {

namespace {

constexpr double kTera = 1e12, kGiga = 1e9, kMicro = 1e-6;

/// In TFLOPS, GB/s for one way, and GB.
struct Preset {
  const char* name;
  double memory_bandwidth, float64, float32, half, host_bandwidth, peer_bandwidth, memory;
};

constexpr Preset kPresets[] = {
    {"b200", 8000, 37, 75, 2250, 64, 900, 180},
    {"h200", 4800, 34, 67, 989.5, 64, 450, 141},
    {"h100", 3350, 34, 67, 989.5, 64, 450, 80},
    {"a100", 2039, 9.7, 19.5, 312, 32, 300, 80},
    {"l40s", 864, 91.6 / 64, 91.6, 362, 32, 32, 48},
    {"rtx4090", 1008, 82.6 / 64, 82.6, 165.2, 32, 32, 24},
    {"v100", 900, 7.8, 15.7, 125, 16, 150, 32},
    {"p100", 732, 5.3, 10.6, 21.2, 16, 80, 16},
    {"t4", 320, 8.1 / 32, 8.1, 65, 16, 16, 16},
};

CostModel model_of(const Preset& p) {
  CostModel m{.name = p.name,
              .memory_bandwidth = p.memory_bandwidth * kGiga,
              .float64 = p.float64 * kTera,
              .float32 = p.float32 * kTera,
              .half = p.half * kTera,
              .host_bandwidth = p.host_bandwidth * kGiga,
              .peer_bandwidth = p.peer_bandwidth * kGiga,
              .memory = p.memory * kGiga};
  m.launch_latency = 5 * kMicro;
  m.shortest_kernel = 2 * kMicro;
  m.host_latency = m.peer_latency = 10 * kMicro;
  m.pageable_bandwidth = m.host_bandwidth / 2;
  return m;
}

/// "RTX 4090" as it stands in the table: "rtx4090".
std::string as_in_table(const std::string& name) {
  std::string out;
  for (const unsigned char c : name)
    if (c != ' ' && c != '-' && c != '_') out += static_cast<char>(std::tolower(c));
  return out;
}

}  // namespace

CostModel cost_model(const std::string& name) {
  std::string all;
  for (const Preset& p : kPresets) {
    if (as_in_table(name) == p.name) return model_of(p);
    all += (all.empty() ? "" : ", ") + std::string(p.name);
  }
  throw ValueError("cost model: expected one of " + all + ", got '" + name + "'");
}

}  // namespace taeda::inline v0_2::sim
