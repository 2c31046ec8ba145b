package join

import "banyan/internal/job/check"

// LocateCalls says who knows where a program that isn't in Go is while it calls: here returns the return address
// of the present call, as the linker placed it in a file, or no file. It is called on the program's
// threads, on one at a time. checked is whether anybody asks: whether this job is being checked.
func (j *Job) LocateCalls(here func() (file string, linked uint64)) (checked bool) {
	if j.calls == nil {
		return false
	}
	j.calls.SetPlace(func() string {
		file, linked := here()
		if file == "" {
			return ""
		}
		return check.Address{File: file, Linked: linked}.String()
	})
	return true
}
