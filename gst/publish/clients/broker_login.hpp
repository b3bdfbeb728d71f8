#pragma once

#include <string>

namespace gstnpu {

/// Throws npu::Error, which names the property, where a file that is named cannot be read.
void check_readable(const std::string& property, const std::string& file);

/// Reads a file, or a pipe, whose writer is waited for a little. Throws npu::Error as above, and
/// where it is empty, not a file (a folder) or too large for settings.
std::string read_settings(const std::string& property, const std::string& file);

/// The first of: the password itself, the first line of the file, and the variable
/// NPU_PROTOCOL_PASSWORD. Empty: there is none. Throws npu::Error where the file has none.
std::string password_of(const std::string& protocol, const std::string& password,
                        const std::string& file);

}  // namespace gstnpu
