// Package failuredetector repeats the simulations of Bosilca et al., "A Failure Detector for HPC
// Platforms" (RR-9024, 2017), sections 3.3, 3.4 and 4: figures 3, 4a, 4b, 5, 6 and 7, and the
// numbers of their text; and figure 10 of section 5, which the paper measured. [Run] simulates, and
// returns a report that sets the paper's numbers beside ours and says why they differ where they
// do.
//
// Figures 4 and 5 are simulated by package stabilisation: by its abstraction as often as in the
// paper, and by the detector's machines where that is affordable, on the same scenarios; the
// report says how far the two are apart. Figure 10 is played by the machines alone, its
// agreements by those of package study/agreement. Figure 3 is arithmetic (package risk), figures 6
// and 7 are draws (package probing).
//
// Everything follows from the seed, and nothing from the number of workers. The paper's pictures
// were not at hand: the numbers of its text are compared.
package failuredetector
