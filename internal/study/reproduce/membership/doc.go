// Package membership repeats the experiments of Varma et al., "Scalable, Fault-Tolerant
// Membership for MPI Tasks on HPC Systems" (2006), section 7: figures 4 to 8, and the numbers
// of its text. [Run] returns a report that sets them beside ours and says why they differ
// where they do.
//
// Three things are drawn together: the paper's models with the paper's constants (package
// viewtime); Banyan's protocol in LogP time with the same constants, where half a round trip is
// the latency and the overhead of both ends (package viewsim), on the torus of BlueGene/L too, by
// hops; and the measurements of a machine at hand, with the models for that machine. The
// measurements come from outside: package bench/membership makes those of views, bench/contention
// those of figure 7. The models take the contention from figure 7 and are judged by the views.
//
// All but the measurements follows from the seed, and nothing from the number of workers. The
// paper's pictures were not at hand, so its curves aren't drawn: the numbers of its text are
// compared.
package membership
