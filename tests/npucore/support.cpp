#include "support.hpp"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace npu::test {
namespace {

std::string port_dims() {
  return "<dim>1</dim><dim>3</dim><dim>4</dim><dim>4</dim>";
}

std::string constant(int id, const char* name, int offset) {
  return "<layer id=\"" + std::to_string(id) + "\" name=\"" + name +
         "\" type=\"Const\" version=\"opset1\"><data element_type=\"f32\" shape=\"1,1,1,1\" "
         "offset=\"" +
         std::to_string(offset) +
         "\" size=\"4\"/><output><port id=\"0\" "
         "precision=\"FP32\"><dim>1</dim><dim>1</dim><dim>1</dim>"
         "<dim>1</dim></port></output></layer>\n";
}

std::string binary(int id, const char* name, const char* type) {
  const std::string ports = "<input><port id=\"0\" precision=\"FP32\">" + port_dims() +
                            "</port><port id=\"1\" precision=\"FP32\"><dim>1</dim><dim>1</dim>"
                            "<dim>1</dim><dim>1</dim></port></input><output><port id=\"2\" "
                            "precision=\"FP32\">" +
                            port_dims() + "</port></output>";
  return "<layer id=\"" + std::to_string(id) + "\" name=\"" + name + "\" type=\"" + type +
         "\" version=\"opset1\"><data auto_broadcast=\"numpy\"/>" + ports + "</layer>\n";
}

std::string edge(int from, int from_port, int to, int to_port) {
  return "<edge from-layer=\"" + std::to_string(from) + "\" from-port=\"" +
         std::to_string(from_port) + "\" to-layer=\"" + std::to_string(to) + "\" to-port=\"" +
         std::to_string(to_port) + "\"/>\n";
}

std::string affine_xml() {
  std::string xml = "<?xml version=\"1.0\"?>\n<net name=\"affine\" version=\"11\">\n<layers>\n";
  xml +=
      "<layer id=\"0\" name=\"input\" type=\"Parameter\" version=\"opset1\"><data "
      "shape=\"1,3,4,4\" element_type=\"f32\"/><output><port id=\"0\" precision=\"FP32\" "
      "names=\"x\">" +
      port_dims() + "</port></output></layer>\n";
  xml += constant(1, "two", 0) + binary(2, "twice", "Multiply");
  xml += constant(3, "one", 4) + binary(4, "plus", "Add");
  xml +=
      "<layer id=\"5\" name=\"positive\" type=\"ReLU\" version=\"opset1\"><input><port id=\"0\" "
      "precision=\"FP32\">" +
      port_dims() + "</port></input><output><port id=\"1\" precision=\"FP32\" names=\"y\">" +
      port_dims() + "</port></output></layer>\n";
  xml +=
      "<layer id=\"6\" name=\"result\" type=\"Result\" version=\"opset1\"><input><port id=\"0\" "
      "precision=\"FP32\">" +
      port_dims() + "</port></input></layer>\n</layers>\n<edges>\n";
  xml += edge(0, 0, 2, 0) + edge(1, 0, 2, 1) + edge(2, 2, 4, 0) + edge(3, 0, 4, 1) +
         edge(4, 2, 5, 0) + edge(5, 1, 6, 0);
  return xml + "</edges>\n</net>\n";
}

std::string parameter(int id) {
  return "<layer id=\"" + std::to_string(id) +
         "\" name=\"input\" type=\"Parameter\" version=\"opset1\"><data "
         "shape=\"1,3,4,4\" element_type=\"f32\"/><output><port id=\"0\" precision=\"FP32\" "
         "names=\"x\">" +
         port_dims() + "</port></output></layer>\n";
}

std::string softmax(int id) {
  return "<layer id=\"" + std::to_string(id) + "\" name=\"soft" + std::to_string(id) +
         "\" type=\"SoftMax\" version=\"opset8\"><data axis=\"1\"/><input><port id=\"0\" "
         "precision=\"FP32\">" +
         port_dims() + "</port></input><output><port id=\"1\" precision=\"FP32\">" + port_dims() +
         "</port></output></layer>\n";
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

std::size_t count_open_fds() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

int make_memfd(std::size_t size_bytes) {
  const int fd = ::memfd_create("npucore-test", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(size_bytes)) != 0) {
    throw std::runtime_error("memfd_create failed");
  }
  return fd;
}

std::filesystem::path write_affine_model(const std::filesystem::path& folder) {
  const auto xml = folder / "affine.xml";
  write_file(xml, affine_xml());
  const float weights[] = {2, 1};
  write_file(folder / "affine.bin", {reinterpret_cast<const char*>(weights), sizeof(weights)});
  return xml;
}

std::filesystem::path write_long_model(const std::filesystem::path& folder, int steps) {
  // Softmax between the additions: a compiler cannot fold them into one.
  std::string layers = parameter(0), edges;
  std::vector<float> weights;
  int last = 0, last_port = 0, id = 1;
  for (int step = 0; step < steps; ++step) {
    layers += constant(id, ("c" + std::to_string(step)).c_str(), 4 * step) +
              binary(id + 1, ("add" + std::to_string(step)).c_str(), "Add") + softmax(id + 2);
    edges += edge(last, last_port, id + 1, 0) + edge(id, 0, id + 1, 1) + edge(id + 1, 2, id + 2, 0);
    weights.push_back(static_cast<float>(step));
    last = id + 2;
    last_port = 1;
    id += 3;
  }
  layers += "<layer id=\"" + std::to_string(id) +
            "\" name=\"result\" type=\"Result\" version=\"opset1\"><input><port id=\"0\" "
            "precision=\"FP32\">" +
            port_dims() + "</port></input></layer>\n";
  edges += edge(last, last_port, id, 0);
  const auto xml = folder / "long.xml";
  write_file(xml, "<?xml version=\"1.0\"?>\n<net name=\"long\" version=\"11\">\n<layers>\n" +
                      layers + "</layers>\n<edges>\n" + edges + "</edges>\n</net>\n");
  write_file(folder / "long.bin",
             {reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float)});
  return xml;
}

std::filesystem::path write_sum_model(const std::filesystem::path& folder) {
  const auto port = [](const char* id, const char* more) {
    return std::string("<port id=\"") + id + "\" precision=\"FP32\"" + more +
           "><dim>1</dim><dim>4</dim></port>";
  };
  const auto layer = [](const char* head, const std::string& body) {
    return std::string("<layer ") + head + ">" + body + "</layer>\n";
  };
  const std::string variable =
      "<data variable_id=\"sum\" variable_type=\"f32\" variable_shape=\"1,4\"/>";
  const std::string xml =
      "<?xml version=\"1.0\"?>\n<net name=\"sum\" version=\"11\">\n<layers>\n" +
      layer("id=\"0\" name=\"input\" type=\"Parameter\" version=\"opset1\"",
            "<data shape=\"1,4\" element_type=\"f32\"/><output>" + port("0", " names=\"x\"") +
                "</output>") +
      layer("id=\"1\" name=\"begin\" type=\"Const\" version=\"opset1\"",
            "<data element_type=\"f32\" shape=\"1,4\" offset=\"0\" size=\"16\"/><output>" +
                port("0", "") + "</output>") +
      layer(
          "id=\"2\" name=\"read\" type=\"ReadValue\" version=\"opset6\"",
          variable + "<input>" + port("0", "") + "</input><output>" + port("1", "") + "</output>") +
      layer("id=\"3\" name=\"add\" type=\"Add\" version=\"opset1\"",
            "<data auto_broadcast=\"numpy\"/><input>" + port("0", "") + port("1", "") +
                "</input><output>" + port("2", " names=\"y\"") + "</output>") +
      layer("id=\"4\" name=\"assign\" type=\"Assign\" version=\"opset6\"",
            variable + "<input>" + port("0", "") + "</input>") +
      layer("id=\"5\" name=\"result\" type=\"Result\" version=\"opset1\"",
            "<input>" + port("0", "") + "</input>") +
      "</layers>\n<edges>\n" + edge(1, 0, 2, 0) + edge(2, 1, 3, 0) + edge(0, 0, 3, 1) +
      edge(3, 2, 4, 0) + edge(3, 2, 5, 0) + "</edges>\n</net>\n";
  const auto path = folder / "sum.xml";
  write_file(path, xml);
  const float begin[] = {10, 20, 30, 40};
  write_file(folder / "sum.bin", {reinterpret_cast<const char*>(begin), sizeof(begin)});
  return path;
}

void OnSoftwareNpu::SetUp() {
  fds_ = count_open_fds();
  objects_ = live_driver_objects();
}

void OnSoftwareNpu::TearDown() {
  set_fault("");
  // The driver's engine lets go of a finished job shortly after it has signalled the fence, and the
  // thread of a cancelled compilation ends shortly after the cancel.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto changed = [&] {
    return live_driver_objects() != objects_ || count_open_fds() != fds_;
  };
  while (changed() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(live_driver_objects(), objects_) << "driver objects leaked";
  EXPECT_EQ(count_open_fds(), fds_) << "file descriptors leaked";
}

}  // namespace npu::test
