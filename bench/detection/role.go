package detection

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"banyan/bench/processes"
	"banyan/internal/job/env"
)

// The bench starts its own program again for everything that must be a process of its own.
// env.BenchDetector says what the process is to do.

// Roles.
const (
	roleMember   = "member"   // takes part
	roleLauncher = "launcher" // starts Banyan's members as banyan run does
	roleSwitch   = "switch"   // is the network between the members
	roleLoad     = "load"     // computes
)

// task is what a process is told to do.
type task struct {
	Setting
	Role       string `json:"role"`
	Scoreboard string `json:"scoreboard"` // its path
	Member     int    `json:"member"`     // which one; under a launcher, the launcher says it
	// Namespace says that the member has a network of its own, which the
	// switch connects.
	Namespace bool `json:"namespace"`
	// Again is how to start this program again.
	Again []string `json:"again"`
}

func (t task) env() string {
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and numbers
	}
	return env.BenchDetector + "=" + string(b)
}

// Perform does what the process was started for. A program that is started as Plan.Again says
// calls it.
func Perform() error {
	s := os.Getenv(env.BenchDetector)
	if s == "" {
		return errors.New("this is a part of banyan bench detector, which starts it when needed")
	}
	var t task
	if err := json.Unmarshal([]byte(s), &t); err != nil {
		return fmt.Errorf("%s: %w", env.BenchDetector, err)
	}
	os.Unsetenv(env.BenchDetector)
	switch t.Role {
	case roleMember:
		return t.takePart()
	case roleLauncher:
		return t.launch()
	case roleSwitch:
		return t.connect()
	case roleLoad:
		compute()
	}
	return fmt.Errorf("there is no role %q", t.Role)
}

// takePart is what a member does until it is killed.
func (t task) takePart() error {
	if s := os.Getenv("PMI_RANK"); s != "" {
		i, err := strconv.Atoi(s)
		if err != nil || i < 0 || i >= t.N {
			return fmt.Errorf("PMI_RANK=%q", s)
		}
		t.Member = i
	}
	b, err := openScoreboard(t.Scoreboard, t.N)
	if err != nil {
		return fmt.Errorf("the scoreboard: %w", err)
	}
	samples := make(chan os.Signal, 8)
	signal.Notify(samples, unix.SIGUSR1) // before any process can send one
	b.word(t.Member, wordPid).Store(int64(os.Getpid()))
	address := "127.0.0.1"
	if t.Namespace {
		address = memberAddress(t.Member)
		if err := t.plugIn(b, address); err != nil {
			return fmt.Errorf("member %d: its network: %w", t.Member, err)
		}
	}
	join := t.joinMemberlist
	if t.System.isBanyan() {
		join = t.joinBanyan
	}
	sent, err := join(b, address)
	if err != nil {
		return fmt.Errorf("member %d: %w", t.Member, err)
	}
	b.word(t.Member, wordState).Store(up)
	if t.Compute {
		go compute()
	}
	for range samples {
		b.word(t.Member, wordSampled).Store(sent())
		b.word(t.Member, wordSampleAt).Store(processes.Monotonic())
		b.word(t.Member, wordSamples).Add(1)
	}
	return nil
}

// compute keeps a core busy for ever.
func compute() {
	runtime.LockOSThread()
	x := 1.0
	for {
		for range 1 << 20 {
			x = x*1.0000001 + 1e-9
		}
		if x > 1e300 {
			x = 1
		}
	}
}
