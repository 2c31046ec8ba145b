package binding

import "banyan/internal/mpi/file"

// FileSeek is MPI_File_seek.
func (p *Process) FileSeek(fh File, offset int64, whence int32) Code {
	const function = "MPI_File_seek"
	f := p.file(fh)
	if f == nil {
		return p.noFile(function, fh)
	}
	if f.amode&ModeSequential != 0 {
		return p.sequential(f, function)
	}
	from, code := p.whence(f, function, whence)
	if code != Success {
		return code
	}
	if err := f.file.Move(offset, from); err != nil {
		return p.failWith(&f.communicator, function, err)
	}
	return Success
}

// FileSeekShared is MPI_File_seek_shared.
func (p *Process) FileSeekShared(fh File, offset int64, whence int32) Code {
	const function = "MPI_File_seek_shared"
	f := p.file(fh)
	if f == nil {
		return p.noFile(function, fh)
	}
	if f.amode&ModeSequential != 0 {
		return p.fail(&f.communicator, function, ErrUnsupportedOperation, "the file was opened with MPI_MODE_SEQUENTIAL")
	}
	from, code := p.whence(f, function, whence)
	// A wrong argument of one rank is an error of all.
	if err := f.file.MoveShared(offset, from); err != nil && code == Success {
		code = p.failWith(&f.communicator, function, err)
	}
	return code
}

func (p *Process) whence(f *openFile, function string, whence int32) (file.Whence, Code) {
	switch whence {
	case SeekSet:
		return file.FromStart, Success
	case SeekCur:
		return file.FromCurrent, Success
	case SeekEnd:
		return file.FromEnd, Success
	}
	return file.Nowhere, p.fail(&f.communicator, function, ErrArg, "%d is none of MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END", whence)
}

// FileGetPosition is MPI_File_get_position.
func (p *Process) FileGetPosition(fh File, offset *int64) Code {
	const function = "MPI_File_get_position"
	f := p.file(fh)
	if f == nil {
		return p.noFile(function, fh)
	}
	if f.amode&ModeSequential != 0 {
		return p.sequential(f, function)
	}
	*offset = f.file.Position()
	return Success
}

// FileGetPositionShared is MPI_File_get_position_shared.
func (p *Process) FileGetPositionShared(fh File, offset *int64) Code {
	const function = "MPI_File_get_position_shared"
	f := p.file(fh)
	if f == nil {
		return p.noFile(function, fh)
	}
	n, err := f.file.SharedPosition()
	if err != nil {
		return p.failWith(&f.communicator, function, err)
	}
	*offset = n
	return Success
}

// FileGetByteOffset is MPI_File_get_byte_offset.
func (p *Process) FileGetByteOffset(fh File, offset int64, disp *int64) Code {
	const function = "MPI_File_get_byte_offset"
	f := p.file(fh)
	if f == nil {
		return p.noFile(function, fh)
	}
	if offset < 0 {
		return p.fail(&f.communicator, function, ErrArg, "the offset is %d", offset)
	}
	skip, err := f.seen.view.Bytes(offset)
	if err == nil {
		*disp, err = f.seen.view.Position(skip)
	}
	if err != nil {
		return p.failWith(&f.communicator, function, err)
	}
	return Success
}
