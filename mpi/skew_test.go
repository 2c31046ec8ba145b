package mpi_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/env"
	"banyan/internal/job/launcher"
	"banyan/mpi"
)

// lagWay, in the environment, makes the test's executable a program in which one replica stops for
// a while, and says what happens then. The processes write their progress into lagDir.
const (
	lagWay = "BANYAN_TEST_LAG"
	lagDir = "BANYAN_TEST_LAG_DIR"
)

const (
	lagBytes  = 16 << 10
	lagRounds = 4000
	lagStop   = 500 // the round before which the laggard, replica 1 of rank 1, stops
	// The limit of package process, and the bytes that it counts for a message.
	lagLimit, lagEach = 1 << 20, lagBytes + 256
)

func init() {
	if way, is := os.LookupEnv(lagWay); is {
		mpi.Main(func(world *mpi.Comm) error { return converse(world, way) })
	}
}

// converse has two ranks send each other a message in turns.
func converse(world *mpi.Comm, way string) error {
	process := os.Getenv("PMI_RANK")
	laggard := process == "3" && os.Getenv(env.Incarnations) == ""
	dir := os.Getenv(lagDir)
	at, err := os.Create(filepath.Join(dir, "at"+process))
	if err != nil {
		return err
	}
	defer at.Close()
	if err := os.WriteFile(filepath.Join(dir, "pid"+process), []byte(strconv.Itoa(os.Getpid())), 0o666); err != nil {
		return err
	}
	peer, message := 1-world.Rank(), make([]byte, lagBytes)
	round, sum := 0, uint64(world.Rank())
	if err := mpi.Register(world, "round", &round); err != nil {
		return err
	}
	if err := mpi.Register(world, "sum", &sum); err != nil {
		return err
	}
	for ; round < lagRounds; round++ {
		if round%20 == 0 {
			if _, err := world.Safepoint(); err != nil {
				return err
			}
			if os.Getenv(env.Incarnations) != "" {
				mark(dir, lagHealed)
			}
			awaitReplacement(dir)
		}
		if laggard && round == lagStop {
			stop(dir, way)
		}
		for first := range 2 {
			if first != world.Rank() {
				if _, err := mpi.Recv(world, message, peer, round); err != nil {
					return err
				}
				sum = sum*31 + binary.LittleEndian.Uint64(message) + uint64(message[lagBytes-1])
				if _, err := at.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(round+1)), 0); err != nil {
					return err
				}
				continue
			}
			binary.LittleEndian.PutUint64(message, sum)
			message[lagBytes-1] = byte(round)
			if err := mpi.Send(world, message, peer, round); err != nil {
				return err
			}
		}
	}
	fmt.Printf("rank %d: %x\n", world.Rank(), sum)
	return nil
}

// stop waits until the laggard's sibling is throttled, and writes down how many messages the
// sibling has received by then.
func stop(dir, way string) {
	sibling, _ := os.Open(filepath.Join(dir, "at1"))
	defer sibling.Close()
	number := make([]byte, 8)
	last, since := uint64(0), time.Now()
	for {
		time.Sleep(5 * time.Millisecond)
		sibling.ReadAt(number, 0)
		if n := binary.LittleEndian.Uint64(number); n != last {
			last, since = n, time.Now()
		}
		if still := time.Since(since); still > 20*time.Second || still > 300*time.Millisecond && last > lagStop+lagLimit/lagEach/2 {
			break
		}
	}
	os.WriteFile(filepath.Join(dir, "skew"), []byte(strconv.FormatUint(last-lagStop, 10)), 0o666)
	switch way {
	case "it dies":
		mark(dir, lagStruck)
		fault.Kill.Strike()
	case "its sibling dies":
		mark(dir, lagStruck)
		text, _ := os.ReadFile(filepath.Join(dir, "pid1"))
		if pid, err := strconv.Atoi(string(text)); err == nil {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// The files by which processes tell each other that one is being killed, and that its replacement
// has taken over a state.
const lagStruck, lagHealed = "struck", "healed"

func mark(dir, what string) { os.WriteFile(filepath.Join(dir, what), nil, 0o666) }

func marked(dir, what string) bool {
	_, err := os.Stat(filepath.Join(dir, what))
	return err == nil
}

// awaitReplacement holds a process up for 100 ms at a safe point as long as somebody is to be
// replaced. The replacement needs a safe point after its own start; without this the job's 4,000
// rounds are over before, where a process takes long to start.
func awaitReplacement(dir string) {
	for begin := time.Now(); marked(dir, lagStruck) && !marked(dir, lagHealed) && time.Since(begin) < 100*time.Millisecond; {
		time.Sleep(5 * time.Millisecond)
	}
}

// TestLaggard: with mirror a replica stops. The others go on until its sibling has received as much
// more as the limit allows, and not beyond. Then the replica goes on, or one of the two dies and is
// replaced. The result is the undisturbed one.
func TestLaggard(t *testing.T) {
	sums := [2]uint64{0, 1}
	for round := range lagRounds {
		sums[1] = sums[1]*31 + sums[0] + uint64(byte(round))
		sums[0] = sums[0]*31 + sums[1] + uint64(byte(round))
	}
	want := fmt.Sprintf("rank 0: %x\nrank 1: %x\n", sums[0], sums[1])
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"it goes on", "it dies", "its sibling dies"} {
		t.Run(way, func(t *testing.T) {
			dir := t.TempDir()
			var out, errs bytes.Buffer
			report, err := launcher.Run(launcher.Config{
				Ranks: 2, Replicas: 2, Protocol: launcher.ProtocolMirror, Heal: true, Limit: 90 * time.Second,
				Program: program, Env: append(os.Environ(), lagWay+"="+way, lagDir+"="+dir), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(out.String(), 0) + lines(out.String(), 1); report.ExitCode != 0 || got != want {
				t.Errorf("exit code %d, stdout\n%sstderr\n%s", report.ExitCode, out.String(), errs.String())
			}
			if died := len(report.Deaths) > 0; died != (way != "it goes on") {
				t.Errorf("%d deaths", len(report.Deaths))
			} else if died && (len(report.Heals) == 0 || report.Heals[0].Error != "") {
				t.Errorf("healed: %+v", report.Heals)
			}
			text, err := os.ReadFile(filepath.Join(dir, "skew"))
			if err != nil {
				t.Fatal(err)
			}
			// Three quarters: the sibling knows only what the laggard had received when it last
			// said so.
			skew, err := strconv.Atoi(strings.TrimSpace(string(text)))
			t.Logf("it received %s messages more", text)
			if least, most := lagLimit*3/4/lagEach, lagLimit/lagEach+1; err != nil || skew < least || skew > most {
				t.Errorf("its sibling received %s messages more, want %d to %d", text, least, most)
			}
		})
	}
}
