// Profiles: what is recorded, when, and how it reads.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <thread>

#include "taeda/base/error.h"
#include "taeda/device/sim.h"
#include "taeda/nn/containers/sequential.h"
#include "taeda/nn/modules/activation.h"
#include "taeda/nn/modules/linear.h"
#include "taeda/ops/create/copy.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/arithmetic.h"
#include "taeda/ops/linalg/matmul.h"
#include "taeda/ops/reduce/reduce.h"
#include "taeda/profiler/profile.h"
#include "tests/error_of.h"
#include "tests/io/temporary_folder.h"
#include "tests/profiler/table_golden.h"

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#define HAS_JSON 1
#else
#define HAS_JSON 0
#endif

namespace taeda::profiler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using tracing::Kind;

/// Events of a name.
std::vector<Event> all_of(const Events& events, const std::string& name) {
  std::vector<Event> out;
  for (const Event& e : events.events)
    if (e.name == name) out.push_back(e);
  return out;
}

std::string parent_name(const Events& events, const Event& e) {
  return e.parent < 0 ? "" : events.events.at(static_cast<size_t>(e.parent)).name;
}

/// Work that a profile is about: 2 operations and a node of backward each.
void work() {
  const Tensor x = ones({300}).requires_grad_();
  (x * x).sum().backward();
}

// Recordings by hand: what the tables and traces say of them is exact.

tracing::Record span(Kind kind, const char* name, int64_t start, int64_t end, uint64_t enter,
                     uint64_t leave) {
  tracing::Record r;
  r.kind = kind;
  r.name = name;
  r.start = start;
  r.end = end;
  r.enter = enter;
  r.leave = leave;
  return r;
}

tracing::Record memory(Device device, int64_t time, uint64_t place, int64_t bytes,
                       int64_t allocated) {
  tracing::Record r = span(Kind::Memory, "", time, time, place, place);
  r.device = device;
  r.bytes = bytes;
  r.allocated = allocated;
  r.reserved = 4096;
  return r;
}

/// A step: a copy of 2048 bytes, then a product whose kernels run on two streams. Its result is
/// taken before the operation, freed after it.
tracing::Recording step_by_hand() {
  const Device gpu("cuda:1");
  tracing::Recording out;
  out.start = 1000;
  out.end = 2'000'000;
  tracing::Record range = span(Kind::Range, "step", 2000, 1'502'000, 0, 12);
  tracing::Record copy = span(Kind::Copy, "Memcpy HtoD", 3000, 13'000, 2, 4);
  copy.device = gpu;
  copy.bytes = 2048;
  tracing::Record mm = span(Kind::Operation, "mm", 14'000, 514'000, 6, 9);
  mm.shapes = "[[2, 3], [3, 4]]";
  const auto launch = [&](uint64_t number, uint64_t place, int64_t time) {
    tracing::Record r = span(Kind::Launch, "", time, time, place, place);
    r.launch = number;
    return r;
  };
  const auto kernel = [&](uint64_t number, const char* name, int64_t start, int64_t end,
                          int64_t stream) {
    tracing::Record r = span(Kind::DeviceWork, name, start, end, 0, 0);
    r.device = gpu;
    r.launch = number;
    r.stream = stream;
    return r;
  };
  // In the order in which a thread writes: spans at their end.
  out.threads.push_back(
      {1,
       {memory(gpu, 2500, 1, 2048, 2048), launch(7, 3, 4000), copy,
        memory(gpu, 13'500, 5, 512, 2560), launch(8, 7, 15'000), launch(9, 8, 16'000), mm,
        memory(gpu, 600'000, 10, -512, 2048), memory(kCPU, 600'500, 11, 1024, 1024), range}});
  out.threads.push_back(
      {2,
       {kernel(7, "Memcpy HtoD", 5000, 9000, 0), kernel(8, "gemm", 20'000, 420'000, 0),
        kernel(9, "gemm", 20'000, 120'000, 3)}});
  return out;
}

TEST(Events, HaveParentsTimesAndMemory) {
  const Events e = arrange(step_by_hand());
  ASSERT_EQ(e.events.size(), 6u);
  const Event& step = e.events[0];
  const Event& copy = e.events[1];
  const Event& mm = e.events[2];
  EXPECT_EQ(step.name, "step");
  EXPECT_EQ(step.start, 1000);
  EXPECT_EQ(step.time(), 1'500'000);
  EXPECT_EQ(step.self_cpu_time, 1'500'000 - 10'000 - 500'000);
  EXPECT_EQ(step.device_time, 504'000);
  EXPECT_EQ(step.self_device_time, 0);
  EXPECT_EQ(copy.parent, 0);
  EXPECT_EQ(copy.self_device_memory, 2048);  // taken before it, for it
  EXPECT_EQ(copy.device_time, 4000);
  EXPECT_EQ(mm.self_device_memory, 512);
  EXPECT_EQ(mm.self_device_time, 500'000);
  EXPECT_EQ(mm.shapes, "[[2, 3], [3, 4]]");
  EXPECT_EQ(step.self_device_memory, -512);  // freed by nobody inside
  EXPECT_EQ(step.device_memory, 2048);
  EXPECT_EQ(step.self_cpu_memory, 1024);  // no operation followed
  EXPECT_EQ(e.events[3].bytes, 2048);     // the host knows how much is copied
  EXPECT_EQ(e.events[4].parent, 2);
  EXPECT_EQ(e.events[4].launch_time, 14'000);
  EXPECT_EQ(e.events[5].stream, 3);
  EXPECT_EQ(e.memory.size(), 4u);
}

TEST(Events, RangesThatAreNotNestedKeepTheirTimes) {
  tracing::Recording r;
  r.threads.push_back(
      {1,
       {span(Kind::Range, "a", 0, 20, 0, 2), span(Kind::Operation, "op", 31, 32, 4, 5),
        span(Kind::Range, "b", 10, 40, 1, 6), span(Kind::Range, "c", 30, 60, 3, 7)}});
  const Events e = arrange(r);
  EXPECT_EQ(e.events.at(1).name, "b");
  EXPECT_EQ(e.events.at(1).parent, -1);  // it ends after a
  EXPECT_EQ(e.events.at(0).self_cpu_time, 20);
  EXPECT_EQ(parent_name(e, all_of(e, "op").at(0)), "c");
}

TEST(Table, IsPyTorchs) {
  const EventAverages averages(arrange(step_by_hand()), false, true, {"A note."});
  EXPECT_EQ(averages.table("cuda_time_total", 3), kTableByHand);
}

TEST(Table, SortsLimitsAndCutsNames) {
  const EventAverages averages(arrange(step_by_hand()), true, false, {});
  const auto first = [&](const std::string& key) {
    const std::string text = averages.table(key, 1);
    std::string name;
    std::istringstream(
        text.substr(text.rfind("--  \n", text.find("Self CPU time total") - 10) + 4)) >>
        name;
    return name;
  };
  EXPECT_EQ(first("self_cpu_time_total"), "step");
  EXPECT_EQ(first("count"), "gemm");
  EXPECT_EQ(first("self_cuda_memory_usage"), "Memcpy");
  EXPECT_THAT(averages.table(), HasSubstr("[[2, 3], [3, 4]]"));
  EXPECT_THAT(averages.table("", -1, 10), HasSubstr("Memcpy ..."));
  EXPECT_THAT(
      error_of([&] { averages.table("speed"); }),
      testing::StartsWith("table: cannot sort by 'speed'; expected one of count, cpu_memory"));
  EXPECT_THAT(EventAverages(Events{}, false, false, {}).table(),
              HasSubstr("Self CPU time total: 0.000us"));
}

TEST(Schedule, IsPyTorchs) {
  using enum ProfilerAction;
  const auto actions = [](const Schedule& s, int n) {
    std::vector<ProfilerAction> out;
    for (int i = 0; i < n; ++i) out.push_back(s(i));
    return out;
  };
  EXPECT_THAT(actions(schedule(1, 1, 2, 2, 1), 11),
              ElementsAre(NONE, NONE, WARMUP, RECORD, RECORD_AND_SAVE, NONE, WARMUP, RECORD,
                          RECORD_AND_SAVE, NONE, NONE));
  EXPECT_THAT(actions(schedule(0, 0, 1), 3),
              ElementsAre(RECORD_AND_SAVE, RECORD_AND_SAVE, RECORD_AND_SAVE));
  EXPECT_EQ(error_of([] { schedule(1, 0, 0); }),
            "Invalid profiler schedule arguments: wait=1, warmup=0, active=0, repeat=0, "
            "skip_first=0");
}

TEST(Profile, RecordsOperationsAndBackward) {
  work();  // outside: not recorded
  profile prof({.record_shapes = true});
  {
    const record_function range("my range");
    work();
  }
  prof.stop();
  work();
  const Events& e = prof.events();
  ASSERT_EQ(all_of(e, "mul").size(), 3u);  // one forward, two in backward
  EXPECT_EQ(all_of(e, "mul")[0].shapes, "[[300], [300]]");
  EXPECT_EQ(parent_name(e, all_of(e, "mul")[0]), "my range");
  EXPECT_EQ(parent_name(e, all_of(e, "mul")[2]), "MulBackward0");
  EXPECT_EQ(parent_name(e, all_of(e, "MulBackward0").at(0)), "my range");
  const EventAverages averages = prof.key_averages();
  int64_t self = 0;
  for (const EventAverage& a : averages) self += a.self_cpu_time_total;
  EXPECT_EQ(self, all_of(e, "my range").at(0).time());  // nothing counts twice
  EXPECT_THAT(averages.table("self_cpu_time_total", 10), Not(HasSubstr("SIM")));
  EXPECT_THAT(prof.notes(), IsEmpty());
}

TEST(Profile, OperationsThatThrowEndTheirSpans) {
  nn::Linear layer(4, 2);
  profile prof({.with_modules = true});
  EXPECT_THROW(layer(ones({3, 5})), Error);
  work();
  prof.stop();
  EXPECT_EQ(all_of(prof.events(), "Linear").size(), 1u);
  EXPECT_EQ(parent_name(prof.events(), all_of(prof.events(), "sum").at(0)), "");
}

TEST(Profile, ModulesAreNamedByTheirPath) {
  nn::Sequential inner{{"fc", nn::Linear(4, 4)}, {"act", nn::ReLU()}};
  nn::Sequential net{{"body", inner}, {"head", nn::Linear(4, 2)}};
  profile prof({.with_modules = true});
  net(ones({3, 4}));
  prof.stop();
  std::vector<std::string> names;
  for (const Event& e : prof.events().events)
    if (e.kind == Kind::Module) names.push_back(e.name);
  EXPECT_THAT(names, ElementsAre("Sequential", "body", "body.fc", "body.act", "head"));
  EXPECT_THAT(prof.key_averages().table(), HasSubstr(" nn.Module: body.fc "));
  profile without;
  net(ones({3, 4}));
  without.stop();
  EXPECT_THAT(all_of(without.events(), "body.fc"), IsEmpty());
}

TEST(Profile, AllThreadsAreRecorded) {
  profile prof;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) ones({2}).add(1);
    });
  for (auto& t : threads) t.join();
  prof.stop();
  std::map<int, int> count;
  for (const Event& e : all_of(prof.events(), "add")) ++count[e.thread];
  EXPECT_EQ(count.size(), 4u);
  for (const auto& [thread, n] : count) EXPECT_EQ(n, 500) << thread;
}

TEST(Profile, ThreadsMayGoOnWhileItEnds) {
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) ones({2}).add(1);
  });
  for (int i = 0; i < 20; ++i) {
    profile prof;
    work();
    prof.stop();
    EXPECT_GE(all_of(prof.events(), "mul").size(), 3u);
  }
  over = true;
  other.join();
}

TEST(Profile, MemoryOfOperations) {
  profile prof({.profile_memory = true});
  Tensor x = ones({1000});
  x = Tensor();
  prof.stop();
  const auto fill = all_of(prof.events(), "fill");
  ASSERT_EQ(fill.size(), 1u) << prof.key_averages().table();
  EXPECT_EQ(fill[0].self_cpu_memory, 4096);  // 4000 bytes, rounded up to 512
  ASSERT_EQ(prof.events().memory.size(), 2u);
  EXPECT_EQ(prof.events().memory[0].allocated - prof.events().memory[1].allocated, 4096);
  EXPECT_THAT(prof.key_averages().table(), HasSubstr("4.00 Kb"));
}

TEST(Profile, BoundedAndTold) {
  profile prof({.max_events = 1000});
  for (int i = 0; i < 5000; ++i) ones({2}).add(1);
  prof.stop();
  EXPECT_LE(prof.events().events.size(), 1024u);
  EXPECT_EQ(prof.events().dropped, 10000 - prof.events().events.size());
  EXPECT_THAT(prof.key_averages().table(),
              HasSubstr("records were dropped: max_events was too small."));
}

TEST(Profile, OneAtATime) {
  profile prof;
  EXPECT_EQ(error_of([] { profile second; }),
            "Profiler is already enabled: another profile is recording in this process. Stop it "
            "first; profiles cannot be nested.");
  prof.start();  // it runs already
  work();
  prof.stop();
  prof.stop();
  EXPECT_EQ(all_of(prof.events(), "MulBackward0").size(), 1u);
  prof.start();
  prof.stop();
  EXPECT_THAT(prof.events().events, IsEmpty());
  EXPECT_EQ(error_of([] { profile none({.activities = {}}); }),
            "profile: no activity is to be recorded");
}

TEST(Profile, StepsFollowTheSchedule) {
  std::vector<std::string> saved;
  {
    profile prof({.schedule = schedule(1, 1, 2, 2), .on_trace_ready = [&](profile& p) {
                    std::string steps = std::to_string(p.step_num()) + ":";
                    for (const Event& e : p.events().events)
                      if (e.kind == Kind::Range) steps += " " + e.name;
                    saved.push_back(steps);
                    EXPECT_EQ(all_of(p.events(), "MulBackward0").size(), 2u);
                  }});
    for (int i = 0; i < 10; ++i) {
      work();
      prof.step();
    }
  }
  EXPECT_THAT(saved,
              ElementsAre("4: ProfilerStep#2 ProfilerStep#3", "8: ProfilerStep#6 ProfilerStep#7"));
}

TEST(Profile, TheLastWindowIsSavedByStop) {
  const TemporaryFolder folder;
  profile prof(
      {.schedule = schedule(0, 0, 5), .on_trace_ready = tensorboard_trace_handler(folder / "log")});
  work();
  prof.step();
  work();
  prof.stop();
  EXPECT_EQ(all_of(prof.events(), "ProfilerStep#1").size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(folder / "log/worker.1.pt.trace.json"));
}

TEST(Profile, SimulatedDevicesHaveTheirTimes) {
  const Device device("sim:1");
  const Stream side = new_stream(device);
  profile prof({.profile_memory = true});
  const Tensor x = ones({256, 256}).to(device);
  {
    const StreamGuard guard(side);
    x.add(1);
  }
  prof.stop();  // waits for the device
  const Events& e = prof.events();
  const Event copy = all_of(e, "Memcpy HtoD").at(0);
  EXPECT_EQ(copy.bytes, 256 * 256 * 4);
  EXPECT_EQ(copy.from, Device(kCPU));
  EXPECT_EQ(copy.device, device);
  EXPECT_EQ(copy.self_device_memory, 256 * 256 * 4);
  EXPECT_GT(copy.device_time, 0);
  const auto adds = all_of(e, "add");
  ASSERT_EQ(adds.size(), 2u);  // the operation, and its kernel
  EXPECT_EQ(adds[1].kind, Kind::DeviceWork);
  EXPECT_EQ(adds[1].device, device);
  EXPECT_EQ(adds[1].stream, side.id());
  EXPECT_EQ(adds[0].device_time, adds[1].time());
  EXPECT_GE(adds[1].start, adds[1].launch_time);
  const std::string table = prof.key_averages().table();
  EXPECT_THAT(table, HasSubstr("Self SIM %"));
  EXPECT_THAT(table, HasSubstr("SIM Mem"));
}

/// A device's own tracer: one kernel for each operation.
struct FakeTracer final : tracing::DeviceTracer {
  std::string start() override { return reason; }
  std::vector<tracing::Record> stop() override {
    std::vector<tracing::Record> out;
    for (uint64_t id : ids) {
      tracing::Record r = span(Kind::DeviceWork, "void kernel<float>", tracing::now(), 0, 0, 0);
      r.end = r.start + 1000;
      r.device = Device("cuda:0");
      r.owner = id;
      r.launch_time = r.start;
      out.push_back(r);
    }
    return out;
  }
  uint64_t dropped() const override { return 3; }
  void push(uint64_t id) override {
    ids.push_back(id);
    ++depth;
  }
  void pop() override { --depth; }

  std::string reason;
  std::vector<uint64_t> ids;
  int depth = 0;
};

TEST(Profile, ABackendsTracerIsAskedOrSaysWhyNot) {
  if (tracing::device_tracer()) GTEST_SKIP() << "there is a real one";
  FakeTracer tracer;
  tracing::set_device_tracer(&tracer);
  profile prof;
  work();
  prof.stop();
  EXPECT_EQ(tracer.depth, 0);
  EXPECT_EQ(all_of(prof.events(), "sum").at(0).device_time, 1000);
  EXPECT_EQ(all_of(prof.events(), "void kernel<float>").size(), tracer.ids.size());
  EXPECT_THAT(prof.key_averages().table(), HasSubstr("void kernel<float>"));
  EXPECT_THAT(prof.key_averages().table(), HasSubstr("3 records were dropped"));
  tracer.ids.clear();
  tracer.reason = "no rights";
  prof.start();
  work();
  prof.stop();
  tracing::set_device_tracer(nullptr);
  EXPECT_THAT(tracer.ids, IsEmpty());
  EXPECT_THAT(prof.key_averages().table(),
              testing::EndsWith("CUDA times are missing: no rights\n"));
}

TEST(Profile, AKernelsErrorComesOutOfStopAndTheRecordingIsComplete) {
  profile prof;
  work();
  sim::launch(default_stream(Device("sim:0")), "broken", [] { throw IndexError("here"); });
  EXPECT_THAT(error_of([&] { prof.stop(); }),
              testing::StartsWith("here\n(raised by kernel 'broken'"));
  EXPECT_EQ(all_of(prof.events(), "MulBackward0").size(), 1u);
  EXPECT_EQ(all_of(prof.events(), "broken").size(), 1u);
  prof.stop();
}

TEST(Trace, CannotBeWrittenIsAnError) {
  profile prof;
  prof.stop();
  EXPECT_EQ(error_of([&] { prof.export_chrome_trace("/nowhere/trace.json"); }),
            "cannot write /nowhere/trace.json: No such file or directory");
}

#if HAS_JSON

using Json = nlohmann::json;

/// Spans of a lane lie beside or inside each other, every arrow has two ends that lie in spans,
/// every lane has a name.
void check_trace(const Json& trace) {
  std::map<std::pair<int, int64_t>, std::vector<std::pair<double, double>>> lanes;
  std::map<std::pair<int, int64_t>, std::string> names;
  std::map<int64_t, std::vector<Json>> arrows;
  for (const Json& e : trace.at("traceEvents")) {
    const std::string phase = e.at("ph");
    const std::pair<int, int64_t> lane{e.at("pid"), e.at("tid")};
    if (phase == "X")
      lanes[lane].push_back({e.at("ts"), e.at("ts").get<double>() + e.at("dur").get<double>()});
    if (phase == "M" && e.at("name") == "thread_name") names[lane] = e.at("args").at("name");
    if (phase == "s" || phase == "f") arrows[e.at("id")].push_back(e);
  }
  constexpr double kRounding = 0.0005;
  for (auto& [lane, spans] : lanes) {
    EXPECT_TRUE(names.contains(lane)) << lane.first << " " << lane.second;
    std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    std::vector<double> open;
    for (const auto& [start, end] : spans) {
      while (!open.empty() && open.back() <= start + kRounding) open.pop_back();
      if (!open.empty()) {
        EXPECT_LE(end, open.back() + kRounding);
      }
      open.push_back(end);
    }
  }
  for (const auto& [id, ends] : arrows) {
    ASSERT_EQ(ends.size(), 2u) << id;
    EXPECT_EQ(ends[0].at("ph"), "s");
    EXPECT_EQ(ends[1].at("ph"), "f");
    for (const Json& end : ends) {
      const double t = end.at("ts");
      const auto& spans = lanes.at({end.at("pid"), end.at("tid")});
      EXPECT_TRUE(std::any_of(spans.begin(), spans.end(), [t](const auto& s) {
        return s.first <= t + kRounding && t <= s.second + kRounding;
      })) << end;
    }
  }
}

TEST(Trace, ByHand) {
  const Json trace = Json::parse(chrome_trace(arrange(step_by_hand()), "a \"program\""));
  check_trace(trace);
  std::map<std::string, int> phases;
  Json counter;
  for (const Json& e : trace.at("traceEvents")) {
    ++phases[e.at("ph")];
    if (e.at("ph") == "C" && e.at("name") == "memory cuda:1") counter = e;
  }
  EXPECT_EQ(phases["X"], 6);
  EXPECT_EQ(phases["s"], 3);
  EXPECT_EQ(phases["f"], 3);
  EXPECT_EQ(phases["C"], 4);
  EXPECT_EQ(counter.at("ts"), 599.0);
  EXPECT_EQ(counter.at("args"), Json({{"allocated", 2048}, {"cached", 2048}}));
  const Json& first = trace.at("traceEvents").at(0);
  EXPECT_EQ(first.at("args").at("name"), "a \"program\"");
}

TEST(Trace, OfAStepOnTwoDevices) {
  const TemporaryFolder folder;
  {
    profile prof({.record_shapes = true, .profile_memory = true, .with_modules = true});
    nn::Linear layer(64, 64);
    for (int i = 0; i < 2; ++i) {
      const Device device(kSim, i);
      layer->to(device);
      layer(ones({8, 64}).to(device)).sum().backward();
      sim::launch(default_stream(device), "lonely", [] {});
    }
    prof.stop();
    prof.export_chrome_trace(folder / "trace.json");
  }
  const Json trace = Json::parse(std::ifstream(folder / "trace.json"));
  check_trace(trace);
  std::map<std::string, int> named;
  for (const Json& e : trace.at("traceEvents"))
    if (e.at("ph") == "X") ++named[e.at("name")];
  EXPECT_EQ(named["Linear"], 2);
  EXPECT_EQ(named["AddmmBackward0"], 2);
  EXPECT_EQ(named["launch lonely"], 2);
  EXPECT_GE(named["Memcpy HtoD"], 2);
}

TEST(Table, AsJson) {
  const Json rows = Json::parse(EventAverages(arrange(step_by_hand()), true, true, {}).to_json());
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[2].at("name"), "mm");
  EXPECT_EQ(rows[2].at("self_cpu_time_total"), 500.0);
  EXPECT_EQ(rows[2].at("shapes"), Json::parse("[[2, 3], [3, 4]]"));
  EXPECT_EQ(rows[3].at("device_type"), "CUDA");
  EXPECT_EQ(rows[3].at("count"), 2);
}

#endif

}  // namespace
}  // namespace taeda::profiler
