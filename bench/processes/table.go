package processes

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Table is words of 64 bits in memory that processes share. All begin as 0.
//
// It is a memfd, which has no name and vanishes with its last user.
type Table struct {
	file  *os.File // the maker's own
	words []atomic.Int64
}

// NewTable makes a table of so many words. The name is for /proc.
func NewTable(name string, words int) (*Table, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), "table")
	if err := file.Truncate(int64(8 * words)); err != nil {
		file.Close()
		return nil, err
	}
	t, err := mapTable(file, words)
	if err != nil {
		file.Close()
		return nil, err
	}
	t.file = file
	return t, nil
}

// OpenTable maps a table by its path. Another process of the same user has made it.
func OpenTable(path string, words int) (*Table, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if s.Size() != int64(8*words) {
		return nil, fmt.Errorf("a table of %d bytes: want %d words", s.Size(), words)
	}
	return mapTable(file, words)
}

func mapTable(file *os.File, words int) (*Table, error) {
	b, err := unix.Mmap(int(file.Fd()), 0, 8*words, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return &Table{words: unsafe.Slice((*atomic.Int64)(unsafe.Pointer(&b[0])), words)}, nil
}

// Path is where other processes find the table.
func (t *Table) Path() string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), t.file.Fd()) }

// Word is one of the words.
func (t *Table) Word(i int) *atomic.Int64 { return &t.words[i] }

// Close releases this process's mapping of the table.
func (t *Table) Close() {
	unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(&t.words[0])), 8*len(t.words)))
	if t.file != nil {
		t.file.Close()
	}
}
