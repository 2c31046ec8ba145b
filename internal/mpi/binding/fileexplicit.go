package binding

import "unsafe"

// Access at explicit offsets.

// FileReadAt is MPI_File_read_at, MPI_File_read_at_c.
func (p *Process) FileReadAt(fh File, offset int64, buf unsafe.Pointer, count int64, datatype Datatype, status *Status) Code {
	return p.access(access{function: "MPI_File_read_at", place: explicit},
		arguments{fh: fh, offset: offset, buf: buf, count: count, datatype: datatype, status: status})
}

// FileIreadAt is MPI_File_iread_at, MPI_File_iread_at_c.
func (p *Process) FileIreadAt(fh File, offset int64, buf unsafe.Pointer, count int64, datatype Datatype, request *Request) Code {
	return p.access(access{function: "MPI_File_iread_at", place: explicit, shape: starts},
		arguments{fh: fh, offset: offset, buf: buf, count: count, datatype: datatype, request: request})
}

// FileReadAtAll is MPI_File_read_at_all, MPI_File_read_at_all_c.
func (p *Process) FileReadAtAll(fh File, offset int64, buf unsafe.Pointer, count int64, datatype Datatype, status *Status) Code {
	return p.access(access{function: "MPI_File_read_at_all", place: explicit, together: true},
		arguments{fh: fh, offset: offset, buf: buf, count: count, datatype: datatype, status: status})
}

// FileIreadAtAll is MPI_File_iread_at_all, MPI_File_iread_at_all_c.
func (p *Process) FileIreadAtAll(fh File, offset int64, buf unsafe.Pointer, count int64, datatype Datatype, request *Request) Code {
	return p.access(access{function: "MPI_File_iread_at_all", place: explicit, together: true, shape: starts},
		arguments{fh: fh, offset: offset, buf: buf, count: count, datatype: datatype, request: request})
}

// FileReadAtAllBegin is MPI_File_read_at_all_begin, MPI_File_read_at_all_begin_c.
func (p *Process) FileReadAtAllBegin(fh File, offset int64, buf unsafe.Pointer, count int64, datatype Datatype) Code {
	return p.access(access{function: "MPI_File_read_at_all_begin", place: explicit, together: true, shape: begins},
		arguments{fh: fh, offset: offset, buf: buf, count: count, datatype: datatype})
}

// FileReadAtAllEnd is MPI_File_read_at_all_end.
func (p *Process) FileReadAtAllEnd(fh File, buf unsafe.Pointer, status *Status) Code {
	return p.endSplit("MPI_File_read_at_all_end", "MPI_File_read_at_all_begin", fh, buf, status)
}

// FileWriteAt is MPI_File_write_at, MPI_File_write_at_c.
func (p *Process) FileWriteAt(fh File, offset int64, buf unsafe.Pointer, count int64, datatype Datatype, status *Status) Code {
	return p.access(access{function: "MPI_File_write_at", write: true, place: explicit},
		arguments{fh: fh, offset: offset, buf: buf, count: count, datatype: datatype, status: status})
}

// FileIwriteAt is MPI_File_iwrite_at, MPI_File_iwrite_at_c.
func (p *Process) FileIwriteAt(fh File, offset int64, buf unsafe.Pointer, count int64, datatype Datatype, request *Request) Code {
	return p.access(access{function: "MPI_File_iwrite_at", write: true, place: explicit, shape: starts},
		arguments{fh: fh, offset: offset, buf: buf, count: count, datatype: datatype, request: request})
}

// FileWriteAtAll is MPI_File_write_at_all, MPI_File_write_at_all_c.
func (p *Process) FileWriteAtAll(fh File, offset int64, buf unsafe.Pointer, count int64, datatype Datatype, status *Status) Code {
	return p.access(access{function: "MPI_File_write_at_all", write: true, place: explicit, together: true},
		arguments{fh: fh, offset: offset, buf: buf, count: count, datatype: datatype, status: status})
}

// FileIwriteAtAll is MPI_File_iwrite_at_all, MPI_File_iwrite_at_all_c.
func (p *Process) FileIwriteAtAll(fh File, offset int64, buf unsafe.Pointer, count int64, datatype Datatype, request *Request) Code {
	return p.access(access{function: "MPI_File_iwrite_at_all", write: true, place: explicit, together: true, shape: starts},
		arguments{fh: fh, offset: offset, buf: buf, count: count, datatype: datatype, request: request})
}

// FileWriteAtAllBegin is MPI_File_write_at_all_begin, MPI_File_write_at_all_begin_c.
func (p *Process) FileWriteAtAllBegin(fh File, offset int64, buf unsafe.Pointer, count int64, datatype Datatype) Code {
	return p.access(access{function: "MPI_File_write_at_all_begin", write: true, place: explicit, together: true, shape: begins},
		arguments{fh: fh, offset: offset, buf: buf, count: count, datatype: datatype})
}

// FileWriteAtAllEnd is MPI_File_write_at_all_end.
func (p *Process) FileWriteAtAllEnd(fh File, buf unsafe.Pointer, status *Status) Code {
	return p.endSplit("MPI_File_write_at_all_end", "MPI_File_write_at_all_begin", fh, buf, status)
}
