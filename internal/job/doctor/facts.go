// Package doctor judges whether jobs will run on a machine, or on the hosts of an allocation, and
// says what to do where they won't. It is pure: package probe finds the facts.
//
//	facts.go    what is known of a machine, and of the way to another one
//	machine.go  what is judged of a machine by itself
//	hosts.go    what is judged of several: ssh, builds, ways back, clocks
//	slurm.go    what is judged of an allocation
//
// # Invariants
//
//   - A Problem keeps jobs from running, or from running there; a Warning makes them slower,
//     smaller or less safe. Each says what to do.
//   - What couldn't be found out is no problem by itself: a zero Fact says nothing.
//
// # Limits
//
// The facts are those of the moment, and of the user who asks. Bandwidth, memory errors and file
// systems aren't looked at.
package doctor

// Unlimited is a limit that there isn't.
const Unlimited = int64(-1)

// Facts is what is known of a machine.
type Facts struct {
	Name   string `json:"name"`
	Build  string `json:"build"`  // of the command banyan there
	Kernel string `json:"kernel"` // its release
	Boot   string `json:"boot"`   // the boot id: names with the same one are one machine

	Cores    int     `json:"cores"`    // that are online
	Affinity int     `json:"affinity"` // on which processes may run
	Quota    float64 `json:"quota"`    // cores' worth of time that the control group gets; 0: no limit
	Load     float64 `json:"load"`     // processes that ran or waited for a core, in the last minute

	Limits            Limits `json:"limits"`
	MemoryFree        int64  `json:"memory_free"`          // bytes; 0: unknown
	SharedSize        int64  `json:"shared_size"`          // of /dev/shm in bytes; -1: there is none
	SharedFree        int64  `json:"shared_free"`          // bytes
	Memfd             string `json:"memfd"`                // why memory can't be shared; empty: it can
	Yama              int    `json:"yama"`                 // kernel.yama.ptrace_scope; -1: there is no Yama
	ReadMemory        string `json:"read_memory"`          // why process_vm_readv fails; empty: it works
	Traces            bool   `json:"traces"`               // it has CAP_SYS_PTRACE
	Pidfd             string `json:"pidfd"`                // why processes have no handles; empty: they have
	Loopback          string `json:"loopback"`             // why 127.0.0.1 can't be reached; empty: it can
	PortFirst         int    `json:"port_first"`           // of those that the kernel chooses
	PortLast          int    `json:"port_last"`            // 0: unknown
	Address           string `json:"address"`              // why the machine's name leads to no address of it; empty: it does
	Folder            string `json:"folder"`               // why jobs get no socket; empty: they get one
	Temporary         string `json:"temporary"`            // where programs that are sent can start; empty: nowhere
	Batch             *Batch `json:"batch,omitempty"`      // nil: this isn't in an allocation
	AllocationTrouble string `json:"allocation,omitempty"` // what is wrong with the allocation
}

// Limits are those of a process: Unlimited if there is none, 0 if unknown.
type Limits struct {
	Files     int64 `json:"files"`     // the hard one: Go raises the soft one to that
	Processes int64 `json:"processes"` // of the user
	Tasks     int64 `json:"tasks"`     // of the control group
	TasksNow  int64 `json:"tasks_now"`
	Locked    int64 `json:"locked"` // bytes
	Address   int64 `json:"address_space"`
	CPU       int64 `json:"cpu_seconds"`
}

// Batch is what is known of an allocation of Slurm.
type Batch struct {
	Job     string `json:"job"`
	Version string `json:"version"` // what srun --version says; empty: it can't be called
	// Settings are those of scontrol show config and scontrol show job that matter.
	Proctrack string `json:"proctrack"`
	Nodes     int    `json:"nodes"`
	Tasks     bool   `json:"tasks"` // a number of tasks was asked for
}

// Host is what is known of another machine, and of the way there.
type Host struct {
	Name string
	// Trouble is why it couldn't be asked; empty: Facts has its answer.
	Trouble string
	Facts   Facts
	// Ahead is how much its clock is ahead of this machine's, in seconds, give or take Within.
	Ahead, Within float64
	// Back is why it can't connect to this machine; empty: it can.
	Back  string
	Slots int // for which it is named; 0: as many as are needed
}
