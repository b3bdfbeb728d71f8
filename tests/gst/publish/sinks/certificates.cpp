#include "certificates.hpp"

#include <vector>

#include "child_process.hpp"

namespace gstnpu_test {
namespace {

void openssl(const TempFolder& folder, std::vector<std::string> command) {
  command.insert(command.begin(), find_program("openssl"));
  ASSERT_EQ(ChildProcess(command, folder.file("said")).wait(), 0) << folder.read("said");
}

std::vector<std::string> request(const TempFolder& folder, const std::string& name) {
  return {"req",
          "-newkey",
          "ec",
          "-pkeyopt",
          "ec_paramgen_curve:P-256",
          "-nodes",
          "-keyout",
          folder.file(name + ".key"),
          "-subj",
          "/CN=" + name};
}

void make_authority(const TempFolder& folder, const std::string& name) {
  std::vector<std::string> command = request(folder, name);
  command.insert(command.end(), {"-x509", "-out", folder.file(name + ".pem"), "-days", "2"});
  openssl(folder, command);
}

void make_signed(const TempFolder& folder, const std::string& name) {
  std::vector<std::string> command = request(folder, name);
  command.insert(command.end(), {"-out", folder.file(name + ".csr")});
  openssl(folder, command);
  folder.write(name + ".ext", "subjectAltName=DNS:localhost\n");
  openssl(folder,
          {"x509", "-req", "-in", folder.file(name + ".csr"), "-CA", folder.file("ca.pem"),
           "-CAkey", folder.file("ca.key"), "-CAcreateserial", "-out", folder.file(name + ".pem"),
           "-days", "2", "-extfile", folder.file(name + ".ext")});
}

}  // namespace

Certificates::Certificates() {
  if (find_program("openssl").empty()) return;
  make_authority(folder_, "ca");
  make_authority(folder_, "other");
  make_signed(folder_, "broker");
  make_signed(folder_, "client");
}

}  // namespace gstnpu_test
