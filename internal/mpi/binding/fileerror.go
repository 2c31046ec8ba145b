package binding

import (
	"errors"
	"syscall"

	"banyan/internal/mpi/file"
)

// classOfFile is the class of an error of package file, or of the system; false if it is neither.
func classOfFile(err error) (Code, bool) {
	switch {
	case errors.Is(err, file.ErrView), errors.Is(err, file.ErrFar):
		return ErrArg, true
	case errors.Is(err, file.ErrNotSame):
		return ErrNotSame, true
	case errors.Is(err, file.ErrApart):
		return ErrFile, true
	case errors.Is(err, file.ErrElsewhere):
		return ErrOther, true
	case errors.Is(err, errConversion):
		return ErrConversion, true
	}
	var n syscall.Errno
	if !errors.As(err, &n) {
		return 0, false
	}
	switch n {
	case syscall.ENOENT:
		return ErrNoSuchFile, true
	case syscall.EEXIST:
		return ErrFileExists, true
	case syscall.EACCES, syscall.EPERM:
		return ErrAccess, true
	case syscall.EROFS:
		return ErrReadOnly, true
	case syscall.ENOSPC:
		return ErrNoSpace, true
	case syscall.EDQUOT:
		return ErrQuota, true
	case syscall.ENAMETOOLONG, syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP, syscall.ESPIPE:
		return ErrBadFile, true
	case syscall.EBUSY, syscall.ETXTBSY:
		return ErrFileInUse, true
	case syscall.ENOMEM:
		return ErrNoMem, true
	}
	return ErrIo, true
}
