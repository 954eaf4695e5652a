/* api_graph.c - graphs: the work that streams received between the start and the end of a capture,
 * in order, which can be launched again. */
#include "api.h"

#include <stdlib.h>

typedef struct GraphExec {
  struct {
    Work *at;
    uint32_t count, room;
  } works;
} GraphExec;

static bool fails(void) {
  static long graphs;
  return ++graphs == options.fail_graph;
}

EXPORT int cuStreamBeginCapture_v2(void *stream, int mode) {
  ENTER("begin a capture");
  READY();
  if (!stream_is_known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  if ((uintptr_t)stream <= 2 || options.no_graphs) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream_of(stream)->capture) return CUDA_ERROR_ILLEGAL_STATE;
  stream_of(stream)->capture = calloc(1, sizeof(Graph));
  return stream_of(stream)->capture ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
EXPORT int cuGraphDestroy(Graph *graph) {
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  for (uint32_t i = 0; i < graph->works.count; i++) work_free(&graph->works.at[i]);
  free(graph->works.at);
  free(graph);
  return CUDA_SUCCESS;
}
EXPORT int cuStreamEndCapture(void *stream, Graph **graph) {
  ENTER("end a capture");
  READY();
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  if (!stream_is_known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  *graph = stream_of(stream)->capture;
  if (!*graph) return CUDA_ERROR_ILLEGAL_STATE;
  stream_end_capture(*graph);
  if (!(*graph)->is_broken) return CUDA_SUCCESS;
  cuGraphDestroy(*graph);
  *graph = NULL;
  return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}
EXPORT int cuStreamIsCapturing(void *stream, int *status) {
  ENTER("is a stream captured?");
  READY();
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  if (!stream_is_known(stream)) return CUDA_ERROR_INVALID_HANDLE;
  const Graph *graph = stream_of(stream)->capture;
  *status = !graph ? 0 : graph->is_broken ? 2 : 1;
  return CUDA_SUCCESS;
}
EXPORT int cuGraphGetNodes(const Graph *graph, void **nodes, size_t *count) {
  if (!graph || !count) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; nodes && i < *count; i++) nodes[i] = i < graph->works.count ? (void *)1 : NULL;
  *count = graph->works.count;
  return CUDA_SUCCESS;
}
EXPORT int cuGraphInstantiateWithFlags(GraphExec **exec, const Graph *graph,
                                       unsigned long long flags) {
  ENTER("make a graph ready");
  READY();
  if (!exec || !graph) return CUDA_ERROR_INVALID_VALUE;
  *exec = fails() ? NULL : calloc(1, sizeof **exec);
  if (!*exec) return CUDA_ERROR_OUT_OF_MEMORY;
  for (uint32_t i = 0; i < graph->works.count; i++)
    PUSH((*exec)->works, work_copy(&graph->works.at[i]));
  return CUDA_SUCCESS;
}
static bool are_alike(const Work *a, const Work *b) {
  return a->kind == b->kind && (a->kind != WORK_LAUNCH || a->grid.function == b->grid.function) &&
         (a->kind == WORK_LAUNCH || a->size == b->size);
}
/* Changes parameters, grids and addresses, but not the nodes. */
EXPORT int cuGraphExecUpdate(GraphExec *exec, const Graph *graph, void **node, int *how) {
  ENTER("update a graph");
  READY();
  if (!exec || !graph || !node || !how) return CUDA_ERROR_INVALID_VALUE;
  *node = NULL;
  *how = 0;
  bool is_same = exec->works.count == graph->works.count && !fails();
  for (uint32_t i = 0; is_same && i < graph->works.count; i++)
    is_same = are_alike(&exec->works.at[i], &graph->works.at[i]);
  if (!is_same) {
    *how = 1;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  }
  for (uint32_t i = 0; i < graph->works.count; i++) {
    work_free(&exec->works.at[i]);
    exec->works.at[i] = work_copy(&graph->works.at[i]);
  }
  return CUDA_SUCCESS;
}
EXPORT int cuGraphInstantiate_v2(GraphExec **exec, const Graph *graph, void **node, char *log,
                                 size_t room) {
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}
EXPORT int cuGraphLaunch(const GraphExec *exec, void *stream) {
  ENTER("launch a graph");
  READY();
  if (!exec) return CUDA_ERROR_INVALID_VALUE;
  int result = CUDA_SUCCESS;
  for (uint32_t i = 0; i < exec->works.count && !result; i++)
    result = stream_add(stream, work_copy(&exec->works.at[i]));
  return result;
}
EXPORT int cuGraphExecDestroy(GraphExec *exec) {
  if (!exec) return CUDA_ERROR_INVALID_VALUE;
  for (uint32_t i = 0; i < exec->works.count; i++) work_free(&exec->works.at[i]);
  free(exec->works.at);
  free(exec);
  return CUDA_SUCCESS;
}
