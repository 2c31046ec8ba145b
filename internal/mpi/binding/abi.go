package binding

import (
	"bytes"
	"strconv"
	"sync"
	"unsafe"
)

// fortran describes the Fortran compiler of the program. Until the program sets it, it is
// gfortran with its default kinds.
type fortran struct {
	mu       sync.Mutex
	booleans map[int32][2][]byte // .TRUE. and .FALSE. by the size of LOGICAL, as set
	info     *info               // as set
}

// AbiGetInfo is MPI_Abi_get_info: the sizes of C types that the ABI leaves open.
func (p *Process) AbiGetInfo(info_ *Info) Code {
	i := &info{}
	for _, key := range []string{"mpi_aint_size", "mpi_count_size", "mpi_offset_size"} {
		i.set(key, "8")
	}
	*info_ = Info(p.infos.add(i))
	return Success
}

// fortranSizes are the sizes of Fortran's default types in bytes.
var fortranSizes = []struct {
	key  string
	size int
}{
	{"mpi_logical_size", 4}, {"mpi_integer_size", 4}, {"mpi_real_size", 4}, {"mpi_double_precision_size", 8},
}

// fortranOptional are the types that a Fortran compiler may lack, with their names in the keys.
var fortranOptional = []struct {
	name     string
	datatype Datatype
}{
	{"logical1", TypeLogical1}, {"logical2", TypeLogical2}, {"logical4", TypeLogical4}, {"logical8", TypeLogical8}, {"logical16", TypeLogical16},
	{"integer1", TypeInteger1}, {"integer2", TypeInteger2}, {"integer4", TypeInteger4}, {"integer8", TypeInteger8}, {"integer16", TypeInteger16},
	{"real2", TypeReal2}, {"real4", TypeReal4}, {"real8", TypeReal8}, {"real16", TypeReal16},
	{"complex4", TypeComplex4}, {"complex8", TypeComplex8}, {"complex16", TypeComplex16}, {"complex32", TypeComplex32},
	{"double_complex", TypeDoubleComplex},
}

// AbiGetFortranInfo is MPI_Abi_get_fortran_info: the sizes of the default types, and whether
// each optional type exists.
func (p *Process) AbiGetFortranInfo(info_ *Info) Code {
	f := &p.fortran
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.info.copy()
	if f.info == nil {
		for _, s := range fortranSizes {
			i.set(s.key, strconv.Itoa(s.size))
		}
		for _, o := range fortranOptional {
			i.set("mpi_"+o.name+"_supported", strconv.FormatBool(p.datatype(o.datatype) != nil))
		}
	}
	*info_ = Info(p.infos.add(i))
	return Success
}

// AbiSetFortranInfo is MPI_Abi_set_fortran_info. It accepts gfortran's default sizes only.
func (p *Process) AbiSetFortranInfo(info Info) Code {
	const function = "MPI_Abi_set_fortran_info"
	i := p.info(info)
	if i == nil {
		return p.noInfo(function, info)
	}
	for _, s := range fortranSizes {
		if v, given := i.get(s.key); given && v != strconv.Itoa(s.size) {
			return p.fail(nil, function, ErrAbi, "%s is %d here, not %s", s.key, s.size, v)
		}
	}
	f := &p.fortran
	f.mu.Lock()
	defer f.mu.Unlock()
	f.info = i.copy()
	return Success
}

// AbiSetFortranBooleans is MPI_Abi_set_fortran_booleans. Values that are set can't be changed.
func (p *Process) AbiSetFortranBooleans(logicalSize int32, logicalTrue, logicalFalse unsafe.Pointer) Code {
	const function = "MPI_Abi_set_fortran_booleans"
	if !logicalKind(logicalSize) {
		return p.fail(nil, function, ErrArg, "a LOGICAL of %d bytes isn't known", logicalSize)
	}
	now := [2][]byte{bytes.Clone(unsafe.Slice((*byte)(logicalTrue), logicalSize)), bytes.Clone(unsafe.Slice((*byte)(logicalFalse), logicalSize))}
	f := &p.fortran
	f.mu.Lock()
	before, set := f.booleans[logicalSize]
	if !set {
		if f.booleans == nil {
			f.booleans = map[int32][2][]byte{}
		}
		f.booleans[logicalSize] = now
	}
	f.mu.Unlock()
	if set && (!bytes.Equal(before[0], now[0]) || !bytes.Equal(before[1], now[1])) {
		return p.fail(nil, function, ErrAbi, "the values of LOGICAL are set already, to others")
	}
	return Success
}

// AbiGetFortranBooleans is MPI_Abi_get_fortran_booleans.
func (p *Process) AbiGetFortranBooleans(logicalSize int32, logicalTrue, logicalFalse unsafe.Pointer, isSet *int32) Code {
	if !logicalKind(logicalSize) {
		return p.fail(nil, "MPI_Abi_get_fortran_booleans", ErrArg, "a LOGICAL of %d bytes isn't known", logicalSize)
	}
	f := &p.fortran
	f.mu.Lock()
	values, set := f.booleans[logicalSize]
	f.mu.Unlock()
	if !set { // gfortran's: 1 and 0, of any size
		values = [2][]byte{make([]byte, logicalSize), make([]byte, logicalSize)}
		values[0][0] = 1
	}
	copy(unsafe.Slice((*byte)(logicalTrue), logicalSize), values[0])
	copy(unsafe.Slice((*byte)(logicalFalse), logicalSize), values[1])
	*isSet = 1
	return Success
}

func logicalKind(size int32) bool {
	return size == 1 || size == 2 || size == 4 || size == 8 || size == 16
}
