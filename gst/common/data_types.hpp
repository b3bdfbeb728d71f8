// Types of values, as npucore and the metadata library name them.
#pragma once

#include <algorithm>
#include <iterator>

#include <npucore/types.hpp>

#include "meta/npumeta.h"

namespace gstnpu {

struct DataType {
  npu::ElementType element;
  GstNpuDataType data;
};
inline constexpr DataType kDataTypes[] = {
    {npu::ElementType::kBoolean, GST_NPU_DATA_BOOLEAN}, {npu::ElementType::kF16, GST_NPU_DATA_F16},
    {npu::ElementType::kBF16, GST_NPU_DATA_BF16},       {npu::ElementType::kF32, GST_NPU_DATA_F32},
    {npu::ElementType::kF64, GST_NPU_DATA_F64},         {npu::ElementType::kI8, GST_NPU_DATA_I8},
    {npu::ElementType::kI16, GST_NPU_DATA_I16},         {npu::ElementType::kI32, GST_NPU_DATA_I32},
    {npu::ElementType::kI64, GST_NPU_DATA_I64},         {npu::ElementType::kU8, GST_NPU_DATA_U8},
    {npu::ElementType::kU16, GST_NPU_DATA_U16},         {npu::ElementType::kU32, GST_NPU_DATA_U32},
    {npu::ElementType::kU64, GST_NPU_DATA_U64}};

/// GST_NPU_DATA_UNKNOWN: the metadata library has no such type.
inline GstNpuDataType data_type_of(npu::ElementType type) {
  const auto* found = std::find_if(std::begin(kDataTypes), std::end(kDataTypes),
                                   [type](const DataType& one) { return one.element == type; });
  return found == std::end(kDataTypes) ? GST_NPU_DATA_UNKNOWN : found->data;
}

inline npu::ElementType element_type_of(GstNpuDataType type) {
  const auto* found = std::find_if(std::begin(kDataTypes), std::end(kDataTypes),
                                   [type](const DataType& one) { return one.data == type; });
  return found == std::end(kDataTypes) ? npu::ElementType::kUnknown : found->element;
}

}  // namespace gstnpu
