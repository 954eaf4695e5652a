// module_header.cpp - the header of a module is C++, too.
#include "modules/abi_1.h"
#include "modules/gradients_1.h"

RgStatus total_in_cpp(abi_module *module, float *total) { return abi_total(module, total); }
RgStatus adjoint_in_cpp(gradients_module *module) { return gradients_measure_grad(module); }
