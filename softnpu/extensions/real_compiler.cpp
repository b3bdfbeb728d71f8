#include "real_compiler.hpp"

#include <cstdlib>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>

#include <npu_vcl/abi.hpp>
#include <npu_vcl/message.hpp>
#include <npu_vcl/service.hpp>

#include "base/config.hpp"
#include "base/failure.hpp"
#include "base/trace.hpp"
#include "graph/graph_input.hpp"
#include "graph/ir_buffer.hpp"
#include "graph/weightless.hpp"

#include "compiler_process.hpp"

namespace softnpu {
namespace {

namespace vcl = npu_vcl::abi;
using npu_vcl::Message;

/// Maps the compiler's answer to the result that Intel's driver gives for it.
ze_result_t driver_result_of(vcl::Result result) {
  switch (result) {
    case vcl::kOutOfMemory:
      return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case vcl::kUnsupportedFeature:
    case vcl::kInvalidIr:
      return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    case vcl::kInvalidArgument:
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    case vcl::kInvalidNullHandle:
      return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    case vcl::kIo:
      return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    default:
      return ZE_RESULT_ERROR_UNKNOWN;
  }
}

/// Throws the compiler's refusal.
Message checked(Message answer) {
  if (answer.kind != "error") return answer;
  const std::string& log = answer.text("driver_log");
  throw Failure(driver_result_of(static_cast<vcl::Result>(answer.number("result"))),
                log.empty() ? answer.text("what") : log);
}

bool is_library(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return file.ends_with(".so") || file.find(".so.") != file.npos;
}

[[noreturn]] void fail_without_library(const std::string& why) {
  throw Failure(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                "SOFTNPU_COMPILER=real needs Intel's NPU compiler, and " + why +
                    ": scripts/setup-compiler.sh sets it up and prints its path, which "
                    "SOFTNPU_COMPILER_LIBRARY must be");
}

/// A request for a compiler for this device.
Message compiler_request() {
  const ze_npu_platform_t& platform = *config().platform;
  return {"compiler",
          {{"device", std::to_string(platform.pciDeviceIds[0])},
           {"revision", std::to_string(vcl::kNoRevision)},
           {"tiles", std::to_string(platform.numTiles)},
           {"log_level", "1"}}};
}

/// The compiler that SOFTNPU_COMPILER_LIBRARY names, in this process or behind a program that
/// serves it. The first graph opens it.
class RealCompiler {
 public:
  static RealCompiler& instance() {
    static auto* const the_one = new RealCompiler;  // graphs may be made while the process ends
    return *the_one;
  }

  /// Answers by a compiler of its own for each graph, as in a driver: the log is of this graph
  /// alone.
  Message ask(const Message& request) {
    const std::scoped_lock lock(mutex_);
    open();
    checked(answer_to(compiler_request()));
    return checked(answer_to(request));
  }

 private:
  void open() {
    const std::string& library = config().compiler_library;
    if (library.empty()) {
      fail_without_library("no library is named");
    }
    if (is_library(library)) {
      load(library);
    } else if (!process_ || process_->ended()) {
      process_ = std::make_unique<CompilerProcess>(library);
      static const int at_exit = std::atexit([] { instance().end(); });
      static_cast<void>(at_exit);
    }
  }
  void load(const std::string& library) try {
    if (!service_) {
      service_ = std::make_unique<npu_vcl::Service>(library);
    }
  } catch (const npu_vcl::Failure& failure) {
    fail_without_library(failure.what());
  }
  Message answer_to(const Message& request) {
    return service_ ? service_->answer(request, {}) : process_->ask(request);
  }
  /// Leaves the program to a thread that waits for an answer; it then ends with this process.
  void end() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock) {
      process_.reset();
    }
  }

  std::mutex mutex_;  // guards all below
  std::unique_ptr<npu_vcl::Service> service_;
  std::unique_ptr<CompilerProcess> process_;
};

/// Puts weights into the buffer: another process cannot read addresses of this one.
Message with_weights(const char* kind, std::span<const std::byte> input, std::string flags) {
  constexpr std::string_view kByAddress = "\"NO_WEIGHTS_COPY\"", kCopied = "\"ALL_WEIGHTS_COPY\"";
  Message request{kind};
  const std::size_t option = flags.find(kByAddress);
  if (option == flags.npos) {
    request.texts["ir"].assign(reinterpret_cast<const char*>(input.data()), input.size());
  } else {
    flags.replace(option, kByAddress.size(), kCopied);
    const WeightlessIr ir = read_weightless(input, compiler_version());
    request.texts["ir"] = write_ir_buffer(ir.xml, ir.weights, compiler_version());
  }
  request.texts["build_flags"] = std::move(flags);
  return request;
}

/// Nothing if it is not asked.
std::optional<Message> answer_about(const char* kind, const ze_graph_desc_2_t& desc) {
  if (!config().real_compiler || desc.format != ZE_GRAPH_FORMAT_NGRAPH_LITE) return std::nullopt;
  auto answer =
      RealCompiler::instance().ask(with_weights(kind, input_of(desc), flags_text_of(desc)));
  trace::note_text("real_compiler", "takes");
  return answer;
}

}  // namespace

std::string log_of_real_compiler(const ze_graph_desc_2_t& desc) {
  const auto answer = answer_about("compile", desc);
  return answer ? answer->text("driver_log") : std::string();
}

std::optional<std::string> layers_of_real_compiler(const ze_graph_desc_2_t& desc) {
  const auto answer = answer_about("query", desc);
  if (!answer) return std::nullopt;
  const std::string& names = answer->text("names");
  return names.substr(0, names.find('\0'));
}

}  // namespace softnpu
