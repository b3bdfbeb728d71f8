// The software NPU's compiler as a compiler library (VCL): Intel ships such a library beside its
// driver to compile without a device.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include <npu_vcl/abi.hpp>

#include "base/config.hpp"
#include "base/failure.hpp"
#include "base/fault.hpp"
#include "base/version.hpp"
#include "graph/build_flags.hpp"
#include "graph/compiler.hpp"
#include "graph/graph.hpp"

namespace softnpu {
namespace {

namespace vcl = npu_vcl::abi;

constexpr vcl::Version kInterface = {vcl::kMajor, 10}, kProfiling = {2, 0};

/// The object behind the handles Compiler and Log, which live equally long.
struct CompilerObject {
  std::string id = "softnpu";
  std::string log;
};
struct ExecutableObject {
  std::unique_ptr<Graph> graph;
};
struct QueryObject {
  std::string layers;
};

template <class Object, class Handle>
Object& object_behind(Handle handle) {
  require(handle != nullptr, ZE_RESULT_ERROR_INVALID_NULL_HANDLE);
  return *reinterpret_cast<Object*>(handle);
}

template <class Handle, class Object>
Handle handle_of(std::unique_ptr<Object> object) {
  return reinterpret_cast<Handle>(object.release());
}

template <class Object, class Handle>
void destroy_handle(Handle handle) {
  const std::unique_ptr<Object> owner(&object_behind<Object>(handle));
}

vcl::Result result_of(ze_result_t result) {
  switch (result) {
    case ZE_RESULT_SUCCESS:
      return vcl::kSuccess;
    case ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY:
      return vcl::kOutOfMemory;
    case ZE_RESULT_ERROR_UNSUPPORTED_FEATURE:
      return vcl::kInvalidIr;
    case ZE_RESULT_ERROR_INVALID_NULL_HANDLE:
      return vcl::kInvalidNullHandle;
    case ZE_RESULT_ERROR_UNKNOWN:
      return vcl::kUnknown;
    default:
      return vcl::kInvalidArgument;
  }
}

/// Runs a call and throws nothing. A failure's text is appended to `log`, if there is one, as in
/// Intel's.
template <class Action>
vcl::Result answer(std::string* log, Action action) try {
  action();
  return vcl::kSuccess;
} catch (const Failure& failure) {
  if (log) {
    log->append(failure.what()).append("\n");
  }
  return result_of(failure.result());
} catch (const std::bad_alloc&) {
  return vcl::kOutOfMemory;
}

std::string* log_of(vcl::Compiler compiler) {
  return compiler == nullptr ? nullptr : &reinterpret_cast<CompilerObject*>(compiler)->log;
}

/// Callers ask twice: first without a buffer, for the size.
template <class Size>
void copy_out(const std::string& text, char* buffer, Size* size) {
  require(size != nullptr, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
  if (buffer) {
    text.copy(buffer, *size);
  }
  *size = text.size();
}

/// The options end with an uncounted zero, like a driver's build flags.
ze_graph_desc_2_t driver_desc(const vcl::ModelDesc& model, const std::string& options) {
  return {ZE_STRUCTURE_TYPE_GRAPH_DESC_2,
          nullptr,
          ZE_GRAPH_FORMAT_NGRAPH_LITE,
          model.ir_bytes,
          model.ir,
          options.c_str(),
          ZE_GRAPH_FLAG_NONE};
}

void check_described(const vcl::DeviceDesc& device) {
  if (ze_npu_platform_of_pci_id(device.device_id) == config().platform) return;
  throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT, "this compiler is for platform " +
                                                      std::to_string(config().platform->platform) +
                                                      ": SOFTNPU_PLATFORM chooses another");
}

/// Holds the reason why a compiler could not be made.
CompilerObject& failed_compiler() {
  static CompilerObject failed;
  return failed;
}

/// Applies the SOFTNPU_FAULT of one function at the library's wall.
vcl::Result fault_of(fault::Site& site) {
  if (!fault::armed()) return vcl::kSuccess;
  const auto plan = site.next();
  if (!plan) return vcl::kSuccess;
  return answer(nullptr, [&] {
    fault::do_harm(plan->harm);
    require(plan->harm != fault::Harm::kNone || plan->result == ZE_RESULT_SUCCESS, plan->result);
  });
}

/// Intel's library counts no zero at the end, and reads a blank before one as an option.
std::string options_of(const vcl::ModelDesc& model) {
  std::string options(model.options, model.options_bytes);
  if (options.find("--config") != options.npos && options.ends_with(std::string_view(" \0", 2))) {
    throw Failure(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "build flags: a blank and a zero stand behind the last option");
  }
  return options;
}

std::unique_ptr<Graph> compile(const vcl::ModelDesc& model) {
  const std::string options = options_of(model);
  return std::make_unique<Graph>(driver_desc(model, options));
}

fault::Site at_create("vclCompilerCreate"), at_compile("vclExecutableCreate"),
    at_blob("vclExecutableGetSerializableBlob"), at_query("vclQueryNetworkCreate");

}  // namespace
}  // namespace softnpu

#define SOFTNPU_EXPORT __attribute__((visibility("default")))

using namespace softnpu;  // NOLINT(google-build-using-namespace): the code below is outside of it

extern "C" {

SOFTNPU_EXPORT vcl::Result vclGetVersion(vcl::Version* compiler, vcl::Version* profiling) {
  *compiler = kInterface;
  *profiling = kProfiling;
  return vcl::kSuccess;
}

SOFTNPU_EXPORT vcl::Result vclCompilerCreate(vcl::CompilerDesc*, vcl::DeviceDesc* device,
                                             vcl::Compiler* compiler, vcl::Log* log) {
  if (const auto failed = fault_of(at_create)) return failed;
  auto made = std::make_unique<CompilerObject>();
  failed_compiler().log.clear();
  *log = reinterpret_cast<vcl::Log>(&failed_compiler());
  return answer(&failed_compiler().log, [&] {
    check_described(*device);
    *log = reinterpret_cast<vcl::Log>(made.get());
    *compiler = handle_of<vcl::Compiler>(std::move(made));
  });
}

SOFTNPU_EXPORT vcl::Result vclCompilerDestroy(vcl::Compiler compiler) {
  return answer(nullptr, [&] { destroy_handle<CompilerObject>(compiler); });
}

SOFTNPU_EXPORT vcl::Result vclCompilerGetProperties(vcl::Compiler compiler,
                                                    vcl::CompilerProperties* properties) {
  return answer(nullptr, [&] {
    const CompilerVersion version = compiler_version();
    *properties = {object_behind<CompilerObject>(compiler).id.c_str(),
                   {version.major, version.minor},
                   kNewestOpset};
  });
}

SOFTNPU_EXPORT vcl::Result vclGetCompilerSupportedOptions(vcl::Compiler, char* text,
                                                          std::uint64_t* size) {
  return answer(nullptr, [&] {
    copy_out(supported_options(compiler_version(), platform_number()), text, size);
  });
}

SOFTNPU_EXPORT vcl::Result vclGetCompilerIsOptionSupported(vcl::Compiler, const char* option,
                                                           const char* value) {
  const bool known =
      is_option_supported(option, value ? value : "", compiler_version(), platform_number());
  return known ? vcl::kSuccess : vcl::kInvalidArgument;
}

SOFTNPU_EXPORT vcl::Result vclExecutableCreate(vcl::Compiler compiler, vcl::ModelDesc model,
                                               vcl::Executable* executable) {
  if (const auto failed = fault_of(at_compile)) return failed;
  return answer(log_of(compiler), [&] {
    auto made = std::make_unique<ExecutableObject>();
    made->graph = compile(model);
    *executable = handle_of<vcl::Executable>(std::move(made));
  });
}

SOFTNPU_EXPORT vcl::Result vclExecutableGetSerializableBlob(vcl::Executable executable,
                                                            std::uint8_t* blob,
                                                            std::uint64_t* size) {
  if (const auto failed = fault_of(at_blob)) return failed;
  return answer(nullptr, [&] {
    const auto bytes = object_behind<ExecutableObject>(executable).graph->binary();
    if (blob) {
      std::memcpy(blob, bytes.data(), std::min<std::size_t>(bytes.size(), *size));
    }
    *size = bytes.size();
  });
}

SOFTNPU_EXPORT vcl::Result vclExecutableDestroy(vcl::Executable executable) {
  return answer(nullptr, [&] { destroy_handle<ExecutableObject>(executable); });
}

SOFTNPU_EXPORT vcl::Result vclQueryNetworkCreate(vcl::Compiler compiler, vcl::ModelDesc model,
                                                 vcl::Query* query) {
  if (const auto failed = fault_of(at_query)) return failed;
  return answer(log_of(compiler), [&] {
    auto made = std::make_unique<QueryObject>();
    const std::string options(model.options, model.options_bytes);
    made->layers = list_supported_layers(driver_desc(model, options));
    *query = handle_of<vcl::Query>(std::move(made));
  });
}

SOFTNPU_EXPORT vcl::Result vclQueryNetwork(vcl::Query query, std::uint8_t* text,
                                           std::uint64_t* size) {
  return answer(nullptr, [&] {
    copy_out(object_behind<QueryObject>(query).layers, reinterpret_cast<char*>(text), size);
  });
}

SOFTNPU_EXPORT vcl::Result vclQueryNetworkDestroy(vcl::Query query) {
  return answer(nullptr, [&] { destroy_handle<QueryObject>(query); });
}

SOFTNPU_EXPORT vcl::Result vclLogHandleGetString(vcl::Log log, std::size_t* size, char* text) {
  return answer(nullptr, [&] { copy_out(object_behind<CompilerObject>(log).log, text, size); });
}

}  // extern "C"
