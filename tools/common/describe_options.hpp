#pragma once

#include <CLI/CLI.hpp>
#include <string>

/// The command line as data, for the man page and the completions: lines of fields with tabs
/// between them.
///
///     name     <tool>
///     about    <first line of the description>
///     option   <names with commas>   <kind of value, or nothing>   <choices with commas>   <help>
///     operand  <name>                <help>
///     property <name>
///
/// Lists the properties if there is an option --property.
std::string describe_options(const CLI::App& app);
