#include "taeda/distributed/group/device_mesh.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "taeda/base/error.h"
#include "taeda/distributed/group/collectives.h"

namespace taeda::inline v0_2::distributed {

namespace {

int product_of(const std::vector<int>& shape) {
  return std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
}

std::vector<int> coordinate_of(int rank, const std::vector<int>& shape) {
  if (shape.size() == 1) return {rank};
  return {rank / shape[1], rank % shape[1]};
}

/// The group along `dim` that holds this process; makes those of the others, too.
ProcessGroupPtr group_along(size_t dim, const std::vector<int>& shape, int rank) {
  if (shape.size() == 1) return default_group();
  ProcessGroupPtr mine;
  const int lines = shape[1 - dim];
  for (int line = 0; line < lines; ++line) {
    std::vector<int> ranks;
    for (int i = 0; i < shape[dim]; ++i)
      ranks.push_back(dim == 0 ? i * shape[1] + line : line * shape[1] + i);
    const bool here = std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    const ProcessGroupPtr group = new_group(std::move(ranks));
    if (here) mine = group;
  }
  return mine;
}

}  // namespace

DeviceMesh init_device_mesh(const std::string& device_type, std::vector<int> mesh_shape,
                            std::vector<std::string> mesh_dim_names) {
  if (!is_initialized()) init_process_group();
  TAEDA_CHECK_VALUE(mesh_shape.size() == 1 || mesh_shape.size() == 2,
                    "init_device_mesh: expected one or two dimensions, got ", mesh_shape.size());
  TAEDA_CHECK_VALUE(product_of(mesh_shape) == get_world_size() &&
                        *std::min_element(mesh_shape.begin(), mesh_shape.end()) > 0,
                    "init_device_mesh: Mesh should hold as many ranks as the world, ",
                    get_world_size(), ", but found ", product_of(mesh_shape));
  TAEDA_CHECK_VALUE(mesh_dim_names.empty() || mesh_dim_names.size() == mesh_shape.size(),
                    "init_device_mesh: mesh_shape and mesh_dim_names should have same length, "
                    "got ",
                    mesh_shape.size(), " and ", mesh_dim_names.size());
  TAEDA_CHECK_VALUE(mesh_dim_names.size() < 2 || mesh_dim_names[0] != mesh_dim_names[1],
                    "init_device_mesh: Each mesh_dim_name must be unique, got ", mesh_dim_names[0],
                    " twice");
  DeviceMesh out;
  out.device_type_ = device_type;
  out.names_ = std::move(mesh_dim_names);
  out.ranks_ = default_group()->ranks();
  out.coordinate_ = coordinate_of(get_rank(), mesh_shape);
  for (size_t dim = 0; dim < mesh_shape.size(); ++dim)
    out.groups_.push_back(group_along(dim, mesh_shape, get_rank()));
  out.shape_ = std::move(mesh_shape);
  return out;
}

int DeviceMesh::size(int dim) const {
  return dim == -1 ? product_of(shape_) : shape_[checked("size", dim)];
}

size_t DeviceMesh::checked(const char* op, int dim) const {
  TAEDA_CHECK_VALUE(dim != -1 || ndim() == 1, "DeviceMesh::", op, ": The DeviceMesh has ", ndim(),
                    " dimensions. Optional kwarg `mesh_dim` needs to be specified when "
                    "device_mesh.ndim > 1.");
  TAEDA_CHECK_VALUE(dim >= -1 && dim < ndim(), "DeviceMesh::", op,
                    ": expected a dimension from 0 "
                    "to ",
                    ndim() - 1, ", got ", dim);
  return dim == -1 ? 0 : static_cast<size_t>(dim);
}

int DeviceMesh::index_of_name(const std::string& name) const {
  const auto it = std::find(names_.begin(), names_.end(), name);
  TAEDA_CHECK_VALUE(it != names_.end(), "DeviceMesh: Mesh dimension '", name, "' does not exist.");
  return static_cast<int>(it - names_.begin());
}

ProcessGroupPtr DeviceMesh::get_group(int dim) const { return groups_[checked("get_group", dim)]; }

ProcessGroupPtr DeviceMesh::get_group(const std::string& name) const {
  return get_group(index_of_name(name));
}

int DeviceMesh::get_local_rank(int dim) const {
  return coordinate_[checked("get_local_rank", dim)];
}

int DeviceMesh::get_local_rank(const std::string& name) const {
  return get_local_rank(index_of_name(name));
}

DeviceMesh DeviceMesh::operator[](const std::string& name) const {
  const auto dim = static_cast<size_t>(index_of_name(name));
  DeviceMesh out;
  out.device_type_ = device_type_;
  out.shape_ = {shape_[dim]};
  out.ranks_ = groups_[dim]->ranks();
  out.coordinate_ = {coordinate_[dim]};
  out.names_ = {name};
  out.groups_ = {groups_[dim]};
  return out;
}

}  // namespace taeda::distributed
