#include "intels_compiler.hpp"

#include <cstdlib>
#include <map>
#include <memory>

#include <npucore/compiler.hpp>
#include <npucore/error.hpp>

#include "compile/compile_task.hpp"
#include "compile/estimate.hpp"
#include "ze/platforms.hpp"

namespace npu::test {

using internal::LibraryClient;

bool all_wanted() {
  const char* wanted = std::getenv("NPU_COMPILER_GRAPHS");
  return wanted && std::string(wanted) == "all";
}

internal::LibraryClient& library_for(const std::string& platform) {
  static auto* const clients = new std::map<std::string, std::unique_ptr<LibraryClient>>;
  auto& client = (*clients)[platform];
  if (!client) {
    const auto& known = *ze::known_platform(platform);
    client = std::make_unique<LibraryClient>(
        LibraryClient::Options{internal::compiler_library({}), std::nullopt, false},
        internal::LibraryTarget{known.pciDeviceIds[0], known.numTiles}, nullptr);
  }
  return *client;
}

internal::LibraryResult compile(const std::string& platform, const Model& model,
                                Serializer serializer, internal::CompilerConfig config) {
  LibraryClient& library = library_for(platform);
  LoadStats stats;
  Properties properties;
  properties.set(property::serializer, serializer);
  return library.compile(internal::compile_task(model, internal::compiler_of(library), properties,
                                                std::move(config), stats));
}

std::string refusal_of(const std::string& platform, const Model& model,
                       internal::CompilerConfig config) {
  try {
    compile(platform, model, Serializer::kAuto, std::move(config));
    return {};
  } catch (const Error& error) {
    return std::string(error.what()) + '\n' + error.driver_log();
  }
}

}  // namespace npu::test
