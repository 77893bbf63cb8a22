// Processes in rows and columns, each with a group.
#pragma once

#include <string>
#include <vector>

#include "taeda/distributed/group/process_group.h"

namespace taeda::inline v0_2::distributed {

/// torch.distributed.device_mesh.DeviceMesh of one or two dimensions: ranks in row-major order, and
/// for each dimension a group of those that differ in it alone.
class DeviceMesh {
 public:
  const std::string& device_type() const { return device_type_; }
  int ndim() const { return static_cast<int>(shape_.size()); }
  const std::vector<int>& shape() const { return shape_; }
  /// Of one dimension, or of all for -1.
  int size(int dim = -1) const;
  const std::vector<std::string>& mesh_dim_names() const { return names_; }
  /// The ranks of the world, row by row, an int64 tensor of the mesh's shape.
  const std::vector<int>& mesh() const { return ranks_; }

  /// This process's group along a dimension, which may be left out where there is only one. Throws
  /// ValueError for one that does not exist.
  ProcessGroupPtr get_group(int dim = -1) const;
  ProcessGroupPtr get_group(const std::string& name) const;
  /// This process's place along a dimension.
  int get_local_rank(int dim = -1) const;
  int get_local_rank(const std::string& name) const;
  /// This process's place along each dimension.
  const std::vector<int>& get_coordinate() const { return coordinate_; }
  /// The part of the mesh along one dimension that holds this process.
  DeviceMesh operator[](const std::string& name) const;

 private:
  friend DeviceMesh init_device_mesh(const std::string& device_type, std::vector<int> mesh_shape,
                                     std::vector<std::string> mesh_dim_names);
  size_t checked(const char* op, int dim) const;
  int index_of_name(const std::string& name) const;

  std::string device_type_;
  std::vector<int> shape_, ranks_, coordinate_;
  std::vector<std::string> names_;
  std::vector<ProcessGroupPtr> groups_;
};

/// A mesh of all processes of the world. Makes the default group from the environment if there is
/// none. All processes call it with the same arguments. Throws ValueError for a shape that does not
/// hold as many ranks as there are.
DeviceMesh init_device_mesh(const std::string& device_type, std::vector<int> mesh_shape,
                            std::vector<std::string> mesh_dim_names = {});

}  // namespace taeda::distributed
