#pragma once

#include <npucore/compiled_model.hpp>
#include <npucore/device.hpp>
#include <npucore/error.hpp>
#include <npucore/frame.hpp>
#include <npucore/importer.hpp>
#include <npucore/model.hpp>
#include <npucore/properties.hpp>
#include <npucore/request.hpp>
#include <npucore/tensor.hpp>
#include <npucore/types.hpp>
