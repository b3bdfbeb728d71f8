#include "helper_server.hpp"

#include <unistd.h>

#include <chrono>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <npucore/device.hpp>
#include <npucore/error.hpp>

#include "base/text.hpp"
#include "device/place.hpp"
#include "ir/serialize.hpp"
#include "ze/graph.hpp"

#include "helper_line.hpp"
#include "library_server.hpp"

namespace npu::internal {
namespace {

using base::text;

/// `name`: "software", "npu" or a PCI address, which stands for a real NPU here.
Device open_device(const std::string& name, const std::string& driver_version) {
  Device device = Device::open(name);
  if (device.info().is_software && name != "software") {
    throw Error(ErrorCode::kNotFound,
                text("the NPU at ", name, " is no longer there: look for it with npu-info"));
  }
  if (std::to_string(device.info().driver_version) != driver_version) {
    throw Error(ErrorCode::kIncompatible,
                text("the driver's version is now ", device.info().driver_version, ", and was ",
                     driver_version, " when the device was opened: start the program again"));
  }
  return device;
}

/// A model as it arrives.
struct Task {
  explicit Task(Message& message)
      : model(std::move(message.contents["model"])),
        weights(std::move(message.contents["weights"])),
        constants(std::move(message.contents["constants"])) {}

  ir::SerializedModel serialize(const Message& message) const {
    const auto xml = model.bytes(), tail = constants.bytes();
    ir::PreparedText prepared{{reinterpret_cast<const char*>(xml.data()), xml.size()},
                              ir::Weights(weights.bytes(), {tail.begin(), tail.end()})};
    const ir::CompilerVersion version{static_cast<std::uint16_t>(message.number("major")),
                                      static_cast<std::uint16_t>(message.number("minor")),
                                      static_cast<std::uint32_t>(message.number("opset"))};
    if (message.number("weightless") == 0) return ir::serialize(prepared, version);
    return ir::serialize_weightless(std::move(prepared), version, message.number("threshold"));
  }

  const ContentView model, weights, constants;
};

ze::GraphSource source_of(const Message& message, const ir::SerializedModel& serialized) {
  ze::GraphSource source;
  source.format = ze::GraphSource::Format::kModel;
  source.bytes = serialized.bytes();
  source.build_flags = message.text("build_flags");
  source.profile_layers = message.number("profile_layers") != 0;
  source.bypass_cache = message.number("bypass_cache") != 0;
  if (message.texts.count("input_hash") != 0) {
    source.input_hash = message.number("input_hash");
  }
  source.what = "compiling " + message.text("title");
  return source;
}

Message error_message(const char* kind, ErrorCode code, const char* what, const std::string& log) {
  return {kind, {{"code", to_string(code)}, {"what", what}, {"driver_log", log}}};
}

/// Tells a refusal before it asks for the layers that are taken, which may crash the compiler.
ze::Graph compile(const ze::DeviceContext& context, const ze::GraphSource& source,
                  HelperLine& line) try {
  return {context, source};
} catch (const Error& error) {
  if (error.code() != ErrorCode::kCompileFailed) throw;
  line.send(error_message("refused", error.code(), error.what(), error.driver_log()));
  line.send({"layers", {{"names", ze::supported_layers(context, source)}}});
  ::_exit(0);
}

[[noreturn]] void compile_and_end(const Device& device, Message request, HelperLine& line) {
  limit_memory(request.number("memory_limit"));
  const Task task(request);
  const auto serialized = task.serialize(request);
  const ze::GraphSource source = source_of(request, serialized);
  line.send({"compiling"});
  const auto start = std::chrono::steady_clock::now();
  const Place place = place_on(device);
  const ze::Graph graph = compile(*place.context, source, line);
  const auto took = std::chrono::steady_clock::now() - start;
  std::vector<std::byte> copy;
  Message done{"done"};
  done.contents["blob"] = shared_copy("npucore-blob", graph.native_binary(copy));
  done.texts["serialized_bytes"] = std::to_string(source.bytes.size());
  done.texts["compile_ns"] = std::to_string(std::chrono::nanoseconds(took).count());
  done.texts["from_driver_cache"] = std::to_string(graph.loaded_from_cache());
  // No unwinding: a driver frees slowly what the process's end frees at once.
  line.send(done);
  ::_exit(0);
}

/// `kind`: of the message that carries the exception.
template <class Action>
void report_errors(HelperLine& line, const char* kind, Action action) {
  try {
    action();
    return;
  } catch (const Error& error) {
    line.send(error_message(kind, error.code(), error.what(), error.driver_log()));
  } catch (const std::bad_alloc&) {
    line.send(error_message(kind, ErrorCode::kOutOfMemory,
                            "the helper process that compiles ran out of memory", {}));
  } catch (const std::exception& error) {
    line.send(error_message(kind, ErrorCode::kInternal, error.what(), {}));
  }
  ::_exit(0);
}

void serve(HelperLine& line, const std::string& name, const std::string& driver_version) {
  std::optional<Device> device;
  report_errors(line, "unavailable", [&] {
    line.end_with_parent();
    device = open_device(name, driver_version);
    line.send({"ready"});
  });
  report_errors(line, "error", [&] { compile_and_end(*device, line.receive(), line); });
}

}  // namespace
}  // namespace npu::internal

int npu::serve_compilation(int argc, char** argv) {
  constexpr int kUsage = 2, kGone = 1;
  if (argc != 3) return kUsage;
  auto* const line = new internal::HelperLine;
  if (argv[1] == std::string_view("library")) {
    internal::serve_library(*line, argv[2]);
  }
  set_log_sink([line](LogLevel level, std::string_view words) {
    line->send(
        {"log",
         {{"level", std::to_string(static_cast<int>(level))}, {"words", std::string(words)}}});
  });
  try {
    internal::serve(*line, argv[1], argv[2]);
  } catch (const Error&) {
    ::_exit(kGone);  // nobody listens any more
  }
  ::_exit(0);
}
