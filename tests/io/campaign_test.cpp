// Files that are damaged at random, and saves that are killed at random. A few of each run with the
// other tests; `tools/check_files` runs as many as it is told to.
#include <gmock/gmock.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>
#include <thread>

#include "taeda/io/checkpoint.h"
#include "taeda/io/npy.h"
#include "taeda/io/pickle.h"
#include "taeda/io/pt_reader.h"
#include "taeda/io/zip_archive.h"
#include "taeda/ops/create/create.h"
#include "taeda/ops/elementwise/compare.h"
#include "taeda/vision/image_io.h"
#include "tests/io/temporary_folder.h"

extern char** environ;

namespace taeda::io {
namespace {

const std::string kFiles = TAEDA_SOURCE_DIR "/tests/io/data/";

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

/// Changes, removes, repeats and cuts bytes.
class Damage {
 public:
  explicit Damage(uint64_t seed) : random_(seed) {}

  std::string operator()(std::string bytes) {
    for (size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
      const size_t at = below(bytes.size()), n = below(std::min<size_t>(32, bytes.size() - at));
      switch (below(6)) {
        case 0: bytes[at] = static_cast<char>(random_()); break;
        case 1: bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8)); break;
        case 2: bytes[at] = "\0\x7f\x80\xff(.}]qhRtu"[below(13)]; break;
        case 3: bytes.erase(at, n); break;
        case 4: bytes.insert(at, bytes.substr(at, n)); break;
        default: bytes.resize(at + 1);
      }
    }
    return bytes;
  }

 private:
  size_t below(size_t n) { return n ? random_() % n : 0; }
  std::mt19937_64 random_;
};

struct Format {
  std::string name;
  std::string good;
  std::function<void(const std::string& bytes, const std::string& path)> read;
};

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

template <class Load>
auto from_file(Load load) {
  return [load](const std::string& bytes, const std::string& path) {
    put(path, bytes);
    load(path);
  };
}

Tensor bytes_tensor(const std::string& bytes) {
  Tensor out = empty({static_cast<int64_t>(bytes.size())}, kByte);
  std::copy(bytes.begin(), bytes.end(), static_cast<char*>(out.data_ptr()));
  return out;
}

std::string text_of(const Tensor& t) {
  return {static_cast<const char*>(t.data_ptr()), static_cast<size_t>(t.numel())};
}

bool is_pickle(const std::string& name) { return name.ends_with("data.pkl"); }

std::string pickle_of(const std::string& path) {
  ZipReader zip(path);
  for (const auto& entry : zip.entries())
    if (is_pickle(entry.name)) return zip.read(entry.name);
  return "";
}

/// The archive with another pickle: damage behind the archive's checksums.
std::string with_pickle(const std::string& path, const std::string& pickle) {
  ZipReader zip(path);
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& entry : zip.entries())
    entries.emplace_back(entry.name, is_pickle(entry.name) ? pickle : zip.read(entry.name));
  return make_zip(entries, false);
}

std::vector<Format> formats() {
  const auto pixels = zeros({3, 9, 7}, kByte);
  std::vector<Format> out;
  out.push_back({"safetensors", serialize_safetensors({{"a", ones({3, 4})}, {"b", ones({2})}}),
                 [](const std::string& b, const std::string&) { SafeTensors::parse(b).all(); }});
  out.push_back({"npy", serialize_npy(ones({3, 4})),
                 [](const std::string& b, const std::string&) { parse_npy(b); }});
  out.push_back({"empty npy", serialize_npy(zeros({0, 4}, kBool)),
                 [](const std::string& b, const std::string&) { parse_npy(b); }});
  if (has_zip()) {
    const auto npz = [](const std::string& path) { load_npz(path); };
    const auto pt = [](const std::string& path) { load_pt(path); };
    out.push_back({"npz", contents(kFiles + "arrays.npz"), from_file(npz)});
    out.push_back({"pt", contents(kFiles + "checkpoint.pt"), from_file(pt)});
    out.push_back({"pickle", pickle_of(kFiles + "checkpoint.pt"),
                   [pt](const std::string& bytes, const std::string& path) {
                     put(path, with_pickle(kFiles + "checkpoint.pt", bytes));
                     pt(path);
                   }});
  }
  const auto picture = [](const auto& decode) {
    return [decode](const std::string& b, const std::string&) { decode(bytes_tensor(b)); };
  };
  if (vision::has_png())
    out.push_back({"png", text_of(vision::encode_png(pixels)), picture(&vision::decode_png)});
  if (vision::has_jpeg())
    out.push_back({"jpeg", text_of(vision::encode_jpeg(pixels)), picture(&vision::decode_jpeg)});
  return out;
}

/// Every input is read or refused with the library's error.
TEST(Campaign, DamagedFilesAreReadOrRefused) {
  const int64_t rounds = setting("TAEDA_FILE_ROUNDS", 400);
  Damage damage(static_cast<uint64_t>(setting("TAEDA_FILE_SEED", 1)));
  const TemporaryFolder folder;
  for (const Format& format : formats()) {
    EXPECT_NO_THROW(format.read(format.good, folder / "file")) << format.name;
    int64_t refused = 0;
    for (int64_t i = 0; i < rounds; ++i) {
      const std::string bytes = damage(format.good);
      try {
        format.read(bytes, folder / "file");
      } catch (const Error&) {
        ++refused;
      } catch (const std::exception& e) {
        ADD_FAILURE() << format.name << ", round " << i << ": " << e.what();
      }
    }
    EXPECT_GT(refused, rounds / 10) << format.name;
    std::cout << format.name << ": " << rounds << " inputs, " << refused << " refused\n";
  }
}

constexpr const char* kWriterPath = "TAEDA_TEST_WRITER_PATH";

/// The role of a process that saves until it is killed.
TEST(Campaign, Writer) {
  const char* path = std::getenv(kWriterPath);
  if (!path) GTEST_SKIP() << "a role for KilledSavesLoseNothing";
  for (int64_t i = 1;; ++i) {
    Checkpoint c;
    c.put("w", full({50000}, static_cast<double>(i))).set("i", static_cast<double>(i));
    c.save(path);
  }
}

pid_t start_writer(const std::string& path) {
  ::setenv(kWriterPath, path.c_str(), 1);
  std::string program = "/proc/self/exe", filter = "--gtest_filter=Campaign.Writer";
  char* arguments[] = {program.data(), filter.data(), nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments, environ);
  ::unsetenv(kWriterPath);
  return error == 0 ? pid : -1;
}

/// Whenever a save is killed, the file is whole: the one before or the new one. What is left lying
/// about goes with the next process's first save.
TEST(Campaign, KilledSavesLoseNothing) {
  const int64_t kills = setting("TAEDA_FILE_KILLS", 5);
  std::mt19937_64 random(static_cast<uint64_t>(setting("TAEDA_FILE_SEED", 1)));
  const TemporaryFolder folder;
  const std::string path = folder / "checkpoint";
  for (int64_t k = 0; k < kills; ++k) {
    const pid_t writer = start_writer(path);
    ASSERT_GT(writer, 0);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!std::filesystem::exists(path) && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 100000));
    ::kill(writer, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(writer, &status, 0), writer);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself";
    const Checkpoint c = Checkpoint::load(path);
    Tensor w;
    c.get("w", w);
    ASSERT_TRUE(w.equal(full({50000}, c.number("i")))) << "kill " << k;
    ASSERT_LE(folder.count(), 2u) << "what the one before left was swept";
    std::filesystem::remove(path);
  }
}

}  // namespace
}  // namespace taeda::io
