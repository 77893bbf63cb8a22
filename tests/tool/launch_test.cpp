// `taeda launch`: its flags, and several machines, which are this one.
#include <optional>
#include <thread>

#include "taeda/distributed/engine.h"
#include "tests/own_port.h"
#include "tests/tool/common.h"

namespace taeda {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

std::string missing_engine() {
#if defined(__SANITIZE_THREAD__)
  return "gRPC was built without ThreadSanitizer";
#else
  return distributed::has_engine("grpc") ? "" : "the engine 'grpc' is missing";
#endif
}

class LaunchTool : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = missing_engine(); !why.empty()) GTEST_SKIP() << why;
  }
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return folder / name;
  }
  TemporaryFolder folder;
};

TEST_F(LaunchTool, RefusesFlagsThatMakeNoSense) {
  expect_bad_input("launch", "launch needs a program to run");
  expect_bad_input("launch --nproc-per-nod 2 true",
                   "launch does not know the flag --nproc-per-nod");
  expect_bad_input("launch --nproc-per-node 0 true",
                   "--nproc-per-node must be a number from 1 to 4096, auto");
  expect_bad_input("launch --nproc-per-node two true", "value: two (--nproc");
  expect_bad_input("launch --nnodes 3:2 --rdzv-endpoint h true",
                   "--nnodes must be a number of machines up to 65536, or min:max, got '3:2'");
  expect_bad_input("launch --nnodes 2 true", "--rdzv-endpoint (or --master-addr) must be given");
  expect_bad_input("launch --nnodes 2 --rdzv-endpoint h:0 true", "--rdzv-endpoint must be a host");
  expect_bad_input("launch --nnodes 2 --rdzv-endpoint h --node-rank 2 true",
                   "--node-rank must be from 0 to less than the number of machines, got '2'");
  expect_bad_input("launch --standalone --nnodes 2 true", "--standalone must be alone");
  expect_bad_input("launch --rdzv-backend etcd true", "--rdzv-backend must be c10d or static");
  expect_bad_input("launch --rdzv-conf a=1 true", "--rdzv-conf has join_timeout");
  expect_bad_input("launch --tee 3 true", "--log-dir must be given with --redirects, --tee");
  expect_bad_input("launch --tee 5 --log-dir d true", "outputs must be 0 (none)");
  expect_bad_input("launch --max-restarts -1 true", "--max-restarts must be 0 or more, got '-1'");
  expect_bad_input("launch --check-hosts true", "--hosts must be given with --check-hosts");
  expect_bad_input("launch --nproc-per-node 99999999999 true", "from 1 to 4096, auto, cpu or gpu");
  expect_bad_input("launch --nnodes 1:99999999999 --rdzv-endpoint h true",
                   "min:max, got '99999999999'");
  expect_bad_input("launch --shutdown-timeout 9223372036854775807 true", "--shutdown-timeout must");
  expect_bad_input("launch --rdzv-conf join_timeout=9223372036854775807 true", "--rdzv-conf must");
  expect_bad_input("launch --signals-to-handle SIGNO true", "must be names of signals");
  expect_bad_input("launch --numa-binding node true",
                   "--numa-binding is not supported, got 'node'");
  expect_bad_input("launch -m --no-python true", "Don't use both the '--no-python' flag and the");
}

TEST_F(LaunchTool, SaysWhichFlagWasMeant) {
  expect_bad_input("launch --nproc 2 true",
                   "launch does not know the flag --nproc; did you mean --nproc-per-node?");
  expect_bad_input("launch --nproc=2 true", "did you mean --nproc-per-node?");
  expect_bad_input("train csv --data t.csv --nproc-per-node 2", "did you mean --nproc?");
}

TEST_F(LaunchTool, ReadsTorchrunsVariables) {
  const Outcome o = taeda_tool("launch sh -c 'echo $WORLD_SIZE'", "PET_NPROC_PER_NODE=2");
  EXPECT_THAT(o.out, AllOf(HasSubstr("[rank 0] 2\n"), HasSubstr("[rank 1] 2\n")));
  EXPECT_THAT(taeda_tool("launch true", "PET_STANDALONE=maybe").err,
              HasSubstr("must be 0 or 1, got 'maybe' (the environment has PET_STANDALONE=maybe)"));
  EXPECT_THAT(taeda_tool("launch --nnodes 0 true", "PET_MAX_RESTARTS=1").err,
              testing::Not(HasSubstr("PET_")));
}

TEST_F(LaunchTool, HasTorchrunsOtherFlags) {
  const std::string logs = folder / "logs";
  const Outcome o = taeda_tool(
      "launch --nproc-per-node 2 --role trainer --virtual-local-rank --local-ranks-filter 1 "
      "--rdzv-id job --log-dir " +
          logs +
          " --duplicate-stdout-filters loss,error "
          "sh -c 'echo $ROLE_NAME $LOCAL_RANK $CUDA_VISIBLE_DEVICES; echo the loss is $RANK'",
      "CUDA_VISIBLE_DEVICES=5,7");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "[rank 1] trainer 0 7\n[rank 1] the loss is 1\n");
  EXPECT_EQ(contents(logs + "/job/attempt_0/0/stdout.log"), "trainer 0 5\nthe loss is 0\n");
  EXPECT_THAT(contents(logs + "/job/attempt_0/filtered_stdout.log"),
              AllOf(HasSubstr("[rank 0] the loss is 0\n"), HasSubstr("[rank 1] the loss is 1\n"),
                    testing::Not(HasSubstr("trainer"))));
}

TEST_F(LaunchTool, LogsOfAJobStayBelowTheirFolder) {
  const std::string logs = folder / "a/logs";
  EXPECT_EQ(taeda_tool("launch --rdzv-id ../../x --log-dir " + logs + " echo hello").code, 0);
  EXPECT_EQ(contents(logs + "/%2E.%2F..%2Fx/attempt_0/0/stdout.log"), "hello\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
}

TEST_F(LaunchTool, RunsAProgramWithItsArguments) {
  const Outcome o = taeda_tool("launch --nproc_per_node 2 sh -c 'echo $RANK of $0' --monitor");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("[rank 0] 0 of --monitor\n"), HasSubstr("[rank 1] 1 of")));
  EXPECT_EQ(taeda_tool("launch sh -c 'exit 5'").code, 5);
  EXPECT_THAT(taeda_tool("launch sh -c 'kill -ABRT $$'").err, HasSubstr("SIGABRT (Aborted)\n"));
  EXPECT_THAT(taeda_tool("launch /no/program").err, HasSubstr("taeda: cannot start '/no/program'"));
}

/// Machines of a file that are this one: twice, without ssh.
std::string two_machines(const std::string& more = "", const std::string& first = "") {
  return "port = " + std::to_string(own_port()) + "\n" + more +
         "[environment]\nTOLD = \"twice told\"\n"
         "[[machines]]\naddress = \"127.0.0.1\"\nlocal = true\nprocesses = 2\n"
         "taeda = \"" TAEDA_TOOL "\"\n" +
         first +
         "[[machines]]\naddress = \"localhost\"\nlocal = true\n"
         "taeda = \"" TAEDA_TOOL "\"\n";
}

class Hosts : public LaunchTool {
 protected:
  void SetUp() override {
    LaunchTool::SetUp();
    if (taeda_tool("launch --hosts /no/file true").err.find("toml++") != std::string::npos)
      GTEST_SKIP() << "built without toml++";
  }
};

TEST_F(Hosts, FilesThatAreWrongSayWhere) {
  const auto refused = [&](const std::string& text, const std::string& message) {
    expect_bad_input("launch --hosts " + file("c.toml", text) + " true", message);
  };
  expect_bad_input("launch --hosts /no/file true", "cannot read /no/file");
  refused("port = 1\n", "names no [[machines]]");
  refused("port = \"a\"\n", "c.toml, line 1: port must be a whole number");
  refused("\nport = 70000\n", "line 2: port must be a number from 1 to 65535, got 70000");
  refused("hosts = 1\n", "line 1: hosts must be one of environment, machines, port, ssh_options");
  refused("[[machines]]\nssh = \"a\"\n", "machine 1: has no address");
  refused("[[machines]]\naddress = \"a\"\n[[machines]]\naddress = \"b\"\ndevices = [\"x\"]\n",
          "line 5: machine 2: devices must be a list, each of it a whole number");
  refused("[[machines]]\naddress = \"a\"\nprocesses = 0\n", "processes must be a number from 1");
  std::string devices = "0";
  for (int i = 1; i < 5000; ++i) devices += ", " + std::to_string(i);
  refused("[[machines]]\naddress = \"a\"\ndevices = [" + devices + "]\n",
          "processes must be a number from 1 to 4096, got 5000");
  refused("[[machines]\n", "c.toml, line 1: ");
  expect_bad_input("launch --nnodes 2 --hosts " + file("c.toml", two_machines()) + " true",
                   "--hosts must be without --nnodes");
}

TEST_F(Hosts, RunALauncherEach) {
  const std::string cluster = file("c.toml", two_machines("", "devices = [3, 1]\n"));
  const Outcome o = taeda_tool("launch --hosts " + cluster +
                               " sh -c 'echo $RANK/$WORLD_SIZE $GROUP_RANK $TOLD "
                               "$CUDA_VISIBLE_DEVICES; test -n $TAEDA_DISTRIBUTED_SECRET_FD'");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("[rank 0] 0/3 0 twice told 3,1\n"),
                           HasSubstr("[rank 1] 1/3 0 twice told 3,1\n"),
                           HasSubstr("[rank 2] 2/3 1 twice told\n")));
}

TEST_F(Hosts, AFailureEndsAllAndIsNamedOnce) {
  const Outcome o =
      taeda_tool("launch --shutdown-timeout 2 --hosts " + file("c.toml", two_machines()) +
                 " sh -c 'if [ $RANK = 2 ]; then exit 9; fi; sleep 300'");
  EXPECT_NE(o.code, 0);
  EXPECT_THAT(o.err,
              ContainsRegex("taeda: rank 2 \\(local rank 0 on .*\\) exited with status 9\n"));
  EXPECT_EQ(o.err.find("taeda: rank 2"), o.err.rfind("taeda: rank 2")) << o.err;
}

TEST_F(Hosts, DieWithTheLauncher) {
  Outcome o;
  signal_taeda_tool(
      "launch --hosts " + file("c.toml", two_machines()) + " sh -c 'echo pid $$; exec sleep 300'",
      "[rank 2] pid", SIGTERM, &o);
  EXPECT_EQ(o.code, 128 + SIGTERM);
  for (size_t at = o.out.find("pid "); at != std::string::npos; at = o.out.find("pid ", at + 1)) {
    const pid_t id = std::stoi(o.out.substr(at + 4));
    for (int i = 0; i < 1000 && ::kill(id, 0) == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_NE(::kill(id, 0), 0) << id;
  }
}

TEST_F(Hosts, CheckSaysWhatMachinesLack) {
  const std::string good = file("c.toml", two_machines());
  const Outcome ok = taeda_tool("launch --check-hosts --hosts " + good + " sh");
  EXPECT_EQ(ok.code, 0) << ok.out << ok.err;
  EXPECT_THAT(ok.out, ContainsRegex("127.0.0.1 +│ +2 │ +[0-9]+ │ ok"));
  EXPECT_THAT(ok.out, ContainsRegex("localhost +│ +1 │ +[0-9]+ │ ok"));
  const Outcome program = taeda_tool("launch --check-hosts --hosts " + good + " no_such_program");
  EXPECT_EQ(program.code, 1);
  EXPECT_THAT(program.out, HasSubstr("lacks the program: no_such_program"));
  const Outcome bad =
      taeda_tool("launch --check-hosts --hosts " +
                 file("d.toml", two_machines("", "devices = [77]\n") +
                                    "[[machines]]\naddress = \"127.0.0.1\"\nlocal = true\n"
                                    "taeda = \"/no/taeda\"\n"
                                    "[[machines]]\naddress = \"192.0.2.1\"\nlocal = true\n"
                                    "taeda = \"" TAEDA_TOOL "\"\n"
                                    "[[machines]]\naddress = \"127.0.0.1\"\nlocal = true\n"
                                    "taeda = \"" +
                                    file("old",
                                         "#!/bin/sh\necho version 0.0.1\necho program found\necho "
                                         "listening -\n") +
                                    "\"\n") +
                 " sh");
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out, HasSubstr("sees no device 77"));
  EXPECT_THAT(bad.out, HasSubstr("lacks the command /no/taeda"));
  EXPECT_THAT(bad.out, HasSubstr("cannot listen on its address: Cannot assign requested address"));
}

/// An sshd of the test's own, which lets this user in with a key of the test's own.
class Sshd {
 public:
  explicit Sshd(const TemporaryFolder& folder) : folder_(folder.path()) {
    if (std::system("command -v ssh ssh-keygen > /dev/null && test -x /usr/sbin/sshd") != 0) {
      missing_ = "ssh, ssh-keygen and sshd are not installed";
      return;
    }
    // sshd insists on this folder; its package's service makes it.
    made_folder_ = ::geteuid() == 0 && ::mkdir("/run/sshd", 0755) == 0;
    const std::string script =
        "cd " + folder_ +
        " && ssh-keygen -q -t ed25519 -N '' -f host && "
        "ssh-keygen -q -t ed25519 -N '' -f user && cp user.pub authorized && "
        "printf 'Port " +
        port_ + "\\nListenAddress 127.0.0.1\\nHostKey " + folder_ + "/host\\nAuthorizedKeysFile " +
        folder_ +
        "/authorized\\nStrictModes no\\nUsePAM no\\n"
        "PasswordAuthentication no\\nPermitRootLogin yes\\nPidFile " +
        folder_ +
        "/pid\\n' "
        "> config && /usr/sbin/sshd -f config -E log";
    if (std::system(script.c_str()) != 0)
      missing_ = "sshd does not start: " + contents(folder_ + "/log");
  }
  ~Sshd() {
    const std::string pid = contents(folder_ + "/pid");
    if (!pid.empty()) ::kill(std::stoi(pid), SIGTERM);
    if (made_folder_) ::rmdir("/run/sshd");
  }
  const std::string& missing() const { return missing_; }
  const std::string& port() const { return port_; }
  std::string options() const {
    return "ssh_options = [\"-i\", \"" + folder_ +
           "/user\", \"-F\", \"/dev/null\", \"-o\", "
           "\"StrictHostKeyChecking=no\", \"-o\", \"UserKnownHostsFile=/dev/null\", \"-o\", "
           "\"LogLevel=ERROR\"]\n";
  }

 private:
  const std::string folder_, port_ = std::to_string(own_port());
  std::string missing_;
  bool made_folder_ = false;
};

TEST_F(Hosts, AreReachedOverSsh) {
  const Sshd sshd(folder);
  if (!sshd.missing().empty()) GTEST_SKIP() << sshd.missing();
  const auto machine = [&](const std::string& port) {
    return "[[machines]]\naddress = \"127.0.0.1\"\nport = " + port + "\nfolder = \"" +
           folder.path() + "\"\ntaeda = \"" TAEDA_TOOL "\"\n";
  };
  const std::string two =
      file("two.toml", "port = " + std::to_string(own_port()) + "\n" + sshd.options() +
                           machine(sshd.port()) + machine(sshd.port()));
  const Outcome ok = taeda_tool("launch --check-hosts --hosts " + two + " sh");
  EXPECT_EQ(ok.code, 0) << ok.out << ok.err;
  const Outcome ran =
      taeda_tool("launch --hosts " + two + " sh -c \"echo it\\'s \\$RANK in \\$(pwd)\"");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("[rank 0] it's 0 in " + folder.path()),
                             HasSubstr("[rank 1] it's 1 in " + folder.path())));
  const std::string one =
      file("one.toml", "port = " + std::to_string(own_port()) + "\n" + sshd.options() +
                           machine(sshd.port()) + machine("1"));
  const Outcome bad = taeda_tool("launch --check-hosts --hosts " + one + " sh");
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.out, HasSubstr("cannot be reached: ssh: connect to host 127.0.0.1 port 1"));
  const Outcome failed = taeda_tool("launch --hosts " + one + " sleep 300");
  EXPECT_EQ(failed.code, 255);
  EXPECT_THAT(failed.err, HasSubstr("taeda: the launcher on machine 127.0.0.1 (ssh 127.0.0.1) "
                                    "exited with status 255"));
}

}  // namespace
}  // namespace taeda
