package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// askLimit bounds the wait for a job's description.
	askLimit = 3 * time.Second
	// youth is how long a socket that nobody listens on isn't removed: it may be on its way.
	youth = 10 * time.Second
)

// NoJobError says that no job, or more than one, has the name.
type NoJobError struct {
	Name  string
	Other []string // that there are, or that the name may mean
}

func (e *NoJobError) Error() string {
	switch {
	case len(e.Other) == 0:
		return "there are no jobs of yours on this machine"
	case e.Name == "":
		return "there are several jobs: name one of " + strings.Join(e.Other, ", ")
	case slices.ContainsFunc(e.Other, func(other string) bool { return strings.HasPrefix(other, e.Name) }):
		return fmt.Sprintf("%q may mean %s", e.Name, strings.Join(e.Other, " or "))
	}
	return fmt.Sprintf("there is no job %q on this machine; there are %s", e.Name, strings.Join(e.Other, ", "))
}

// job is where a job is.
type job struct {
	folder Folder
	name   string
}

// Find finds a job by its name, or by the beginning of it if no other job's name begins so. An
// empty name means the only job. The error is a *NoJobError.
func Find(name string) (in Folder, full string, err error) { return find(name, Folder.all) }

// FindRunning is Find among the jobs that run: an ended one whose end is kept doesn't count.
func FindRunning(name string) (in Folder, full string, err error) { return find(name, Folder.running) }

func find(name string, names func(Folder) []string) (in Folder, full string, err error) {
	var all, fits []job
	for _, f := range Folders() {
		f.sweep()
		for _, n := range names(f) {
			all = append(all, job{f, n})
		}
	}
	for _, j := range all {
		if j.name == name {
			return j.folder, j.name, nil
		}
		if strings.HasPrefix(j.name, name) {
			fits = append(fits, j)
		}
	}
	if len(fits) == 1 {
		return fits[0].folder, fits[0].name, nil
	}
	if len(fits) > 0 {
		all = fits
	}
	e := &NoJobError{Name: name}
	for _, j := range all {
		e.Other = append(e.Other, j.name)
	}
	return "", "", e
}

// Dial connects to a job that runs.
func (f Folder) Dial(name string) (net.Conn, error) {
	conn, err := net.DialTimeout("unix", f.socket(name), askLimit)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("job %s doesn't run: %w", name, err)
	}
	return conn, err
}

// List describes all jobs of this user on this host that run, or whose end is kept, the oldest
// first.
func List(ctx context.Context) []Info { return list(ctx, Folders()) }

// list describes the jobs of some folders.
func list(ctx context.Context, folders []Folder) []Info {
	var mu sync.Mutex // guards live
	var all, live []Info
	var asking sync.WaitGroup
	for _, f := range folders {
		f.sweep()
		ended := f.ends()
		all = append(all, ended...)
		for _, name := range f.names(socketSuffix) {
			if slices.ContainsFunc(ended, func(i Info) bool { return i.Name == name }) {
				continue
			}
			asking.Go(func() {
				if info, err := f.ask(ctx, name); err == nil {
					mu.Lock()
					defer mu.Unlock()
					live = append(live, info)
				}
			})
		}
	}
	asking.Wait()
	all = append(all, live...)
	slices.SortFunc(all, func(a, b Info) int { return a.Begun.Compare(b.Begun) })
	return all
}

// ask asks a job for its description.
func (f Folder) ask(ctx context.Context, name string) (Info, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	conn, err := f.Dial(name)
	if err != nil {
		return Info{}, err
	}
	return Ask[Info](ctx, conn, "status", struct{}{}, nil)
}

// running are the names of the folder's jobs that haven't ended.
func (f Folder) running() []string {
	return slices.DeleteFunc(f.names(socketSuffix), f.Kept)
}

// all are the names of the folder's jobs.
func (f Folder) all() []string {
	names := slices.Concat(f.names(socketSuffix), f.names(endSuffix), f.names(logSuffix))
	slices.Sort(names)
	return slices.Compact(names)
}

// sweep removes the sockets of launchers that have died, and what was kept long enough.
func (f Folder) sweep() {
	f.sweepEnds(time.Now())
	defer f.sweepLogs()
	for _, name := range f.names(socketSuffix) {
		info, err := os.Lstat(f.socket(name))
		if err != nil || time.Since(info.ModTime()) < youth {
			continue
		}
		conn, err := net.DialTimeout("unix", f.socket(name), askLimit)
		if errors.Is(err, syscall.ECONNREFUSED) {
			os.Remove(f.socket(name))
		}
		if err == nil {
			conn.Close()
		}
	}
}

// sweepLogs removes the logs of launchers that were killed: those that say nothing at once.
func (f Folder) sweepLogs() {
	for _, name := range f.names(logSuffix) {
		info, err := os.Lstat(f.file(name, logSuffix))
		if _, gone := os.Lstat(f.socket(name)); err != nil || gone == nil {
			continue
		}
		if age := time.Since(info.ModTime()); age > KeptFor || age > youth && info.Size() == 0 {
			os.Remove(f.file(name, logSuffix))
		}
	}
}

// gonePause is how often AwaitGone looks.
const gonePause = 5 * time.Millisecond

// AwaitGone waits until a job's socket has gone, which its launcher removes at last, or for limit.
func (f Folder) AwaitGone(name string, limit time.Duration) {
	for until := time.Now().Add(limit); time.Now().Before(until); time.Sleep(gonePause) {
		if _, err := os.Lstat(f.socket(name)); err != nil {
			return
		}
	}
}
