// A job under Slurm: two machines on this one, in namespaces of their own.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/distributed/stores.h"
#include "tests/variable.h"
#include "tests/io/temporary_folder.h"

namespace taeda {
namespace {

/// Whatever else this machine does is not seen, and all processes end with the first one.
const std::string kNamespaces = "unshare --pid --fork --kill-child --mount-proc --net --uts ";

/// A daemon that gives tickets, one that hands out jobs, and one for each machine. What differs
/// from Slurm's defaults needs no cgroups and no more cores than there are.
constexpr const char* kConfiguration = R"(
ClusterName=tests
SlurmctldHost=machine(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=FOLDER/munge
StateSaveLocation=FOLDER/state
SlurmdSpoolDir=FOLDER/spool-%n
SlurmctldPidFile=FOLDER/slurmctld.pid
SlurmdPidFile=FOLDER/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=machine1 NodeHostname=machine NodeAddr=127.0.0.1 Port=6821 CPUs=3
NodeName=machine2 NodeHostname=machine NodeAddr=127.0.0.1 Port=6822 CPUs=3
PartitionName=tests Nodes=ALL Default=YES
)";

/// The link besides the loopback is for getaddrinfo(), which finds no name without one.
constexpr const char* kScript = R"(set -eu
cd FOLDER
ip link set lo up
ip link add eth0 type veth peer name eth1
ip address add 10.98.0.1/24 dev eth0
ip link set eth0 up
ip link set eth1 up
hostname machine
echo '127.0.0.1 localhost machine machine1 machine2' > hosts
mount --bind hosts /etc/hosts
head -c 1024 /dev/urandom > key
chmod 400 key
mkdir state spool-machine1 spool-machine2
export SLURM_CONF=FOLDER/slurm.conf
munged --foreground --force --socket=FOLDER/munge --key-file=FOLDER/key --num-threads=1 \
  --pid-file=FOLDER/munged.pid --log-file=FOLDER/munged.log --seed-file=FOLDER/seed \
  > munged.log 2>&1 &
slurmctld -D -i > slurmctld.log 2>&1 &
slurmd -D -N machine1 > slurmd1.log 2>&1 &
slurmd -D -N machine2 > slurmd2.log 2>&1 &
for machines in 1 2; do
  echo "$machines machines"
  srun --immediate=30 --nodes=$machines --ntasks=3 PROGRAM 2> srun.log || tail -n 20 *.log
done
)";

std::string with_paths(std::string text, const std::string& folder) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const auto replace = [&](const std::string& name, const std::string& path) {
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += path.size())
      text.replace(at, name.size(), path);
  };
  replace("FOLDER", folder);
  replace("PROGRAM", program);
  return text;
}

/// Why there can be no Slurm here; empty if there can.
std::string missing_slurm() {
  const auto works = [](const std::string& command) {
    return std::system(("{ " + command + "; } > /dev/null 2>&1").c_str()) == 0;
  };
  for (const char* program : {"munged", "slurmctld", "slurmd", "srun", "ip", "unshare"})
    if (!works("PATH=$PATH:/usr/sbin command -v " + std::string(program)))
      return "there is no " + std::string(program) +
             " (apt-get install slurmctld slurmd slurm-client munge iproute2)";
  if (!works(kNamespaces + "ip link add eth0 type veth peer name eth1"))
    return "namespaces need root";
  return distributed::missing_grpc();
}

/// The lines that the script prints.
std::vector<std::string> run_slurm(const std::string& role) {
  const TemporaryFolder folder;
  std::ofstream(folder / "slurm.conf") << with_paths(kConfiguration, folder.path());
  std::ofstream(folder / "run") << with_paths(kScript, folder.path());
  const char* path = std::getenv("PATH");
  const Variable programs("PATH", std::string(path ? path : "") + ":/usr/sbin:/sbin:/usr/bin:/bin");
  const Variable as_role("TAEDA_TEST_ROLE", role), url("TAEDA_TEST_URL", "env://");
  FILE* output =
      ::popen(("timeout -k 5 60 " + kNamespaces + "sh " + (folder / "run") + " 2>&1").c_str(), "r");
  std::string text;
  char buffer[4096];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, output)) text.append(buffer, n);
  EXPECT_EQ(::pclose(output), 0);
  std::vector<std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out.push_back(line);
  return out;
}

TEST(Slurm, RanksOfOneMachineAndOfTwoMeetAsItsVariablesSay) {
  if (const std::string why = missing_slurm(); !why.empty()) GTEST_SKIP() << why;
  std::vector<std::string> lines = run_slurm("meet");
  ASSERT_EQ(lines.size(), 8u) << testing::PrintToString(lines);
  std::sort(lines.begin() + 1, lines.begin() + 4);
  std::sort(lines.begin() + 5, lines.end());
  EXPECT_THAT(lines, testing::ElementsAre("1 machines", "0 of 3", "1 of 3", "2 of 3",  //
                                          "2 machines", "0 of 3", "1 of 3", "2 of 3"));
}

}  // namespace
}  // namespace taeda
