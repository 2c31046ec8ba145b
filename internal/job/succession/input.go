package succession

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"
)

// File is a job's input, if that is a file. The zero File is none.
type File struct {
	Path     string
	From     int64 // the job's first byte
	Size     int64
	Modified time.Time
}

// InputFile describes an open file from which a job has its input, from where it stands now. If it
// is no file that another process could open, the zero File comes.
func InputFile(f *os.File) File {
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		return File{}
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return File{}
	}
	if there, err := os.Stat(path); err != nil || !os.SameFile(info, there) {
		return File{}
	}
	from, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return File{}
	}
	return File{path, from, info.Size(), info.ModTime()}
}

// Open opens the file in another process, from the job's byte at on. It must be the same.
func (f File) Open(at int64) (io.Reader, error) {
	if f.Path == "" {
		return nil, errors.New("it was no file, and went to the launcher that was lost")
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && (info.Size() != f.Size || !info.ModTime().Equal(f.Modified)) {
		err = fmt.Errorf("%s here isn't the file that the launcher before had, or has changed", f.Path)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return io.NewSectionReader(file, f.From+at, math.MaxInt64-f.From-at), nil
}
