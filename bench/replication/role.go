package replication

import (
	"errors"
	"strconv"

	"banyan/mpi"
)

// Roles of Perform.
const (
	rolePingPong    = "pingpong"  // DIR BYTES TURNS
	roleBroadcast   = "broadcast" // DIR BYTES TURNS
	roleAnySource   = "anysource" // DIR BYTES TURNS
	roleFarm        = "farm"      // DIR BYTES TURNS
	roleWaitingFarm = "waits"     // DIR BYTES TURNS
	roleNamed       = "named"     // DIR BYTES TURNS
	roleAnonymous   = "anonymous" // DIR BYTES TURNS
	roleStream      = "stream"    // DIR
	roleHeal        = "heal"      // DIR BYTES
)

var errRole = errors.New("want pingpong, broadcast, anysource, named, anonymous, farm or waits DIR BYTES TURNS, stream DIR, or heal DIR BYTES")

// timedRoles measure so many turns with messages of so many bytes.
var timedRoles = map[string]func(w *mpi.Comm, dir string, size, turns int) error{
	rolePingPong: pingPongRole, roleBroadcast: broadcastRole, roleAnySource: anySourceRole, roleFarm: farmRole,
	roleNamed: namedRole, roleAnonymous: anonymousRole, roleWaitingFarm: waitingFarmRole,
}

// Perform is what the bench's jobs run. args is the rest of a command line that [Bench.Role]
// begins. It returns only for an error in the command line.
func Perform(args []string) error {
	switch {
	case len(args) == 4 && timedRoles[args[0]] != nil:
		size, err1 := strconv.Atoi(args[2])
		turns, err2 := strconv.Atoi(args[3])
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		mpi.Main(func(w *mpi.Comm) error { return timedRoles[args[0]](w, args[1], size, turns) })
	case len(args) == 2 && args[0] == roleStream:
		mpi.Main(func(w *mpi.Comm) error { return streamRole(w, args[1]) })
	case len(args) == 3 && args[0] == roleHeal:
		state, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		mpi.Main(func(w *mpi.Comm) error { return healRole(w, args[1], state) })
	}
	return errRole
}
