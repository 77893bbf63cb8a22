// Example 8: detecting several GPUs.
#include "../common.h"

int main() {
  using namespace seeds;
  return run([&] {
    std::cout << std::boolalpha << "Is CUDA available? " << cuda::is_available() << "\n";
    if (!cuda::is_available()) {
      std::cout << "No CUDA-compatible GPU found.\n";
      return;
    }
    std::cout << "Number of GPUs available: " << cuda::device_count() << "\n";
    for (int i = 0; i < cuda::device_count(); ++i)
      std::cout << "GPU " << i << ": " << cuda::get_device_name(i) << "\n";
  });
}
