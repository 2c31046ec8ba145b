package port

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var somePort = name{"127.0.0.1:1", make([]byte, secretSize)}.String()

// Programs that publish and withdraw at the same time don't take the directory from each other.
func TestNamesAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "names")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			n, err := OpenNames(dir)
			if err != nil {
				t.Error(err)
				return
			}
			service := strconv.Itoa(i)
			for range 200 {
				if err := n.Publish(service, somePort); err != nil {
					t.Errorf("publishing: %v", err)
					return
				}
				if err := n.Withdraw(service); err != nil {
					t.Errorf("withdrawing: %v", err)
					return
				}
			}
		})
	}
	all.Wait()
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory is left, without a name in it")
	}
}

// Of programs that replace the name of a process that has ended at the same time, one has it.
func TestReplacedAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "names")
	os.Mkdir(dir, 0o700)
	left, _ := json.Marshal(entry{"ice", somePort, boot(), os.Getpid(), "before"})
	for range 200 {
		var all []*Names
		for range 4 {
			n, err := OpenNames(dir)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, n)
		}
		if err := os.WriteFile(all[0].path("ice"), left, 0o600); err != nil {
			t.Fatal(err)
		}
		var publishing sync.WaitGroup
		var have atomic.Int32
		for _, n := range all {
			publishing.Go(func() {
				switch err := n.Publish("ice", somePort); {
				case err == nil:
					have.Add(1)
				case !errors.Is(err, ErrNameTaken):
					t.Error(err)
				}
			})
		}
		publishing.Wait()
		if have.Load() != 1 {
			t.Fatalf("%d programs have published the name", have.Load())
		}
		if err := all[0].Withdraw("ice"); err != nil {
			t.Fatal(err)
		}
		os.Mkdir(dir, 0o700)
	}
}

// A program that is stopped while it changes names doesn't hold others up for ever, and nothing is
// left of one that was killed.
func TestNamesOfOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "names")
	n, err := OpenNames(dir)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := n.lock()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, unfinished+"1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- n.Publish("ice", somePort) }()
	time.Sleep(20 * time.Millisecond)
	locked.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files are left, of one name", len(files))
	}
	if !testing.Short() {
		if locked, err = n.lock(); err != nil {
			t.Fatal(err)
		}
		defer locked.Close()
		if err := n.Withdraw("ice"); err == nil || !strings.Contains(err.Error(), "another program") {
			t.Errorf("withdrawn while another program changes names: %v", err)
		}
	}
}

func TestNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "names")
	n, err := OpenNames(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Look("ocean"); !errors.Is(err, ErrNoName) {
		t.Errorf("nothing was published: %v", err)
	}
	if err := n.Publish("ocean", somePort); err != nil {
		t.Fatal(err)
	}
	if err := n.Publish("ocean", somePort); !errors.Is(err, ErrNameTaken) {
		t.Errorf("published twice: %v", err)
	}
	if port, err := n.Look("ocean"); err != nil || port != somePort {
		t.Errorf("found %q: %v", port, err)
	}
	if err := n.Withdraw("ocean"); err != nil {
		t.Error(err)
	}
	if err := n.Withdraw("ocean"); !errors.Is(err, ErrNoName) {
		t.Errorf("withdrawn twice: %v", err)
	}

	// What a process has published that has ended doesn't count.
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory is left, without a name in it")
	}
	os.Mkdir(dir, 0o700)
	b, _ := json.Marshal(entry{"ice", somePort, boot(), os.Getpid(), "before"})
	if err := os.WriteFile(n.path("ice"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := n.Publish("ice", somePort); err != nil {
		t.Errorf("the name of a process that has ended: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files are left, of one name", len(left))
	}

	os.Chmod(dir, 0o755)
	if _, err := OpenNames(dir); err == nil {
		t.Error("others may enter the directory")
	}
}

func FuzzEntry(f *testing.F) {
	b, _ := json.Marshal(entry{"ocean", somePort, "b", 1, "2"})
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := parseEntry(b); err == nil {
			if len(e.Port) > maxPort {
				t.Errorf("a port's name of %d bytes", len(e.Port))
			}
		}
	})
}
