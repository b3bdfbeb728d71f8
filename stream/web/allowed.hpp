// Limits on edits from the network; the file itself may say more.
#pragma once

#include "config/config.hpp"

namespace npustream::web {

/// Throws ConfigError. Paths stay in the folder of the file; launch fragments and what is written
/// elsewhere are for who can edit the file.
void check_allowed(const Json& edit, const std::string& config_file);

}  // namespace npustream::web
