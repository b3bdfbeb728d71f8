// Messages of the compiler and the blob reader to the application.
#pragma once

#include <level_zero/ze_api.h>

#include <cstdint>
#include <string>

#include "base/live_objects.hpp"

namespace softnpu {

/// The object behind a build log's handle.
struct BuildLog : Counted<Kind::kBuildLog> {
  std::string text;
};

/// The messages about the calling thread's last graph: why it failed, or what the cache did.
void remember(std::string text);
const std::string& last_words();

/// Returns a text as Level Zero does: a null buffer or a zero size asks for the size, which counts
/// the NUL; a smaller buffer gets the beginning.
void copy_text(const std::string& text, uint32_t* size, char* buffer);

}  // namespace softnpu
