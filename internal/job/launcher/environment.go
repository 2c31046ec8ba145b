package launcher

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"banyan/internal/fault"
	"banyan/internal/job/env"
	"banyan/internal/job/recovery"
	"banyan/internal/proto"
	"banyan/internal/proto/rollback"
)

// ownVariables are those that the launcher sets, or that another launcher may have set for this
// process.
var ownVariables = append([]string{"PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMI_SIZE"}, env.SetByLauncher...)

// inherited is the part of the launcher's environment that the processes get: the last value of
// each variable, and none of ownVariables.
func inherited(all []string) []string {
	seen := make(map[string]bool)
	for _, name := range ownVariables {
		seen[name] = true
	}
	var rest []string
	for _, s := range slices.Backward(all) {
		if name, _, _ := strings.Cut(s, "="); !seen[name] {
			seen[name] = true
			rest = append(rest, s)
		}
	}
	slices.Reverse(rest)
	return rest
}

// environment tells a process its job. cores is how many its host has for the job. The agent adds
// the numbers of descriptors.
func (p *plan) environment(id proto.Proc, cores int) []string {
	all := []string{
		"PMI_RANK=" + strconv.Itoa(int(id)),
		"PMI_SIZE=" + strconv.Itoa(p.size),
		env.Entry(env.Replicas, env.FormatReplicas(p.Degrees)),
		env.Entry(env.Protocol, p.Protocol),
		env.Entry(env.Order, p.Order),
		env.Entry(env.Verify, p.Verify),
		env.Entry(env.Cores, cores),
		env.Entry(env.Transport, p.Transport),
		env.Entry(env.Encrypt, p.Encrypt),
		env.Entry(env.Bcast, p.Bcast),
		env.Entry(env.HeartbeatPeriod, p.HeartbeatPeriod),
		env.Entry(env.HeartbeatTimeout, p.HeartbeatTimeout),
	}
	if p.heals() {
		all = append(all, env.Entry(env.Heal, 1))
		if len(p.Agents) > 1 || p.Arrivals != nil {
			all = append(all, env.Entry(env.Elsewhere, 1))
		}
	}
	if p.leased() {
		all = append(all, env.Entry(env.Leased, cmp.Or(p.verdict, verdictLimit)))
	}
	if p.SpareRanks > 0 {
		all = append(all, env.Entry(env.SpareRanks, p.SpareRanks))
	}
	if p.FaultTolerance == FaultToleranceNo {
		all = append(all, env.Entry(env.FaultTolerance, env.FaultToleranceNo))
	}
	if p.InitialErrhandler != "" {
		all = append(all, env.Entry(env.InitialErrhandler, p.InitialErrhandler))
	}
	if p.Slots > 0 {
		all = append(all, env.Entry(env.Slots, p.Slots))
	}
	if p.Parent != "" {
		all = append(all, env.Entry(env.Parent, p.Parent))
	}
	if p.inproc() {
		all = append(all, env.Entry(env.LocalRanks, p.ranks))
	}
	if p.layout.Replicated() {
		// Otherwise the replicas of a Python program iterate over sets in
		// different orders.
		all = append(all, "PYTHONHASHSEED=0")
	}
	return all
}

// firstEnvironment is what the first process of a replica slot is told beside that. Its
// replacements aren't: a planned fault strikes once.
func (p *plan) firstEnvironment(id proto.Proc) (all []string) {
	if own := fault.FormatOwn(p.planned, int(p.layout.Rank(id)), p.layout.Replica(id)); own != "" {
		all = append(all, env.Entry(env.Fault, own))
	}
	if p.Rollback {
		all = append(all, rollbackStart(0, p.resumed.number(), 0))
	}
	return all
}

// replacementEnvironment is what a replacement is told beside that. It gets its state of another
// replica, and not of a snapshot.
func (j *job) replacementEnvironment(a *recovery.Attempt) []string {
	all := []string{env.Entry(env.Incarnations, j.incarnations(a))}
	if j.back != nil {
		all = append(all, rollbackStart(j.back.Epoch(), rollback.Beginning, 0))
	}
	return all
}
