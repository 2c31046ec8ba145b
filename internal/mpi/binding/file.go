package binding

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"banyan/internal/mpi/file"
	"banyan/internal/proto"
)

// openFile is the object of a File. It has a communicator of its own, a duplicate of the one that
// it was opened with, for its messages, and for its name and error handler.
type openFile struct {
	communicator
	file  *file.File
	amode int32
	seen  fileView // this rank's view; MPI doesn't let two threads change it
	split split
}

// fileView is a view as the program knows it.
type fileView struct {
	disp            int64
	etype, filetype *datatype
	form            *datarep
	view            *file.View
}

// file is the object of a handle, nil if it has none: see noFile.
func (p *Process) file(h File) *openFile {
	if !p.live() {
		return nil
	}
	return p.files.get(uintptr(h))
}

// noFile is the error of a handle that names no file.
func (p *Process) noFile(function string, h File) Code {
	switch {
	case p.state.Load() != running:
		return p.outOfTime(function)
	case h == FileNull:
		return p.failFileless(function, ErrFile, "the file is MPI_FILE_NULL")
	case kindName(uintptr(h)) == "a file":
		return p.failFileless(function, ErrFile, "the file %#x has been closed, or never was one", uintptr(h))
	case kindName(uintptr(h)) != "":
		return p.failFileless(function, ErrFile, "the file %#x is the handle of %s", uintptr(h), kindName(uintptr(h)))
	}
	return p.failFileless(function, ErrFile, "%#x is no file, or has been closed", uintptr(h))
}

// failFileless is fail for an error that concerns no open file. It does as the error handler of
// MPI_FILE_NULL says, which returns unless the program sets another one.
func (p *Process) failFileless(function string, class Code, format string, args ...any) Code {
	if !p.live() {
		return p.outOfTime(function)
	}
	return p.act(&p.fileless, class, func() string {
		return fmt.Sprintf("%s, rank %d: %s (%s)", function, p.worldRank(), fmt.Sprintf(format, args...), className(class))
	})
}

// openFileless prepares the error handler of MPI_FILE_NULL.
func (p *Process) openFileless() {
	p.fileless.comm = p.self.Load().comm
	p.fileless.handle, p.fileless.what = Comm(FileNull), "file"
	p.fileless.errhandler.Store(returns)
}

// checkAmode says what is wrong with an access mode; "" if nothing is.
func checkAmode(amode int32) string {
	const known = ModeAppend | ModeCreate | ModeDeleteOnClose | ModeExcl | ModeRdonly | ModeRdwr | ModeSequential | ModeUniqueOpen | ModeWronly
	kinds := 0
	for _, m := range []int32{ModeRdonly, ModeRdwr, ModeWronly} {
		if amode&m != 0 {
			kinds++
		}
	}
	switch {
	case amode&^known != 0:
		return fmt.Sprintf("it has unknown bits %#x", amode&^known)
	case kinds != 1:
		return "it must have one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR"
	case amode&ModeRdonly != 0 && amode&(ModeCreate|ModeExcl) != 0:
		return "MPI_MODE_RDONLY excludes MPI_MODE_CREATE and MPI_MODE_EXCL"
	case amode&ModeRdwr != 0 && amode&ModeSequential != 0:
		return "MPI_MODE_RDWR excludes MPI_MODE_SEQUENTIAL"
	}
	return ""
}

// FileOpen is MPI_File_open.
func (p *Process) FileOpen(comm Comm, filename *byte, amode int32, info Info, fh *File) Code {
	const function = "MPI_File_open"
	c := p.communicator(comm)
	name := goString(filename)
	switch {
	case c == nil && !p.live():
		return p.outOfTime(function)
	case c == nil:
		return p.failFileless(function, ErrComm, "the communicator %#x is none, or has been freed", uintptr(comm))
	case c.inter != nil:
		return p.failFileless(function, ErrComm, "%s is an intercommunicator", c.title())
	case fh == nil:
		return p.failFileless(function, ErrArg, "the argument for the file is NULL")
	}
	p.usedFiles.Store(true)
	*fh = FileNull
	hints, valid := p.optional(info)
	code := Success
	if why := checkAmode(amode); why != "" {
		code = p.failFileless(function, ErrAmode, "%s: the access mode is %d: %s", name, amode, why)
	} else if !valid {
		code = p.failFileless(function, ErrInfo, "%s: %#x is no info object, or has been freed", name, uintptr(info))
	} else if name == "" {
		code = p.failFileless(function, ErrBadFile, "the name of the file is empty")
	}
	inner, err := c.comm.Dup()
	if err != nil {
		return p.failFileless(function, classOfError(err), "%s: %s", name, causeOf(err))
	}
	opened, err := file.Open(file.Config{
		Comm: inner, Name: plainName(name), Mode: amode, Wrong: code != Success,
		Read: amode&ModeWronly == 0, Write: amode&ModeRdonly == 0,
		Create: amode&ModeCreate != 0, Excl: amode&ModeExcl != 0,
		Append: amode&ModeAppend != 0, DeleteOnClose: amode&ModeDeleteOnClose != 0,
		Hints:  file.Defaults().With(hints.get),
		Host:   func(r proto.Rank) int32 { return p.hostOf(c, int(r)) },
		Synced: p.severalHosts(c),
	})
	if err != nil {
		inner.Free()
		p.sameNames(function, err)
		if code != Success {
			return code
		}
		p.awaitEnd(&p.fileless, err)
		return p.failFileless(function, classOfError(err), "%s: %s", name, causeOf(err))
	}
	f := &openFile{file: opened, amode: amode}
	f.communicator.comm, f.what = inner, "file"
	f.errhandler.Store(p.fileless.errhandler.Load())
	f.name.Store(&name)
	f.uses.Store(1)
	byteType := p.datatype(TypeByte)
	f.seen = fileView{0, byteType, byteType, native, opened.View()}
	h := p.files.add(f)
	if h == 0 {
		opened.Close()
		inner.Free()
		return p.failFileless(function, ErrNoMem, "there are too many files")
	}
	f.handle, *fh = Comm(h), File(h)
	return Success
}

// plainName is a name without the kind of file system that other libraries let programs say.
func plainName(name string) string {
	for _, kind := range []string{"ufs:", "nfs:"} {
		if rest, has := strings.CutPrefix(name, kind); has {
			return rest
		}
	}
	return name
}

// FileClose is MPI_File_close.
func (p *Process) FileClose(fh *File) Code {
	const function = "MPI_File_close"
	f := p.file(*fh)
	if f == nil {
		return p.noFile(function, *fh)
	}
	if begun := f.split.active(); begun != "" {
		return p.fail(&f.communicator, function, ErrOther, "%s hasn't been ended", begun)
	}
	p.files.remove(uintptr(*fh))
	*fh = FileNull
	err := f.file.Close()
	code := Success
	if err != nil {
		code = p.failWith(&f.communicator, function, err)
	}
	f.release()
	return code
}

// FileDelete is MPI_File_delete.
func (p *Process) FileDelete(filename *byte, info Info) Code {
	const function = "MPI_File_delete"
	if !p.live() {
		return p.outOfTime(function)
	}
	name := goString(filename)
	if _, valid := p.optional(info); !valid {
		return p.failFileless(function, ErrInfo, "%s: %#x is no info object, or has been freed", name, uintptr(info))
	}
	if err := p.deleteFile(plainName(name)); err != nil {
		p.sameNames(function, err)
		return p.failFileless(function, classOfError(err), "%v", err)
	}
	return Success
}

// sameNames ends the job if the replicas of this rank mean different files: no error handler can
// help, since the others go on as if all were well.
func (p *Process) sameNames(function string, err error) {
	if errors.Is(err, file.ErrNames) {
		p.job.Abort(1, fmt.Sprintf("%s: %v; every replica of a rank must give the same name, so it mustn't come from the clock, the process's "+
			"id or mkstemp", function, err))
	}
}

// deleteFile deletes a file, once if this rank has replicas.
func (p *Process) deleteFile(name string) error {
	if !p.copies() {
		return file.Delete(name)
	}
	p.usedFiles.Store(true)
	once, err := p.self.Load().comm.Dup()
	if err != nil {
		return err
	}
	defer once.Free()
	return file.DeleteOnce(once, name)
}

// severalHosts tells whether processes of a communicator's job or connection are on different
// hosts.
func (p *Process) severalHosts(c *communicator) bool {
	hosts := p.job.Hosts()
	if c.link != nil {
		hosts = c.link.conn.Hosts
	}
	return slices.ContainsFunc(hosts, func(h int32) bool { return h != hosts[0] })
}

// FileGetGroup is MPI_File_get_group.
func (p *Process) FileGetGroup(fh File, group *Group) Code {
	f := p.file(fh)
	if f == nil {
		return p.noFile("MPI_File_get_group", fh)
	}
	*group = p.newGroup(p.outside(&f.communicator, f.comm.Ranks()), nil)
	return Success
}

// FileGetAmode is MPI_File_get_amode.
func (p *Process) FileGetAmode(fh File, amode *int32) Code {
	f := p.file(fh)
	if f == nil {
		return p.noFile("MPI_File_get_amode", fh)
	}
	*amode = f.amode
	return Success
}

// FileSetInfo is MPI_File_set_info. Hints that are only for MPI_File_open are kept, and have no
// effect.
func (p *Process) FileSetInfo(fh File, info Info) Code {
	const function = "MPI_File_set_info"
	f := p.file(fh)
	if f == nil {
		return p.noFile(function, fh)
	}
	hints, valid := p.optional(info)
	code := Success
	if !valid {
		code = p.noHandle(&f.communicator, function, ErrInfo, "info object", uintptr(info))
		hints = nil
	}
	if err := f.file.SetHints(f.file.Hints().With(hints.get)); err != nil && code == Success {
		code = p.failWith(&f.communicator, function, err)
	}
	return code
}

// FileGetInfo is MPI_File_get_info.
func (p *Process) FileGetInfo(fh File, infoUsed *Info) Code {
	f := p.file(fh)
	if f == nil {
		return p.noFile("MPI_File_get_info", fh)
	}
	i := &info{}
	f.file.Hints().Each(i.set)
	*infoUsed = Info(p.infos.add(i))
	return Success
}
