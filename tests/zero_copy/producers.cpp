#include <unistd.h>

#include <stdexcept>

#include "producer.hpp"

namespace npu::test {
namespace {

constexpr const char* kPicture = "videotestsrc num-buffers=20 pattern=ball ! video/x-raw,format=";
constexpr const char* kSize = ",width=320,height=240,framerate=30/1 ! ";

std::string picture(const char* format) {
  return std::string(kPicture) + format + kSize;
}

std::string socket_path(const char* name) {
  return std::string(g_get_tmp_dir()) + "/npucore-" + name + "-" + std::to_string(getpid());
}

std::vector<Producer> software_producers() {
  const std::string i420 = picture("I420");
  const std::string h264 = i420 + "openh264enc ! h264parse ! ";
  std::vector<Producer> list;
  list.push_back({"videotestsrc", "videotestsrc num-buffers=20 ! video/x-raw,format=NV12", ""});
  list.push_back(
      {"videoconvertscale",
       picture("BGRx") + "videoconvertscale ! video/x-raw,format=NV12,width=200,height=150", ""});
  list.push_back({"jpegdec", i420 + "jpegenc ! jpegdec", ""});
  list.push_back({"vp8dec", i420 + "vp8enc deadline=1 ! vp8dec", ""});
  list.push_back({"vp9dec", i420 + "vp9enc deadline=1 cpu-used=8 ! vp9dec", ""});
  list.push_back({"openh264dec", h264 + "openh264dec", ""});
  list.push_back({"avdec_h264", h264 + "avdec_h264", ""});
  list.push_back({"avdec_h264, 1920x1080",
                  "videotestsrc num-buffers=20 ! video/x-raw,format=I420,width=1920,height=1080 ! "
                  "openh264enc ! h264parse ! avdec_h264",
                  ""});
  list.push_back(
      {"avdec_h264 direct-rendering=false", h264 + "avdec_h264 direct-rendering=false", ""});
  list.push_back({"appsrc, ordinary memory", "{pixels}", ""});
  return list;
}

std::vector<Producer> sharing_producers() {
  const std::string unix_socket = socket_path("unixfd");
  const std::string shm_socket = socket_path("shm");
  const std::string live =
      "videotestsrc is-live=true pattern=ball ! video/x-raw,format=NV12,width=320,height=240,"
      "framerate=30/1 ! ";
  std::vector<Producer> list;
  list.push_back({"unixfdsrc", "unixfdsrc num-buffers=20 socket-path=" + unix_socket,
                  live + "unixfdsink socket-path=" + unix_socket});
  list.push_back(
      {"shmsrc",
       "shmsrc num-buffers=20 is-live=true socket-path=" + shm_socket +
           " ! video/x-raw,format=NV12,width=320,height=240,framerate=30/1",
       live + "shmsink wait-for-connection=false shm-size=20000000 socket-path=" + shm_socket});
  return list;
}

Producer pool(const char* name, BufferKind kind) {
  Producer made{name, "{pixels}", ""};
  made.pool = kind;
  made.needs_device = true;
  return made;
}

Producer device(const char* name, const std::string& line) {
  Producer made{name, line, ""};
  made.needs_device = true;
  made.frames = 10;
  return made;
}

std::vector<Producer> device_producers() {
  const std::string nv12 = " ! video/x-raw,format=NV12,width=640,height=360";
  const std::string drm = " ! video/x-raw(memory:DMABuf),format=DMA_DRM,width=640,height=360";
  const std::string drm_nv12 = drm + ",drm-format=NV12";
  const std::string drm_i420 = drm + ",drm-format=YU12";
  const std::string camera = "v4l2src num-buffers=10 io-mode=";
  const std::string fwht =
      "videotestsrc num-buffers=10 ! video/x-raw,format=I420,width=640,height=480 ! "
      "v4l2fwhtenc ! v4l2fwhtdec capture-io-mode=";
  return {
      device("v4l2src, one file descriptor", camera + "dmabuf device={vivid-1}" + nv12),
      device("v4l2src, two file descriptors", camera + "dmabuf device={vivid-2}" + nv12),
      device("v4l2src, one file descriptor, DMA_DRM caps",
             camera + "dmabuf device={vivid-1}" + drm_nv12),
      device("v4l2src, two file descriptors, DMA_DRM caps",
             camera + "dmabuf device={vivid-2}" + drm_nv12),
      device("v4l2src, I420, DMA_DRM caps", camera + "dmabuf device={vivid-1}" + drm_i420),
      device("v4l2src io-mode=dmabuf-import", camera + "dmabuf-import device={vivid-1}" + nv12),
      device("v4l2slh264dec",
             "videotestsrc num-buffers=10 ! video/x-raw,format=I420,width=300,height=300 ! "
             "openh264enc ! h264parse ! v4l2slh264dec"),
      device("v4l2fwhtdec capture-io-mode=dmabuf", fwht + "dmabuf"),
      device("v4l2fwhtdec capture-io-mode=dmabuf-import", fwht + "dmabuf-import"),
      pool("udmabuf pool", BufferKind::kUdmabuf),
      pool("dma-heap pool", BufferKind::kDmaHeap),
      device("vah264dec", picture("I420") + "openh264enc ! h264parse ! vah264dec"),
  };
}

}  // namespace

const std::vector<Producer>& producers() {
  static const std::vector<Producer> all = [] {
    std::vector<Producer> list = software_producers();
    for (auto more : {device_producers(), sharing_producers()}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }();
  return all;
}

const Producer& producer_named(const std::string& name) {
  for (const Producer& producer : producers()) {
    if (producer.name == name) return producer;
  }
  throw std::runtime_error("no producer is called " + name);
}

}  // namespace npu::test
