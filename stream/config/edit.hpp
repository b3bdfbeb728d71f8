// Writes edits of streams back into the file, and leaves all else in it as it is.
#pragma once

#include <cstddef>
#include <string>

#include "config.hpp"

namespace npustream {

/// The file's text with one stream more, less, or with other keys (null: without the key). What the
/// edit does not touch keeps its comments and order. Throws std::runtime_error where the text has a
/// form that cannot be edited.
std::string yaml_with_added(const std::string& yaml, const std::string& file, const Json& stream);
std::string yaml_with_changed(const std::string& yaml, const std::string& file, std::size_t index,
                              const Json& changes);
std::string yaml_with_removed(const std::string& yaml, const std::string& file, std::size_t index);

/// The same of a document.
Json with_changed(Json document, std::size_t index, const Json& changes);

/// Whole, or not at all. Throws std::runtime_error.
void replace_file(const std::string& path, const std::string& text);

}  // namespace npustream
