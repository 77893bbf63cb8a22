# taeda_add_messages(TARGET FOLDER NAME...): the messages of FOLDER/NAME.proto, for TARGET's own
# sources. Nobody else sees them: no public header includes them, and their symbols stay private.

function(taeda_add_messages target folder)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/messages)
  file(MAKE_DIRECTORY ${out})
  foreach(name ${ARGN})
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/${name}.proto)
    add_custom_command(
      OUTPUT ${out}/${name}.pb.cc ${out}/${name}.pb.h
      COMMAND protobuf::protoc --cpp_out=${out} --proto_path=${CMAKE_CURRENT_SOURCE_DIR}/${folder}
              ${source}
      DEPENDS ${source} COMMENT "Messages of ${name}.proto" VERBATIM)
    target_sources(${target} PRIVATE ${out}/${name}.pb.cc)
    set_source_files_properties(${out}/${name}.pb.cc PROPERTIES COMPILE_OPTIONS "-w;$<$<NOT:$<CONFIG:Debug>>:-O1>")
  endforeach()
  target_include_directories(${target} SYSTEM PRIVATE $<BUILD_INTERFACE:${out}>)
  target_link_libraries(${target} PRIVATE protobuf::libprotobuf-lite)
endfunction()
