package binding

import (
	"hash/fnv"

	"banyan/internal/mpi/file"
)

// FileSetView is MPI_File_set_view.
func (p *Process) FileSetView(fh File, disp int64, etype, filetype Datatype, datarep *byte, info Info) Code {
	const function = "MPI_File_set_view"
	f := p.file(fh)
	if f == nil {
		return p.noFile(function, fh)
	}
	hints, valid := p.optional(info)
	seen, code := fileView{}, Success
	if !valid {
		code = p.noHandle(&f.communicator, function, ErrInfo, "info object", uintptr(info))
		hints = nil
	} else {
		seen, code = p.newView(f, disp, etype, filetype, goString(datarep))
	}
	// A wrong argument of one rank is an error of all.
	label := fnv.New64a()
	if code == Success {
		label.Write([]byte(seen.form.name))
		label.Write([]byte{0, byte(seen.view.Etype()), byte(seen.view.Etype() >> 8)})
	}
	err := f.file.SetView(seen.view, label.Sum64(), f.file.Hints().With(hints.get))
	switch {
	case code != Success:
		return code
	case err != nil:
		return p.failWith(&f.communicator, function, err)
	}
	f.seen = seen
	return Success
}

// newView checks the arguments of a view.
func (p *Process) newView(f *openFile, disp int64, etype, filetype Datatype, name string) (fileView, Code) {
	const function = "MPI_File_set_view"
	c := &f.communicator
	e, ft := p.datatype(etype), p.datatype(filetype)
	form := p.datarep(name)
	switch {
	case e == nil:
		return fileView{}, p.noType(c, function, etype)
	case ft == nil:
		return fileView{}, p.noType(c, function, filetype)
	case !e.committed.Load():
		return fileView{}, p.fail(c, function, ErrType, "the etype %s has not been committed", e.title())
	case !ft.committed.Load():
		return fileView{}, p.fail(c, function, ErrType, "the filetype %s has not been committed", ft.title())
	case form == nil:
		return fileView{}, p.fail(c, function, ErrUnsupportedDatarep, "the data representation %.40q is neither native, internal nor external32, nor registered", name)
	case (disp == DisplacementCurrent) != (f.amode&ModeSequential != 0):
		return fileView{}, p.fail(c, function, ErrDisp, "the displacement is %d: MPI_DISPLACEMENT_CURRENT is for files with MPI_MODE_SEQUENTIAL, and these have no other", disp)
	case disp < 0 && disp != DisplacementCurrent:
		return fileView{}, p.fail(c, function, ErrDisp, "the displacement is %d", disp)
	}
	if disp == DisplacementCurrent {
		at, err := f.file.SharedPosition()
		if err == nil {
			at, err = f.seen.view.Bytes(at)
		}
		if err == nil {
			disp, err = f.seen.view.Position(at)
		}
		if err != nil {
			return fileView{}, p.failWith(c, function, err)
		}
	}
	inE, err := p.inFile(form, e.Type)
	if err != nil {
		return fileView{}, p.failWith(c, function, err)
	}
	inFT, err := p.inFile(form, ft.Type)
	if err != nil {
		return fileView{}, p.failWith(c, function, err)
	}
	v, err := file.NewView(disp, inE, inFT)
	if err != nil {
		return fileView{}, p.failWith(c, function, err)
	}
	return fileView{disp, e, ft, form, v}, Success
}

// FileGetView is MPI_File_get_view. Types that aren't predefined are new handles, which the program
// frees.
func (p *Process) FileGetView(fh File, disp *int64, etype, filetype *Datatype, datarep *byte) Code {
	const function = "MPI_File_get_view"
	f := p.file(fh)
	if f == nil {
		return p.noFile(function, fh)
	}
	*disp = f.seen.disp
	setString(datarep, MaxDatarepString, f.seen.form.name)
	if code := p.referType(function, f.seen.etype, etype); code != Success {
		return code
	}
	return p.referType(function, f.seen.filetype, filetype)
}

// referType gives the program a handle of a type.
func (p *Process) referType(function string, o *datatype, to *Datatype) Code {
	if o.predefined() {
		*to = o.handle
		return Success
	}
	again := &datatype{Type: o.Type}
	again.committed.Store(true)
	code := p.adoptType(function, again, to)
	if code == Success {
		p.tellLane(again)
	}
	return code
}

// FileGetTypeExtent is MPI_File_get_type_extent, MPI_File_get_type_extent_c.
func (p *Process) FileGetTypeExtent(fh File, datatype Datatype, extent *int64) Code {
	const function = "MPI_File_get_type_extent"
	f := p.file(fh)
	if f == nil {
		return p.noFile(function, fh)
	}
	o := p.datatype(datatype)
	if o == nil {
		return p.noType(&f.communicator, function, datatype)
	}
	in, err := p.inFile(f.seen.form, o.Type)
	if err != nil {
		return p.failWith(&f.communicator, function, err)
	}
	_, *extent = in.Extent()
	return Success
}
