package launcher

import (
	"slices"
	"strings"
)

// lacks notes functions of MPI that the program has called and the library doesn't implement.
func (j *job) lacks(functions string) {
	for name := range strings.SplitSeq(functions, ", ") {
		if !slices.Contains(j.lacking, name) {
			j.lacking = append(j.lacking, name)
		}
	}
}

// warnOfLacks says at the job's end what it has called in vain: a line in the middle of the output
// is overlooked, and a program may ignore the error.
func (j *job) warnOfLacks() {
	if len(j.lacking) > 0 {
		slices.Sort(j.lacking)
		j.warn("the program has called functions that Banyan doesn't implement, and that did nothing: " + strings.Join(j.lacking, ", "))
	}
}
