// Texts between ranks: whole, whatever their lengths, and no memory for what a rank only announces.

#include "taeda/distributed/group/texts.h"

#include <gmock/gmock.h>

#include <functional>
#include <numeric>

#include "taeda/device/allocator.h"
#include "taeda/ops/create/create.h"
#include "tests/distributed/group/ranks.h"

namespace taeda::distributed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kPiece = int64_t{16} << 20;  // what a text travels in

/// The group that a rank has, for functions that share it.
ProcessGroupPtr shared_group(ProcessGroup& group) { return {ProcessGroupPtr(), &group}; }

/// A text in which every place is told from its neighbours.
std::string long_text(int64_t length, int seed) {
  std::string out(static_cast<size_t>(length), '\0');
  std::iota(out.begin(), out.end(), static_cast<char>(seed));
  return out;
}

TEST(Texts, ArriveWholeWhateverTheirLengths) {
  const std::vector<std::string> texts = {"", "short", long_text(kPiece + 3, 7)};
  run_ranks(3, [&](ProcessGroup& group) {
    const ProcessGroupPtr g = shared_group(group);
    const Site site = Site::current();
    const auto own = static_cast<size_t>(group.rank());
    EXPECT_TRUE(detail::all_gather_texts(texts[own], g, site) == texts);
    const auto gathered = detail::gather_texts(texts[own], 1, g, site);
    EXPECT_TRUE(gathered == (own == 1 ? texts : std::vector<std::string>()));
    const std::vector<std::string> none(3);
    EXPECT_TRUE(detail::broadcast_texts(own == 2 ? texts : none, 2, g, site) == texts);
    EXPECT_TRUE(detail::scatter_text(own == 0 ? texts : none, 0, g, site) == texts[own]);
    EXPECT_THAT(detail::all_gather_texts("", g, site), ElementsAre("", "", ""));
  });
}

struct Exchange {
  const char* name;
  std::function<void(const ProcessGroupPtr&)> texts;     ///< what rank 0 calls
  std::function<void(ProcessGroup&, int64_t)> announce;  ///< rank 1, which says no more
};

std::vector<Exchange> exchanges() {
  const auto gather_length = [](ProcessGroup& group, int64_t length) {
    group.all_gather_into_tensor(zeros({2}, kLong), full({1}, length, kLong), {});
  };
  const auto say_lengths = [](ProcessGroup& group, int64_t length) {
    group.broadcast(full({2}, length, kLong), 1, {});
  };
  const Site site = Site::current();
  return {
      {"all_gather", [site](const auto& g) { detail::all_gather_texts("a", g, site); },
       gather_length},
      {"gather", [site](const auto& g) { detail::gather_texts("a", 0, g, site); }, gather_length},
      {"broadcast",
       [site](const auto& g) {
         detail::broadcast_texts({"", ""}, 1, g, site);
       },
       say_lengths},
      {"scatter", [site](const auto& g) { detail::scatter_text({}, 1, g, site); }, say_lengths},
  };
}

TEST(Texts, LengthsThatNoTextHasAreErrors) {
  for (const Exchange& exchange : exchanges())
    for (const int64_t length : {int64_t{-1}, (int64_t{1} << 40) + 1, INT64_MAX}) {
      const auto errors = errors_of_ranks(2, [&](ProcessGroup& group) {
        group.rank() == 0 ? exchange.texts(shared_group(group)) : exchange.announce(group, length);
      });
      EXPECT_THAT(errors, ElementsAre(HasSubstr("a rank says that its text has " +
                                                std::to_string(length) + " bytes"),
                                      "no error"))
          << exchange.name;
    }
}

TEST(Texts, WhatIsAnnouncedAndNeverSentCostsNoMemory) {
  const Device host(kCPU);
  for (const Exchange& exchange : exchanges()) {
    allocator::reset_peak_memory_stats(host);
    const int64_t before = allocator::memory_stats(host).allocated_bytes.all.current;
    const auto errors = errors_of_ranks(2,
                                        [&](ProcessGroup& group) {
                                          group.rank() == 0
                                              ? exchange.texts(shared_group(group))
                                              : exchange.announce(group, int64_t{1} << 38);
                                        },
                                        {.timeout = std::chrono::seconds(20)});
    EXPECT_THAT(errors[0], HasSubstr("rank 1")) << exchange.name;
    EXPECT_LT(allocator::memory_stats(host).allocated_bytes.all.peak - before, 6 * kPiece)
        << exchange.name;
  }
}

}  // namespace
}  // namespace taeda::distributed
