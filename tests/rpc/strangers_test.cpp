// What workers do with those who are not the job's: they speak the protocol, wrongly.

#if defined(TAEDA_HAS_GRPC) && !defined(__SANITIZE_THREAD__)  // missing_grpc() in stores.h

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/impl/codegen/sync_stream.h>

#include <atomic>
#include <future>

#include "taeda/distributed/grpc/handshake.h"
#include "taeda/ops/create/create.h"
#include "taeda/rpc/grpc/frames.h"
#include "taeda/rpc/transport.h"
#include "tests/distributed/stores.h"
#include "tests/error_of.h"

namespace taeda::distributed::grpc_rpc {
namespace {

using namespace grpc_link;
using grpc::ByteBuffer;
using grpc::StatusCode;
using rpc::Transport;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

constexpr const char* kWorker = "/taeda_rpc.Worker/Talk";
constexpr const char* kWorkerService = "worker of taeda.distributed.rpc";

ByteBuffer buffer_of(const std::string& text) {
  const grpc::Slice slice(text);
  return ByteBuffer(&slice, 1);
}

std::string text_in(const ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string out;
  if (buffer.Dump(&slices).ok())
    for (const grpc::Slice& s : slices) out.append(s.begin(), s.end());
  return out;
}

Hello hello_of(const std::string& job, const std::string& service = kWorkerService) {
  Hello out;
  out.set_job(job);
  out.set_service(service);
  out.set_world_size(2);
  out.set_rank(1);
  return out;
}

/// A stream to a worker, frame by frame.
class Stream {
 public:
  explicit Stream(const std::string& address, const char* method = kWorker)
      : channel_(grpc::CreateChannel(address, grpc::InsecureChannelCredentials())) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    stream_.reset(grpc::internal::ClientReaderWriterFactory<ByteBuffer, ByteBuffer>::Create(
        channel_.get(),
        grpc::internal::RpcMethod(method, grpc::internal::RpcMethod::BIDI_STREAMING, channel_),
        &context_));
  }
  ~Stream() { context_.TryCancel(); }

  void write(const ByteBuffer& frame) { stream_->Write(frame); }
  void write(const std::string& frame) { write(buffer_of(frame)); }
  std::string read() {
    ByteBuffer frame;
    return stream_->Read(&frame) ? text_in(frame) : "the end";
  }
  grpc::Status end() {
    ByteBuffer frame;
    while (stream_->Read(&frame)) {
    }
    return stream_->Finish();
  }
  /// Comes in as a worker of the job does; the codes for what it sends then.
  FrameCodes join(const Hello& hello) {
    ClientHandshake handshake(hello, kTestSecret);
    write(handshake.hello());
    write(handshake.prove(read()));
    handshake.believe(read());
    return FrameCodes(handshake.session_key(), FrameCodes::From::kClient);
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<ByteBuffer, ByteBuffer>> stream_;
};

class RpcStrangers : public testing::Test {
 protected:
  RpcStrangers() { transport_ = open(0, {.secret = kTestSecret}); }
  ~RpcStrangers() override {
    EXPECT_EQ(requests_, 0) << "nobody called anything";
    const auto member = open(1, {.secret = kTestSecret});
    EXPECT_EQ(call(*member), "hello") << "the worker serves on";
  }

  std::unique_ptr<Transport> open(int64_t id, const Security& security) {
    return rpc::open_grpc_transport(
        {.id = id,
         .name = "worker" + std::to_string(id),
         .world_size = 2,
         .job = "tests",
         .security = security,
         .on_request = [this](int64_t, Packet packet, const Transport::Reply& reply) {
           ++requests_;
           reply(std::move(packet));
         }});
  }
  /// What a call to the worker gives: what was sent, or why not.
  std::string call(Transport& from) {
    from.meet(0, "worker0", transport_->address());
    std::promise<std::string> answer;
    from.call(0, {"hello", {}}, [&](const Packet& packet, const std::string& error) {
      answer.set_value(error.empty() ? packet.head : error);
    });
    return answer.get_future().get();
  }
  std::string frame(FrameCodes& codes, const std::string& payload) {
    return codes.next(payload) + payload;
  }

  std::atomic<int> requests_ = 0;
  std::unique_ptr<Transport> transport_;
};

/// A message without tensors, as a frame without its code.
std::string message(uint64_t number, const std::string& head, uint64_t head_size,
                    const std::vector<uint64_t>& bodies = {}) {
  std::string out(1, '\1');
  const auto put = [&](const auto& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  put(number);
  put(head_size);
  put(static_cast<uint32_t>(bodies.size()));
  for (const uint64_t size : bodies) put(size);
  return out + head;
}

TEST_F(RpcStrangers, AnotherSecretCallsNothing) {
  const auto stranger = open(1, {.secret = "not what the others know"});
  EXPECT_EQ(call(*stranger),
            "the connection to worker worker0 ended: this process does not know "
            "the job's secret");
  const auto ignorant = open(1, {});
  EXPECT_THAT(call(*ignorant), HasSubstr("the server asks for the job's secret, and this process "
                                         "was given none"));
}

TEST_F(RpcStrangers, AProofThatIsSentAgainProvesNothing) {
  ClientHandshake handshake(hello_of("tests"), kTestSecret);
  const std::string hello = handshake.hello();
  Stream member(transport_->address());
  member.write(hello);
  const std::string proof = handshake.prove(member.read());
  member.write(proof);
  handshake.believe(member.read());
  Stream thief(transport_->address());
  thief.write(hello);
  thief.read();
  thief.write(proof);
  EXPECT_EQ(thief.end().error_message(), "this process does not know the job's secret");
}

TEST_F(RpcStrangers, MembersOfOtherJobsAndServicesAreRefused) {
  const auto refusal = [&](const Hello& hello) {
    Stream stream(transport_->address());
    ClientHandshake handshake(hello, kTestSecret);
    stream.write(handshake.hello());
    stream.write(handshake.prove(stream.read()));
    return stream.end().error_message();
  };
  EXPECT_EQ(refusal(hello_of("another")),
            "it serves job 'tests', but this process belongs to job 'another'");
  EXPECT_THAT(refusal(hello_of("tests", "")), HasSubstr("but this process wants a TCPStore"));
  Hello hello = hello_of("tests");
  hello.set_rank(2);
  EXPECT_EQ(refusal(hello), "there is no worker 2");
  Stream other(transport_->address(), "/taeda_rpc.Worker/Shout");
  EXPECT_EQ(other.end().error_code(), StatusCode::UNIMPLEMENTED);
}

TEST_F(RpcStrangers, NobodyCallsWithoutAProof) {
  Stream hasty(transport_->address());
  hasty.write(message(1, "hello", 5));
  EXPECT_EQ(hasty.end().error_code(), StatusCode::INVALID_ARGUMENT);
  Stream long_winded(transport_->address());
  long_winded.write(std::string(5000, 'x'));
  EXPECT_EQ(long_winded.end().error_message(), "a greeting that is too long");
  Stream flooder(transport_->address());
  flooder.write(std::string(kMostFrameBytes + 1, 'x'));
  EXPECT_THAT(flooder.end().error_code(),
              AnyOf(StatusCode::RESOURCE_EXHAUSTED, StatusCode::UNAVAILABLE));
}

TEST_F(RpcStrangers, FramesWithoutTheRightCodeEndTheStream) {
  Stream plain(transport_->address());
  plain.join(hello_of("tests"));
  plain.write(message(1, std::string(50, 'x'), 50));
  EXPECT_EQ(plain.end().error_message(), "a frame whose code is wrong");
  Stream changed(transport_->address());
  FrameCodes codes = changed.join(hello_of("tests"));
  changed.write(codes.next(message(1, "hello", 5)) + message(1, "hullo", 5));
  EXPECT_EQ(changed.end().error_message(), "a frame whose code is wrong");
}

TEST_F(RpcStrangers, ARequestThatIsSentAgainEndsTheStream) {
  Stream member(transport_->address());
  FrameCodes codes = member.join(hello_of("tests"));
  const std::string once = frame(codes, message(1, "hello", 5));
  member.write(once);
  EXPECT_THAT(member.read(), HasSubstr("hello"));
  member.write(once);
  EXPECT_EQ(member.end().error_message(), "a frame whose code is wrong");
  EXPECT_EQ(requests_.exchange(0), 1);
}

TEST_F(RpcStrangers, FramesThatAreNoneEndTheStreamAndTakeNoMemory) {
  const uint64_t huge = uint64_t{1} << 39;
  const std::vector<std::pair<std::string, std::string>> frames = {
      {"", "it ends after 0 bytes of a field"},
      {message(1, "", 4).substr(0, 12), "it ends after"},
      {message(1, "hello", 4), "more data than its message has"},
      {message(1, "", 0, {huge, huge}).substr(0, 30), "2 bodies in a frame of"},
      {message(1, "", huge * 2 + 1), "at most 1099511627776"},
      {message(1, "", UINT64_MAX, {UINT64_MAX}), "at most 1099511627776"},
      {std::string(1, '\2') + std::string(8, '\0') + "data", "message 0 has not begun"},
      {std::string(9, '\7'), "kind 7"}};
  for (const auto& [payload, why] : frames) {
    Stream member(transport_->address());
    FrameCodes codes = member.join(hello_of("tests"));
    member.write(frame(codes, payload));
    EXPECT_THAT(member.end().error_message(),
                AllOf(HasSubstr("a frame that is none: "), HasSubstr(why)));
  }
  Stream member(transport_->address());  // announces 512 GiB, sends nothing of it
  FrameCodes codes = member.join(hello_of("tests"));
  member.write(frame(codes, message(1, "", 0, {huge})));
  member.write(frame(codes, message(2, "hello", 5)));
  EXPECT_THAT(member.read(), HasSubstr("hello"));
  requests_ = 0;
}

TEST_F(RpcStrangers, BeyondThisMachineAProofIsDemanded) {
  const auto listen = [](const std::string& interface_name, const Security& security) {
    return error_of([&] {
      rpc::open_grpc_transport({.id = 0,
                                .name = "worker0",
                                .world_size = 2,
                                .security = security,
                                .interface_name = interface_name,
                                .on_request = {}});
    });
  };
  EXPECT_THAT(listen("0.0.0.0", {.secret = kTestSecret}), HasSubstr("name one"));
  EXPECT_THAT(listen("192.0.2.1", {}), HasSubstr("rpc::init_rpc: listening on 192.0.2.1, beyond "
                                                 "this machine, is refused"));
  const auto member = open(1, {});
  EXPECT_THAT(error_of([&] { member->meet(0, "worker0", "192.0.2.1:4000"); }),
              HasSubstr("rpc::init_rpc: connecting to 192.0.2.1, beyond this machine, is refused"));
}

/// Frames that one side makes and the other takes.
std::vector<Incoming::Message> through(Outgoing& out, Incoming& in) {
  std::vector<Incoming::Message> messages;
  Incoming::Message message;
  while (!out.empty()) {
    const ByteBuffer frame = out.next();
    EXPECT_LE(frame.Length(), kMostFrameBytes);
    if (in.take(frame, &message)) messages.push_back(std::move(message));
  }
  return messages;
}

TEST(RpcFrames, ShortMessagesOvertakeLongOnes) {
  Outgoing out;
  Incoming in;
  for (const auto from : {FrameCodes::From::kClient}) {
    out.use(FrameCodes("key", from));
    in.use(FrameCodes("key", from));
  }
  const Tensor large = ones({3 << 20});
  out.add(1, {"long", {large, zeros({0}), ones({5})}});
  out.add(2, {"short", {}});
  out.add(3, {std::string(3 << 20, 'x'), {ones({1})}});
  const auto messages = through(out, in);
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0].packet.head, "short");
  EXPECT_EQ(messages[1].packet.head, std::string(3 << 20, 'x'));
  EXPECT_EQ(messages[2].packet.head, "long");
  ASSERT_EQ(messages[2].packet.bodies.size(), 3u);
  EXPECT_EQ(messages[2].packet.bodies[0].numel(), large.numel() * 4);
  EXPECT_EQ(messages[2].packet.bodies[1].numel(), 0);
}

TEST(RpcFrames, TensorsAreSentFromTheirOwnMemory) {
  Outgoing out;
  const Tensor large = ones({1 << 20});
  const auto* first = static_cast<const uint8_t*>(large.data_ptr());
  out.add(1, {"", {large}});
  while (!out.empty()) {
    const ByteBuffer frame = out.next();
    std::vector<grpc::Slice> slices;
    ASSERT_TRUE(frame.Dump(&slices).ok());
    ASSERT_EQ(slices.size(), 2u);
    EXPECT_GE(slices[1].begin(), first);
    EXPECT_LE(slices[1].end(), first + (4 << 20));
  }
}

}  // namespace
}  // namespace taeda::distributed::grpc_rpc

#endif
