package replication

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"banyan/internal/job/env"
	"banyan/internal/job/launcher"
	"banyan/internal/layout"
)

// Setting is how the same work is run.
type Setting uint8

// Settings.
const (
	// Alone is one job without replicas.
	Alone Setting = iota
	// Beside is as many jobs without replicas as others have replicas, side by side.
	Beside
	// Parallel and Mirror are one job with replicas. Verified is Parallel with all data compared.
	Parallel
	Mirror
	Verified
	// Each is Parallel with an acknowledgement for each message, as in the paper. It is run only
	// if it is asked for.
	Each
	settings
)

// Replicated are the settings with replicas, without Each.
func Replicated() []Setting { return []Setting{Parallel, Mirror, Verified} }

var settingNames = [settings]string{"alone", "side by side", "parallel", "mirror", "verified", "each"}

func (s Setting) String() string { return settingNames[s] }

// ParseSetting is the setting of a name.
func ParseSetting(name string) (Setting, error) {
	if i := slices.Index(settingNames[:], name); i >= 0 {
		return Setting(i), nil
	}
	return 0, fmt.Errorf("there are %s", strings.Join(settingNames[:], ", "))
}

// DefaultLimit is enough for all jobs of the project's own programs.
const DefaultLimit = 60 * time.Second

// jobs are the command lines that a setting starts at once.
func (b *Bench) jobs(s Setting, ranks int, flags []string, program ...string) [][]string {
	run := append([]string{b.Banyan, "run", "--timeout", b.Limit.String(), "-n", strconv.Itoa(ranks)}, flags...)
	protocol := Parallel
	switch s {
	case Alone:
		return [][]string{append(append(run, "--bind-to", launcher.BindCore), program...)}
	case Mirror:
		protocol = Mirror
	case Verified:
		run = append(run, "--verify")
	case Each:
		program = append([]string{"env", env.Entry(env.Acknowledge, env.AcknowledgeEach)}, program...)
	}
	if s != Beside {
		run = append(run, "--bind-to", launcher.BindCore, "--replicas", strconv.Itoa(b.Replicas), "--protocol", protocol.String())
		return [][]string{append(run, program...)}
	}
	// A process that believes that all cores are its own gives them up later than it should. So
	// these jobs are told what their share is; otherwise they would be slower, and replication
	// would look better than it is.
	share := env.Entry(env.Cores, max(1, len(b.cores)/b.Replicas))
	places := launcher.InTurn(b.cores, layout.Uniform(ranks, b.Replicas), true)
	var all [][]string
	for k := range b.Replicas {
		own := fmt.Sprint(places[k*ranks]) // where replica k of each rank is
		for _, core := range places[k*ranks+1 : (k+1)*ranks] {
			own += fmt.Sprint(",", core)
		}
		all = append(all, append(append(run[:len(run):len(run)], "--bind-to", own, "env", share), program...))
	}
	return all
}
