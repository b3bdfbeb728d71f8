#include "library_server.hpp"

#include <unistd.h>

#include <list>
#include <memory>
#include <new>
#include <utility>

#include <npu_vcl/service.hpp>
#include <npucore/error.hpp>

namespace npu::internal {
namespace {

/// Names under which Intel's driver and OpenVINO install it: with a loader in front from 2026.2 on,
/// in one piece before.
constexpr const char* kNames[] = {"libopenvino_intel_npu_compiler_loader.so",
                                  "libopenvino_intel_npu_compiler.so", "libnpu_driver_compiler.so"};

std::unique_ptr<npu_vcl::Service> open_first_found() {
  std::string names;
  for (const char* name : kNames) {
    try {
      return std::make_unique<npu_vcl::Service>(name);
    } catch (const npu_vcl::Failure& failure) {
      if (failure.code() != "not found") throw;
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
  }
  throw npu_vcl::Failure("not found", "the system's loader finds none of " + names);
}

std::unique_ptr<npu_vcl::Service> open_service(const std::string& library) {
  return library.empty() ? open_first_found() : std::make_unique<npu_vcl::Service>(library);
}

Message ours(npu_vcl::Message message) {
  return {std::move(message.kind), std::move(message.texts)};
}

/// Moves the blob, which is large, into a file.
Message with_blob_in_file(Message message) {
  const auto blob = message.texts.find("blob");
  if (blob != message.texts.end()) {
    message.contents["blob"] = shared_copy("npucore-blob", std::as_bytes(std::span(blob->second)));
    message.texts.erase(blob);
  }
  return message;
}

Message answer(npu_vcl::Service& service, Message request) {
  limit_memory(request.number("memory_limit"));
  std::list<ContentView> views;
  npu_vcl::Service::Contents contents;
  for (auto& [name, content] : request.contents) {
    views.emplace_back(std::move(content));
    contents[name] = views.back().bytes();
  }
  return with_blob_in_file(
      ours(service.answer({std::move(request.kind), std::move(request.texts)}, contents)));
}

void serve(HelperLine& line, const std::string& library) {
  const auto service = open_service(library);
  Message ready = ours(service->ready());
  ready.texts["takes_files"] = "1";
  line.send(ready);
  for (;;) line.send(answer(*service, line.receive()));
}

}  // namespace

void serve_library(HelperLine& line, const std::string& library) {
  const auto tell = [&line](const npu_vcl::Failure& failure) {
    line.send(ours(npu_vcl::error_message(failure)));
  };
  try {
    try {
      line.end_with_parent();
      serve(line, library);
    } catch (const npu_vcl::Failure& failure) {
      tell(failure);
    } catch (const std::bad_alloc&) {
      tell({"out of memory", "the helper process that compiles ran out of memory"});
    } catch (const Error& error) {
      tell({to_string(error.code()), error.what()});
    }
  } catch (const std::exception&) {
    // Nobody listens any more.
  }
  ::_exit(0);
}

}  // namespace npu::internal
