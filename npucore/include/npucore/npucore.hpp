#pragma once

#include <npucore/compiled_model.hpp>  // and with it all the others
#include <npucore/error.hpp>
#include <npucore/importer.hpp>
