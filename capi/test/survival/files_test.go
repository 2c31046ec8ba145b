package survival

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

var fileJobs = flag.Int("filejobs", 1, "how many jobs of each kind TestFilesKills runs")

// Replicas are killed at random, many of them in the middle of writes, and the files are those of
// the undisturbed run. What is written depends on what was read, so a write that is done twice
// shows.
func TestFilesKills(t *testing.T) {
	program := cprogram.Compile(t, "filekills")
	const ranks, rounds = 3, 8
	files := func(extra ...string) map[string][]byte {
		t.Helper()
		dir := t.TempDir()
		o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run", "-n", fmt.Sprint(ranks), "--timeout", "50"}, extra...), program, dir, fmt.Sprint(rounds))...)
		if o.NoTrace(t); o.Code != 0 || o.Stdout != "done\n" || strings.Contains(o.Stderr, "in round") || strings.Contains(o.Stderr, "twice") {
			t.Fatalf("%v: %v", extra, o)
		}
		found := map[string][]byte{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if e.Name() == "shared" { // the order is that of time
				lines := bytes.SplitAfter(b, []byte("\n"))
				slices.SortFunc(lines, bytes.Compare)
				b = bytes.Join(lines, nil)
			}
			found[e.Name()] = b
		}
		return found
	}
	want := files()
	if len(want) != 5 || len(want["shared"]) != 16*ranks*rounds {
		t.Fatalf("the undisturbed run leaves %d files", len(want))
	}
	for seed := range *fileJobs {
		for _, degree := range []int{2, 3} {
			for i, within := range []string{"400ms", "send:100"} {
				if *fileJobs == 1 && i == degree-2 {
					continue
				}
				plan := fmt.Sprintf("random count=%d within=%s seed=%d action=kill", ranks*(degree-1), within, 10*seed+degree)
				extra := []string{"--replicas", fmt.Sprint(degree), "--fault", plan}
				if seed%2 == 1 {
					extra = append(extra, "--order", "leader")
				}
				got := files(extra...)
				if len(got) != len(want) {
					t.Errorf("%v: %d files", extra, len(got))
				}
				for name, b := range want {
					if !bytes.Equal(got[name], b) {
						t.Errorf("%v: %s differs: %d bytes, want %d", extra, name, len(got[name]), len(b))
					}
				}
			}
		}
	}
}

// The last replica of a rank reads and writes without waiting for others to wake it: many accesses
// took a second each, and this more than the minute of Run.
func TestFilesAlone(t *testing.T) {
	program := cprogram.Compile(t, "filealone")
	cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", "--replicas", "2", "--fault", "kill rank=1 at=send:5", program, filepath.Join(t.TempDir(), "file")).Fine(t)
}
