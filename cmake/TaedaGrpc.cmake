# The engine `grpc`: libtaeda_grpc.so, which libtaeda loads from its own folder when a program first
# makes a TCPStore or calls another process. It links to libtaeda.

if(TAEDA_WITH_GRPC)
  # The messages and the service of the .proto files, and what tests use as they are.
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

  set(messages ${room}/grpc/authentication.cpp ${room}/grpc/handshake.cpp ${PROJECT_SOURCE_DIR}/taeda/rpc/grpc/frames.cpp
               ${room}/store/grpc/messages.cpp ${room}/store/grpc/state.cpp)
  add_library(taeda_grpc_messages STATIC ${generated} ${messages})
  set_target_properties(taeda_grpc_messages PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(taeda_grpc_messages SYSTEM PUBLIC ${out} ${GRPC_INCLUDE_DIR})
  target_link_libraries(taeda_grpc_messages PUBLIC taeda ${GRPCXX_LIBRARY} ${GRPC_LIBRARY} ${GPR_LIBRARY}
                                                   protobuf::libprotobuf-lite OpenSSL::Crypto absl::synchronization
                                                   Threads::Threads
                                            PRIVATE taeda_build_flags taeda_hardening taeda_stack_protector
                                                    taeda_checked_containers)

  file(GLOB grpc_sources CONFIGURE_DEPENDS ${room}/grpc/*.cpp ${PROJECT_SOURCE_DIR}/taeda/rpc/grpc/*.cpp ${room}/store/grpc/*.cpp)
  list(REMOVE_ITEM grpc_sources ${messages})
  taeda_add_engine(grpc SOURCES ${grpc_sources} LIBRARIES taeda_grpc_messages)
endif()
