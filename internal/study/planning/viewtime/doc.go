// Package viewtime is the performance model of membership: how long a view takes to
// stabilise along a radix tree, after Varma et al., "Scalable, Fault-Tolerant
// Membership for MPI Tasks on HPC Systems" (2006), sections 4 and 7. It is
// arithmetic, for planning and to set beside measurements.
//
// # The model
//
// A tree of n nodes with a children each has H levels. The time T_s from the root's
// proposal until all have acknowledged to it is, by equations 1 and 2,
//
//	T_s = 2·L·(H-1) + Ocp·H
//
// with L half a round trip between two nodes and Ocp what a node takes to compute its
// new view. That is [Model.Base]. [Model.Stabilise] has refinements, each of
// which is off by default, so that it is the base model then:
//
//   - Distance. In a torus or a mesh a message takes L for each hop, so (H-1) becomes
//     the sum over the levels of the most hops between a parent and its child
//     there ([Topology.Hops]). As printed the sum has a factor (H-1) besides, which
//     gives milliseconds where the paper measured microseconds; it isn't here.
//   - Contention. The more nodes talk at once the longer L is, by the paper's figure 7, which it
//     measures for pairs, two and four children. [Contended] is such measurements of a machine at
//     hand, and takes the place of L: nothing in it comes from the stabilisation times that it is
//     compared with.
//   - Contention, fitted, for who has only stabilisation times: L·(1 + c·w), w being the messages
//     of the widest level; [Model.FitContention] finds c.
//   - Fan-out. A node sends to its children one after the other, o apart, so that the last one of
//     each level begins (a-1)·o late: (a-1)·o·(H-1) in all. Without it, the model would always
//     have the flattest tree for the best. With L = latency + 2o this is the exact time in the
//     LogP model for trees whose last level is full, and a bound for others (package viewsim's
//     tests).
//
// Nodes are placed in the order of their numbers, the last coordinate first, and
// the tree is that of nodes 0…n-1.
package viewtime
