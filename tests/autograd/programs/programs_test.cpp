// Random programs of views and in-place changes give what the same programs without either give,
// or the error that the rules ask for. TAEDA_PROGRAMS says how many, TAEDA_PROGRAM_SEED the first;
// TAEDA_PROGRAMS_PYTHON names a file that gets them for PyTorch (check_programs.py runs it).
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/autograd/programs/program.h"

namespace taeda::programs {
namespace {

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

TEST(Programs, AreRightOrRefused) {
  const uint64_t count = number_from("TAEDA_PROGRAMS", 2000);
  const uint64_t first = number_from("TAEDA_PROGRAM_SEED", 1);
  const char* file = std::getenv("TAEDA_PROGRAMS_PYTHON");
  std::ofstream python(file ? file : "/dev/null");
  int failures = 0;
  for (uint64_t seed = first; seed < first + count && failures < 3; ++seed) {
    std::string text;
    const Program program = generate(seed);
    const std::string failure = run(program, file ? &text : nullptr);
    if (file)
      python << "def program_" << seed << "():\n    loss = torch.zeros((), dtype=torch.float64)\n"
             << text << "\n";
    if (failure.empty()) continue;
    ++failures;
    const Program shortest = shrink(program);
    std::string shortest_text;
    const std::string why = run(shortest, &shortest_text);
    ADD_FAILURE() << "seed " << seed << ": " << failure
                  << "\nthe shortest part of it that fails: " << why << "\n"
                  << to_text(shortest) << shortest_text;
  }
  RecordProperty("first_seed", std::to_string(first));
  std::printf("seeds %llu to %llu\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + count - 1));
}

}  // namespace
}  // namespace taeda::programs
