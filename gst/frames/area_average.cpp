#include "area_average.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace gstnpu {
namespace {

/// The larger picture's samples that one sample of the smaller picture covers. The first and the
/// last are covered in part.
struct Cover {
  std::size_t first, last;
  float first_part, last_part;
  float whole;  // the sum of all parts
};

std::vector<Cover> covers_of(std::size_t samples, std::size_t smaller) {
  const double step = static_cast<double>(samples) / static_cast<double>(smaller);
  std::vector<Cover> covers(smaller);
  for (std::size_t i = 0; i < smaller; ++i) {
    const double begin = static_cast<double>(i) * step;
    const double end = i + 1 == smaller ? static_cast<double>(samples) : begin + step;
    Cover& cover = covers[i];
    cover.first = std::min(static_cast<std::size_t>(begin), samples - 1);
    cover.last = std::max(cover.first, static_cast<std::size_t>(std::ceil(end)) - 1);
    cover.last = std::min(cover.last, samples - 1);
    cover.whole = static_cast<float>(end - begin);
    const bool is_one = cover.first == cover.last;
    cover.first_part =
        is_one ? cover.whole : static_cast<float>(static_cast<double>(cover.first + 1) - begin);
    cover.last_part = is_one ? 0 : static_cast<float>(end - static_cast<double>(cover.last));
  }
  return covers;
}

/// One component of a picture; `at` is its first sample.
struct Component {
  guint8* at;
  std::ptrdiff_t row_bytes, sample_bytes;
  std::size_t columns, rows;
};

/// Bytes from a plane's start to the component's first sample. GStreamer puts P010's second chroma
/// sample one byte after the first, which has two bytes.
std::ptrdiff_t offset_of(const GstVideoFormatInfo* format, guint index) {
  const std::ptrdiff_t offset = GST_VIDEO_FORMAT_INFO_POFFSET(format, index);
  return offset == 1 && GST_VIDEO_FORMAT_INFO_DEPTH(format, index) > 8 ? 2 : offset;
}

Component component_of(const GstVideoFrame& frame, guint index, guint x, guint y, guint width,
                       guint height) {
  const GstVideoFormatInfo* format = frame.info.finfo;
  const auto scaled_x = [&](guint pixels) {
    return static_cast<std::size_t>(GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(format, index, pixels));
  };
  const auto scaled_y = [&](guint pixels) {
    return static_cast<std::size_t>(GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(format, index, pixels));
  };
  Component component{};
  component.row_bytes = GST_VIDEO_FRAME_COMP_STRIDE(&frame, index);
  component.sample_bytes = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, index);
  const guint plane = GST_VIDEO_FORMAT_INFO_PLANE(format, index);
  component.at = static_cast<guint8*>(frame.data[plane]) + offset_of(format, index) +
                 static_cast<std::ptrdiff_t>(scaled_y(y)) * component.row_bytes +
                 static_cast<std::ptrdiff_t>(scaled_x(x)) * component.sample_bytes;
  component.columns = scaled_x(width);
  component.rows = scaled_y(height);
  return component;
}

template <class Sample>
float load(const guint8* from) {
  Sample sample;
  std::memcpy(&sample, from, sizeof sample);
  return static_cast<float>(sample);
}

template <class Sample>
void average_row(const Component& from, std::size_t row, const std::vector<Cover>& covers,
                 std::vector<float>& means) {
  const guint8* const begin = from.at + static_cast<std::ptrdiff_t>(row) * from.row_bytes;
  const auto sample = [&](std::size_t column) {
    return load<Sample>(begin + static_cast<std::ptrdiff_t>(column) * from.sample_bytes);
  };
  for (std::size_t i = 0; i < covers.size(); ++i) {
    const Cover& cover = covers[i];
    float sum = cover.first_part * sample(cover.first) + cover.last_part * sample(cover.last);
    for (std::size_t column = cover.first + 1; column < cover.last; ++column) sum += sample(column);
    means[i] = sum / cover.whole;
  }
}

/// `shift`: number of bits below the value; they become zero.
template <class Sample>
void store_row(const Component& to, std::size_t row, const std::vector<float>& sums, float whole,
               guint shift) {
  guint8* at = to.at + static_cast<std::ptrdiff_t>(row) * to.row_bytes;
  const auto unit = static_cast<float>(1U << shift);
  const guint most = std::numeric_limits<Sample>::max() >> shift;
  for (const float sum : sums) {
    // The bits below the value may be set in the source.
    const auto value = std::min(static_cast<guint>(std::lround(sum / whole / unit)), most);
    const auto sample = static_cast<Sample>(value << shift);
    std::memcpy(at, &sample, sizeof sample);
    at += to.sample_bytes;
  }
}

template <class Sample>
void average(const Component& from, const Component& to, guint shift) {
  const std::vector<Cover> columns = covers_of(from.columns, to.columns);
  const std::vector<Cover> rows = covers_of(from.rows, to.rows);
  std::vector<float> means(to.columns), sums(to.columns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Cover& cover = rows[i];
    std::fill(sums.begin(), sums.end(), 0.0F);
    for (std::size_t row = cover.first; row <= cover.last; ++row) {
      average_row<Sample>(from, row, columns, means);
      const float part = row == cover.first  ? cover.first_part
                         : row == cover.last ? cover.last_part
                                             : 1.0F;
      for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += part * means[c];
    }
    store_row<Sample>(to, i, sums, cover.whole, shift);
  }
}

OwnFrame make_frame(const GstVideoInfo& like, guint width, guint height) {
  OwnFrame own;
  GstVideoInfo& info = own.frame.info;
  gst_video_info_set_format(&info, GST_VIDEO_INFO_FORMAT(&like), width, height);
  info.chroma_site = like.chroma_site;
  info.colorimetry = like.colorimetry;
  own.memory.resize(info.size);
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
    own.frame.data[plane] = own.memory.data() + info.offset[plane];
  }
  return own;
}

}  // namespace

OwnFrame average_areas(const GstVideoFrame& from, guint x, guint y, guint width, guint height,
                       guint to_width, guint to_height) {
  OwnFrame own = make_frame(from.info, to_width, to_height);
  const GstVideoFormatInfo* format = from.info.finfo;
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format); ++i) {
    const Component in = component_of(from, i, x, y, width, height);
    const Component out = component_of(own.frame, i, 0, 0, to_width, to_height);
    if (GST_VIDEO_FORMAT_INFO_DEPTH(format, i) > 8) {
      average<guint16>(in, out, static_cast<guint>(GST_VIDEO_FORMAT_INFO_SHIFT(format, i)));
    } else {
      average<guint8>(in, out, 0);
    }
  }
  return own;
}

}  // namespace gstnpu
