// Contracts of all families, each defined in the file of its decoder.
#pragma once

#include "contract.hpp"

namespace npu::vision {

extern const Contract kSsdContract;
extern const Contract kDetrContract;
extern const Contract kDetrDecodedContract;
extern const Contract kClassificationContract;
extern const Contract kSegmentationContract;
extern const Contract kSimccContract;
extern const Contract kAnomalyContract;
extern const Contract kDepthContract;
extern const Contract kEmbeddingContract;
extern const Contract kCtcContract;
extern const Contract kTextBoxesContract;
extern const Contract kAnchorsContract;
extern const Contract kLandmarksContract;
extern const Contract kPicoDetContract;
extern const Contract kRtDetrContract;
extern const Contract kYoloContract;
extern const Contract kYoloEndToEndContract;
extern const Contract kYoloObjectnessContract;
extern const Contract kYoloXContract;
extern const Contract kYoloV3HeadsContract;
extern const Contract kYoloV4HeadsContract;
extern const Contract kYoloV5HeadsContract;
extern const Contract kYoloV7HeadsContract;
extern const Contract kYoloNasContract;
extern const Contract kMaskRcnnContract;
extern const Contract kTfDetectionContract;
extern const Contract kTfliteDetectionContract;
extern const Contract kTorchvisionContract;
extern const Contract kCenterFaceContract;
extern const Contract kMaskQueriesContract;

/// Whether shapes and number of anchors are those of a detector of torchvision, with any names.
bool has_torchvision_anchors(const Found& found);

/// The only one that fits. Throws Error(kInvalidArgument) where none does, or more than one.
const Contract& fitting_contract(const Found& found);

}  // namespace npu::vision
