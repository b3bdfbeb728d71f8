#pragma once

#include <npucore/compiled_model.hpp>  // includes all the others
#include <npucore/error.hpp>
#include <npucore/importer.hpp>
