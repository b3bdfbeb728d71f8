#include "library_client.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <npu_vcl/abi.hpp>
#include <npucore/error.hpp>

#include "base/text.hpp"

namespace npu::internal {
namespace {

namespace fs = std::filesystem;
using base::text;

/// A helper process that takes no files sends the blob in the message.
constexpr std::uint64_t kMostMessageBytes = std::uint64_t{4} << 30;

/// True for a library, false for a program that serves one.
bool is_library(const std::string& name) {
  const std::string file = fs::path(name).filename().string();
  return file.ends_with(".so") || file.find(".so.") != file.npos;
}

HelperProgram program_for(const LibraryClient::Options& options) {
  HelperProgram program;
  const bool by_our_helper = options.library.empty() || is_library(options.library);
  program.path = by_our_helper ? helper_program() : fs::path(options.library);
  program.arguments = {"library", by_our_helper ? options.library : ""};
  program.opens = "the compiler library " + options.library;
  program.most_message_bytes = kMostMessageBytes;
  program.echoes = options.echoes;
  return program;
}

[[noreturn]] void fail_without_library(ErrorCode code, const std::string& why) {
  throw Error(code,
              text("Intel's NPU compiler library cannot be used: ", why,
                   "; Intel's NPU driver and OpenVINO for Linux bring it "
                   "(libopenvino_intel_npu_compiler_loader.so), and scripts/setup-compiler.sh "
                   "sets it up on any x86 Linux: set NPUCORE_COMPILER_LIBRARY to its path"));
}

Content whole_model(const ir::SerializedModel& model) {
  return shared_copy("npucore-model", model.bytes());
}

/// Moves content into the message, for a process that takes no files.
void put_into_texts(Message& message) {
  for (auto& [name, content] : message.contents) {
    const ContentView view(std::move(content));
    const auto bytes = view.bytes();
    message.texts[name].assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  message.contents.clear();
}

/// One line for each address: see npu_vcl::Service.
std::string lines_of(const std::vector<ir::OpenAddress>& addresses, std::uint64_t file_bytes) {
  std::string lines;
  for (const auto& [place, offset] : addresses) {
    const bool in_file = offset < file_bytes;
    lines += text(place, in_file ? " weights " : " constants ",
                  in_file ? offset : offset - file_bytes, '\n');
  }
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream words(line);
  words.imbue(std::locale::classic());
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word);
  return all;
}

}  // namespace

std::string compiler_library(const Properties& properties) {
  std::string library = properties.get(property::compiler_library);
  if (const char* wanted = ::secure_getenv("NPUCORE_COMPILER_LIBRARY"); library.empty() && wanted) {
    library = wanted;
  }
  return library;
}

LibraryClient::LibraryClient(const Options& options, const LibraryTarget& target,
                             Cancellation* cancellation) try
    : link_(program_for(options), cancellation, options.deadline) {
  open(options.library);
  make_compiler(target);
} catch (const HelperUnavailable& reason) {
  fail_without_library(ErrorCode::kNotFound, reason.what());
}

void LibraryClient::open(const std::string& library) {
  const Message ready = link_.next("a model");
  if (ready.kind != "ready") {
    const bool unfit = ready.text("code") == to_string(ErrorCode::kIncompatible);
    fail_without_library(unfit ? ErrorCode::kIncompatible : ErrorCode::kNotFound,
                         ready.text("what"));
  }
  takes_files_ = ready.number("takes_files") != 0;
  facts_.path = library.empty() || is_library(library) ? ready.text("library") : library;
  facts_.interface = {static_cast<std::uint32_t>(ready.number("api_major")),
                      static_cast<std::uint32_t>(ready.number("api_minor")), 0};
}

void LibraryClient::make_compiler(const LibraryTarget& target) {
  constexpr int kErrors = 1;
  const Message compiler = ask({"compiler",
                                {{"device", std::to_string(target.pci_device_id)},
                                 {"revision", std::to_string(npu_vcl::abi::kNoRevision)},
                                 {"tiles", std::to_string(target.tiles)},
                                 {"log_level", std::to_string(kErrors)}}},
                               "a model");
  facts_.id = compiler.text("id");
  facts_.version = {static_cast<std::uint16_t>(compiler.number("major")),
                    static_cast<std::uint16_t>(compiler.number("minor")),
                    static_cast<std::uint32_t>(compiler.number("opset"))};
  facts_.options = words_of(compiler.text("options"));
}

Message LibraryClient::answer_to(Message request, const std::string& task) {
  if (!takes_files_) {
    put_into_texts(request);
  }
  link_.send(request, task);
  Message answer = link_.next(task);
  if (answer.kind == "error") {
    answer.texts["what"] = text("compiling ", task, ": ", answer.text("what"));
  }
  return answer;
}

Message LibraryClient::ask(Message request, const std::string& task) {
  Message answer = answer_to(std::move(request), task);
  if (answer.kind == "error") throw error_in(answer);
  return answer;
}

/// The compiler's refusal, with the layers that it refuses if it tells.
Error LibraryClient::refusal(const Message& answer, const CompileTask& task) {
  const Error error = error_in(answer);
  if (error.code() != ErrorCode::kCompileFailed) return error;
  try {
    return with_refused_layers(error, task.layers, query(task));
  } catch (const Error& failure) {
    if (failure.code() == ErrorCode::kCancelled) throw;
    return error;
  }
}

std::optional<bool> LibraryClient::takes(const char* option, const char* value) {
  const auto [place, is_new] = taken_.try_emplace({option, value ? value : ""});
  if (!is_new) return place->second;
  Message request{"takes", {{"option", option}}};
  if (value) {
    request.texts["value"] = value;
  }
  const Message answer = ask(std::move(request), "a model");
  if (answer.texts.count("yes") != 0) {
    place->second = answer.number("yes") != 0;
  }
  return place->second;
}

Message LibraryClient::request_of(const char* kind, const CompileTask& task,
                                  std::uint64_t& serialized_bytes) {
  Message request{kind, {{"build_flags", task.build_flags}}};
  request.texts["memory_limit"] = std::to_string(task.memory_limit_bytes);
  if (!task.weightless) {
    request.contents["ir"] = whole_model(ir::serialize(task.model, facts_.version));
  } else {
    const ir::PortableModel portable =
        ir::serialize_portable(task.model, facts_.version, task.threshold_bytes);
    const ir::Weights& weights = task.model.weights;
    request.contents["ir"] = whole_model(portable.model);
    request.contents["weights"] = shared_weights(weights);
    request.contents["constants"] = shared_copy("npucore-constants", weights.tail());
    request.texts["addresses"] = lines_of(portable.addresses, weights.file_bytes().size());
  }
  serialized_bytes = request.contents["ir"].size_bytes;
  return request;
}

LibraryResult LibraryClient::compile(const CompileTask& task) {
  LibraryResult result;
  Message done = answer_to(request_of("compile", task, result.serialized_bytes), task.title);
  if (done.kind == "error") throw refusal(done, task);
  result.compile_ns = done.number("compile_ns");
  if (takes_files_) {
    result.blob = ContentView::of_sealed(std::move(done.contents["blob"]));
  } else {
    const std::string& blob = done.texts["blob"];
    result.blob = ContentView(shared_copy("npucore-blob", std::as_bytes(std::span(blob))));
  }
  return result;
}

std::string LibraryClient::query(const CompileTask& task) {
  std::uint64_t serialized_bytes = 0;
  return ask(request_of("query", task, serialized_bytes), task.title).text("names");
}

Compiler compiler_of(LibraryClient& library) {
  return {library.facts().version, [&library](const char* option, const char* value) {
            return library.takes(option, value);
          }};
}

}  // namespace npu::internal
