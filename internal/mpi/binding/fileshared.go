package binding

import "unsafe"

// Access at the shared pointer.

// FileReadShared is MPI_File_read_shared, MPI_File_read_shared_c.
func (p *Process) FileReadShared(fh File, buf unsafe.Pointer, count int64, datatype Datatype, status *Status) Code {
	return p.access(access{function: "MPI_File_read_shared", place: shared},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, status: status})
}

// FileIreadShared is MPI_File_iread_shared, MPI_File_iread_shared_c.
func (p *Process) FileIreadShared(fh File, buf unsafe.Pointer, count int64, datatype Datatype, request *Request) Code {
	return p.access(access{function: "MPI_File_iread_shared", place: shared, shape: starts},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, request: request})
}

// FileReadOrdered is MPI_File_read_ordered, MPI_File_read_ordered_c.
func (p *Process) FileReadOrdered(fh File, buf unsafe.Pointer, count int64, datatype Datatype, status *Status) Code {
	return p.access(access{function: "MPI_File_read_ordered", place: shared, together: true},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, status: status})
}

// FileReadOrderedBegin is MPI_File_read_ordered_begin, MPI_File_read_ordered_begin_c.
func (p *Process) FileReadOrderedBegin(fh File, buf unsafe.Pointer, count int64, datatype Datatype) Code {
	return p.access(access{function: "MPI_File_read_ordered_begin", place: shared, together: true, shape: begins},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype})
}

// FileReadOrderedEnd is MPI_File_read_ordered_end.
func (p *Process) FileReadOrderedEnd(fh File, buf unsafe.Pointer, status *Status) Code {
	return p.endSplit("MPI_File_read_ordered_end", "MPI_File_read_ordered_begin", fh, buf, status)
}

// FileWriteShared is MPI_File_write_shared, MPI_File_write_shared_c.
func (p *Process) FileWriteShared(fh File, buf unsafe.Pointer, count int64, datatype Datatype, status *Status) Code {
	return p.access(access{function: "MPI_File_write_shared", write: true, place: shared},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, status: status})
}

// FileIwriteShared is MPI_File_iwrite_shared, MPI_File_iwrite_shared_c.
func (p *Process) FileIwriteShared(fh File, buf unsafe.Pointer, count int64, datatype Datatype, request *Request) Code {
	return p.access(access{function: "MPI_File_iwrite_shared", write: true, place: shared, shape: starts},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, request: request})
}

// FileWriteOrdered is MPI_File_write_ordered, MPI_File_write_ordered_c.
func (p *Process) FileWriteOrdered(fh File, buf unsafe.Pointer, count int64, datatype Datatype, status *Status) Code {
	return p.access(access{function: "MPI_File_write_ordered", write: true, place: shared, together: true},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype, status: status})
}

// FileWriteOrderedBegin is MPI_File_write_ordered_begin, MPI_File_write_ordered_begin_c.
func (p *Process) FileWriteOrderedBegin(fh File, buf unsafe.Pointer, count int64, datatype Datatype) Code {
	return p.access(access{function: "MPI_File_write_ordered_begin", write: true, place: shared, together: true, shape: begins},
		arguments{fh: fh, buf: buf, count: count, datatype: datatype})
}

// FileWriteOrderedEnd is MPI_File_write_ordered_end.
func (p *Process) FileWriteOrderedEnd(fh File, buf unsafe.Pointer, status *Status) Code {
	return p.endSplit("MPI_File_write_ordered_end", "MPI_File_write_ordered_begin", fh, buf, status)
}
