package binding

import (
	"os"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// info is an info object: keys with values, in the order in which the keys were set.
type info struct {
	mu      sync.Mutex
	entries []entryOfInfo
}

type entryOfInfo struct{ key, value string }

func (i *info) find(key string) int {
	return slices.IndexFunc(i.entries, func(e entryOfInfo) bool { return e.key == key })
}

func (i *info) get(key string) (string, bool) {
	if i == nil {
		return "", false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if k := i.find(key); k >= 0 {
		return i.entries[k].value, true
	}
	return "", false
}

func (i *info) set(key, value string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if k := i.find(key); k >= 0 {
		i.entries[k].value = value
	} else {
		i.entries = append(i.entries, entryOfInfo{key, value})
	}
}

// copy is another object with the same contents. The copy of nil is empty.
func (i *info) copy() *info {
	if i == nil {
		return &info{}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return &info{entries: slices.Clone(i.entries)}
}

// environmentInfo is MPI_INFO_ENV: how the program was started, as far as the library knows.
func (p *Process) environmentInfo() *info {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.environment == nil {
		p.environment = describeStart()
		if p.live() {
			p.environment.set("thread_level", levels[p.level])
			if name := p.job.ErrhandlerName(); name != "" {
				p.environment.set("mpi_initial_errhandler", name)
			}
		}
	}
	return p.environment
}

var levels = map[int32]string{
	ThreadSingle: "MPI_THREAD_SINGLE", ThreadFunneled: "MPI_THREAD_FUNNELED",
	ThreadSerialized: "MPI_THREAD_SERIALIZED", ThreadMultiple: "MPI_THREAD_MULTIPLE",
}

// describeStart is the command line and the working directory.
func describeStart() *info {
	i := &info{}
	// The Go runtime of a shared library may not know the arguments.
	if line, err := os.ReadFile("/proc/self/cmdline"); err == nil {
		if args := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"); len(args) > 0 {
			i.set("command", cut(args[0]))
			i.set("argv", cut(strings.Join(args[1:], " ")))
		}
	}
	if wd, err := os.Getwd(); err == nil {
		i.set("wdir", cut(wd))
	}
	return i
}

// cut shortens a value to the length that an info object can hold.
func cut(s string) string { return s[:min(len(s), MaxInfoVal-1)] }

// info is the object of a handle, nil if it has none.
func (p *Process) info(h Info) *info {
	if h == InfoEnv {
		return p.environmentInfo()
	}
	return p.infos.get(uintptr(h))
}

func (p *Process) noInfo(function string, h Info) Code {
	if h == InfoNull {
		return p.fail(nil, function, ErrInfo, "the info object is MPI_INFO_NULL")
	}
	return p.noHandle(nil, function, ErrInfo, "info object", uintptr(h))
}

// optional is the info object of an argument that may be MPI_INFO_NULL.
func (p *Process) optional(h Info) (i *info, valid bool) {
	if h == InfoNull {
		return nil, true
	}
	i = p.info(h)
	return i, i != nil
}

// withKey checks an info object and a key, and calls f with them.
func (p *Process) withKey(function string, h Info, key *byte, f func(i *info, key string) Code) Code {
	i := p.info(h)
	if i == nil {
		return p.noInfo(function, h)
	}
	k := goString(key)
	if k == "" || len(k) >= MaxInfoKey {
		return p.fail(nil, function, ErrInfoKey, "the key %.40q has %d bytes, and must have 1 to %d", k, len(k), MaxInfoKey-1)
	}
	return f(i, k)
}

// InfoCreate is MPI_Info_create.
func (p *Process) InfoCreate(info_ *Info) Code {
	*info_ = Info(p.infos.add(&info{}))
	return Success
}

// InfoCreateEnv is MPI_Info_create_env.
func (p *Process) InfoCreateEnv(argc int32, argv unsafe.Pointer, info *Info) Code {
	*info = Info(p.infos.add(describeStart()))
	return Success
}

// InfoDup is MPI_Info_dup.
func (p *Process) InfoDup(info Info, newinfo *Info) Code {
	i := p.info(info)
	if i == nil {
		return p.noInfo("MPI_Info_dup", info)
	}
	*newinfo = Info(p.infos.add(i.copy()))
	return Success
}

// InfoFree is MPI_Info_free.
func (p *Process) InfoFree(info *Info) Code {
	if p.infos.remove(uintptr(*info)) == nil {
		return p.noInfo("MPI_Info_free", *info)
	}
	*info = InfoNull
	return Success
}

// InfoSet is MPI_Info_set.
func (p *Process) InfoSet(info_ Info, key, value *byte) Code {
	const function = "MPI_Info_set"
	return p.withKey(function, info_, key, func(i *info, k string) Code {
		v := goString(value)
		if v == "" || len(v) >= MaxInfoVal {
			return p.fail(nil, function, ErrInfoValue, "the value of %s has %d bytes, and must have 1 to %d", k, len(v), MaxInfoVal-1)
		}
		if info_ == InfoEnv {
			return p.fail(nil, function, ErrInfo, "MPI_INFO_ENV can only be read")
		}
		i.set(k, v)
		return Success
	})
}

// InfoDelete is MPI_Info_delete.
func (p *Process) InfoDelete(info_ Info, key *byte) Code {
	const function = "MPI_Info_delete"
	return p.withKey(function, info_, key, func(i *info, k string) Code {
		if info_ == InfoEnv {
			return p.fail(nil, function, ErrInfo, "MPI_INFO_ENV can only be read")
		}
		i.mu.Lock()
		at := i.find(k)
		if at >= 0 {
			i.entries = slices.Delete(i.entries, at, at+1)
		}
		i.mu.Unlock()
		if at < 0 {
			return p.fail(nil, function, ErrInfoNokey, "there is no key %s", k)
		}
		return Success
	})
}

// InfoGet is MPI_Info_get. valuelen doesn't count the end of the string.
func (p *Process) InfoGet(info_ Info, key *byte, valuelen int32, value *byte, flag *int32) Code {
	const function = "MPI_Info_get"
	return p.withKey(function, info_, key, func(i *info, k string) Code {
		if valuelen < 0 {
			return p.fail(nil, function, ErrArg, "the room for the value is %d", valuelen)
		}
		v, found := i.get(k)
		if *flag = truth(found); found {
			setString(value, int(valuelen)+1, v)
		}
		return Success
	})
}

// InfoGetString is MPI_Info_get_string. buflen counts the end of the string.
func (p *Process) InfoGetString(info_ Info, key *byte, buflen *int32, value *byte, flag *int32) Code {
	return p.withKey("MPI_Info_get_string", info_, key, func(i *info, k string) Code {
		v, found := i.get(k)
		if *flag = truth(found); found {
			if *buflen > 0 {
				setString(value, int(*buflen), v)
			}
			*buflen = int32(len(v)) + 1
		}
		return Success
	})
}

// InfoGetValuelen is MPI_Info_get_valuelen.
func (p *Process) InfoGetValuelen(info_ Info, key *byte, valuelen, flag *int32) Code {
	return p.withKey("MPI_Info_get_valuelen", info_, key, func(i *info, k string) Code {
		v, found := i.get(k)
		if *flag = truth(found); found {
			*valuelen = int32(len(v))
		}
		return Success
	})
}

// InfoGetNkeys is MPI_Info_get_nkeys.
func (p *Process) InfoGetNkeys(info Info, nkeys *int32) Code {
	i := p.info(info)
	if i == nil {
		return p.noInfo("MPI_Info_get_nkeys", info)
	}
	i.mu.Lock()
	*nkeys = int32(len(i.entries))
	i.mu.Unlock()
	return Success
}

// InfoGetNthkey is MPI_Info_get_nthkey.
func (p *Process) InfoGetNthkey(info Info, n int32, key *byte) Code {
	i := p.info(info)
	if i == nil {
		return p.noInfo("MPI_Info_get_nthkey", info)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if n < 0 || int(n) >= len(i.entries) {
		return p.fail(nil, "MPI_Info_get_nthkey", ErrArg, "key %d is asked for, and there are %d", n, len(i.entries))
	}
	setString(key, MaxInfoKey, i.entries[n].key)
	return Success
}
