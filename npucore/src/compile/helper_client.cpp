#include "helper_client.hpp"

#include <utility>

namespace npu::internal {
namespace {

/// The name by which the helper opens the same device.
std::string name_of(const DeviceInfo& device) {
  if (device.is_software) return "software";
  return device.pci_address.empty() ? "npu" : device.pci_address;
}

HelperProgram program_for(const DeviceInfo& device, std::chrono::milliseconds start_limit) {
  HelperProgram program;
  program.path = helper_program();
  program.arguments = {name_of(device), std::to_string(device.driver_version)};
  program.opens = device.name;
  program.start_limit = start_limit;
  return program;
}

Message message_of(const HelperTask& task) {
  Message message{"compile"};
  auto& texts = message.texts;
  texts["title"] = task.title;
  texts["major"] = std::to_string(task.version.major);
  texts["minor"] = std::to_string(task.version.minor);
  texts["opset"] = std::to_string(task.version.newest_opset);
  texts["weightless"] = std::to_string(task.weightless);
  texts["threshold"] = std::to_string(task.threshold_bytes);
  if (task.input_hash) {
    texts["input_hash"] = std::to_string(*task.input_hash);
  }
  texts["build_flags"] = task.build_flags;
  texts["profile_layers"] = std::to_string(task.profile_layers);
  texts["bypass_cache"] = std::to_string(task.bypass_cache);
  texts["memory_limit"] = std::to_string(task.memory_limit_bytes);
  message.contents["model"] =
      shared_copy("npucore-model", std::as_bytes(std::span(task.model.xml)));
  message.contents["weights"] = shared_weights(task.model.weights);
  message.contents["constants"] = shared_copy("npucore-constants", task.model.weights.tail());
  return message;
}

/// Sends content in the message where a sandbox forbids memory files.
Message shared(const HelperTask& task) {
  try {
    return message_of(task);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo) throw;
    throw HelperUnavailable(error.what());
  }
}

}  // namespace

HelperClient::HelperClient(const DeviceInfo& device, Cancellation* cancellation,
                           HelperLink::Deadline deadline, std::chrono::milliseconds start_limit)
    : link_(program_for(device, start_limit), cancellation, deadline) {}

HelperResult HelperClient::compile(const HelperTask& task,
                                   const std::function<void()>& on_compiling) {
  for (;;) {
    Message message = link_.next(task.title);
    if (message.kind == "ready") {
      if (std::exchange(sent_, true)) {
        throw Error(ErrorCode::kIo, "the helper process that compiles asked for its task twice");
      }
      link_.send(shared(task), task.title);
    } else if (message.kind == "compiling") {
      on_compiling();
    } else if (message.kind == "unavailable") {
      throw HelperUnavailable(message.text("what"));
    } else if (message.kind == "error") {
      throw error_in(message);
    } else if (message.kind == "refused") {
      throw refusal(message, task);
    } else if (message.kind == "done") {
      link_.end();  // frees its memory early
      return {ContentView::of_sealed(std::move(message.contents["blob"])),
              message.number("serialized_bytes"), message.number("compile_ns"),
              message.number("from_driver_cache") != 0};
    }
  }
}

/// The compiler's refusal, with the layers that it refuses: the helper asks for them next, which
/// may end it.
Error HelperClient::refusal(const Message& refused, const HelperTask& task) {
  const Error error = error_in(refused);
  try {
    return with_refused_layers(error, task.layers, link_.next(task.title).text("names"));
  } catch (const Error& failure) {
    if (failure.code() == ErrorCode::kCancelled) throw;
    return error;
  }
}

}  // namespace npu::internal
