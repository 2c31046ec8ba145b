package console

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// File is where a console writes a job's stdout so that every byte stands there once, even if the
// console is killed at any moment and another one goes on.
//
// A byte of the stream has its place in the file before it is written. So writing it again, after
// a kill of which nobody knows how far it had come, changes nothing.
type File struct{ file *os.File }

// OpenFile opens a file to go on behind what it holds. It is made if it isn't there.
func OpenFile(path string) (*File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &File{file}, nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// state is which file it is, and how long.
func (f *File) state() (id string, length int64, err error) {
	info, err := f.file.Stat()
	if err != nil {
		return "", 0, err
	}
	stat := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino), info.Size(), nil
}

// placed writes a stream to a file. Byte 0 of the stream has its place at the file's byte at,
// which may be negative: then the file holds the stream from a later byte on.
type placed struct {
	*File
	at int64
}

// writeAt writes what stands at an offset of the stream.
func (p placed) writeAt(b []byte, offset int64) error {
	_, err := p.file.WriteAt(b, p.at+offset)
	return err
}

// passed writes a stream to what has no places, in order.
type passed struct{ w io.Writer }

func (p passed) writeAt(b []byte, _ int64) error {
	_, err := p.w.Write(b)
	return err
}
