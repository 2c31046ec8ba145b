package datatype

// Kind is the meaning of an element's bytes. Types of different names may have one kind, such
// as MPI_INT, MPI_INT32_T and MPI_INTEGER.
type Kind uint8

// The kinds. Integers are named by bits, logicals by bytes (as in Fortran), complex
// numbers by the bits of both parts (as in Go).
const (
	Mixed  Kind = iota // of a type: elements of several kinds, or none
	Byte               // uninterpreted
	Packed             // bytes made by Pack
	Char               // C char
	Character
	WideChar // C wchar_t
	Bool     // C and C++ bool

	Int8
	Int16
	Int32
	Int64
	Int128
	Long // C long: an Int64, but external32 gives it 4 bytes
	Uint8
	Uint16
	Uint32
	Uint64
	UnsignedLong

	Logical1
	Logical2
	Logical4
	Logical8
	Logical16

	Float16
	Float32
	Float64
	LongDouble // x87's 80 bits in 16 bytes
	Float128

	Complex32
	Complex64
	Complex128
	LongComplex // two LongDouble
	Complex256

	// Pairs, for MPI_MINLOC and MPI_MAXLOC: a value, then an index. The type map of such a
	// predefined type has two elements, of the kinds in parts.
	FloatInt
	DoubleInt
	LongInt
	IntInt
	ShortInt
	LongDoubleInt
	FloatFloat
	DoubleDouble

	Kinds // the number of kinds
)

// kindTraits are the sizes of a kind's elements in memory and in external32.
type kindTraits struct {
	name     string
	size     int64 // bytes of data
	align    int64 // C and Fortran compilers align it to multiples
	external int64 // bytes in external32
}

var traits = [Kinds]kindTraits{
	Mixed:         {name: "mixed", align: 1},
	Byte:          {"byte", 1, 1, 1},
	Packed:        {"packed", 1, 1, 1},
	Char:          {"char", 1, 1, 1},
	Character:     {"character", 1, 1, 1},
	WideChar:      {"wchar", 4, 4, 2},
	Bool:          {"bool", 1, 1, 1},
	Int8:          {"int8", 1, 1, 1},
	Int16:         {"int16", 2, 2, 2},
	Int32:         {"int32", 4, 4, 4},
	Int64:         {"int64", 8, 8, 8},
	Int128:        {"int128", 16, 16, 16},
	Long:          {"long", 8, 8, 4},
	Uint8:         {"uint8", 1, 1, 1},
	Uint16:        {"uint16", 2, 2, 2},
	Uint32:        {"uint32", 4, 4, 4},
	Uint64:        {"uint64", 8, 8, 8},
	UnsignedLong:  {"unsigned long", 8, 8, 4},
	Logical1:      {"logical1", 1, 1, 1},
	Logical2:      {"logical2", 2, 2, 2},
	Logical4:      {"logical4", 4, 4, 4},
	Logical8:      {"logical8", 8, 8, 8},
	Logical16:     {"logical16", 16, 16, 16},
	Float16:       {"float16", 2, 2, 2},
	Float32:       {"float32", 4, 4, 4},
	Float64:       {"float64", 8, 8, 8},
	LongDouble:    {"long double", 16, 16, 16},
	Float128:      {"float128", 16, 16, 16},
	Complex32:     {"complex32", 4, 2, 4},
	Complex64:     {"complex64", 8, 4, 8},
	Complex128:    {"complex128", 16, 8, 16},
	LongComplex:   {"long double complex", 32, 16, 32},
	Complex256:    {"complex256", 32, 16, 32},
	FloatInt:      {name: "float, int"},
	DoubleInt:     {name: "double, int"},
	LongInt:       {name: "long, int"},
	IntInt:        {name: "int, int"},
	ShortInt:      {name: "short, int"},
	LongDoubleInt: {name: "long double, int"},
	FloatFloat:    {name: "float, float"},
	DoubleDouble:  {name: "double, double"},
}

// parts are the kinds of the value and of the index of each pair.
var parts = map[Kind][2]Kind{
	FloatInt:      {Float32, Int32},
	DoubleInt:     {Float64, Int32},
	LongInt:       {Long, Int32},
	IntInt:        {Int32, Int32},
	ShortInt:      {Int16, Int32},
	LongDoubleInt: {LongDouble, Int32},
	FloatFloat:    {Float32, Float32},
	DoubleDouble:  {Float64, Float64},
}

// String is a short description, for messages.
func (k Kind) String() string { return traits[k].name }

// Pair tells whether k is a value with an index, and the kinds of both.
func (k Kind) Pair() (value, index Kind, ok bool) {
	p, ok := parts[k]
	return p[0], p[1], ok
}

// Size is the number of bytes of an element in a message. A pair has those of its parts,
// without the gap.
func (k Kind) Size() int64 {
	if value, index, ok := k.Pair(); ok {
		return traits[value].size + traits[index].size
	}
	return traits[k].size
}
