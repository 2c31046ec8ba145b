package steward

import (
	"bytes"
	"crypto/hmac"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent/secure"
	"banyan/internal/proto/steward"
)

// Directory is a witness's files (steward.FileWitness): a directory of one job, below one that the
// user names on a file system that all hosts share. It is readable for its owner alone.
//
// A file is made whole under a name of its own, and written to disk; then link(2) gives it its
// number, which fails if that is taken. A file system of a network may do that twice when the first
// answer was lost, and says then that the name is taken: the file's count of links tells. What a
// file says is proven by the job's key, together with its number: a file that is half-written, or
// that somebody else has made, counts as one that can't be read.
//
// Its methods wait for the file system, which may take for ever.
type Directory struct {
	path  string
	key   secure.Key
	count *atomic.Uint64 // names of its own
}

const (
	directoryPrefix = "banyan-witness-"
	signPrefix      = "seen-by-"
	// mostBytes bounds a file: there are at most a few voters in it.
	mostBytes = 1 << 20
)

// MakeDirectory makes a job's directory below one that the user names. It waits a while at most.
func MakeDirectory(parent string, key secure.Key) (*Directory, error) {
	return bounded(parent, func() (*Directory, error) { return makeDirectory(parent, key) }, func(d *Directory) { d.Remove() })
}

func makeDirectory(parent string, key secure.Key) (*Directory, error) {
	if err := checkDirectory(parent); err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(parent, directoryPrefix+"*") // mode 0700
	if err != nil {
		return nil, err
	}
	d := OpenDirectory(path, key)
	if err := d.tryLink(); err != nil {
		d.Remove()
		return nil, fmt.Errorf("files in %s can't have two names, which a witness needs (%w): name a directory on another file system", parent, err)
	}
	return d, nil
}

// OpenDirectory is a directory that another party has made.
func OpenDirectory(path string, key secure.Key) *Directory {
	return &Directory{path: path, key: key, count: new(atomic.Uint64)}
}

// CheckDirectory says what is wrong with a directory that the user names. It waits a while at most.
func CheckDirectory(path string) error {
	_, err := bounded(path, func() (struct{}, error) { return struct{}{}, checkDirectory(path) }, nil)
	return err
}

func checkDirectory(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no directory %s: make it, on a file system that all hosts of the job share", path)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s isn't a directory: name one on a file system that all hosts of the job share", path)
	}
	if err := unix.Access(path, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("no file can be made in %s (%w): name a directory in which you may", path, err)
	}
	return nil
}

// Path implements Files.
func (d *Directory) Path() string { return d.path }

// Remove removes it, with its files. Others may be about to make one: then it tries again.
func (d *Directory) Remove() (err error) {
	for range 20 {
		if err = os.RemoveAll(d.path); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// Sign leaves word that a party sees the directory.
func (d *Directory) Sign(h steward.Host) error {
	return os.WriteFile(filepath.Join(d.path, signPrefix+strconv.Itoa(int(h))), nil, 0o600)
}

// Signed are the parties that see it, as far as this host sees.
func (d *Directory) Signed() (map[steward.Host]bool, error) {
	files, err := os.ReadDir(d.path)
	all := make(map[steward.Host]bool)
	for _, f := range files {
		if h, is := strings.CutPrefix(f.Name(), signPrefix); is {
			if n, err := strconv.ParseInt(h, 10, 32); err == nil {
				all[steward.Host(n)] = true
			}
		}
	}
	return all, err
}

// Call implements Files.
func (d *Directory) Call(c *steward.FileCall) (steward.FileResult, error) {
	var r steward.FileResult
	var err error
	if c.Make != nil {
		r.Outcome, err = d.make(c.Number, c.Make)
	} else {
		r.Entry, r.Outcome, err = d.read(c.Number)
	}
	return r, err
}

func (d *Directory) name(number uint64) string {
	return filepath.Join(d.path, fmt.Sprintf("%08d", number))
}

// make makes a file.
func (d *Directory) make(number uint64, e *steward.Entry) (steward.FileOutcome, error) {
	own, err := d.write(fmt.Sprintf("new-%d-%d-%d", e.Writer, e.Count, d.count.Add(1)), d.encode(number, e))
	if err != nil {
		return steward.FileUnknown, err
	}
	defer os.Remove(own)
	switch err := os.Link(own, d.name(number)); {
	case err == nil:
		return steward.FileDone, nil
	case linked(own):
		return steward.FileDone, nil
	case errors.Is(err, fs.ErrExist):
		return steward.FileExists, nil
	default:
		return steward.FileUnknown, err
	}
}

// linked says whether a file certainly has a second name. A yes can't be old: names are not taken
// away as long as it has its first one.
func linked(path string) bool {
	var s unix.Stat_t
	return unix.Lstat(path, &s) == nil && s.Nlink > 1
}

// write makes a whole file, and has it written to disk.
func (d *Directory) write(name string, content []byte) (path string, err error) {
	path = filepath.Join(d.path, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}

// tryLink finds out whether files can have two names here.
func (d *Directory) tryLink() error {
	own, err := d.write("new-trial", nil)
	if err != nil {
		return err
	}
	defer os.Remove(own)
	other := own + "-2"
	defer os.Remove(other)
	if err := os.Link(own, other); err != nil {
		return err
	}
	if err := os.Link(own, other); !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("a name that is taken can be taken again: %v", err)
	}
	return nil
}

// read reads a file.
func (d *Directory) read(number uint64) (*steward.Entry, steward.FileOutcome, error) {
	f, err := os.OpenFile(d.name(number), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		// The directory itself may be missing: then nobody can say what files there are.
		if _, err := os.Stat(d.path); err != nil {
			return nil, steward.FileUnknown, err
		}
		return nil, steward.FileAbsent, nil
	}
	if err != nil {
		return nil, steward.FileUnknown, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, mostBytes))
	if err != nil {
		return nil, steward.FileUnknown, err
	}
	e, err := d.decode(number, content)
	if err != nil {
		return nil, steward.FileUnknown, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return e, steward.FileDone, nil
}

// encode is what a file holds: a proof, and the question.
func (d *Directory) encode(number uint64, e *steward.Entry) []byte {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(e); err != nil {
		panic("steward: " + err.Error()) // all of it can be written
	}
	return append(d.proof(number, b.Bytes()), b.Bytes()...)
}

var errForeign = errors.New("it isn't whole, or no agent of this job has made it")

func (d *Directory) decode(number uint64, content []byte) (*steward.Entry, error) {
	size := len(d.proof(number, nil))
	if len(content) < size || !hmac.Equal(content[:size], d.proof(number, content[size:])) {
		return nil, errForeign
	}
	e := new(steward.Entry)
	if err := gob.NewDecoder(bytes.NewReader(content[size:])).Decode(e); err != nil || e.Message == nil {
		return nil, errors.Join(errForeign, err)
	}
	return e, nil
}

// proof says that a party with the job's key has written this under this number.
func (d *Directory) proof(number uint64, text []byte) []byte {
	mac := d.key.MAC("witness directory " + d.path[strings.LastIndexByte(d.path, '-')+1:])
	mac.Write(binary.BigEndian.AppendUint64(nil, number))
	mac.Write(text)
	return mac.Sum(nil)
}
