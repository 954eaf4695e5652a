/* Made from a module of Regolith: build the module again instead of editing. */
#ifndef GRADIENTS_MODULE_H
#define GRADIENTS_MODULE_H

#include <regolith.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Shapes, and bytes from one element to the next along each axis. */
/* a field of f64 */
#define GRADIENTS_LOSS_RANK 1
#define GRADIENTS_LOSS_SHAPE {1}
#define GRADIENTS_LOSS_STRIDES {8}
/* a field of f64 */
#define GRADIENTS_V_RANK 1
#define GRADIENTS_V_SHAPE {16}
/* a field of f64 */
#define GRADIENTS_X_RANK 1
#define GRADIENTS_X_SHAPE {16}

/* The handles are borrowed from the module. */
typedef struct gradients_module {
  RgModule *module;
  RgField *field_loss;
  RgField *field_loss_grad;
  RgField *field_loss_grad_dual;
  RgField *field_loss_dual;
  RgKernel *kernel_measure;
  RgKernel *kernel_measure_grad;
  RgKernel *kernel_step;
  RgKernel *kernel_step_grad;
  RgKernel *kernel_step_tangent;
  RgKernel *kernel_step_second;
  RgField *field_v;
  RgField *field_v_grad;
  RgField *field_v_grad_dual;
  RgField *field_v_dual;
  RgField *field_x;
  RgField *field_x_grad;
  RgField *field_x_grad_dual;
  RgField *field_x_dual;
} gradients_module;

static inline RgStatus gradients_open(RgRuntime *runtime, const char *path,
                                      gradients_module *module_) {
  RgStatus status_ = rg_module_open(runtime, path, &module_->module);
  if (status_) return status_;
  module_->field_loss = rg_module_field(module_->module, "loss");
  module_->field_loss_grad = rg_module_field(module_->module, "loss.grad");
  module_->field_loss_grad_dual = rg_module_field(module_->module, "loss.grad.dual");
  module_->field_loss_dual = rg_module_field(module_->module, "loss.dual");
  module_->kernel_measure = rg_module_kernel(module_->module, "measure");
  module_->kernel_measure_grad = rg_module_kernel(module_->module, "measure.grad");
  module_->kernel_step = rg_module_kernel(module_->module, "step");
  module_->kernel_step_grad = rg_module_kernel(module_->module, "step.grad");
  module_->kernel_step_tangent = rg_module_kernel(module_->module, "step.tangent");
  module_->kernel_step_second = rg_module_kernel(module_->module, "step.second");
  module_->field_v = rg_module_field(module_->module, "v");
  module_->field_v_grad = rg_module_field(module_->module, "v.grad");
  module_->field_v_grad_dual = rg_module_field(module_->module, "v.grad.dual");
  module_->field_v_dual = rg_module_field(module_->module, "v.dual");
  module_->field_x = rg_module_field(module_->module, "x");
  module_->field_x_grad = rg_module_field(module_->module, "x.grad");
  module_->field_x_grad_dual = rg_module_field(module_->module, "x.grad.dual");
  module_->field_x_dual = rg_module_field(module_->module, "x.dual");
  return 0;
}

/* For a program that is linked with the module's archive. */
extern const RgLinkedModule gradients_linked;
static inline RgStatus gradients_link(RgRuntime *runtime, gradients_module *module_) {
  RgStatus status_ = rg_module_link(runtime, &gradients_linked, "gradients", &module_->module);
  if (status_) return status_;
  module_->field_loss = rg_module_field(module_->module, "loss");
  module_->field_loss_grad = rg_module_field(module_->module, "loss.grad");
  module_->field_loss_grad_dual = rg_module_field(module_->module, "loss.grad.dual");
  module_->field_loss_dual = rg_module_field(module_->module, "loss.dual");
  module_->kernel_measure = rg_module_kernel(module_->module, "measure");
  module_->kernel_measure_grad = rg_module_kernel(module_->module, "measure.grad");
  module_->kernel_step = rg_module_kernel(module_->module, "step");
  module_->kernel_step_grad = rg_module_kernel(module_->module, "step.grad");
  module_->kernel_step_tangent = rg_module_kernel(module_->module, "step.tangent");
  module_->kernel_step_second = rg_module_kernel(module_->module, "step.second");
  module_->field_v = rg_module_field(module_->module, "v");
  module_->field_v_grad = rg_module_field(module_->module, "v.grad");
  module_->field_v_grad_dual = rg_module_field(module_->module, "v.grad.dual");
  module_->field_v_dual = rg_module_field(module_->module, "v.dual");
  module_->field_x = rg_module_field(module_->module, "x");
  module_->field_x_grad = rg_module_field(module_->module, "x.grad");
  module_->field_x_grad_dual = rg_module_field(module_->module, "x.grad.dual");
  module_->field_x_dual = rg_module_field(module_->module, "x.dual");
  return 0;
}

static inline void gradients_close(gradients_module *module_) {
  rg_module_release(module_->module);
}

/* tests/embed/modules/gradients.lua:20 */
static inline RgStatus gradients_measure(gradients_module *module_) {
  RgValue result_ = {0, 0, {0}};
  RgStatus status_ = rg_module_launch(module_->module, module_->kernel_measure, 0, 0, &result_);
  return status_;
}

/* tests/embed/modules/gradients.lua:20
 * The adjoint: adds to the gradients of what the kernel read, and clears those of what it wrote.
 * Needs these fields with their contents after the kernel: x. */
static inline RgStatus gradients_measure_grad(gradients_module *module_) {
  RgValue result_ = {0, 0, {0}};
  RgStatus status_ =
      rg_module_launch(module_->module, module_->kernel_measure_grad, 0, 0, &result_);
  return status_;
}

/* tests/embed/modules/gradients.lua:15 */
static inline RgStatus gradients_step(gradients_module *module_, double dt) {
  RgValue arguments_[1];
  arguments_[0].kind = RG_VALUE_NUMBER;
  arguments_[0].number = (double)dt;
  RgValue result_ = {0, 0, {0}};
  RgStatus status_ =
      rg_module_launch(module_->module, module_->kernel_step, arguments_, 1, &result_);
  return status_;
}

/* tests/embed/modules/gradients.lua:15
 * The adjoint: adds to the gradients of what the kernel read, and clears those of what it wrote.
 * Needs these fields with their contents before the kernel (save and restore them): x. */
static inline RgStatus gradients_step_grad(gradients_module *module_, double dt) {
  RgValue arguments_[1];
  arguments_[0].kind = RG_VALUE_NUMBER;
  arguments_[0].number = (double)dt;
  RgValue result_ = {0, 0, {0}};
  RgStatus status_ =
      rg_module_launch(module_->module, module_->kernel_step_grad, arguments_, 1, &result_);
  return status_;
}

/* tests/embed/modules/gradients.lua:15
 * The tangent: runs the kernel, and computes the duals of what it writes. */
static inline RgStatus gradients_step_tangent(gradients_module *module_, double dt) {
  RgValue arguments_[1];
  arguments_[0].kind = RG_VALUE_NUMBER;
  arguments_[0].number = (double)dt;
  RgValue result_ = {0, 0, {0}};
  RgStatus status_ =
      rg_module_launch(module_->module, module_->kernel_step_tangent, arguments_, 1, &result_);
  return status_;
}

/* tests/embed/modules/gradients.lua:15
 * The adjoint of the tangent: adds to gradients and to their duals.
 * Needs these fields with their contents before the kernel (save and restore them): x. */
static inline RgStatus gradients_step_second(gradients_module *module_, double dt) {
  RgValue arguments_[1];
  arguments_[0].kind = RG_VALUE_NUMBER;
  arguments_[0].number = (double)dt;
  RgValue result_ = {0, 0, {0}};
  RgStatus status_ =
      rg_module_launch(module_->module, module_->kernel_step_second, arguments_, 1, &result_);
  return status_;
}

#ifdef __cplusplus
}
#endif

#endif
