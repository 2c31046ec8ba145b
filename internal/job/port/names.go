package port

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Names are the services that programs of one user have published (MPI_Publish_name): files in a
// directory that only the user may enter. A name is that of a process, and goes with it: an entry
// of one that has ended, on this host, doesn't count. Who changes the names has the directory's
// lock.
type Names struct{ dir string }

// ErrNoName says that nothing is published under a name.
var ErrNoName = errors.New("no program has published it")

// ErrNameTaken says that another program has published the name.
var ErrNameTaken = errors.New("a program has published it already")

// entry is what is published.
type entry struct {
	Service string `json:"service"`
	Port    string `json:"port"`
	Boot    string `json:"boot"` // of the kernel that runs the process
	Pid     int    `json:"pid"`
	Start   string `json:"start"` // when it started, as the kernel says
}

// maxEntry bounds an entry in bytes: a name, a port and some numbers.
const maxEntry = 8 << 10

// maxPort bounds the name of a port, as MPI does.
const maxPort = 1023

// OpenNames opens the names in a directory; empty: $XDG_RUNTIME_DIR/banyan-names, or one in the
// directory for temporary files. Publish makes it.
func OpenNames(dir string) (*Names, error) {
	if dir == "" {
		if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
			dir = filepath.Join(run, "banyan-names")
		} else {
			dir = filepath.Join(os.TempDir(), fmt.Sprintf("banyan-names-%d", os.Geteuid()))
		}
	}
	n := &Names{dir}
	if err := n.check(); err != nil {
		return nil, err
	}
	return n, nil
}

// check refuses a directory that others may enter. It needn't be there.
func (n *Names) check() error {
	info, err := os.Lstat(n.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s must be a directory that only you may enter: others could read the secrets of ports there", n.dir)
	}
	return nil
}

func (n *Names) path(service string) string {
	sum := sha256.Sum256([]byte(service))
	return filepath.Join(n.dir, hex.EncodeToString(sum[:16]))
}

// Publish publishes a port under a name.
func (n *Names) Publish(service, port string) error {
	b, err := json.Marshal(entry{service, port, boot(), os.Getpid(), started(os.Getpid())})
	if err != nil {
		return err
	}
	return n.changing(func() error {
		if _, err := n.read(service); !errors.Is(err, ErrNoName) {
			return cmp.Or(err, ErrNameTaken)
		}
		// The file appears whole: others read it meanwhile.
		file, err := os.CreateTemp(n.dir, unfinished+"*")
		if err != nil {
			return err
		}
		_, err = file.Write(b)
		if err = errors.Join(err, file.Close()); err == nil {
			err = os.Rename(file.Name(), n.path(service))
		}
		if err != nil {
			os.Remove(file.Name())
		}
		return err
	})
}

// unfinished begins the name of a file that isn't an entry yet.
const unfinished = ".new-"

// changeLimit bounds how long a program waits for others that publish or withdraw.
const changeLimit = 2 * time.Second

// changing has f change the names, while no other program changes them. Then it removes what
// programs have left that have ended.
func (n *Names) changing(f func() error) error {
	dir, err := n.lock()
	if err != nil {
		return err
	}
	defer dir.Close()
	err = f()
	files, _ := os.ReadDir(n.dir)
	for _, file := range files {
		n.sweep(filepath.Join(n.dir, file.Name()))
	}
	_ = os.Remove(n.dir) // it goes with the last name
	return err
}

// lock makes the directory and takes its lock, which the system gives back when this process ends.
func (n *Names) lock() (*os.File, error) {
	for end := time.Now().Add(changeLimit); ; time.Sleep(time.Millisecond) {
		if err := os.Mkdir(n.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if err := n.check(); err != nil {
			return nil, err
		}
		dir, err := os.Open(n.dir)
		if err == nil {
			if err = unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err == nil && sameFile(dir, n.dir) {
				return dir, nil
			}
			dir.Close()
		}
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EWOULDBLOCK):
			return nil, err
		case time.Now().After(end):
			return nil, fmt.Errorf("another program has changed the names in %s for %v", n.dir, changeLimit)
		}
	}
}

// sameFile tells whether a path still leads to an open file.
func sameFile(f *os.File, path string) bool {
	a, err := f.Stat()
	b, err2 := os.Lstat(path)
	return err == nil && err2 == nil && os.SameFile(a, b)
}

// sweep removes a file that a program has left that has ended. The lock is held.
func (n *Names) sweep(path string) {
	if strings.HasPrefix(filepath.Base(path), unfinished) {
		os.Remove(path)
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return
	}
	if e, err := parseEntry(b); err == nil && e.ended() {
		os.Remove(path)
	}
}

// Look gives the port of a name.
func (n *Names) Look(service string) (string, error) {
	e, err := n.read(service)
	return e.Port, err
}

// Withdraw ends what this process, or another one of the user, has published.
func (n *Names) Withdraw(service string) error {
	if _, err := n.read(service); err != nil { // the directory may not be there
		return err
	}
	return n.changing(func() error {
		if _, err := n.read(service); err != nil {
			return err
		}
		return os.Remove(n.path(service))
	})
}

// read reads an entry. That of a process that has ended is none.
func (n *Names) read(service string) (e entry, err error) {
	b, err := os.ReadFile(n.path(service))
	if errors.Is(err, fs.ErrNotExist) {
		return e, ErrNoName
	}
	if err != nil {
		return e, err
	}
	if e, err = parseEntry(b); err != nil || e.Service != service {
		return e, fmt.Errorf("%s is damaged: remove it", n.path(service))
	}
	if e.ended() {
		return entry{}, ErrNoName
	}
	return e, nil
}

// ended tells whether the process that has published an entry has ended, as far as is known here.
func (e *entry) ended() bool { return e.Boot == boot() && started(e.Pid) != e.Start }

// parseEntry reads an entry.
func parseEntry(b []byte) (e entry, err error) {
	if len(b) > maxEntry {
		return e, errors.New("too long")
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return e, err
	}
	if len(e.Port) > maxPort || strings.ContainsRune(e.Port, 0) { // it may be another library's
		return e, errors.New("no name of a port")
	}
	return e, nil
}

func boot() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // without it nobody's end is known
	return strings.TrimSpace(string(b))
}

// started is when a process started, as the kernel says; empty if there is none.
func started(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	const startField = 19 // behind the name of the program
	if len(fields) <= startField {
		return ""
	}
	return fields[startField]
}
