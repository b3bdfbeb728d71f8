// Every way in which a request in flight can end, with every kind of memory, on a software NPU that
// aborts when something is destroyed while the device uses it (SOFTNPU_STRICT=1) and takes its time
// (SOFTNPU_EXEC=delay).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <npucore/npucore.hpp>

#include "support/test_dmabuf.hpp"

#include "support.hpp"

namespace npu::test::lifetime_test {
namespace {

constexpr std::size_t kBytes = kAffineElements * sizeof(float);
constexpr std::size_t kPage = 4096;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// Memory of a request's input. Everything but the request's own binding ends with release().
class Memory {
 public:
  Memory(const Device& device, const std::filesystem::path& folder)
      : device_(device), folder_(folder) {}
  virtual ~Memory() = default;
  virtual void bind(Request& request) = 0;
  /// The application lets go of what it may let go of in flight.
  virtual void release() { tensor_ = Tensor(); }

 protected:
  void bind_tensor(Request& request, Tensor tensor) {
    tensor_ = std::move(tensor);
    request.set_input(0, tensor_);
  }

  const Device& device_;
  const std::filesystem::path folder_;
  Tensor tensor_;
};

struct Driver : Memory {
  using Memory::Memory;
  void bind(Request& request) override {
    bind_tensor(request, Tensor::allocate(device_, kBytes, MemoryUse::kInput));
  }
};

struct Exportable : Memory {
  using Memory::Memory;
  void bind(Request& request) override {
    bind_tensor(request, Tensor::allocate(device_, kBytes, MemoryUse::kInput, true));
    ::close(tensor_.export_dmabuf());
  }
};

struct Imported : Memory {
  using Memory::Memory;
  void bind(Request& request) override {
    const int fd = make_dmabuf(kPage);
    bind_tensor(request, Tensor::import_dmabuf(device_, fd));
    ::close(fd);
  }
};

struct Kept : Memory {
  using Memory::Memory;
  void bind(Request& request) override {
    const int fd = make_dmabuf(kPage);
    kept_ = importer_.keep(fd);
    ::close(fd);
    bind_tensor(request, kept_->tensor());
  }
  void release() override {
    Memory::release();
    kept_.reset();
  }
  Importer importer_{device_};
  std::optional<KeptImport> kept_;
};

struct ImportedHost : Memory {
  using Memory::Memory;
  void bind(Request& request) override { request.set_input(0, HostMemory{pages_.get(), kPage}); }
  std::unique_ptr<void, Free> pages_{std::aligned_alloc(kPage, kPage)};
};

struct CopiedHost : Memory {
  using Memory::Memory;
  void bind(Request& request) override { request.set_input(0, HostMemory{&floats_[1], kBytes}); }
  std::vector<float> floats_ = std::vector<float>(kAffineElements + 1);
};

struct File : Memory {
  using Memory::Memory;
  void bind(Request& request) override {
    write_file(folder_ / "input.raw", std::string(kPage, '\0'));
    bind_tensor(request, Tensor::from_file(device_, folder_ / "input.raw", 0, kBytes));
  }
};

using MakeMemory =
    std::function<std::unique_ptr<Memory>(const Device&, const std::filesystem::path&)>;

template <class Kind>
MakeMemory make() {
  return [](const Device& device, const std::filesystem::path& folder) {
    return std::make_unique<Kind>(device, folder);
  };
}

struct NamedMemory {
  const char* name;
  MakeMemory make;
};
std::ostream& operator<<(std::ostream& out, const NamedMemory& memory) {
  return out << memory.name;
}
const NamedMemory kMemories[] = {
    {"Driver", make<Driver>()},
    {"Exportable", make<Exportable>()},
    {"Imported", make<Imported>()},
    {"Kept", make<Kept>()},
    {"ImportedHost", make<ImportedHost>()},
    {"CopiedHost", make<CopiedHost>()},
    {"File", make<File>()},
};

/// Ends the request, which is in flight when this is called, on memory that others have released.
using End = void (*)(CompiledModel& model, std::unique_ptr<Request> request);

void wait(CompiledModel&, std::unique_ptr<Request> request) {
  EXPECT_TRUE(request->wait());
}

/// A thread that is held up for 20 ms finds it over.
void time_out_and_destroy(CompiledModel&, std::unique_ptr<Request> request) {
  request->wait(std::chrono::milliseconds(1));
}

void destroy(CompiledModel&, std::unique_ptr<Request> request) {
  request.reset();
}

void move_over_it(CompiledModel& model, std::unique_ptr<Request> request) {
  *request = model.create_request();
  request->infer();
}

void move_away(CompiledModel&, std::unique_ptr<Request> request) {
  const Request elsewhere = std::move(*request);
  request.reset();
}

void drop_the_model(CompiledModel& model, std::unique_ptr<Request> request) {
  const CompiledModel gone = std::move(model);
  request.reset();
}

/// A result of the wait itself, which says nothing about the inference.
void fail_to_wait(CompiledModel&, std::unique_ptr<Request> request) {
  expect_error(ErrorCode::kOutOfMemory, "zeFenceHostSynchronize", [&] { request->wait(); });
}

void lose_the_device(CompiledModel&, std::unique_ptr<Request> request) {
  expect_error(ErrorCode::kDeviceLost, "this inference is lost", [&] { request->wait(); });
}

/// The child uses everything that a child may use, ends everything, and leaves the parent's alone.
void fork_a_child(CompiledModel& model, std::unique_ptr<Request> request) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    int wrong = 0;
    for (const auto& call : std::vector<std::function<void()>>{
             [&] { request->submit(); }, [&] { request->wait(); }, [&] { model.create_request(); },
             [&] { Tensor::allocate(model.device(), kBytes, MemoryUse::kInput); }}) {
      try {
        call();
        ++wrong;
      } catch (const Error& error) {
        wrong += error.code() != ErrorCode::kUnsupported;
      }
    }
    request.reset();
    const CompiledModel gone = std::move(model);
    ::_exit(wrong);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "signal " << WTERMSIG(status);
  EXPECT_TRUE(request->wait());
}

/// In a process of its own.
[[noreturn]] void exit_the_process(CompiledModel&, std::unique_ptr<Request> request) {
  static std::unique_ptr<Request> until_exit;  // ended by the process's own clean-up
  until_exit = std::move(request);
  std::exit(0);
}

struct NamedEnd {
  const char* name;
  End end;
  const char* fault = "";  ///< from the submission on
};
std::ostream& operator<<(std::ostream& out, const NamedEnd& end) {
  return out << end.name;
}
constexpr NamedEnd kEnds[] = {
    {"Wait", &wait},
    {"TimeOutAndDestroy", &time_out_and_destroy},
    {"Destroy", &destroy},
    {"MoveOverIt", &move_over_it},
    {"MoveAway", &move_away},
    {"DropTheModel", &drop_the_model},
    {"FailToWait", &fail_to_wait, "zeFenceHostSynchronize:OUT_OF_HOST_MEMORY@1"},
    {"LoseTheDevice", &lose_the_device, "zeFenceHostSynchronize:DEVICE_LOST@1"},
    {"LoseTheDeviceInTheDestructor", &destroy, "zeFenceHostSynchronize:DEVICE_LOST@1"},
    {"Fork", &fork_a_child},
};

class InFlight : public OnSoftwareNpu,
                 public ::testing::WithParamInterface<std::tuple<NamedEnd, NamedMemory>> {
 protected:
  void SetUp() override {
    ASSERT_STREQ(std::getenv("SOFTNPU_STRICT"), "1") << "nothing would be noticed";
    OnSoftwareNpu::SetUp();
  }
  std::unique_ptr<Memory> memory() { return std::get<1>(GetParam()).make(device_, folder_.path()); }
  /// Brings a request in flight, on memory that others let go of, and ends it.
  void begin_and_end(const std::function<void(Request&)>& before_submit = [](Request&) {}) {
    const auto memory = this->memory();
    CompiledModel model = this->model();
    auto request = std::make_unique<Request>(model.create_request());
    memory->bind(*request);
    before_submit(*request);
    const NamedEnd& end = std::get<0>(GetParam());
    set_fault(end.fault);
    request->submit();
    memory->release();
    end.end(model, std::move(request));
    set_fault("");
  }
  CompiledModel model() {
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())));
  }
  TempDir folder_;
};

INSTANTIATE_TEST_SUITE_P(Ends, InFlight,
                         ::testing::Combine(::testing::ValuesIn(kEnds),
                                            ::testing::ValuesIn(kMemories)),
                         [](const auto& parameter) {
                           return std::string(std::get<0>(parameter.param).name) + "With" +
                                  std::get<1>(parameter.param).name;
                         });

TEST_P(InFlight, WithNothingFreedUnderTheDevice) {
  begin_and_end();
}

TEST_P(InFlight, WithACallbackToo) {
  begin_and_end([](Request& request) { request.set_callback([](std::exception_ptr) {}); });
}

/// The completion thread knows nothing of it.
TEST_P(InFlight, WithACallbackThatWasTakenBack) {
  begin_and_end([](Request& request) {
    request.set_callback([](std::exception_ptr) {});
    request.infer();
    request.set_callback({});
  });
}

/// As the callback itself ends it.
class EndedByItsCallback : public InFlight {};
INSTANTIATE_TEST_SUITE_P(Ends, EndedByItsCallback,
                         ::testing::Combine(::testing::Values(NamedEnd{"Callback", nullptr}),
                                            ::testing::ValuesIn(kMemories)),
                         [](const auto& parameter) { return std::get<1>(parameter.param).name; });

TEST_P(EndedByItsCallback, AfterItWasSubmittedOnceMore) {
  const auto memory = this->memory();
  CompiledModel model = this->model();
  auto request = std::make_unique<Request>(model.create_request());
  memory->bind(*request);
  std::promise<void> ended;
  Request* const called = request.get();
  called->set_callback([&](std::exception_ptr) {
    called->submit();
    request.reset();
    ended.set_value();
  });
  called->submit();
  memory->release();
  ended.get_future().wait();
}

using ExitInFlight = InFlight;
INSTANTIATE_TEST_SUITE_P(Ends, ExitInFlight,
                         ::testing::Combine(::testing::Values(NamedEnd{"Exit", &exit_the_process}),
                                            ::testing::ValuesIn(kMemories)),
                         [](const auto& parameter) { return std::get<1>(parameter.param).name; });

TEST_P(ExitInFlight, EndsWell) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(begin_and_end(), ::testing::ExitedWithCode(0), "");
}

class AtExit : public OnSoftwareNpu {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    OnSoftwareNpu::SetUp();
  }
  CompiledModel model() {
    return CompiledModel::compile(device_, Model::read(write_affine_model(folder_.path())));
  }
  TempDir folder_;
};

/// The engine works on one of them; a thread waits for the others.
TEST_F(AtExit, ManyRequestsInFlightEnd) {
  const auto leave = [&] {
    ::alarm(60);
    static std::vector<Request> requests;
    const CompiledModel model = this->model();
    for (int i = 0; i < 4; ++i) {
      requests.push_back(model.create_request());
      requests.back().set_callback([](const std::exception_ptr&) {});
    }
    for (Request& request : requests) request.submit();
    std::exit(0);
  };
  EXPECT_EXIT(leave(), ::testing::ExitedWithCode(0), "");
}

/// Made before any static of the library's functions, and so ended after them.
struct LastOfAll {
  ~LastOfAll() {
    if (work) {
      work();
    }
  }
  std::function<void()> work;
} last_of_all;

TEST_F(AtExit, StaticObjectsMayStillAskForProperties) {
  const auto leave = [&] {
    ::alarm(60);
    const auto ask = [device = device_, compiled = model()] {
      const bool told = !device.get_property("SUPPORTED_PROPERTIES").empty() &&
                        compiled.get_property("NETWORK_NAME") == "affine" &&
                        !near_property_names("PERF_CONT").empty() && !known_properties().empty();
      Properties().set("LOG_LEVEL", "LOG_ERROR");
      if (told) return;
      ::_exit(1);
    };
    ask();
    last_of_all.work = ask;
    std::exit(0);
  };
  EXPECT_EXIT(leave(), ::testing::ExitedWithCode(0), "");
}

/// The software NPU has no compiler any more by then, and says so.
TEST_F(AtExit, StaticObjectsThatCompileGetAnError) {
  const auto leave = [&] {
    ::alarm(60);
    model();
    const Model again = Model::read(write_affine_model(folder_.path()));
    last_of_all.work = [device = device_, again] {
      try {
        CompiledModel::compile(device, again);
      } catch (const Error&) {
        return;
      }
      ::_exit(1);
    };
    std::exit(0);
  };
  EXPECT_EXIT(leave(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace npu::test::lifetime_test
