# Engines that stand on gRPC, which libtaeda loads from its own folder: libtaeda_grpc.so when a program first makes a
# TCPStore, libtaeda_rpc.so when it first calls another process.

if(TAEDA_WITH_GRPC)
  # The messages and the service of the .proto files, what both engines have, and what tests use as it is.
  set(room ${PROJECT_SOURCE_DIR}/taeda/distributed)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/grpc_messages)
  file(MAKE_DIRECTORY ${out})
  set(generated)
  foreach(protocol grpc/handshake store/grpc/store)
    get_filename_component(name ${protocol} NAME)
    get_filename_component(folder ${room}/${protocol} DIRECTORY)
    set(made ${out}/${name}.pb.cc ${out}/${name}.grpc.pb.cc)
    add_custom_command(
      OUTPUT ${made} ${out}/${name}.pb.h ${out}/${name}.grpc.pb.h
      COMMAND protobuf::protoc --cpp_out=${out} --grpc_out=${out} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN}
              --proto_path=${folder} ${folder}/${name}.proto
      DEPENDS ${folder}/${name}.proto COMMENT "Messages and service of ${name}.proto" VERBATIM)
    list(APPEND generated ${made})
  endforeach()
  set_source_files_properties(${generated} PROPERTIES COMPILE_OPTIONS -w)

  set(messages ${room}/store/grpc/messages.cpp ${room}/store/grpc/state.cpp)
  file(GLOB link CONFIGURE_DEPENDS ${room}/grpc/*.cpp)
  add_library(taeda_grpc_messages STATIC ${generated} ${messages} ${link})
  set_target_properties(taeda_grpc_messages PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(taeda_grpc_messages SYSTEM PUBLIC ${out} ${GRPC_INCLUDE_DIR})
  target_link_libraries(taeda_grpc_messages PUBLIC taeda ${GRPCXX_LIBRARY} ${GRPC_LIBRARY} ${GPR_LIBRARY}
                                                   protobuf::libprotobuf-lite OpenSSL::Crypto absl::synchronization
                                                   Threads::Threads
                                            PRIVATE taeda_build_flags taeda_hardening taeda_stack_protector
                                                    taeda_checked_containers)

  file(GLOB store CONFIGURE_DEPENDS ${room}/store/grpc/*.cpp)
  list(REMOVE_ITEM store ${messages})
  taeda_add_engine(grpc SOURCES ${store} LIBRARIES taeda_grpc_messages)

  if(TAEDA_WITH_RPC)
    file(GLOB rpc CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/taeda/rpc/grpc/*.cpp)
    set(frames ${PROJECT_SOURCE_DIR}/taeda/rpc/grpc/frames.cpp)
    list(REMOVE_ITEM rpc ${frames})
    add_library(taeda_rpc_frames STATIC ${frames})
    set_target_properties(taeda_rpc_frames PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(taeda_rpc_frames PUBLIC taeda_grpc_messages
                          PRIVATE taeda_build_flags taeda_hardening taeda_stack_protector taeda_checked_containers)
    taeda_add_engine(rpc SOURCES ${rpc} LIBRARIES taeda_rpc_frames)
  endif()
endif()
