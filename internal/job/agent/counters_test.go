package agent

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"banyan/internal/counters"
	"banyan/internal/job/env"
)

// count is a process that counts, tries to do harm to the page, and waits until it is told to end.
func count() {
	fd, is, err := env.TakeCountersFD()
	if err != nil || !is {
		panic("there is no page")
	}
	if unix.Ftruncate(fd, 0) == nil {
		panic("the page can be cut off")
	}
	memory, err := unix.Mmap(fd, 0, counters.Size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	page, err := counters.On(memory)
	if err != nil {
		panic(err)
	}
	page.Write(&counters.Record{Stamp: 1, Sent: 42, Waits: "waits"})
	out := os.Stdout
	if fds, is, _ := env.TakeOutputFDs(); is {
		out = os.NewFile(uintptr(fds[0]), "stdout")
	}
	out.WriteString("written\n")
	os.Stdin.Read(make([]byte, 1))
}

// What a process counts is read by its agent, as long as the process lives.
func TestCounters(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []Spec{{}, {Replacement: true}, {Snapshots: true}} {
		spec.Path, spec.Argv, spec.Env = self, []string{self}, append(os.Environ(), roleVariable+"=counter")
		spec.Input, spec.Counters = SomeInput, true
		p := started(t, newLocal(t), spec)
		if got := line(t, p.Stdout()); got != "written" {
			t.Fatalf("it prints %q", got)
		}
		if r, ok := p.(Counting).Counters(); !ok || r.Sent != 42 || r.Waits != "waits" {
			t.Errorf("it counts %+v %v", r, ok)
		}
		p.Stdin().Close()
		if end := waited(t, p); end.Status.ExitStatus() != 0 {
			t.Errorf("it ends with %v", end.Status)
		}
		if _, ok := p.(Counting).Counters(); ok {
			t.Error("a process that has ended counts")
		}
	}
}
