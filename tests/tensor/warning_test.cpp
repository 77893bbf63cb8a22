// The channel that warnings go through: handlers, scopes, what is said once, threads.
#include "taeda/base/warning.h"

#include <gmock/gmock.h>

#include <thread>

#include "taeda/tensor/thread_state.h"
#include "tests/error_of.h"
#include "tests/kept_warnings.h"

namespace taeda {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

TEST(Warnings, GoToStandardErrorOnceForEachText) {
  static int round = 0;  // what was written is remembered
  const std::string now = std::to_string(++round);
  CaptureStderr();
  for (int i = 0; i < 2; ++i) TAEDA_WARN("round ", now, " and ", 2.5);
  TAEDA_WARN_AS(Future, "another in ", now);
  EXPECT_EQ(GetCapturedStderr(),
            "UserWarning: round " + now + " and 2.5\nFutureWarning: another in " + now + "\n");
}

TEST(Warnings, AScopeReplacesTheHandler) {
  KeptWarnings outer;
  {
    KeptWarnings inner;
    for (int i = 0; i < 2; ++i) TAEDA_WARN("inside");
    EXPECT_THAT(inner.take(), ElementsAre("UserWarning: inside", "UserWarning: inside"));
  }
  TAEDA_WARN_AS(Deprecation, "outside");
  EXPECT_THAT(outer.take(), ElementsAre("DeprecationWarning: outside"));
}

TEST(Warnings, AHandlerOfTheProcessGetsThoseOfOtherThreads) {
  KeptOfAllThreads all;
  std::thread([] { TAEDA_WARN("from a thread"); }).join();
  EXPECT_THAT(all.take(), ElementsAre("UserWarning: from a thread"));
  KeptWarnings own;
  EXPECT_EQ(Warning::get_warning_handler(), &own);
  Warning::set_warning_handler(&all);  // of the scope, while there is one
  TAEDA_WARN("in the scope");
  EXPECT_THAT(all.take(), ElementsAre("UserWarning: in the scope"));
  EXPECT_THAT(own.take(), ElementsAre());
}

TEST(Warnings, ThreadsThatWorkForACallerHaveItsHandler) {
  KeptWarnings kept;
  run_side_by_side(3, [](size_t) { TAEDA_WARN("beside"); });
  EXPECT_EQ(kept.take().size(), 3u);
}

TEST(Warnings, WhatAHandlerThrowsComesOutOfTheCall) {
  struct Refuse : WarningHandler {
    void process(const Warning& warning) override { throw ValueError(warning.msg()); }
  } refuse;
  const WarningHandlerGuard guard(&refuse);
  EXPECT_EQ(error_of([] { TAEDA_WARN("no"); }), "no");
  CaptureStderr();
  detail::warn_aside(WarningKind::User, "in a destructor");
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("in a destructor\n  (the handler of warnings threw"));
}

TEST(Warnings, OnceIsOnceUnlessAllAreAskedFor) {
  KeptWarnings kept;
  int made = 0;
  const auto say = [&] { TAEDA_WARN_ONCE("number ", ++made); };
  for (int i = 0; i < 3; ++i) say();
  EXPECT_THAT(kept.take(), ElementsAre("UserWarning: number 1"));
  EXPECT_EQ(made, 1) << "nothing is put together for what is not said";
  Warning::set_warnAlways(true);
  say();
  Warning::set_warnAlways(false);
  say();
  EXPECT_THAT(kept.take(), ElementsAre("UserWarning: number 2"));
}

}  // namespace
}  // namespace taeda
