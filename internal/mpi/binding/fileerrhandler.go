package binding

// handled is the object that an error handler of files is for: an open file, or MPI_FILE_NULL,
// whose handler new files get.
func (p *Process) handled(function string, h File) (*communicator, Code) {
	if h == FileNull && p.live() {
		return &p.fileless, Success
	}
	f := p.file(h)
	if f == nil {
		return nil, p.noFile(function, h)
	}
	return &f.communicator, Success
}

// FileSetErrhandler is MPI_File_set_errhandler.
func (p *Process) FileSetErrhandler(file File, errhandler Errhandler) Code {
	const function = "MPI_File_set_errhandler"
	c, code := p.handled(function, file)
	if c == nil {
		return code
	}
	e, code := p.handlerFor(kindFile, c, function, errhandler)
	if e == nil {
		return code
	}
	c.errhandler.Store(e)
	return Success
}

// FileGetErrhandler is MPI_File_get_errhandler.
func (p *Process) FileGetErrhandler(file File, errhandler *Errhandler) Code {
	c, code := p.handled("MPI_File_get_errhandler", file)
	if c == nil {
		return code
	}
	*errhandler = p.refer(c.errhandler.Load())
	return Success
}

// FileCallErrhandler is MPI_File_call_errhandler.
func (p *Process) FileCallErrhandler(fh File, errorcode int32) Code {
	const function = "MPI_File_call_errhandler"
	c, code := p.handled(function, fh)
	if c == nil {
		return code
	}
	return p.callErrhandler(c, function, errorcode)
}
