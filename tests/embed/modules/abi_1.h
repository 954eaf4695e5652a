/* Made from a module of Regolith: build the module again instead of editing. */
#ifndef ABI_MODULE_H
#define ABI_MODULE_H

#include <regolith.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Shapes, and bytes from one element to the next along each axis. */
/* a pointer node */
#define ABI_BLOCK_RANK 2
#define ABI_BLOCK_SHAPE {8, 8}
/* a field of f32 */
#define ABI_HEIGHT_RANK 2
#define ABI_HEIGHT_SHAPE {64, 64}
/* a dynamic node */
#define ABI_LIST_RANK 1
#define ABI_LIST_SHAPE {1024}
/* a field of vec2 */
#define ABI_SPEED_RANK 2
#define ABI_SPEED_SHAPE {64, 64}
/* a field of f64 */
#define ABI_TABLE_RANK 2
#define ABI_TABLE_SHAPE {4, 4}
#define ABI_TABLE_STRIDES {32, 8}

/* The handles are borrowed from the module. */
typedef struct abi_module {
  RgModule *module;
  RgSNode *node_block;
  RgKernel *kernel_fall;
  RgKernel *kernel_fill;
  RgField *field_height;
  RgSNode *node_list;
  RgField *field_speed;
  RgField *field_table;
  RgKernel *kernel_total;
} abi_module;

static inline RgStatus abi_open(RgRuntime *runtime, const char *path, abi_module *module_) {
  RgStatus status_ = rg_module_open(runtime, path, &module_->module);
  if (status_) return status_;
  module_->node_block = rg_module_node(module_->module, "block");
  module_->kernel_fall = rg_module_kernel(module_->module, "fall");
  module_->kernel_fill = rg_module_kernel(module_->module, "fill");
  module_->field_height = rg_module_field(module_->module, "height");
  module_->node_list = rg_module_node(module_->module, "list");
  module_->field_speed = rg_module_field(module_->module, "speed");
  module_->field_table = rg_module_field(module_->module, "table");
  module_->kernel_total = rg_module_kernel(module_->module, "total");
  return 0;
}

/* For a program that is linked with the module's archive. */
extern const RgLinkedModule abi_linked;
static inline RgStatus abi_link(RgRuntime *runtime, abi_module *module_) {
  RgStatus status_ = rg_module_link(runtime, &abi_linked, "abi", &module_->module);
  if (status_) return status_;
  module_->node_block = rg_module_node(module_->module, "block");
  module_->kernel_fall = rg_module_kernel(module_->module, "fall");
  module_->kernel_fill = rg_module_kernel(module_->module, "fill");
  module_->field_height = rg_module_field(module_->module, "height");
  module_->node_list = rg_module_node(module_->module, "list");
  module_->field_speed = rg_module_field(module_->module, "speed");
  module_->field_table = rg_module_field(module_->module, "table");
  module_->kernel_total = rg_module_kernel(module_->module, "total");
  return 0;
}

static inline void abi_close(abi_module *module_) { rg_module_release(module_->module); }

/* tests/embed/modules/abi.lua:19 */
static inline RgStatus abi_fall(abi_module *module_, float dt, int32_t steps) {
  RgValue arguments_[2];
  arguments_[0].kind = RG_VALUE_NUMBER;
  arguments_[0].number = (double)dt;
  arguments_[1].kind = RG_VALUE_NUMBER;
  arguments_[1].number = (double)steps;
  RgValue result_ = {0, 0, {0}};
  RgStatus status_ =
      rg_module_launch(module_->module, module_->kernel_fall, arguments_, 2, &result_);
  return status_;
}

/* tests/embed/modules/abi.lua:36 */
static inline RgStatus abi_fill(abi_module *module_, RgArray *a, double v) {
  RgValue arguments_[2];
  arguments_[0].kind = RG_VALUE_ARRAY;
  arguments_[0].array = a;
  arguments_[1].kind = RG_VALUE_NUMBER;
  arguments_[1].number = (double)v;
  RgValue result_ = {0, 0, {0}};
  RgStatus status_ =
      rg_module_launch(module_->module, module_->kernel_fill, arguments_, 2, &result_);
  return status_;
}

/* tests/embed/modules/abi.lua:30 */
static inline RgStatus abi_total(abi_module *module_, float *result) {
  RgValue result_ = {0, 0, {0}};
  RgStatus status_ = rg_module_launch(module_->module, module_->kernel_total, 0, 0, &result_);
  if (!status_) *result = (float)result_.number;
  return status_;
}

#ifdef __cplusplus
}
#endif

#endif
