package window

import (
	"os"
	"os/exec"
	"testing"
	"time"
	"unsafe"
)

// Memory of a process is read and written by its card; a card with a wrong mark opens nothing.
func TestProcess(t *testing.T) {
	memory := make([]byte, 100)
	card, mark := NewCard(unsafe.Pointer(&memory[0]))
	p := card.Open()
	if p == nil {
		t.Skip("the system doesn't let processes read each other's memory")
	}
	defer p.Close()
	if !p.Write(7, []byte("banyan")) || string(memory[7:13]) != "banyan" {
		t.Errorf("%q", memory)
	}
	got := make([]byte, 6)
	if !p.Read(7, got) || string(got) != "banyan" {
		t.Errorf("%q", got)
	}
	if p.Read(-int64(uintptr(unsafe.Pointer(&memory[0]))), got) {
		t.Error("reads at address 0")
	}
	wrong := card
	wrong[30]++
	if wrong.Open() != nil || (Card{}).Open() != nil {
		t.Error("a wrong card opens")
	}
	mark[0]++ // it is used until here
}

// What belongs to a process that has ended isn't read.
func TestProcessEnded(t *testing.T) {
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	card, mark := NewCard(unsafe.Pointer(t))
	p := card.Open()
	if p == nil {
		t.Skip("the system doesn't let processes read each other's memory")
	}
	p.Close()
	q := &Process{pid: os.Getpid(), base: p.base}
	var err error
	if q.descriptor, err = openProcess(other.Process.Pid); err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	got := make([]byte, 1)
	if !q.Read(0, got) {
		t.Error("doesn't read while the process lives")
	}
	other.Process.Kill()
	other.Wait()
	for end := time.Now().Add(5 * time.Second); q.Read(0, got); {
		if time.Now().After(end) {
			t.Fatal("reads although the process has ended")
		}
	}
	mark[0]++
}
