package binding

import "unsafe"

// Access at this rank's own pointer.

// FileRead is MPI_File_read, MPI_File_read_c.
func (p *Process) FileRead(fh File, buf unsafe.Pointer, count int64, datatype Datatype, status *Status) Code {
	return p.access(access{function: "MPI_File_read", place: individual},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, status: status})
}

// FileIread is MPI_File_iread, MPI_File_iread_c.
func (p *Process) FileIread(fh File, buf unsafe.Pointer, count int64, datatype Datatype, request *Request) Code {
	return p.access(access{function: "MPI_File_iread", place: individual, shape: starts},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, request: request})
}

// FileReadAll is MPI_File_read_all, MPI_File_read_all_c.
func (p *Process) FileReadAll(fh File, buf unsafe.Pointer, count int64, datatype Datatype, status *Status) Code {
	return p.access(access{function: "MPI_File_read_all", place: individual, together: true},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, status: status})
}

// FileIreadAll is MPI_File_iread_all, MPI_File_iread_all_c.
func (p *Process) FileIreadAll(fh File, buf unsafe.Pointer, count int64, datatype Datatype, request *Request) Code {
	return p.access(access{function: "MPI_File_iread_all", place: individual, together: true, shape: starts},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, request: request})
}

// FileReadAllBegin is MPI_File_read_all_begin, MPI_File_read_all_begin_c.
func (p *Process) FileReadAllBegin(fh File, buf unsafe.Pointer, count int64, datatype Datatype) Code {
	return p.access(access{function: "MPI_File_read_all_begin", place: individual, together: true, shape: begins},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype})
}

// FileReadAllEnd is MPI_File_read_all_end.
func (p *Process) FileReadAllEnd(fh File, buf unsafe.Pointer, status *Status) Code {
	return p.endSplit("MPI_File_read_all_end", "MPI_File_read_all_begin", fh, buf, status)
}

// FileWrite is MPI_File_write, MPI_File_write_c.
func (p *Process) FileWrite(fh File, buf unsafe.Pointer, count int64, datatype Datatype, status *Status) Code {
	return p.access(access{function: "MPI_File_write", write: true, place: individual},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, status: status})
}

// FileIwrite is MPI_File_iwrite, MPI_File_iwrite_c.
func (p *Process) FileIwrite(fh File, buf unsafe.Pointer, count int64, datatype Datatype, request *Request) Code {
	return p.access(access{function: "MPI_File_iwrite", write: true, place: individual, shape: starts},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, request: request})
}

// FileWriteAll is MPI_File_write_all, MPI_File_write_all_c.
func (p *Process) FileWriteAll(fh File, buf unsafe.Pointer, count int64, datatype Datatype, status *Status) Code {
	return p.access(access{function: "MPI_File_write_all", write: true, place: individual, together: true},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, status: status})
}

// FileIwriteAll is MPI_File_iwrite_all, MPI_File_iwrite_all_c.
func (p *Process) FileIwriteAll(fh File, buf unsafe.Pointer, count int64, datatype Datatype, request *Request) Code {
	return p.access(access{function: "MPI_File_iwrite_all", write: true, place: individual, together: true, shape: starts},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, request: request})
}

// FileWriteAllBegin is MPI_File_write_all_begin, MPI_File_write_all_begin_c.
func (p *Process) FileWriteAllBegin(fh File, buf unsafe.Pointer, count int64, datatype Datatype) Code {
	return p.access(access{function: "MPI_File_write_all_begin", write: true, place: individual, together: true, shape: begins},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype})
}

// FileWriteAllEnd is MPI_File_write_all_end.
func (p *Process) FileWriteAllEnd(fh File, buf unsafe.Pointer, status *Status) Code {
	return p.endSplit("MPI_File_write_all_end", "MPI_File_write_all_begin", fh, buf, status)
}
