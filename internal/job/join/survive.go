package join

import "banyan/internal/job/control"

// Survive is Options.SurviveRankLoss for a program that says so later. It can't be
// taken back.
func (j *Job) Survive() {
	if j.survive.Swap(true) || j.control == nil {
		return
	}
	j.control.Send(control.Message{Type: control.Survive})
}

// Hosts numbers the host of each process, in the order of processes: nil if that isn't
// known, as of a job of one.
func (j *Job) Hosts() []int32 { return j.hosts }

// Program is which of the job's programs this process runs, from 0; -1 if that isn't known.
func (j *Job) Program() int { return j.program }
