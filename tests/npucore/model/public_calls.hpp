#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <span>
#include <string>

#include <npucore/npucore.hpp>

#include "support/temp_dir.hpp"

#include "support.hpp"

namespace npu::test {

/// Objects that a public call finds in place, made with a driver that works.
struct Stage {
  TempDir folder;
  std::filesystem::path xml = write_affine_model(folder.path());
  std::filesystem::path blob = folder.path() / "affine.blob";
  std::optional<Device> device;
  std::optional<CompiledModel> model;
  std::optional<Request> request;

  Model read() const { return Model::read(xml); }
  CompiledModel compile(const std::string& properties = {}) const {
    CompileOptions options;
    options.properties = Properties::parse(properties);
    return CompiledModel::compile(*device, read(), options);
  }
};

struct PublicCall : Named {
  void (*prepare)(Stage&);
  void (*run)(Stage&);
};

/// Each kind of call of the API, for tests that make something in it fail.
std::span<const PublicCall> public_calls();

}  // namespace npu::test
