#include "search/shared/tree.hpp"

#include "data/dataset.hpp"

namespace certree {

void name_columns(const Dataset& data, Tree& tree) {
  for (TreeNode& node : tree.nodes)
    if (node.column >= 0) node.column = data.original_column(node.column);
}

}  // namespace certree
