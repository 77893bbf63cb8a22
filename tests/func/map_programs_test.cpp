// Random programs give in a map what they give for one sample after the other, values and
// gradients. TAEDA_PROGRAMS says how many, TAEDA_PROGRAM_SEED the first.
#include "tests/func/map_programs.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "taeda/base/error.h"
#include "taeda/base/warning.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/elementwise/compare.h"

namespace taeda::map_programs {
namespace {

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Silent : WarningHandler {
  void process(const Warning&) override {}
};

std::string difference(const Tensors& got, const Tensors& want, double tolerance) {
  if (got.size() != want.size()) return "another number of results";
  for (size_t k = 0; k < got.size(); ++k) {
    const Tensor &a = got[k], &b = want[k];
    if (a.sizes() != b.sizes() || a.dtype() != b.dtype())
      return detail::concat("result ", k, ": ", a.dtype(), a.sizes(), ", not ", b.dtype(),
                            b.sizes());
    if (!a.allclose(b, tolerance, tolerance, true))
      return detail::concat("result ", k, ": ", a, "\nnot ", b);
  }
  return "";
}

/// Whether results jump where inputs change a little: rounding decides about them then.
bool jumps(const Program& program, Inputs inputs, const Tensors& want) {
  for (Tensor& t : inputs.tensors) t = t.mul(1 + 1e-11).add(1e-12);
  try {
    return !difference(run(program, inputs, false), want, 1e-6).empty();
  } catch (const Error&) {
    return true;
  }
}

enum class Verdict { Right, NotCompared, Wrong };

/// Programs that are errors for samples, and changes of what is not mapped or is one value for many
/// samples, are not compared.
Verdict check(const Program& program, const Inputs& inputs, std::string* why = nullptr) {
  Tensors want;
  try {
    want = run(program, inputs, false);
  } catch (const Error&) {
    return Verdict::NotCompared;
  }
  std::string wrong;
  try {
    // Where a program rounds to float, results differ by as much as such a step.
    wrong = difference(run(program, inputs, true), want, 1e-6);
  } catch (const Error& e) {
    wrong = e.what();
    for (const char* words : {"(self, *extra_args) is not possible", "refers to a single memory"})
      if (wrong.find(words) != wrong.npos) return Verdict::NotCompared;
  }
  if (wrong.empty()) return Verdict::Right;
  if (jumps(program, inputs, want)) return Verdict::NotCompared;
  if (why) *why = wrong;
  return Verdict::Wrong;
}

Program shrunk(Program program, const Inputs& inputs) {
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (size_t i = program.size(); i-- > 0;) {
      Program without = program;
      without.erase(without.begin() + static_cast<ptrdiff_t>(i));
      if (without.empty() || check(without, inputs) != Verdict::Wrong) continue;
      program = std::move(without);
      shorter = true;
    }
  }
  return program;
}

TEST(MapPrograms, GiveWhatTheirSamplesGive) {
  const uint64_t count = number_from("TAEDA_PROGRAMS", 400);
  const uint64_t first = number_from("TAEDA_PROGRAM_SEED", 1);
  Silent silent;
  const WarningHandlerGuard guard(&silent);
  uint64_t compared = 0;
  int wrong = 0;
  for (uint64_t seed = first; seed < first + count && wrong < 5; ++seed) {
    const Program program = generate(seed);
    const Inputs inputs = inputs_of(seed);
    const Verdict verdict = check(program, inputs);
    compared += verdict == Verdict::Right;
    if (verdict != Verdict::Wrong) continue;
    ++wrong;
    const Program shortest = shrunk(program, inputs);
    std::string why;
    check(shortest, inputs, &why);
    std::string shapes;
    for (size_t k = 0; k < inputs.tensors.size(); ++k)
      shapes += detail::concat(" ", inputs.tensors[k].sizes(), " by ", inputs.dims[k].value_or(-1));
    ADD_FAILURE() << "seed " << seed << ", inputs" << shapes << ": " << why << "\n"
                  << to_text(shortest);
  }
  EXPECT_TRUE(wrong > 0 || compared > count / 2) << compared;
  std::printf("%llu of %llu programs compared\n", static_cast<unsigned long long>(compared),
              static_cast<unsigned long long>(count));
}

}  // namespace
}  // namespace taeda::map_programs
