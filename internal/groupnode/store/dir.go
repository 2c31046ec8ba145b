package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Record is what a process keeps of its group. It stands in a file as JSON.
type Record struct {
	Format   int    // 1
	Node     ID     // this process's identity
	Starts   uint64 // how often it has looked for its group
	Group    string
	Founding ID
	Base     uint64 // of the tokens of that founding
	View     *View  // in force last; nil: never in a group, or left it
	Next     *View  // accepted as the next one; nil: none
}

// View is what is kept of a view.
type View struct {
	Number  uint64
	Members []Member
}

// Member is what is kept of a member. Node is zero if it keeps nothing itself.
type Member struct {
	Name    string
	Address string
	Node    ID
}

const recordFormat = 1

// ID is 128 random bits, in hexadecimal digits.
type ID [16]byte

// MarshalText is the hexadecimal form.
func (i ID) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%x", i[:]), nil }

// UnmarshalText is the inverse of MarshalText.
func (i *ID) UnmarshalText(text []byte) error {
	var got []byte
	if n, err := fmt.Sscanf(string(text), "%x", &got); n != 1 || err != nil || len(got) != len(i) || len(text) != 2*len(i) {
		return fmt.Errorf("identity %.40q: want %d hexadecimal digits", text, 2*len(i))
	}
	copy(i[:], got)
	return nil
}

// ErrInUse says that another process, or another member of this one, uses a directory.
var ErrInUse = errors.New("another process or member uses it")

// Dir is a directory that one process at a time uses.
type Dir struct {
	path string
	lock *os.File
}

// OpenDir locks a directory, which is made if there is none, and counts this start. If it is new
// the process gets the identity fresh.
func OpenDir(path string, fresh ID) (*Dir, Record, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, Record{}, err
	}
	lock, err := open(filepath.Join(path, "lock"))
	if err != nil {
		return nil, Record{}, err
	}
	d := &Dir{path, lock}
	r, err := d.read()
	switch {
	case errors.Is(err, errLocked):
		err = fmt.Errorf("%s: %w", path, ErrInUse)
	case errors.Is(err, fs.ErrNotExist):
		r, err = Record{Format: recordFormat, Node: fresh}, nil
	}
	if err == nil {
		r.Starts++
		err = d.Write(r)
	}
	if err != nil {
		lock.Close()
		return nil, Record{}, err
	}
	return d, r, nil
}

func (d *Dir) file() string { return filepath.Join(d.path, "group.json") }

// read reads the record, under the lock. A damaged one is an error: a process that took it for a
// new one would forget what it has promised.
func (d *Dir) read() (r Record, err error) {
	if err := tryLock(d.lock); err != nil {
		return r, err
	}
	content, err := os.ReadFile(d.file())
	if err != nil {
		return r, err
	}
	in := json.NewDecoder(bytes.NewReader(content))
	in.DisallowUnknownFields()
	if err := in.Decode(&r); err != nil || r.Format != recordFormat || r.Node == (ID{}) {
		return r, fmt.Errorf("%s is damaged, or of another version (%v): restore it; or, if the process is to be a new one, delete it", d.file(), err)
	}
	return r, nil
}

// Write replaces the record, and returns when it is on disk.
func (d *Dir) Write(r Record) error {
	content, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return write(d.file(), append(content, '\n'))
}

// Close gives the directory back.
func (d *Dir) Close() { d.lock.Close() }
