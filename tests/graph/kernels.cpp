// SPDX-License-Identifier: Apache-2.0
//
// The kernels that graphs of many tests have in common.
#define STRID_SHARED template class
#include "kernels.hpp"
