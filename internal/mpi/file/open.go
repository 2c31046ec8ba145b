package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"banyan/internal/mpi/comm"
	types "banyan/internal/mpi/datatype"
	"banyan/internal/proto"
	"banyan/internal/splitmix"
)

// Errors of calls that the ranks make together, for errors.Is.
var (
	ErrNotSame   = errors.New("the ranks' arguments differ")
	ErrElsewhere = errors.New("another rank's arguments are wrong, and it says why")
	ErrApart     = errors.New("the ranks open different files")
	// ErrNames says that the replicas of this rank mean different files. They have diverged, so the
	// job can't go on.
	ErrNames = errors.New("replicas of a rank name different files")
)

// Config says which file is to be opened, and how.
type Config struct {
	Comm          *comm.Comm // the file's own
	Name          string
	Read, Write   bool
	Create, Excl  bool
	DeleteOnClose bool
	Append        bool
	Mode          int32 // all of the above as the program has it: it must be the same at all ranks
	Hints         Hints
	Host          func(world proto.Rank) int32
	// Synced says that replicas of a rank are on several hosts: what one has written must survive
	// its host before its siblings go on.
	Synced bool
	Wrong  bool // the arguments of this rank are wrong: nobody opens the file
}

// File is a file that the ranks of a communicator have opened together.
type File struct {
	disk
	name        string
	comm        *comm.Comm
	deletes     bool
	read, write bool
	aggregators []int // in the order in which they are used
	usual       int   // how many of them, without a hint
	shared      pointer

	view   atomic.Pointer[View]
	hints  atomic.Pointer[Hints]
	strict atomic.Bool // atomic mode
	alone  sync.Mutex  // in atomic mode, excludes the threads of this process
	moved  atomic.Bool // this rank has used the shared pointer since it was last reset

	copies     bool          // the job has replicas
	operations atomic.Uint64 // begun, of these
	absent     error         // this replica couldn't open the file that a sibling has open
	synced     bool          // what is written is on the disk before anybody goes on

	mu       sync.Mutex
	position int64 // the individual pointer, in etypes
}

// recordSize is the length of what ranks tell each other at first: whether the arguments are
// right, the mode, hints and a random number.
const recordSize = 16 + hintsSize + 8

// Open opens a file. All members of the communicator call it, and all get an error if one does.
func Open(cfg Config) (*File, error) {
	c := cfg.Comm
	own, all := make([]byte, recordSize), make([]byte, recordSize*c.Size())
	if cfg.Wrong {
		own[0] = 1
	}
	binary.LittleEndian.PutUint32(own[8:], uint32(cfg.Mode))
	cfg.Hints.encode(own[16:])
	f := &File{name: cfg.Name, comm: c, deletes: cfg.DeleteOnClose, read: cfg.Read, write: cfg.Write, copies: c.Copies(), synced: cfg.Synced}
	random, err := f.named("open", func(caller) (int64, error) {
		return int64(splitmix.Mix(uint64(time.Now().UnixNano()) ^ uint64(os.Getpid())<<40)), nil
	})
	if err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint64(own[16+hintsSize:], uint64(random))
	if err := c.Allgather(own, all).Run(); err != nil {
		return nil, err
	}
	for r := range c.Size() {
		record := all[r*recordSize:]
		if record[0] != 0 {
			return nil, fmt.Errorf("rank %d: %w", r, ErrElsewhere)
		}
		if mode, first := binary.LittleEndian.Uint32(record[8:]), binary.LittleEndian.Uint32(all[8:]); mode != first {
			return nil, fmt.Errorf("the access mode is %d at rank 0 and %d at rank %d: %w", first, mode, r, ErrNotSame)
		}
	}
	hints := decodeHints(all[16:])
	f.choose(cfg.Host)
	f.hints.Store(&hints)
	if err := f.open(&cfg, hints); err != nil {
		return nil, err
	}
	f.sieve = hints.Sieve
	v, err := NewView(0, types.Predefined(byteHandle), types.Predefined(byteHandle))
	if err != nil {
		panic(err)
	}
	f.view.Store(v)
	if err := f.openPointer(&cfg, binary.LittleEndian.Uint64(all[16+hintsSize:])); err != nil {
		f.f.Close()
		return nil, err
	}
	if cfg.Append {
		if err := f.toEnd(); err != nil {
			f.shared.close(c.Rank() == 0)
			f.f.Close()
			return nil, err
		}
	}
	return f, nil
}

const byteHandle = 0x247

// open has rank 0 open the file first, and make it if it is to be made; then the others. So one of
// them makes it, and a file system that the hosts don't share is noticed.
func (f *File) open(cfg *Config, hints Hints) error {
	flags := os.O_RDONLY
	switch {
	case cfg.Read && cfg.Write:
		flags = os.O_RDWR
	case cfg.Write:
		flags = os.O_WRONLY
	}
	if f.copies && f.synced {
		flags |= syscall.O_DSYNC
	}
	var err error
	first := f.comm.Rank() == 0
	if first {
		err = f.openFirst(cfg, flags, fs.FileMode(hints.Perm))
	}
	if err := f.agree(err); err != nil {
		return err
	}
	if !first {
		_, err = f.once("open", func(caller) (_ int64, err error) {
			f.f, err = openLater(cfg.Name, flags)
			return 0, err
		})
		f.openToo(flags, err)
	}
	if err := f.agree(err); err != nil {
		return err
	}
	return f.sameFile()
}

// openFirst opens the file at rank 0, and makes it if it is to be made.
func (f *File) openFirst(cfg *Config, flags int, perm fs.FileMode) error {
	making := flags
	if cfg.Create {
		making |= os.O_CREATE
	}
	if cfg.Excl {
		making |= os.O_EXCL
		if f.copies {
			// A sibling that dies may have made it. So what was there before is known first.
			_, err := f.once("open", func(caller) (int64, error) {
				if _, err := os.Lstat(cfg.Name); err == nil {
					return 0, syscall.EEXIST
				}
				return 0, nil
			})
			if err != nil {
				return err
			}
		}
	}
	_, err := f.once("open", func(by caller) (_ int64, err error) {
		f.f, err = openFile(cfg.Name, making, perm)
		if by.again && cfg.Excl && errors.Is(err, fs.ErrExist) {
			f.f, err = openFile(cfg.Name, making&^os.O_EXCL, perm)
		}
		return 0, err
	})
	f.openToo(flags, err)
	return err
}

// openToo opens the file that a sibling has opened: it may die. If that fails, all that this
// replica is to do with the file has the error.
func (f *File) openToo(flags int, siblings error) {
	if siblings != nil || f.f != nil {
		return
	}
	open := openLater
	if !f.synced { // a sibling that is ahead may have deleted it
		open = func(name string, flags int) (*os.File, error) { return openFile(name, flags, 0) }
	}
	if f.f, f.absent = open(f.name, flags); f.absent != nil {
		f.f = nil
	}
}

// openLater opens a file that another process has made. Over NFS a host may remember for a while
// that there was no file.
func openLater(name string, flags int) (*os.File, error) {
	f, err := openFile(name, flags, 0)
	for wait := time.Millisecond; errors.Is(err, fs.ErrNotExist) && wait < time.Second; wait *= 2 {
		time.Sleep(wait)
		f, err = openFile(name, flags, 0)
	}
	return f, err
}

// openFile refuses directories, and what can't be read at offsets, which would be noticed late.
func openFile(name string, flags int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, flags|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &os.PathError{Op: "open", Path: name, Err: syscall.EISDIR}
	}
	if err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 {
		err = &os.PathError{Op: "open", Path: name, Err: syscall.ESPIPE}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// agree tells all members whether one has an error, which all return then. Those that have the
// file open close it.
func (f *File) agree(own error) error {
	failed, err := f.together(own)
	if err == nil && failed == nil {
		return nil
	}
	if f.f != nil {
		f.f.Close()
		f.f = nil
	}
	if err != nil {
		return err
	}
	return failed
}

// together tells all members whether one has an error. An error of its own is what a member
// returns first.
func (f *File) together(own error) (failed, err error) {
	codes := make([]byte, 4*f.comm.Size())
	if err := f.comm.Allgather(binary.LittleEndian.AppendUint32(nil, uint32(number(own))), codes).Run(); err != nil {
		return nil, err
	}
	if own != nil {
		return own, nil
	}
	for r := range f.comm.Size() {
		if n := syscall.Errno(binary.LittleEndian.Uint32(codes[4*r:])); n != 0 {
			return fmt.Errorf("rank %d has an error of %s: %w", r, f.name, n), nil
		}
	}
	return nil, nil
}

// number is the system's number of an error, or 0. An error without one counts as EIO.
func number(err error) syscall.Errno {
	var n syscall.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &n) && n != 0:
		return n
	}
	return syscall.EIO
}

// sameFile is an error if members have opened different files of one name: their hosts don't share
// the file system.
func (f *File) sameFile() error {
	var own unixStat
	inode, err := f.once("stat", func(caller) (int64, error) {
		err := own.of(f.f)
		return int64(own.inode), err
	})
	if here := own.of(f.f); f.copies && err == nil && f.absent == nil && (here != nil || own.inode != uint64(inode)) {
		f.absent = syscall.ESTALE // a directory of its own, or of another host
	}
	own.inode = uint64(inode)
	all := make([]byte, 8*f.comm.Size())
	if err := f.comm.Allgather(binary.LittleEndian.AppendUint64(nil, own.inode), all).Run(); err != nil {
		f.f.Close()
		return err
	}
	if err == nil {
		for r := range f.comm.Size() {
			if inode := binary.LittleEndian.Uint64(all[8*r:]); inode != binary.LittleEndian.Uint64(all) {
				err = fmt.Errorf("%s is inode %d at rank 0 and %d at rank %d, so these hosts don't share it: %w", f.name, binary.LittleEndian.Uint64(all), inode, r, ErrApart)
				break
			}
		}
	}
	if err != nil {
		f.f.Close()
	}
	return err
}

// unixStat is what this package needs to know of a file.
type unixStat struct{ inode uint64 }

func (u *unixStat) of(f *os.File) error {
	info, err := f.Stat()
	if err == nil {
		u.inode = info.Sys().(*syscall.Stat_t).Ino
	}
	return err
}

// openPointer makes the shared pointer. random is the same at all members.
func (f *File) openPointer(cfg *Config, random uint64) error {
	c := f.comm
	if f.copies {
		f.shared = &journalPointer{path: f.hidden(random), sync: f.synced}
		return nil
	}
	if c.Size() == 1 {
		f.shared = &memoryPointer{n: new(atomic.Int64)}
		return nil
	}
	one := true
	for _, r := range c.Ranks() {
		one = one && cfg.Host(r) == cfg.Host(c.Ranks()[0])
	}
	if one {
		size := int64(0)
		if c.Rank() == 0 {
			size = 8
		}
		w, err := c.OpenWindow(comm.WindowConfig{Size: size, Unit: 1, Host: cfg.Host})
		if err == nil {
			f.shared = &memoryPointer{n: (*atomic.Int64)(w.Parts[0].At), window: w}
			return nil
		}
		if !errors.Is(err, comm.ErrNoShare) && !errors.Is(err, comm.ErrMemory) {
			return err
		}
	}
	f.shared = &filePointer{path: f.hidden(random)}
	return nil
}

// hidden is the name of the file with the shared pointer.
func (f *File) hidden(random uint64) string {
	path, err := filepath.Abs(f.name)
	if err != nil {
		path = f.name
	}
	dir, base := filepath.Split(path)
	if len(base) > 200 {
		base = base[:200]
	}
	return filepath.Join(dir, fmt.Sprintf(".%s.%x.pointer", base, random))
}

// toEnd puts the pointers behind the last byte.
func (f *File) toEnd() error {
	size, err := f.Size()
	if err := f.agree(err); err != nil {
		return err
	}
	f.position = size
	if f.comm.Rank() == 0 {
		_, err = f.once("shared pointer", func(by caller) (int64, error) { return 0, f.shared.set(size, by) })
	}
	return f.agree(err)
}

// choose orders the ranks in which they become aggregators: one of each host, then another one of
// each.
func (f *File) choose(host func(proto.Rank) int32) {
	var hosts [][]int
	of := map[int32]int{}
	for i, r := range f.comm.Ranks() {
		h := host(r)
		k, known := of[h]
		if !known {
			k = len(hosts)
			of[h] = k
			hosts = append(hosts, nil)
		}
		hosts[k] = append(hosts[k], i)
	}
	for turn := 0; len(f.aggregators) < f.comm.Size(); turn++ {
		for _, ranks := range hosts {
			if turn < len(ranks) {
				f.aggregators = append(f.aggregators, ranks[turn])
			}
		}
	}
	f.usual = max(len(hosts), min(usualAggregators, f.comm.Size()))
}

// usualAggregators is how many ranks of one host are aggregators without a hint: as many as a
// small machine has cores for, since the copies take longer than the disk's cache.
const usualAggregators = 4

// Close closes the file when all members have called it, and deletes it if it was opened so.
func (f *File) Close() error {
	err := f.comm.Barrier().Run()
	first := f.comm.Rank() == 0
	f.shared.close(first)
	if closed := f.f.Close(); err == nil && !f.copies {
		err = closed
	}
	if first && f.deletes {
		_, removed := f.once("remove", func(by caller) (int64, error) { return 0, remove(f.name, by.again) })
		if err == nil {
			err = removed
		}
	}
	return err
}
