// CACHE_DIR as applications see it, and as many processes share it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include <npucore/npucore.hpp>

#include "support/samples.hpp"

#include "cached.hpp"

namespace npu::test::cache_test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) files.push_back(entry.path());
  return files;
}

class CacheDir : public Cached {
 protected:
  CompiledModel compile(const std::string& more = "") {
    CompileOptions options;
    options.properties =
        Properties::parse(more).over(Properties().set(property::cache_dir, cache_.string()));
    return CompiledModel::compile(device_, Model::read(model_), options);
  }
  LoadedFrom from(const std::string& more = "") { return compile(more).load_stats().from; }
};

TEST_F(CacheDir, HoldsWhatWasCompiled) {
  EXPECT_EQ(from(), LoadedFrom::kCompiler);
  const CompiledModel again = compile();
  EXPECT_EQ(again.load_stats().from, LoadedFrom::kCache);
  EXPECT_TRUE(again.get_property(property::loaded_from_cache));
  EXPECT_EQ(files_in(cache_).size(), 1u);
  EXPECT_EQ(warnings_, "");
}

TEST_F(CacheDir, GivesAModelThatComputesLikeTheCompiledOne) {
  compile();
  const CompiledModel model = compile();
  EXPECT_EQ(model.get_property("NETWORK_NAME"), "affine");
  EXPECT_EQ(model.input_index("x"), 0u);
  Request request = model.create_request();
  auto* values = reinterpret_cast<float*>(request.input(0).data());
  std::fill_n(values, kAffineElements, 3.f);
  request.infer();
  EXPECT_EQ(reinterpret_cast<const float*>(request.output(0).data())[5], affine(3));
}

TEST_F(CacheDir, IsOneOfTheDeviceToo) {
  device_.set_property(property::cache_dir, cache_.string());
  const Model model = Model::read(model_);
  CompiledModel::compile(device_, model);
  EXPECT_EQ(CompiledModel::compile(device_, model).load_stats().from, LoadedFrom::kCache);
  device_.set_property("CACHE_DIR", "");
}

TEST_F(CacheDir, KnowsWhatABlobDependsOn) {
  compile();
  for (const CachedRow& row : kCachedRows) {
    EXPECT_EQ(from(row.properties), row.same_entry ? LoadedFrom::kCache : LoadedFrom::kCompiler)
        << row.name;
  }
}

/// A machine after an update, or another machine that shares the folder.
struct UpdateRow {
  const char* name;
  void (*change)(DeviceInfo&);
};

class CacheDirAfterAnUpdate : public CacheDir, public ::testing::WithParamInterface<UpdateRow> {};

TEST_P(CacheDirAfterAnUpdate, CompilesAnewAndKeepsTheOldEntry) {
  compile();
  // The software NPU has one version of each: the answers that the library holds are changed.
  auto& info = const_cast<DeviceInfo&>(device_.info());
  const DeviceInfo before = info;
  GetParam().change(info);
  const LoadedFrom updated = from(), again = from();
  info = before;
  EXPECT_EQ(updated, LoadedFrom::kCompiler);
  EXPECT_EQ(again, LoadedFrom::kCache);
  EXPECT_EQ(files_in(cache_).size(), 2u);
  EXPECT_EQ(from(), LoadedFrom::kCache) << "the old driver's is still there";
  EXPECT_EQ(warnings_, "");
}

INSTANTIATE_TEST_SUITE_P(
    Rows, CacheDirAfterAnUpdate,
    ::testing::Values(UpdateRow{"Driver", [](DeviceInfo& device) { ++device.driver_version; }},
                      UpdateRow{"Extension",
                                [](DeviceInfo& device) { ++device.graph_extension.patch; }},
                      UpdateRow{"Compiler", [](DeviceInfo& device) { ++device.compiler.patch; }},
                      UpdateRow{"Elf", [](DeviceInfo& device) { ++device.blob_elf.patch; }},
                      UpdateRow{"Runtime", [](DeviceInfo& device) { ++device.blob_runtime.patch; }},
                      UpdateRow{"Name", [](DeviceInfo& device) { device.name += " 2"; }},
                      UpdateRow{"PciId", [](DeviceInfo& device) { ++device.pci_device_id; }},
                      UpdateRow{"Tiles", [](DeviceInfo& device) { ++device.tiles; }}),
    by_name);

TEST_F(CacheDir, SeesThatTheModelChanged) {
  compile();
  const float weights[] = {3, 1};
  write_file(folder_.path() / "affine.bin",
             {reinterpret_cast<const char*>(weights), sizeof(weights)});
  EXPECT_EQ(from(), LoadedFrom::kCompiler);
  std::string text = read_file(model_);
  text.replace(text.find("ReLU"), 4, "Tanh");
  write_file(model_, text);
  EXPECT_EQ(from(), LoadedFrom::kCompiler);
  EXPECT_EQ(files_in(cache_).size(), 3u);
}

TEST_F(CacheDir, DropsADamagedEntryAndCompilesAgain) {
  compile();
  const fs::path entry = files_in(cache_).at(0);
  const std::string whole = read_file(entry);
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, whole.size() - 1}) {
    write_file(entry, whole.substr(0, size));
    warnings_.clear();
    EXPECT_EQ(from(), LoadedFrom::kCompiler) << size;
    EXPECT_TRUE(has(warnings_, "is deleted: it was truncated or changed"));
    EXPECT_EQ(from(), LoadedFrom::kCache) << size;
  }
}

TEST_F(CacheDir, WhereOthersMayWriteIsAWarning) {
  compile();
  ASSERT_EQ(::chmod(cache_.c_str(), 0777), 0);
  EXPECT_EQ(from(), LoadedFrom::kCompiler) << "it ran what others may have put there";
  EXPECT_TRUE(has(warnings_, "may be written by others than its owner"));
}

TEST_F(CacheDir, KnowsTheFlagsThatTheEnvironmentAdds) {
  compile();
  ::setenv("ZE_INTEL_NPU_COMPILER_EXTRA_BUILD_FLAGS", "--config NPU_TILES=\"1\"", 1);
  const LoadedFrom changed = from(), again = from();
  ::unsetenv("ZE_INTEL_NPU_COMPILER_EXTRA_BUILD_FLAGS");
  EXPECT_EQ(changed, LoadedFrom::kCompiler);
  EXPECT_EQ(again, LoadedFrom::kCache);
  EXPECT_EQ(from(), LoadedFrom::kCache);
  EXPECT_EQ(files_in(cache_).size(), 2u);
}

TEST_F(CacheDir, ThatCannotBeMadeIsAWarning) {
  cache_ = model_ / "below a file";
  EXPECT_EQ(from(), LoadedFrom::kCompiler);
  EXPECT_TRUE(has(warnings_, "cannot be created"));
}

TEST_F(CacheDir, OnAFullDiskIsAWarning) {
  compile();
  fs::remove(files_in(cache_).at(0));
  struct rlimit before = {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {512, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const LoadedFrom got = from();
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(got, LoadedFrom::kCompiler);
  EXPECT_TRUE(has(warnings_, "the model is not cached"));
  EXPECT_TRUE(files_in(cache_).empty()) << "half a file stayed";
}

TEST_F(CacheDir, IsLimitedInSize) {
  compile("CACHE_SIZE=100");
  EXPECT_TRUE(files_in(cache_).empty());
  EXPECT_TRUE(has(warnings_, "CACHE_SIZE is 100"));
}

TEST_F(CacheDir, TellsWhatLoadingTook) {
  compile();
  const CompiledModel model = compile();
  const LoadStats stats = model.load_stats();
  EXPECT_GE(stats.load_ns, stats.compile_ns + stats.initialize_ns);
  EXPECT_EQ(stats.serializer, Serializer::kAuto) << "nothing was serialised";
}

/// Processes that compile one model with one cache.
class CacheOfManyProcesses : public ::testing::Test {
 protected:
  struct Process {
    pid_t pid = 0;
    int output = -1;
  };

  Process start(const char* id = nullptr) {
    const char* program = std::getenv("CACHED_COMPILE");
    if (!program) throw std::runtime_error("CACHED_COMPILE is not set");
    int ends[2] = {};
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl(program, program, model_.c_str(), cache_.c_str(), id, static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(ends[1]);
    return {child, ends[0]};
  }
  /// Text that it printed; "killed" when it was.
  static std::string end(const Process& process) {
    std::string printed;
    char text[256];
    for (ssize_t size = 0; (size = ::read(process.output, text, sizeof(text))) > 0;) {
      printed.append(text, static_cast<std::size_t>(size));
    }
    ::close(process.output);
    int status = 0;
    ::waitpid(process.pid, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return "killed";
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    return printed;
  }

  const TempDir folder_;
  const fs::path model_ = write_long_model(folder_.path(), 40);
  const fs::path cache_ = folder_.path() / "cache";
};

TEST_F(CacheOfManyProcesses, IsFilledByOneOfThem) {
  for (const char* id : {static_cast<const char*>(nullptr), "long model"}) {
    fs::remove_all(cache_);
    std::vector<Process> processes;
    for (int i = 0; i < 8; ++i) processes.push_back(start(id));
    int compiled = 0, loaded = 0;
    for (const auto& process : processes) {
      const std::string printed = end(process);
      compiled += printed == "compiler\n";
      loaded += printed == "cache\n";
    }
    EXPECT_EQ(compiled, 1) << (id ? id : "without an id");
    EXPECT_EQ(loaded, 7);
    EXPECT_EQ(files_in(cache_).size(), 1u);
  }
}

TEST_F(CacheOfManyProcesses, OutlivesThoseThatAreKilled) {
  for (const int round : every_nth(8, 3)) {
    std::vector<Process> processes;
    for (int i = 0; i < 8; ++i) processes.push_back(start());
    std::this_thread::sleep_for(std::chrono::milliseconds(25 * round));
    for (int i = 0; i < 4; ++i) ::kill(processes[static_cast<std::size_t>(i)].pid, SIGKILL);
    for (const auto& process : processes) {
      const std::string printed = end(process);
      EXPECT_TRUE(printed == "killed" || printed == "compiler\n" || printed == "cache\n")
          << printed;
    }
    EXPECT_EQ(end(start()), "cache\n") << "round " << round;
    for (const auto& file : files_in(cache_)) {
      EXPECT_NE(file.extension(), ".tmp") << "round " << round;
    }
    fs::remove_all(cache_);
  }
}

}  // namespace
}  // namespace npu::test::cache_test
