package join

import (
	"slices"
	"strings"
	"sync"
)

// lacking are the functions of MPI that the program has called and the library doesn't implement.
type lacking struct {
	mu    sync.Mutex
	names []string
	told  bool // the launcher says so at the job's end
}

// Lacks says that the program has called a function that the library doesn't implement. The job
// says so at its end.
func (j *Job) Lacks(function string) {
	l := &j.lacking
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.names, function) {
		l.names = append(l.names, function)
		l.told = j.supervisor.lacks(strings.Join(l.names, ", "))
	}
}

// sayLacks says it at this process's end, if nobody else will.
func (j *Job) sayLacks() {
	l := &j.lacking
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.names) > 0 && !l.told {
		j.stderr("the program has called functions that Banyan doesn't implement, and that did nothing: %s", strings.Join(l.names, ", "))
	}
}
