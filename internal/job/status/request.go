package status

// Request is what somebody who watches the job wants done.
type Request struct {
	Action  string `json:"action"`
	Process int    `json:"process"` // to be killed
	Host    int    `json:"host"`    // to be drained, a number of State.Hosts
}

// Actions of a Request.
const (
	Kill  = "kill"  // a process, if another replica of its rank lives
	Heal  = "heal"  // tries again to replace what stays dead after failures
	Drain = "drain" // a host
	Trace = "trace" // has all processes record the next second
)

// Operator does what a Request asks for, or begins it, and says what. It may be called from any
// goroutine.
type Operator func(q Request) (said string, err error)
