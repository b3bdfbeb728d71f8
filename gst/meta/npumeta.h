/* Metadata that the elements put on frames. A small C library of its own, without npucore. Other languages read it through
 * GObject introspection, as GstNpuMeta 1.0: the comments that begin with two stars are for its scanner. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_NPU_META_API __attribute__((visibility("default")))
#define GST_NPU_MAX_DIMS 8
/* Set on a tensor's memory that is an output of an inference on a frame. Only the GstNpuInferenceMeta of that inference
 * tells where in the frame its values lie; if that meta is gone, an element has changed the frame since. */
#define GST_NPU_MEMORY_FLAG_OF_FRAME (GST_MEMORY_FLAG_LAST << 4)

typedef enum {
  GST_NPU_DATA_UNKNOWN,
  GST_NPU_DATA_BOOLEAN,
  GST_NPU_DATA_F16,
  GST_NPU_DATA_BF16,
  GST_NPU_DATA_F32,
  GST_NPU_DATA_F64,
  GST_NPU_DATA_I8,
  GST_NPU_DATA_I16,
  GST_NPU_DATA_I32,
  GST_NPU_DATA_I64,
  GST_NPU_DATA_U8,
  GST_NPU_DATA_U16,
  GST_NPU_DATA_U32,
  GST_NPU_DATA_U64,
} GstNpuDataType;

/* One output of a model. */
typedef struct {
  const gchar *name;                    /* interned */
  GstNpuDataType type;
  guint num_dims;
  gsize dims[GST_NPU_MAX_DIMS];         /* elements, outermost first */
  gsize strides[GST_NPU_MAX_DIMS];      /* bytes from one element of the dimension to the next */
  GstMemory *memory;                    /* wraps the NPU's output, no copy */
  const gchar *id;                      /* GstTensor.id, by which GStreamer's decoders know it: interned; NULL: the name */
  gboolean is_column_major;             /* GstTensor.dims_order: part of that id's meaning, not the layout in memory */
} GstNpuTensor;

/**
 * gst_npu_tensor_get_dims:
 * @num: (out): number of dimensions
 * Returns: (array length=num) (transfer none): elements, outermost first
 */
GST_NPU_META_API const gsize *gst_npu_tensor_get_dims (const GstNpuTensor *tensor, guint *num);
/**
 * gst_npu_tensor_get_strides:
 * @num: (out): number of dimensions
 * Returns: (array length=num) (transfer none): bytes from one element to the next, outermost first
 */
GST_NPU_META_API const gsize *gst_npu_tensor_get_strides (const GstNpuTensor *tensor, guint *num);

/* Bytes of one element, 0 for GST_NPU_DATA_UNKNOWN. */
GST_NPU_META_API gsize gst_npu_data_type_size (GstNpuDataType type);
GST_NPU_META_API const gchar *gst_npu_data_type_name (GstNpuDataType type);

/* Attaches `num` tensors to a writable buffer: as GstTensorMeta where GStreamer has it and keeps it in copies of
 * the buffer (1.26 does not), else as GstNpuTensorMeta. Takes a reference of each memory. */
GST_NPU_META_API void gst_npu_buffer_add_tensors (GstBuffer *buffer, const GstNpuTensor *tensors, guint num);
/* Read the tensors of whichever meta carries them. `tensor->memory` is borrowed from the buffer. Strides and name are
 * filled in. */
GST_NPU_META_API guint gst_npu_buffer_get_num_tensors (GstBuffer *buffer);
/**
 * gst_npu_buffer_get_tensor:
 * @tensor: (out caller-allocates): the tensor
 */
GST_NPU_META_API gboolean gst_npu_buffer_get_tensor (GstBuffer *buffer, guint index, GstNpuTensor *tensor);

/* A buffer may carry the results of several inferences: of several models, or of one model on several objects. Each
 * has an id, from 0, that its tensors and its GstNpuInferenceMeta share. gst_npu_buffer_add_tensors() and
 * gst_buffer_add_npu_inference_meta() give the next id that the buffer's tensors and metas, respectively, do not have. */
GST_NPU_META_API void gst_npu_buffer_add_inference_tensors (GstBuffer *buffer, guint inference_id,
    const GstNpuTensor *tensors, guint num);
/* The lowest id above those of all tensors and metas. */
GST_NPU_META_API guint gst_npu_buffer_next_inference_id (GstBuffer *buffer);
/* The id of the tensor that gst_npu_buffer_get_tensor() gives for this index. GST_NPU_NO_INFERENCE where there is no such
 * tensor, and for a GstTensorMeta of an element that knows no ids. */
#define GST_NPU_NO_INFERENCE G_MAXUINT
GST_NPU_META_API guint gst_npu_buffer_get_tensor_inference (GstBuffer *buffer, guint index);

/* The model that ran on the frame, or on an object in it, and the place of its input pixels in the frame:
 * frame = (model - offset) * scale, in pixel edges; with is_transposed the frame's x comes from the model's y, and its
 * y from the model's x. When an element scales, crops, mirrors or turns the frame and tells the metas
 * (GstVideoMetaTransform, and from GStreamer 1.28 on GstVideoMetaTransformMatrix), these numbers follow; where it tells
 * none, or scales to another shape without a matrix, the meta is gone. */
typedef struct {
  GstMeta meta;
  gchar *model;                 /* file of the IR or blob */
  guint model_width, model_height;
  gdouble offset_x, offset_y;   /* letterbox border, model pixels */
  gdouble scale_x, scale_y;     /* frame pixels per model pixel; below 0 where the frame was mirrored since */
  guint64 inference_ns;         /* from submit to fence */
  gchar *labels;                /* class names from the model's own description, separated by blanks; or NULL */
  guint inference_id;           /* shared with its tensors */
  gboolean is_region;           /* the model saw one object of the frame; FALSE: the whole frame */
  gint object_id;               /* region only: id of the object's GstVideoRegionOfInterestMeta and, where there is one,
                                 * of its GstAnalyticsODMtd */
  guint region_x, region_y, region_w, region_h;  /* region only: the part that the model saw, frame pixels */
  gboolean is_decoded;          /* an element has already decoded its tensors */
  gchar *card;                  /* the model's card, one line of JSON; a GRefString, or NULL */
  gboolean is_transposed;       /* since then the frame was turned by 90 degrees, or mirrored along a diagonal */
  guint frame_width, frame_height;  /* size of the frame that was inferred; 0: not known */
  guint crop_x, crop_y;         /* start of its GstVideoCropMeta; 0 where it had none */
} GstNpuInferenceMeta;

GST_NPU_META_API GType gst_npu_inference_meta_api_get_type (void);
GST_NPU_META_API const GstMetaInfo *gst_npu_inference_meta_get_info (void);
/**
 * gst_buffer_add_npu_inference_meta:
 * Returns: (transfer none): it is the buffer's
 */
GST_NPU_META_API GstNpuInferenceMeta *gst_buffer_add_npu_inference_meta (GstBuffer *buffer, const gchar *model);
/* NULL where there is none. */
/**
 * gst_buffer_get_npu_inference_meta_id:
 * Returns: (transfer none) (nullable): borrowed from the buffer
 */
GST_NPU_META_API GstNpuInferenceMeta *gst_buffer_get_npu_inference_meta_id (GstBuffer *buffer, guint inference_id);
/* Returns the first meta of a whole frame; if there is none, the first of an object. */
/**
 * gst_buffer_get_npu_frame_inference_meta:
 * Returns: (transfer none) (nullable): borrowed from the buffer
 */
GST_NPU_META_API GstNpuInferenceMeta *gst_buffer_get_npu_frame_inference_meta (GstBuffer *buffer);
/* Keeps a copy of `meta` that all elements pass on unchanged: it tells where things were in the frame that was
 * inferred. Many elements drop metas that depend on a frame's size, and some change frames without telling any meta. */
GST_NPU_META_API void gst_buffer_keep_npu_inference_origin (GstBuffer *buffer, const GstNpuInferenceMeta *meta);
/* Returns that copy; NULL where there is none. It owns its model, labels and card. */
/**
 * gst_buffer_get_npu_inference_origin:
 * Returns: (transfer none) (nullable): borrowed from the buffer
 */
GST_NPU_META_API GstNpuInferenceMeta *gst_buffer_get_npu_inference_origin (GstBuffer *buffer, guint inference_id);
/* Follows a change of the frame: (x, y) in pixel edges is now (scale_x * x + move_x, scale_y * y + move_y); with
 * is_transposed (scale_x * y + move_x, scale_y * x + move_y). */
GST_NPU_META_API void gst_npu_inference_meta_move (GstNpuInferenceMeta *meta, gboolean is_transposed, gdouble scale_x,
    gdouble scale_y, gdouble move_x, gdouble move_y);
/* Returns the first meta, of a frame or an object. */
#define gst_buffer_get_npu_inference_meta(b) \
  ((GstNpuInferenceMeta *) gst_buffer_get_meta ((b), gst_npu_inference_meta_api_get_type ()))

/* The answer: all that nputensordec, nputrack and npucount say of a frame, in one meta of the buffer. It follows a frame
 * that is scaled, cropped, mirrored or turned as the meta above does. What other elements attached is in it from the next
 * of these elements on. Texts and arrays are borrowed, and stay as long as the buffer has this answer. The functions
 * return FALSE, 0 or NULL where there is none. */
#define GST_NPU_WHOLE_FRAME G_MAXUINT   /* in place of an object's index */

/* Frame pixels. */
typedef struct {
  gdouble x, y, w, h;
} GstNpuBox;

/* A class, or a text, which has no number. */
typedef struct {
  const gchar *label;
  gint label_id;                /* -1: none */
  gdouble confidence;           /* 0 to 1; -1: not known */
  const gchar *model;           /* that said it; "": not known */
  const gchar *attribute;       /* what the class is of, as "color"; "": not known */
} GstNpuClass;

typedef struct {
  GstNpuClass found;
  GstNpuBox box;
  gint id;                      /* of its GstVideoRegionOfInterestMeta, or of its GstAnalyticsODMtd where it has only that */
  gboolean is_oriented;
  gdouble center_x, center_y, width, height, angle;   /* is_oriented only: frame pixels and radians, clockwise */
  gboolean is_tracked;
  guint64 tracking_id;          /* is_tracked only: the same in all frames */
  gboolean has_anomaly;
  gdouble anomaly;              /* has_anomaly only: 0 to 1 */
} GstNpuObject;

typedef struct {
  gdouble x, y;                 /* frame pixels */
  gdouble confidence;
} GstNpuKeyPoint;

/* Values for equal parts of an area, row after row. */
typedef struct {
  GstNpuBox box;
  guint columns, rows;
  const guint8 *values;         /* 255: the object's, else 0 */
} GstNpuMask;

typedef struct {
  guint object;                 /* index, or GST_NPU_WHOLE_FRAME */
  GstNpuBox box;                /* the part of the frame that it covers */
  guint columns, rows;
  const guint16 *classes;       /* label ids; NULL: it has values */
  const gfloat *values;         /* depth, or anomaly, 0 to 1; NULL: it has classes */
  gboolean is_anomaly;
} GstNpuMap;

/* npucount's. */
typedef struct {
  const gchar *name;
  guint64 entered, left, inside;
  gdouble mean_seconds;         /* that those who left were inside; -1: none has left */
} GstNpuZone;

typedef struct {
  const gchar *name;
  guint64 forward, backward;
} GstNpuLine;

typedef struct {
  const gchar *kind;            /* "entered", "left", "forward" or "backward" */
  const gchar *place;           /* name of the zone or line */
  guint64 tracking_id;
  gdouble seconds;              /* "left" only: that it was inside; else -1 */
} GstNpuEvent;

GST_NPU_META_API gboolean gst_npu_buffer_has_answer (GstBuffer *buffer);
/* Whether an element that changed the frame, and told nobody how, dropped its answer. */
GST_NPU_META_API gboolean gst_npu_buffer_has_lost_answer (GstBuffer *buffer);
/* Gives the size of the frame that the answer is for. FALSE also where it is not known, or a GstVideoCropMeta came since. */
/**
 * gst_npu_buffer_get_answer_size:
 * @width: (out): where it is written
 * @height: (out): where it is written
 */
GST_NPU_META_API gboolean gst_npu_buffer_get_answer_size (GstBuffer *buffer, guint *width, guint *height);
GST_NPU_META_API guint gst_npu_buffer_get_num_objects (GstBuffer *buffer);
/**
 * gst_npu_buffer_get_object:
 * @object: (out caller-allocates): where it is written
 */
GST_NPU_META_API gboolean gst_npu_buffer_get_object (GstBuffer *buffer, guint index, GstNpuObject *object);
/* These read of an object, or of the whole frame. */
/**
 * gst_npu_buffer_get_class:
 * @found: (out caller-allocates): where it is written
 */
GST_NPU_META_API gboolean gst_npu_buffer_get_class (GstBuffer *buffer, guint object, guint index, GstNpuClass *found);
/**
 * gst_npu_buffer_get_anomaly:
 * @anomaly: (out): where it is written
 */
GST_NPU_META_API gboolean gst_npu_buffer_get_anomaly (GstBuffer *buffer, guint object, gdouble *anomaly);
/**
 * gst_npu_buffer_get_embedding:
 * @length: (out): number of values
 * Returns: (array length=length) (transfer none) (nullable): the values
 */
GST_NPU_META_API const gfloat *gst_npu_buffer_get_embedding (GstBuffer *buffer, guint object, guint *length);
/* These read of an object. */
/**
 * gst_npu_buffer_get_key_point:
 * @point: (out caller-allocates): where it is written
 */
GST_NPU_META_API gboolean gst_npu_buffer_get_key_point (GstBuffer *buffer, guint object, guint index, GstNpuKeyPoint *point);
/**
 * gst_npu_buffer_get_mask:
 * @mask: (out caller-allocates): where it is written
 */
GST_NPU_META_API gboolean gst_npu_buffer_get_mask (GstBuffer *buffer, guint object, GstNpuMask *mask);
/* For languages without pointers: a copy of columns * rows values. */
/**
 * gst_npu_mask_get_bytes:
 * Returns: (transfer full): bytes
 */
GST_NPU_META_API GBytes *gst_npu_mask_get_bytes (const GstNpuMask *mask);
/**
 * gst_npu_map_get_bytes:
 * Returns: (transfer full): 16 bit unsigned classes, or 32 bit floating-point values
 */
GST_NPU_META_API GBytes *gst_npu_map_get_bytes (const GstNpuMap *map);
/* Maps of classes and of values count one by one. */
/**
 * gst_npu_buffer_get_map:
 * @map: (out caller-allocates): where it is written
 */
GST_NPU_META_API gboolean gst_npu_buffer_get_map (GstBuffer *buffer, guint index, GstNpuMap *map);
/* The name of a class of this map; NULL where it has none. */
/**
 * gst_npu_buffer_get_map_label:
 * Returns: (nullable): its name
 */
GST_NPU_META_API const gchar *gst_npu_buffer_get_map_label (GstBuffer *buffer, guint index, guint label_id);
/**
 * gst_npu_buffer_get_zone:
 * @zone: (out caller-allocates): where it is written
 */
GST_NPU_META_API gboolean gst_npu_buffer_get_zone (GstBuffer *buffer, guint index, GstNpuZone *zone);
/* One of those who are inside a zone. */
/**
 * gst_npu_buffer_get_zone_inside:
 * @zone: index of the zone
 * @index: from 0 to less than its "inside"
 * @tracking_id: (out): who it is
 * @seconds: (out): since when
 */
GST_NPU_META_API gboolean gst_npu_buffer_get_zone_inside (GstBuffer *buffer, guint zone, guint index, guint64 *tracking_id,
    gdouble *seconds);
/**
 * gst_npu_buffer_get_line:
 * @line: (out caller-allocates): where it is written
 */
GST_NPU_META_API gboolean gst_npu_buffer_get_line (GstBuffer *buffer, guint index, GstNpuLine *line);
/**
 * gst_npu_buffer_get_event:
 * @event: (out caller-allocates): where it is written
 */
GST_NPU_META_API gboolean gst_npu_buffer_get_event (GstBuffer *buffer, guint index, GstNpuEvent *event);

G_END_DECLS
