package remote

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"banyan/internal/job/agent/lease"
	"banyan/internal/job/agent/secure"
	"banyan/internal/proto"
)

// DefaultLease is the length of an agent's lease.
const DefaultLease = 5 * time.Second

// handshakeLimit bounds the time from a connection to its Welcome.
const handshakeLimit = 5 * time.Second

// silence is how long a connection of agents with a lease may say nothing.
func silence(length time.Duration) time.Duration { return length / 2 }

// patience is how long a launcher waits for an agent that it can't reach.
func patience(length time.Duration) time.Duration {
	return length + time.Duration(lease.Margin(proto.Time(length)))
}

// buildOr is the build that a side says it is: this program's, but in tests.
func buildOr(build string) string { return cmp.Or(build, secure.Build()) }

// newInstance is a number that no other process has.
func newInstance() uint64 { return rand.Uint64() | 1 }

// agentName names an agent for people.
func agentName(number int) string { return fmt.Sprintf("agent %d", number) }
