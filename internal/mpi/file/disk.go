package file

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// disk is an open file, as a rank alone sees it.
type disk struct {
	f     *os.File
	sieve int64 // the largest piece that is read for several runs; 0: read each run alone
}

// dense is which part of a piece must be asked for, so that it is read at once.
const dense = 8

// write writes data to runs.
func (d *disk) write(runs []Run, data []byte) error {
	for _, r := range runs {
		if _, err := d.f.WriteAt(data[:r.Len], r.Off); err != nil {
			return err
		}
		data = data[r.Len:]
	}
	return nil
}

// read fills data from ascending runs. It returns how many bytes there were before the end of the
// file.
func (d *disk) read(runs []Run, data []byte) (n int64, err error) {
	var piece []byte
	for len(runs) > 0 {
		k, useful := 1, runs[0].Len
		for k < len(runs) && runs[k].End()-runs[0].Off <= d.sieve && (useful+runs[k].Len)*dense >= runs[k].End()-runs[0].Off {
			useful += runs[k].Len
			k++
		}
		var got int64
		if k == 1 {
			got, err = d.readAt(data[:useful], runs[0].Off)
		} else {
			if piece == nil {
				piece = make([]byte, d.sieve)
			}
			first, end := runs[0].Off, runs[k-1].End()
			var valid int64
			valid, err = d.readAt(piece[:end-first], first)
			got = pick(data, piece[:valid], runs[:k], first)
		}
		n += got
		if err != nil || got < useful {
			return n, err
		}
		runs, data = runs[k:], data[useful:]
	}
	return n, nil
}

// pick copies the bytes of runs out of a piece of the file that begins at first, and returns how
// many there were.
func pick(data, piece []byte, runs []Run, first int64) (n int64) {
	for _, r := range runs {
		at := r.Off - first
		if at >= int64(len(piece)) {
			break
		}
		n += int64(copy(data[n:n+r.Len], piece[at:]))
	}
	return n
}

// readAt is ReadAt, but the end of the file is no error.
func (d *disk) readAt(b []byte, off int64) (int64, error) {
	n, err := d.f.ReadAt(b, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return int64(n), err
}

// lock locks the bytes from the first to the last of ascending runs, against other open files. It
// waits for them. The lock goes with the process, whatever ends it.
func (d *disk) lock(runs []Run, exclusive bool) (unlock func(), err error) {
	if len(runs) == 0 {
		return func() {}, nil
	}
	l := unix.Flock_t{Type: unix.F_RDLCK, Start: runs[0].Off, Len: runs[len(runs)-1].End() - runs[0].Off}
	if exclusive {
		l.Type = unix.F_WRLCK
	}
	for {
		err = unix.FcntlFlock(d.f.Fd(), unix.F_OFD_SETLKW, &l)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: d.f.Name(), Err: err}
	}
	return func() {
		l.Type = unix.F_UNLCK
		unix.FcntlFlock(d.f.Fd(), unix.F_OFD_SETLK, &l)
	}, nil
}
