package binding

// FileGetSize is MPI_File_get_size.
func (p *Process) FileGetSize(fh File, size *int64) Code {
	const function = "MPI_File_get_size"
	f := p.file(fh)
	if f == nil {
		return p.noFile(function, fh)
	}
	n, err := f.file.Size()
	if err != nil {
		return p.failWith(&f.communicator, function, err)
	}
	*size = n
	return Success
}

// FileSetSize is MPI_File_set_size.
func (p *Process) FileSetSize(fh File, size int64) Code {
	return p.resize("MPI_File_set_size", fh, size, func(f *openFile) error { return f.file.SetSize(size) })
}

// FilePreallocate is MPI_File_preallocate.
func (p *Process) FilePreallocate(fh File, size int64) Code {
	return p.resize("MPI_File_preallocate", fh, size, func(f *openFile) error { return f.file.Preallocate(size) })
}

// resize does what all ranks do with the same size: they agree on it first.
func (p *Process) resize(function string, fh File, size int64, do func(f *openFile) error) Code {
	f := p.file(fh)
	switch {
	case f == nil:
		return p.noFile(function, fh)
	case f.amode&ModeSequential != 0:
		return p.sequential(f, function)
	}
	err := f.file.Same("the size", size)
	switch {
	case size < 0:
		return p.fail(&f.communicator, function, ErrArg, "the size is %d", size)
	case f.amode&ModeRdonly != 0:
		return p.fail(&f.communicator, function, ErrReadOnly, "the file was opened with MPI_MODE_RDONLY")
	case err == nil:
		err = do(f)
	}
	if err != nil {
		return p.failWith(&f.communicator, function, err)
	}
	return Success
}

// sequential is the error of a call that a file with MPI_MODE_SEQUENTIAL doesn't have.
func (p *Process) sequential(f *openFile, function string) Code {
	return p.fail(&f.communicator, function, ErrUnsupportedOperation, "the file was opened with MPI_MODE_SEQUENTIAL, which has only shared file pointers")
}

// FileSync is MPI_File_sync.
func (p *Process) FileSync(fh File) Code {
	const function = "MPI_File_sync"
	f := p.file(fh)
	if f == nil {
		return p.noFile(function, fh)
	}
	if err := f.file.Sync(); err != nil {
		return p.failWith(&f.communicator, function, err)
	}
	return Success
}

// FileSetAtomicity is MPI_File_set_atomicity.
func (p *Process) FileSetAtomicity(fh File, flag int32) Code {
	const function = "MPI_File_set_atomicity"
	f := p.file(fh)
	if f == nil {
		return p.noFile(function, fh)
	}
	if err := f.file.SetAtomic(flag != 0); err != nil {
		return p.failWith(&f.communicator, function, err)
	}
	return Success
}

// FileGetAtomicity is MPI_File_get_atomicity.
func (p *Process) FileGetAtomicity(fh File, flag *int32) Code {
	f := p.file(fh)
	if f == nil {
		return p.noFile("MPI_File_get_atomicity", fh)
	}
	*flag = truth(f.file.Atomic())
	return Success
}
