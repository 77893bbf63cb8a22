// Example 8: detecting several GPUs.
#include "../common.h"

int main(int argc, char** argv) {
  using namespace seeds;
  return run([&] {
    const bool available = device_of(argc, argv).is_cuda();
    std::cout << std::boolalpha << "Is CUDA available? " << available << "\n";
    if (!available) {
      std::cout << "No CUDA-compatible GPU found.\n";
      return;
    }
    std::cout << "Number of GPUs available: " << cuda::device_count() << "\n";
    for (int i = 0; i < cuda::device_count(); ++i)
      std::cout << "GPU " << i << ": " << cuda::get_device_name(i) << "\n";
  });
}
