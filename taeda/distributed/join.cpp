#include "taeda/distributed/join.h"

#include <algorithm>

#include "taeda/base/error.h"
#include "taeda/ops/create/create.h"

namespace taeda::inline v0_2::distributed {

namespace {

using Joinables = std::vector<std::reference_wrapper<Joinable>>;

/// What a rank says in a turn: 0 when its loop is over, otherwise which of the joined has its turn
/// and with which flags.
int64_t turn_word(size_t which, int flags, int all_flags) {
  return 1 + static_cast<int64_t>(which) * all_flags + flags;
}

}  // namespace

int JoinTurn::count() const { return static_cast<int>(std::ranges::count(active, 1)); }

int JoinTurn::last() const {
  const auto it = std::find(active.rbegin(), active.rend(), 1);
  return static_cast<int>(active.rend() - it) - 1;
}

/// A join that is under way.
class JoinContext {
 public:
  static const ProcessGroupPtr& group_of(const Joinables& joinables) {
    return joinables[0].get().join_group();
  }
  static void check(const Joinables& joinables) {
    TAEDA_CHECK_VALUE(!joinables.empty(),
                      "The join context manager requires at least one joinable");
    for (const Joinable& j : joinables) {
      TAEDA_CHECK_VALUE(j.join_group() == group_of(joinables),
                        "Using join context manager with multiple process groups");
      TAEDA_CHECK(!j.join_, "join: a ", j.join_name(), " takes part in another join already");
    }
  }

  JoinContext(const Joinables& joinables, const JoinOptions& options, SourceLocation site)
      : joinables_(joinables), options_(options), site_(site) {
    for (Joinable& j : joinables_) j.enter_join(options_);
    for (Joinable& j : joinables_) j.join_ = this;
  }
  ~JoinContext() {
    for (Joinable& j : joinables_) {
      j.join_ = nullptr;
      j.leave_join();
    }
  }
  JoinContext(const JoinContext&) = delete;
  JoinContext& operator=(const JoinContext&) = delete;

  /// On a rank that has a batch.
  JoinTurn take_turn(const Joinable& by, int flags) {
    const auto it = std::ranges::find_if(joinables_, [&](Joinable& j) { return &j == &by; });
    const auto which = static_cast<size_t>(it - joinables_.begin());
    JoinTurn turn = agree(turn_word(which, flags, Joinable::kFlags)).turn;
    TAEDA_CHECK(!options_.throw_on_early_termination || turn.count() == group().size(),
                "Detected at least one rank that exhausted inputs. Throwing across all ranks.");
    return turn;
  }

  /// On a rank whose loop is over.
  void stand_in() {
    bool was_last = true;
    for (Agreed now = agree(0); now.turn.count() > 0; now = agree(0)) {
      was_last = false;
      TAEDA_CHECK(!options_.throw_on_early_termination, "Rank ", group().rank(),
                  " exhausted all inputs.");
      joinables_[now.which].get().stand_in(now.turn);
    }
    const int root = agree(was_last ? 1 : 0).turn.last();
    for (Joinable& j : joinables_) j.end_join(root);
  }

 private:
  struct Agreed {
    JoinTurn turn;
    size_t which = 0;
  };

  ProcessGroup& group() const { return *group_of(joinables_); }

  /// Tells all ranks what this one is about to do and hears what the others are.
  Agreed agree(int64_t own) const {
    const auto size = static_cast<size_t>(group().size());
    const Device device = joinables_[0].get().join_device();
    const Tensor words = empty({group().size()}, TensorOptions(kInt64).device(device));
    group().all_gather_into_tensor(words, tensor({own}).to(device), {.site = site_});
    const Tensor all = words.cpu();
    const int64_t* const said = all.data_ptr<int64_t>();
    Agreed out;
    out.turn.active.resize(size);
    std::transform(said, said + size, out.turn.active.begin(), [](int64_t w) { return w != 0; });
    const int last = out.turn.last();
    if (last < 0) return out;
    for (int rank = 0; rank < last; ++rank)
      if (said[rank] != 0 && said[rank] != said[last]) fail(rank, said[rank], last, said[last]);
    const int64_t word = said[last] - 1;
    out.which = static_cast<size_t>(word / Joinable::kFlags);
    out.turn.flags = static_cast<int>(word % Joinable::kFlags);
    return out;
  }

  std::string text(int64_t word) const {
    const int64_t which = (word - 1) / Joinable::kFlags;
    return taeda::detail::concat(joinables_[static_cast<size_t>(which)].get().join_name(), " #",
                                 which, " (flags ", (word - 1) % Joinable::kFlags, ")");
  }
  [[noreturn]] void fail(int rank, int64_t word, int other, int64_t others) const {
    taeda::detail::fail<Error>(taeda::detail::concat("join: rank ", rank, " runs ", text(word),
                                                     ", but rank ", other, " runs ", text(others)));
  }

  const Joinables joinables_;
  const JoinOptions options_;
  const SourceLocation site_;
};

std::optional<JoinTurn> Joinable::take_turn(int flags) {
  if (!join_) return std::nullopt;
  return join_->take_turn(*this, flags);
}

void join(const Joinables& joinables, const std::function<void()>& loop, const JoinOptions& options,
          SourceLocation site) {
  JoinContext::check(joinables);
  if (!options.enable || JoinContext::group_of(joinables)->size() == 1) return loop();
  JoinContext context(joinables, options, site);
  loop();
  context.stand_in();
}

}  // namespace taeda::inline v0_2::distributed
