// Prints the levels of CPU kernels that this machine runs, best first, as a CMake list (TaedaKernels.cmake).
#include <cstdio>

#include "taeda/cpu/machine.cpp"

int main() {
  using namespace taeda::cpu;
  const char* separator = "";
  for (const Capability level : {Capability::Avx512, Capability::Avx2, Capability::Baseline}) {
    if (level > machine_capability()) continue;
    std::printf("%s%s", separator, name(level));
    separator = ";";
  }
}
