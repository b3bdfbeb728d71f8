#pragma once

#include <npucore/blob_info.hpp>
#include <npucore/compile_job.hpp>
#include <npucore/compiled_model.hpp>
#include <npucore/device.hpp>
#include <npucore/error.hpp>
#include <npucore/frame.hpp>
#include <npucore/importer.hpp>
#include <npucore/log.hpp>
#include <npucore/model.hpp>
#include <npucore/profiling.hpp>
#include <npucore/properties.hpp>
#include <npucore/request.hpp>
#include <npucore/state.hpp>
#include <npucore/tensor.hpp>
#include <npucore/types.hpp>
