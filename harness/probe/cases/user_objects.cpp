// SPDX-License-Identifier: Apache-2.0
// User objects: who holds them, and when their destructor runs.
#include "cases/cases.h"
#include "cases/nodes.h"

namespace probe {
namespace {

// How often the destructor of an object ran. It runs on a thread of the driver's, so each look waits a while.
std::atomic<int> ran;

CUuserObject counted(unsigned references) {
  CUuserObject u = nullptr;
  SETUP(cuUserObjectCreate(&u, &ran, count_up, references, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  return u;
}

void look(const char* label, std::chrono::milliseconds after = a_while) {
  pause(after);
  STEP(label, ran.load());
}

void counts() {
  boot();
  CUuserObject u = counted(2);
  CALL(cuUserObjectRetain(u, 3));
  CALL(cuUserObjectRelease(u, 4));
  look("destroyed");
  CALL(cuUserObjectRelease(u, 1));
  look("destroyed");
}

void retained_by_graph() {
  boot();
  CUuserObject u = counted(1);
  CUgraph g = graph();
  CUgraph c = nullptr;
  CALL(cuGraphRetainUserObject(g, u, 2, 0));
  CALL(cuGraphReleaseUserObject(g, u, 3));
  CALL(cuGraphReleaseUserObject(g, u, 1));
  CALL(cuUserObjectRelease(u, 1));
  look("destroyed while the graph holds one");
  CALL(cuGraphClone(&c, g));
  CALL(cuGraphDestroy(g));
  look("destroyed while the clone holds it");
  CALL(cuGraphDestroy(c));
  look("destroyed");
}

void held_by_clone() {
  boot();
  CUuserObject u = counted(1);
  CUgraph g = graph();
  CUgraph c = nullptr;
  CALL(cuGraphRetainUserObject(g, u, 1, 0));
  CALL(cuUserObjectRelease(u, 1));
  look("destroyed while the graph holds it");
  CALL(cuGraphClone(&c, g));
  CALL(cuGraphDestroy(g));
  look("destroyed while the clone holds it");
  CALL(cuGraphDestroy(c));
  look("destroyed");
}

void moved_more_than_held() {
  boot();
  CUuserObject u = counted(1);
  CUgraph g = graph();
  CALL(cuGraphRetainUserObject(g, u, 2, CU_GRAPH_USER_OBJECT_MOVE));
  look("destroyed", a_while / 2);
  CALL(cuGraphDestroy(g));
  look("destroyed after the graph");
}

void held_by_child_graph() {
  boot();
  CUuserObject u = counted(1);
  CUgraph c = graph();
  CUgraph g = graph();
  empty(c);
  SETUP(cuGraphRetainUserObject(c, u, 1, CU_GRAPH_USER_OBJECT_MOVE));
  CUgraphNode n = child(g, c);
  CALL(cuGraphDestroy(c));
  look("destroyed after the child");
  CALL(cuGraphDestroyNode(n));
  look("destroyed after the node");
  CALL(cuGraphDestroy(g));
  look("destroyed after the parent");
}

void held_by_running_exec() {
  boot();
  static Gate gate;
  CUstream s = stream();
  CUuserObject u = counted(1);
  CUgraph g = graph();
  host(g, gate_fn, &gate);
  SETUP(cuGraphRetainUserObject(g, u, 1, CU_GRAPH_USER_OBJECT_MOVE));
  CUgraphExec x = inst(g);
  CALL(cuGraphLaunch(x, s));
  CALL(cuGraphDestroy(g));
  CALL(cuGraphExecDestroy(x));
  look("destroyed while running");
  gate.open = 1;
  CALL(cuStreamSynchronize(s));
  look("destroyed after it ran", 2 * a_while);
}

void held_by_exec() {
  boot(faulting_program);
  CUuserObject u = counted(1);
  CUgraph g = graph();
  CALL(cuGraphRetainUserObject(g, u, 1, CU_GRAPH_USER_OBJECT_MOVE));
  empty(g);
  CUgraphExec e = nullptr;
  CALL(cuGraphInstantiate(&e, g, 0));
  CALL(cuGraphDestroy(g));
  look("ran after graph destroy (exec alive)");
  CALL(cuGraphExecDestroy(e));
  look("ran after exec destroy");
}

void created_and_released() {
  boot(faulting_program);
  CUuserObject u = counted(1);
  CALL(cuUserObjectRelease(u, 1));
  look("ran");
}

}  // namespace

void add_user_objects(CaseList& list) {
  list.chained("user_object_counts", counts);
  list.chained("user_object_graph_retain", retained_by_graph);
  list.chained("user_object_clone", held_by_clone);
  list.chained("user_object_move_more_than_held", moved_more_than_held);
  list.chained("user_object_child_graph", held_by_child_graph);
  list.chained("user_object_exec_pending", held_by_running_exec);
  list.chained("uo_destructor_runs_when", held_by_exec);
  list.chained("uo_create_release", created_and_released);
}

}  // namespace probe
