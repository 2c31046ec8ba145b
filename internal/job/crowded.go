package job

import "runtime"

// coresVariable is how many cores the launcher divides among the processes that it
// starts. What a process sees itself is only its share.
const coresVariable = "BANYAN_CORES"

// crowded says whether the processes on this host are more than its cores.
func (j *Job) crowded() (bool, error) {
	cores, err := intVariable(coresVariable, runtime.NumCPU())
	return j.neighbours() > cores, err
}

// neighbours is how many processes of the job this host has, with this one: all, if
// that isn't known.
func (j *Job) neighbours() int {
	if int(j.self) >= len(j.hosts) {
		return j.layout.Procs()
	}
	n := 0
	for _, h := range j.hosts {
		if h == j.hosts[j.self] {
			n++
		}
	}
	return n
}
