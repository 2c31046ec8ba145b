package binding

import (
	"encoding/binary"
	"errors"
	"strings"
	"unsafe"

	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/connection"
)

// CommSpawn is MPI_Comm_spawn. All arguments before the root count there only.
func (p *Process) CommSpawn(command *byte, argv unsafe.Pointer, maxprocs int32, info Info, root int32, comm Comm, intercomm *Comm, arrayOfErrcodes *int32) Code {
	return p.spawn("MPI_Comm_spawn", root, comm, intercomm, arrayOfErrcodes, func() ([]connection.Program, error) {
		x, err := p.program(goString(command), argv, maxprocs, info)
		return []connection.Program{x}, err
	})
}

// CommSpawnMultiple is MPI_Comm_spawn_multiple. All arguments before the root count there only.
func (p *Process) CommSpawnMultiple(count int32, arrayOfCommands, arrayOfArgv unsafe.Pointer, arrayOfMaxprocs *int32, arrayOfInfo *Info, root int32, comm Comm, intercomm *Comm, arrayOfErrcodes *int32) Code {
	return p.spawn("MPI_Comm_spawn_multiple", root, comm, intercomm, arrayOfErrcodes, func() (all []connection.Program, err error) {
		if count < 1 || arrayOfCommands == nil || arrayOfMaxprocs == nil || arrayOfInfo == nil {
			return nil, &connection.Failure{Kind: connection.BadArg, Text: "there are no programs to spawn"}
		}
		commands, procs, infos := array((**byte)(arrayOfCommands), count), array(arrayOfMaxprocs, count), array(arrayOfInfo, count)
		argvs := array((*unsafe.Pointer)(arrayOfArgv), count)
		for i := range commands {
			var argv unsafe.Pointer
			if argvs != nil {
				argv = argvs[i]
			}
			x, err := p.program(goString(commands[i]), argv, procs[i], infos[i])
			if err != nil {
				return nil, err
			}
			all = append(all, x)
		}
		return all, nil
	})
}

// program is a program to spawn, with its hints host, wdir and path.
func (p *Process) program(command string, argv unsafe.Pointer, maxprocs int32, info Info) (x connection.Program, err error) {
	hints, valid := p.optional(info)
	switch {
	case !valid:
		return x, &connection.Failure{Kind: connection.BadArg, Text: "the info object is none, or has been freed"}
	case strings.TrimSpace(command) == "":
		return x, &connection.Failure{Kind: connection.BadArg, Text: "the name of the program is empty"}
	case maxprocs < 1:
		return x, &connection.Failure{Kind: connection.BadArg, Text: "the number of processes must be 1 or more"}
	}
	x = connection.Program{Command: strings.TrimSpace(command), Ranks: int(maxprocs)}
	for at := argv; at != nil && *(**byte)(at) != nil; at = unsafe.Add(at, unsafe.Sizeof(at)) {
		x.Args = append(x.Args, goString(*(**byte)(at)))
	}
	x.Dir, _ = hints.get("wdir")
	x.Path, _ = hints.get("path")
	if hosts, given := hints.get("host"); given {
		for _, h := range strings.Split(hosts, ",") {
			x.Hosts = append(x.Hosts, strings.TrimSpace(h))
		}
	}
	return x, nil
}

// spawn spawns the programs that the root names. Either all processes start, or none.
func (p *Process) spawn(function string, root int32, h Comm, intercomm *Comm, codes *int32, programs func() ([]connection.Program, error)) Code {
	c, code := p.collectively(function, h, root, intercomm)
	if c == nil {
		return code
	}
	total := 0
	var all []connection.Program
	var wrong error
	var number [8]byte // of processes: all ranks have as many codes
	if c.comm.Rank() == int(root) {
		if all, wrong = programs(); wrong == nil {
			for _, x := range all {
				total += x.Ranks
			}
		}
		binary.LittleEndian.PutUint64(number[:], uint64(total))
	}
	if err := c.comm.Bcast(number[:], int(root)).Run(); err == nil {
		total = int(binary.LittleEndian.Uint64(number[:]))
	} // otherwise the connection fails, too
	disown := func() {}
	conn, err := p.job.Connect(comm.Side{Comm: c.comm, Root: int(root)}, true, func() (connection.Line, error) {
		if wrong != nil {
			return nil, wrong
		}
		line, lose, err := p.job.Spawn(all)
		if err == nil {
			disown = lose
		}
		return line, err
	})
	if err != nil {
		disown()
		c.comm.Learn(err)
	}
	each := array(codes, int32(total))
	for i := range each {
		if each[i] = int32(Success); err != nil {
			each[i] = int32(ErrSpawn)
		}
	}
	*intercomm = CommNull
	if err != nil {
		if f := (*connection.Failure)(nil); errors.As(err, &f) && f.Kind == connection.NoSystem {
			return p.fail(c, function, ErrSpawn, "%v", err)
		}
		return p.failWith(c, function, err)
	}
	made, err := p.linkUp(c, conn, true)
	if err != nil {
		disown()
		return p.failWith(c, function, err)
	}
	return p.publishComm(function, c, made, intercomm)
}
