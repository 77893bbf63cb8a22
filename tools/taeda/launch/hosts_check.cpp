// `taeda launch --check-hosts`: what the machines of a cluster lack. Each machine runs `taeda
// launch
// --probe`, which tells about itself and then tries to reach the others.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <sstream>

#include "taeda/distributed/cluster/guardian.h"
#include "taeda/distributed/cluster/worker.h"
#include "taeda/distributed/network.h"
#include "taeda/log/table.h"
#include "tools/taeda/command.h"
#include "tools/taeda/launch/hosts.h"

namespace taeda::tool {

namespace {

using namespace distributed::cluster;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kForAnswers(30), kToConnect(5);

/// A machine that is asked.
struct Asked {
  explicit Asked(const Machine& m) : machine(m) {}

  const Machine& machine;
  Descriptor input;
  std::map<std::string, std::string> answers = {};  ///< by their first word
  size_t replies = 0;                               ///< to "reach"
  std::vector<std::string> unreached = {};
  std::unique_ptr<Worker> worker = {};

  bool listens() const { return answers.contains("listening") && answers.at("listening") != "-"; }
  bool done() const { return worker->ended() || answers.contains("listening"); }

  void hear(std::string_view line) {
    const size_t space = std::min(line.find(' '), line.size());
    const std::string word(line.substr(0, space));
    const std::string rest(line.substr(std::min(space + 1, line.size())));
    if (word != "reached" && word != "unreached") {
      answers[word] = rest;
      return;
    }
    ++replies;
    if (word == "unreached") unreached.push_back(rest);
  }
};

class Check {
 public:
  Check(const Cluster& cluster, const std::string& program) : cluster_(cluster) {
    for (const Machine& machine : cluster.machines) ask(machine, program);
    wait([](const Asked& a) { return a.done(); });
    for (Asked& one : asked_)
      for (const Asked& other : asked_)
        if (&one != &other && one.listens() && other.listens())
          write_all(one.input.get(),
                    "reach " + other.machine.address + " " + other.answers.at("listening") + "\n");
    wait([this](const Asked& a) {
      return a.worker->ended() || !a.listens() || a.replies >= listening() - 1;
    });
    for (Asked& one : asked_) one.input.close();
    wait([](const Asked& a) { return a.worker->ended().has_value(); });
    guardian_.signal(SIGKILL);
  }

  /// Prints a row for each machine; whether all is well.
  bool report() const {
    logging::Table table({"machine", "processes", "devices", "result"});
    bool good = true;
    for (const Asked& one : asked_) {
      const std::vector<std::string> wrong = objections(one);
      std::string result;
      for (const std::string& what : wrong) result += (result.empty() ? "" : "; ") + what;
      good = good && wrong.empty();
      table.row({one.machine.address, std::to_string(one.machine.processes),
                 one.answers.contains("devices") ? one.answers.at("devices") : "?",
                 wrong.empty() ? "ok" : result});
    }
    std::printf("%s", table.str().c_str());
    return good;
  }

 private:
  void ask(const Machine& machine, const std::string& program) {
    Asked& one = asked_.emplace_back(machine);
    Pipe input;
    ::fcntl(input.read.get(), F_SETFL, 0);
    WorkerOptions worker;
    worker.child = {
        .command = command_on(cluster_, machine, {"launch", "--probe", machine.address, program}),
        .input = input.read.get(),
        .group = guardian_.group()};
    one.input = std::move(input.write);
    one.worker =
        std::make_unique<Worker>(std::move(worker), [&one](bool error, std::string_view line) {
          if (!error) one.hear(line);
        });
  }

  void wait(const std::function<bool(const Asked&)>& enough) {
    const auto deadline = Clock::now() + kForAnswers;
    while (Clock::now() < deadline && !std::all_of(asked_.begin(), asked_.end(), enough)) {
      std::vector<pollfd> files;
      for (const Asked& one : asked_)
        for (const int file : one.worker->outputs()) files.push_back({file, POLLIN, 0});
      ::poll(files.data(), files.size(), /*milliseconds=*/20);
      for (Asked& one : asked_) one.worker->look();
    }
  }

  size_t listening() const {
    return static_cast<size_t>(
        std::count_if(asked_.begin(), asked_.end(), [](const Asked& a) { return a.listens(); }));
  }

  std::vector<std::string> objections(const Asked& one) const {
    if (one.answers.empty()) return {silence(one)};
    const auto answer = [&one](const char* word) {
      const auto it = one.answers.find(word);
      return it == one.answers.end() ? std::string() : it->second;
    };
    std::vector<std::string> out;
    if (answer("version") != TAEDA_VERSION)
      out.push_back("has version " + answer("version") + ", this is " TAEDA_VERSION);
    if (answer("program") != "found") out.push_back("lacks the program: " + answer("program"));
    const int64_t devices = std::atoll(answer("devices").c_str());
    for (const int64_t device : one.machine.devices)
      if (device >= devices)
        out.push_back("sees no device " + std::to_string(device) + " (it has " +
                      std::to_string(devices) + ")");
    if (!one.listens()) out.push_back("cannot listen on its address: " + answer("objection"));
    for (const std::string& other : one.unreached) out.push_back("has no way to " + other);
    return out;
  }

  /// Why a machine has said nothing.
  static std::string silence(const Asked& one) {
    const auto& ended = one.worker->ended();
    std::string words = one.worker->last_words();
    words = words.substr(0, words.find_last_not_of('\n') + 1);
    words = words.substr(words.rfind('\n') + 1);
    if (!ended) return "says nothing";
    if (ended->code == 255) return "cannot be reached: " + words;
    if (ended->code == 126 || ended->code == 127) return "lacks the command " + one.machine.taeda;
    return ended->text() + (words.empty() ? "" : ": " + words);
  }

  const Cluster& cluster_;
  Guardian guardian_;
  std::list<Asked> asked_;
};

/// A socket that others can connect to, at a port that the system chooses.
struct Listener {
  explicit Listener(const std::string& host) {
    const std::string address = distributed::resolve(host);
    addrinfo hints = {}, *found = nullptr;
    hints.ai_flags = AI_NUMERICHOST;
    hints.ai_socktype = SOCK_STREAM;
    if (::getaddrinfo(address.c_str(), "0", &hints, &found) != 0) return;
    socket = Descriptor(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::bind(socket.get(), found->ai_addr, found->ai_addrlen) == 0 &&
        ::listen(socket.get(), 128) == 0)
      port = distributed::port_of(socket.get());
    else
      objection = std::strerror(errno);
    ::freeaddrinfo(found);
  }
  Descriptor socket;
  uint16_t port = 0;
  std::string objection;
};

/// Whether a shell would find the program.
bool can_run(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0;
  std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');)
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace

int check_hosts(const LaunchFlags& flags) {
  const Cluster cluster = read_cluster(flags.hosts);
  return Check(cluster, flags.command[0]).report() ? 0 : kExitFailure;
}

int answer_probe(const LaunchFlags& flags) {
  const std::string program = flags.command[0];
  const Listener listener(flags.probe);
  std::cout << "version " << TAEDA_VERSION << "\nprogram " << (can_run(program) ? "found" : program)
            << "\ndevices " << accelerators().size() << "\n";
  if (!listener.objection.empty()) std::cout << "objection " << listener.objection << "\n";
  std::cout << "listening " << (listener.port ? std::to_string(listener.port) : "-") << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string reach, host;
    uint16_t port = 0;
    words >> reach >> host >> port;
    const std::string objection = distributed::connect_objection(host, port, kToConnect);
    std::cout << (objection.empty() ? "reached " : "unreached ") << host
              << (objection.empty() ? "" : " (" + objection + ")") << std::endl;
  }
  return 0;
}

}  // namespace taeda::tool
