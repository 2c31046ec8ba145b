package join

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"banyan/internal/job/pmi"
	"banyan/internal/proto"
)

// A process gets the cards of process 0 and of its neighbours, each once, and none of its own. It
// gets none of the dead, and forgets those of processes that are replaced.
func TestFirstCards(t *testing.T) {
	for _, c := range []struct {
		self     proto.Proc
		procs    int
		want     string
		dead     proto.Proc
		replaced proto.Proc
	}{
		{0, 2, "[1]", 9, 9}, {1, 2, "[0]", 9, 9}, {0, 8, "[1 7]", 9, 9}, {3, 8, "[0 2 4]", 9, 9}, {7, 8, "[0 6]", 9, 9}, {1, 3, "[0 2]", 9, 9},
		{3, 8, "[0 4]", 2, 9}, {3, 8, "[2]", 0, 4},
	} {
		server := pmi.NewServer(1, "test", nil)
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		go server.Serve(0, os.NewFile(uintptr(fds[0]), "server"))
		client, err := pmi.NewClient(os.NewFile(uintptr(fds[1]), "client"), 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		ask := client.Batch()
		for p := range proto.Proc(c.procs) {
			ask.Put(cardOf(p), fmt.Sprint("card", int(p)))
		}
		var cards firstCards
		if text := cards.take(0); text != "" {
			t.Error(text)
		}
		keep := cards.ask(c.self, c.procs, func(p proto.Proc) bool { return p == c.dead }, ask)
		if err := ask.Ask(); err != nil {
			t.Fatal(err)
		}
		keep()
		cards.forget(c.replaced)
		var got []int
		for p := range proto.Proc(c.procs) {
			text := cards.take(p)
			if text == "" {
				continue
			}
			if got = append(got, int(p)); text != fmt.Sprint("card", int(p)) || cards.take(p) != "" {
				t.Errorf("of process %d there is %q, and once more %q", p, text, cards.take(p))
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("process %d of %d has the cards of %v, want %s", c.self, c.procs, got, c.want)
		}
		client.Finalize()
	}
}
