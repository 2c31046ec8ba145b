package console

import "time"

// Requests about the hosts of a job.
const (
	HostsRequest      = "hosts"       // the question is empty, the answer a list of Host
	AddHostsRequest   = "hosts add"   // AddHosts, HostsChanged
	DrainHostsRequest = "hosts drain" // DrainHosts, HostsChanged
)

// States of a host.
const (
	HostRuns   = "runs"     // processes run there
	HostWaits  = "waits"    // for replacements
	HostDrains = "drains"   // its processes are replaced elsewhere, then it leaves
	HostLeft   = "has left" // after it was drained
	HostLost   = "lost"
)

// Host describes a host of a job.
type Host struct {
	Name      string `json:"name"`
	State     string `json:"state"` // one of the states
	Cores     int    `json:"cores"` // on which processes may run
	Processes int    `json:"processes"`
	Ranks     string `json:"ranks"`            // of which replicas run there, as 0-3, 7
	Reason    string `json:"reason,omitempty"` // why it is lost
}

// AddHosts asks for further hosts.
type AddHosts struct {
	Hosts string `json:"hosts"` // a list, as "h7:8,h8:8"
}

// DrainHosts asks that the processes of hosts are replaced elsewhere, and that the hosts leave
// then.
type DrainHosts struct {
	Names []string `json:"names"`
	// Force ends processes that nothing can replace.
	Force bool `json:"force,omitempty"`
	// Within is how long it may take. What is left then stays, or is ended by force. 0: any time.
	Within time.Duration `json:"within,omitempty"`
}

// HostsChanged names the hosts that were added, or have left.
type HostsChanged struct {
	Names []string `json:"names"`
}
