#include "taeda/distributed/grpc/credentials.h"

#include <fstream>
#include <iterator>
#include <string>

#include "taeda/base/error.h"

namespace taeda::inline v0_2::distributed::grpc_link {

namespace {

std::string contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string out(std::istreambuf_iterator<char>(in), {});
  TAEDA_CHECK_AS(DistributedError, in.is_open() && !out.empty(), "TLS: the file '", path,
                 "' cannot be read or is empty");
  return out;
}

}  // namespace

std::shared_ptr<grpc::ServerCredentials> server_credentials(const Security& security) {
  if (!security.has_tls()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = contents_of(security.tls_authority);
  options.pem_key_cert_pairs = {
      {contents_of(security.tls_key), contents_of(security.tls_certificate)}};
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> client_credentials(const Security& security) {
  if (!security.has_tls()) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({contents_of(security.tls_authority), contents_of(security.tls_key),
                               contents_of(security.tls_certificate)});
}

}  // namespace taeda::inline v0_2::distributed::grpc_link
