// What a store's server and its clients do with peers that are not the job's: they speak the
// protocol, wrongly, or no protocol at all.

#if defined(TAEDA_HAS_GRPC) && !defined(__SANITIZE_THREAD__)  // missing_grpc() in stores.h

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/server_builder.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "taeda/distributed/grpc/handshake.h"
#include "taeda/distributed/store/grpc/messages.h"
#include "taeda/distributed/store/tcp_store.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"

namespace taeda::distributed::grpc_store {
namespace {

using namespace grpc_link;
using grpc::StatusCode;
using testing::AllOf;
using testing::HasSubstr;

/// A stream to a server, frame by frame.
class Stranger {
 public:
  explicit Stranger(uint16_t port)
      : stub_(StoreService::NewStub(grpc::CreateChannel("127.0.0.1:" + std::to_string(port),
                                                        grpc::InsecureChannelCredentials()))) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    stream_ = stub_->Join(&context_);
  }
  ~Stranger() { context_.TryCancel(); }

  void write(const std::string& payload, const std::string& code = "") {
    Frame frame;
    frame.set_payload(payload);
    frame.set_code(code);
    stream_->Write(frame);
  }
  /// The next payload; none when the stream has ended.
  std::optional<std::string> read() {
    Frame frame;
    if (!stream_->Read(&frame)) return {};
    return frame.payload();
  }
  /// Why the server ended the stream.
  grpc::Status end() {
    while (read()) {
    }
    return stream_->Finish();
  }

  /// Says hello with these bytes; what both said then.
  Greetings greet(const std::string& hello) {
    write(hello);
    return {hello, read().value_or("")};
  }
  /// Comes in as a process of the job does; the key for later frames.
  std::string join(const std::string& hello) {
    const Greetings greetings = greet(hello);
    write(proof_for(greetings));
    EXPECT_TRUE(read().has_value());
    return greetings.session_key(kTestSecret);
  }
  static std::string proof_for(const Greetings& greetings) {
    Proof proof;
    proof.set_code(greetings.client_proof(kTestSecret));
    return proof.SerializeAsString();
  }

 private:
  std::unique_ptr<StoreService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<Frame, Frame>> stream_;
};

std::string hello_of(const std::string& job) {
  Hello hello;
  hello.set_version(kVersion);
  hello.set_job(job);
  hello.set_nonce(new_nonce());
  return hello.SerializeAsString();
}

std::string add_one(uint64_t number) {
  Request request;
  request.set_number(number);
  request.set_operation(taeda_store::ADD);
  request.add_keys("n");
  request.set_amount(1);
  return request.SerializeAsString();
}

class Strangers : public testing::Test {
 protected:
  Strangers() : Strangers(kTestSecret) {}
  explicit Strangers(const std::string& secret)
      : security_{.secret = secret},
        store_("localhost", {.port = 0, .is_master = true, .job = "tests", .security = security_}) {
  }
  ~Strangers() override {
    const TCPStoreOptions options = {.port = store_.port(), .job = "tests", .security = security_};
    EXPECT_EQ(TCPStore("localhost", options).add("of a member", 1), 1) << "the server serves on";
  }

  Security security_;
  TCPStore store_;
};

TEST_F(Strangers, AProofThatIsSentAgainProvesNothing) {
  const std::string hello = hello_of("tests");
  std::string proof;
  {
    Stranger member(store_.port());
    const Greetings greetings = member.greet(hello);
    proof = Stranger::proof_for(greetings);
    member.write(proof);
    EXPECT_TRUE(member.read().has_value());
  }
  Stranger thief(store_.port());
  thief.greet(hello);
  thief.write(proof);
  const grpc::Status status = thief.end();
  EXPECT_EQ(status.error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(status.error_message(), "this process does not know the job's secret");
}

TEST_F(Strangers, ARequestThatIsSentAgainEndsTheStream) {
  Stranger member(store_.port());
  FrameCodes codes(member.join(hello_of("tests")), FrameCodes::From::kClient);
  const std::string request = add_one(1);
  const std::string code = codes.next(request);
  member.write(request, code);
  EXPECT_TRUE(member.read().has_value());
  member.write(request, code);
  const grpc::Status status = member.end();
  EXPECT_EQ(status.error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(status.error_message(), "a frame whose code is wrong");
  EXPECT_EQ(store_.add("n", 0), 1) << "it counted once";
}

TEST_F(Strangers, AChangedRequestEndsTheStream) {
  Stranger member(store_.port());
  FrameCodes codes(member.join(hello_of("tests")), FrameCodes::From::kClient);
  member.write(add_one(2), codes.next(add_one(1)));
  EXPECT_EQ(member.end().error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_FALSE(store_.check({"n"}));
}

TEST_F(Strangers, NobodyComesInWithoutAProof) {
  for (const std::string& instead : {std::string(), add_one(1)}) {
    Stranger stranger(store_.port());
    stranger.greet(hello_of("tests"));
    stranger.write(instead);
    EXPECT_EQ(stranger.end().error_code(), StatusCode::UNAUTHENTICATED);
  }
  Stranger hasty(store_.port());
  hasty.write(add_one(1));
  EXPECT_EQ(hasty.end().error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_FALSE(store_.check({"n"}));
}

TEST_F(Strangers, AnotherVersionIsRefusedAfterTheProof) {
  Hello hello;
  hello.set_version(99);
  hello.set_job("tests");
  hello.set_nonce(new_nonce());
  Stranger stranger(store_.port());
  const Greetings greetings = stranger.greet(hello.SerializeAsString());
  stranger.write(Stranger::proof_for(greetings));
  EXPECT_THAT(stranger.end().error_message(), HasSubstr("this process version 99"));
}

TEST_F(Strangers, TooLongMessagesAreRefused) {
  Stranger greeter(store_.port());
  greeter.write(std::string(5000, 'x'));
  EXPECT_EQ(greeter.end().error_message(), "a greeting that is too long");

  Stranger flooder(store_.port());
  flooder.write(std::string(kMostFrameBytes + 1, 'x'));
  EXPECT_THAT(flooder.end().error_code(),
              testing::AnyOf(StatusCode::RESOURCE_EXHAUSTED, StatusCode::UNAVAILABLE));

  Stranger member(store_.port());
  FrameCodes codes(member.join(hello_of("tests")), FrameCodes::From::kClient);
  Request request;
  request.ParseFromString(add_one(1));
  request.set_operation(taeda_store::SET);
  request.set_value(std::string(kMostValueBytes + 1, 'x'));
  member.write(request.SerializeAsString(), codes.next(request.SerializeAsString()));
  Response response;
  response.ParseFromString(member.read().value_or(""));
  EXPECT_THAT(response.error(), HasSubstr("at most 8388608"));
  member.write(std::string(kMostFrameBytes + 1, 'x'));
  EXPECT_EQ(member.end().error_code(), StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(Strangers, BytesThatAreNoMessageEndTheStream) {
  Stranger member(store_.port());
  FrameCodes codes(member.join(hello_of("tests")), FrameCodes::From::kClient);
  const std::string cut = add_one(1).substr(0, 5);
  member.write(cut, codes.next(cut));
  EXPECT_EQ(member.end().error_code(), StatusCode::INVALID_ARGUMENT);
  Stranger stranger(store_.port());
  stranger.write("\xff\xff\xff");
  EXPECT_EQ(stranger.end().error_message(), "not a client of a TCPStore");
}

TEST_F(Strangers, IdleConnectionsKeepNobodyOut) {
  std::vector<int> sockets;
  for (int i = 0; i < 1000; ++i) {
    const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(store_.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(::connect(s, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const size_t bytes = i % 2 ? 16 : 0;  // half of them begin to speak
    EXPECT_EQ(::send(s, "PRI * HTTP/2.0\r\n", bytes, MSG_NOSIGNAL), static_cast<ssize_t>(bytes));
    sockets.push_back(s);
  }
  EXPECT_EQ(store_.add("n", 1), 1);
  const TCPStoreOptions options = {.port = store_.port(), .job = "tests", .security = security_};
  EXPECT_EQ(TCPStore("localhost", options).add("n", 1), 2);
  for (int s : sockets) ::close(s);
}

/// A server that is not the job's, or one whose frames somebody changes on their way.
class FalseServer final : public StoreService::Service {
 public:
  explicit FalseServer(bool knows_secret) : knows_secret_(knows_secret) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FalseServer() override { server_->Shutdown(std::chrono::system_clock::now()); }
  TCPStoreOptions client() const {
    return {.port = static_cast<uint16_t>(port_),
            .job = "tests",
            .security = Security{.secret = kTestSecret}};
  }
  std::string name() const { return "TCPStore(localhost:" + std::to_string(port_) + ")"; }

  grpc::Status Join(grpc::ServerContext*, grpc::ServerReaderWriter<Frame, Frame>* stream) override {
    Frame frame;
    stream->Read(&frame);
    Challenge challenge;
    challenge.set_version(kVersion);
    challenge.set_nonce(new_nonce());
    challenge.set_wants_secret(true);
    const Greetings greetings = {frame.payload(), challenge.SerializeAsString()};
    send(stream, greetings.challenge);
    stream->Read(&frame);
    Proof proof;
    proof.ParseFromString(frame.payload());
    Welcome welcome;  // if it knows nothing, with the client's own proof
    welcome.set_code(knows_secret_ ? greetings.server_proof(kTestSecret) : proof.code());
    send(stream, welcome.SerializeAsString());
    if (!stream->Read(&frame)) return grpc::Status::OK;
    Response response;
    response.set_number(1);
    response.set_value("not what was stored");
    send(stream, response.SerializeAsString());
    stream->Read(&frame);
    return grpc::Status::OK;
  }

 private:
  static void send(grpc::ServerReaderWriter<Frame, Frame>* stream, const std::string& payload) {
    Frame frame;
    frame.set_payload(payload);
    stream->Write(frame);
  }

  const bool knows_secret_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

TEST(FalseServers, AreNotBelievedWithoutTheSecret) {
  const FalseServer server(false);
  EXPECT_EQ(error_of([&] { TCPStore store("localhost", server.client()); }),
            server.name() + ": the server does not know the job's secret");
}

TEST(FalseServers, AChangedResponseIsNotBelieved) {
  const FalseServer server(true);
  TCPStore store("localhost", server.client());
  EXPECT_THAT(error_of([&] { store.get("key"); }),
              AllOf(HasSubstr(server.name() + ".get: the store's server at localhost:"),
                    HasSubstr("is gone: a frame whose code is wrong")));
}

}  // namespace
}  // namespace taeda::distributed::grpc_store

#endif
