#include <cstdio>
#include <filesystem>

#include <npu_vcl/library.hpp>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace npu_vcl {
namespace {

#ifdef _WIN32
/// Finds the libraries that it needs beside it.
void* load(const std::string& path) {
  return reinterpret_cast<void*>(
      LoadLibraryExA(path.c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH));
}
std::string loading_error() {
  return "Windows error " + std::to_string(GetLastError());
}
void* find(void* handle, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(handle), name));
}
#else
void* load(const std::string& path) {
  return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}
std::string loading_error() {
  const char* error = ::dlerror();
  return error ? error : "no reason given";
}
void* find(void* handle, const char* name) {
  return ::dlsym(handle, name);
}
#endif

std::string words(abi::Version version) {
  return std::to_string(version.major) + '.' + std::to_string(version.minor);
}

const char* code_of(abi::Result result) {
  switch (result) {
    case abi::kOutOfMemory:
      return "out of memory";
    case abi::kUnsupportedFeature:
      return "unsupported";
    default:
      return "compile failed";
  }
}

std::string name_of(abi::Result result) {
  switch (result) {
    case abi::kOutOfMemory:
      return "OUT_OF_MEMORY";
    case abi::kUnsupportedFeature:
      return "UNSUPPORTED_FEATURE";
    case abi::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case abi::kInvalidNullHandle:
      return "INVALID_NULL_HANDLE";
    case abi::kIo:
      return "IO";
    case abi::kInvalidIr:
      return "INVALID_IR";
    case abi::kUnknown:
      return "UNKNOWN";
    default:
      char hex[16];
      std::snprintf(hex, sizeof hex, "0x%x", static_cast<unsigned>(result));
      return hex;
  }
}

abi::ModelDesc model_of(std::span<const std::uint8_t> ir, const std::string& options) {
  return {ir.data(), ir.size(), options.data(), options.size()};
}

}  // namespace

Library::Library(const std::string& path) : path_(path) {
  std::error_code error;
  // The loader would open a FIFO and wait for a writer.
  if (std::filesystem::is_fifo(path, error)) {
    throw Failure("not found", "it cannot be loaded: " + path + " is a FIFO");
  }
  handle_ = load(path);
  if (!handle_) {
    throw Failure("not found", "it cannot be loaded: " + loading_error());
  }
  abi::Version profiling = {};
  const auto result = entry<abi::GetVersion>("vclGetVersion")(&version_, &profiling);
  if (result != abi::kSuccess || version_.major != abi::kMajor) {
    throw Failure("incompatible", "the compiler library " + path + " has the interface " +
                                      words(version_) + ", and npucore speaks " +
                                      std::to_string(abi::kMajor) +
                                      " alone: use one that fits, or update npucore");
  }
}

void* Library::symbol(const char* name, bool optional) const {
  void* const found = find(handle_, name);
  if (!found && !optional) {
    throw Failure("incompatible",
                  "the library " + path_ + " has no " + name + ": it is no NPU compiler");
  }
  return found;
}

Compiler::Compiler(const Library& library, const Device& device, int log_level)
    : library_(library) {
  const auto create = library.entry<abi::CompilerCreate>("vclCompilerCreate");
  const auto properties = library.entry<abi::CompilerGetProperties>("vclCompilerGetProperties");
  abi::CompilerDesc about_us = {library.version(), log_level};
  abi::DeviceDesc about_device = {sizeof(abi::DeviceDesc), device.pci_id, device.revision,
                                  device.tiles};
  check(create(&about_us, &about_device, &handle_, &log_), "vclCompilerCreate");
  check(properties(handle_, &properties_), "vclCompilerGetProperties");
}

Compiler::~Compiler() {
  if (handle_) {
    library_.entry<abi::CompilerDestroy>("vclCompilerDestroy", true)(handle_);
  }
}

std::string Compiler::id() const {
  return properties_.id ? properties_.id : "";
}

std::optional<std::string> Compiler::supported_options() const {
  const auto ask = library_.entry<abi::GetSupportedOptions>("vclGetCompilerSupportedOptions", true);
  std::uint64_t size = 0;
  if (!ask || ask(handle_, nullptr, &size) != abi::kSuccess) return std::nullopt;
  std::string text(size, '\0');
  if (ask(handle_, text.data(), &size) != abi::kSuccess) return std::nullopt;
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  return text;
}

std::optional<bool> Compiler::takes(const std::string& option, const char* value) const {
  const auto ask = library_.entry<abi::IsOptionSupported>("vclGetCompilerIsOptionSupported", true);
  if (!ask) return std::nullopt;
  return ask(handle_, option.c_str(), value) == abi::kSuccess;
}

std::vector<std::uint8_t> Compiler::compile(std::span<const std::uint8_t> ir,
                                            const std::string& options) {
  earlier_log_ = whole_log();
  const auto create = library_.entry<abi::ExecutableCreate>("vclExecutableCreate");
  const auto destroy = library_.entry<abi::ExecutableDestroy>("vclExecutableDestroy");
  const auto get = library_.entry<abi::GetSerializableBlob>("vclExecutableGetSerializableBlob");
  abi::Executable executable = nullptr;
  check(create(handle_, model_of(ir, options), &executable), "vclExecutableCreate");
  const std::unique_ptr<abi::VclExecutable, abi::ExecutableDestroy> owner(executable, destroy);
  std::uint64_t size = 0;
  check(get(executable, nullptr, &size), "vclExecutableGetSerializableBlob");
  std::vector<std::uint8_t> blob(size);
  check(get(executable, blob.data(), &size), "vclExecutableGetSerializableBlob");
  return blob;
}

std::string Compiler::query(std::span<const std::uint8_t> ir, const std::string& options) {
  earlier_log_ = whole_log();
  const auto create = library_.entry<abi::QueryCreate>("vclQueryNetworkCreate");
  const auto destroy = library_.entry<abi::QueryDestroy>("vclQueryNetworkDestroy");
  const auto ask = library_.entry<abi::QueryNetwork>("vclQueryNetwork");
  abi::Query query = nullptr;
  check(create(handle_, model_of(ir, options), &query), "vclQueryNetworkCreate");
  const std::unique_ptr<abi::VclQuery, abi::QueryDestroy> owner(query, destroy);
  std::uint64_t size = 0;
  check(ask(query, nullptr, &size), "vclQueryNetwork");
  std::string layers(size, '\0');
  check(ask(query, reinterpret_cast<std::uint8_t*>(layers.data()), &size), "vclQueryNetwork");
  return layers;
}

void Compiler::check(abi::Result result, const char* call) const {
  if (result == abi::kSuccess) return;
  throw Failure(code_of(result), std::string(call) + ": " + name_of(result), log(), result);
}

/// The library keeps all its logs; the part before the last model is cut off.
std::string Compiler::log() const {
  const std::string log = whole_log();
  return log.starts_with(earlier_log_) ? log.substr(earlier_log_.size()) : log;
}

std::string Compiler::whole_log() const {
  const auto get = library_.entry<abi::LogGetString>("vclLogHandleGetString", true);
  std::size_t size = 0;
  if (!get || !log_ || get(log_, &size, nullptr) != abi::kSuccess || size == 0) return {};
  std::string text(size, '\0');
  if (get(log_, &size, text.data()) != abi::kSuccess) return {};
  return text.substr(0, text.find('\0'));
}

}  // namespace npu_vcl
