# The engine `grpc`: libtaeda_grpc.so, which libtaeda loads from its own folder when a program first
# makes a TCPStore. It links to libtaeda.

if(TAEDA_WITH_GRPC)
  # The messages and the service of store.proto, and what both sides agree on.
  set(room ${PROJECT_SOURCE_DIR}/taeda/distributed/store/grpc)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/grpc_messages)
  file(MAKE_DIRECTORY ${out})
  set(generated ${out}/store.pb.cc ${out}/store.grpc.pb.cc)
  add_custom_command(
    OUTPUT ${generated} ${out}/store.pb.h ${out}/store.grpc.pb.h
    COMMAND protobuf::protoc --cpp_out=${out} --grpc_out=${out} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN}
            --proto_path=${room} ${room}/store.proto
    DEPENDS ${room}/store.proto COMMENT "Messages and service of store.proto" VERBATIM)
  set_source_files_properties(${generated} PROPERTIES COMPILE_OPTIONS -w)

  set(messages ${room}/messages.cpp ${room}/authentication.cpp)
  add_library(taeda_grpc_messages STATIC ${generated} ${messages})
  set_target_properties(taeda_grpc_messages PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(taeda_grpc_messages SYSTEM PUBLIC ${out} ${GRPC_INCLUDE_DIR})
  target_link_libraries(taeda_grpc_messages PUBLIC taeda ${GRPCXX_LIBRARY} ${GRPC_LIBRARY} ${GPR_LIBRARY}
                                                   protobuf::libprotobuf OpenSSL::Crypto Threads::Threads
                                            PRIVATE taeda_build_flags)
  if(TARGET absl::synchronization)  # which gRPC's headers use
    target_link_libraries(taeda_grpc_messages PUBLIC absl::synchronization)
  endif()

  file(GLOB grpc_sources CONFIGURE_DEPENDS ${room}/*.cpp)
  list(REMOVE_ITEM grpc_sources ${messages})
  add_library(taeda_grpc MODULE ${grpc_sources})
  set_target_properties(taeda_grpc PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib INSTALL_RPATH "$ORIGIN")
  target_link_libraries(taeda_grpc PRIVATE taeda_grpc_messages taeda_build_flags)
endif()
