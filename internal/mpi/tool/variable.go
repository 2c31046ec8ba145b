package tool

// Type is what the elements of a variable or an event are.
type Type uint8

// Types.
const (
	Int    Type = iota // a C int
	Double             // a C double
	Text               // chars, with a final zero
	Count              // a C unsigned long long
)

// Verbosity says whom a variable is for, as the standard numbers it.
type Verbosity int32

// Values of Verbosity.
const (
	ForUsers  Verbosity = 0x09 // MPI_T_VERBOSITY_USER_BASIC
	ForTuners Verbosity = 0x11 // MPI_T_VERBOSITY_TUNER_BASIC
)

// Named is what variables and events have in common.
type Named struct {
	Name, Description string
	Category          string
	Verbosity         Verbosity
}

// Value is the value of a control variable. Its Type says which field counts.
type Value struct {
	Int    int32
	Double float64
	Text   string
}

// Enum names the values 0, 1, 2 … of a variable of type Int.
type Enum struct {
	Name  string
	Items []string
}

// Control is a setting of the job.
type Control struct {
	Named
	Type Type
	Room int   // of Text: how many bytes a value may have, with its final zero
	Enum *Enum // of Int: the names of its values; nil: it is a number
	Read func() Value
	// Write sets it before MPI_Init; nil: a program can't. All processes must set the same.
	Write func(Value) error
}

// Class says how a performance variable behaves, as the standard numbers it.
type Class int32

// Classes.
const (
	Level     Class = 2 // MPI_T_PVAR_CLASS_LEVEL: how much there is now; it can't be started, stopped or set
	Counter   Class = 7 // MPI_T_PVAR_CLASS_COUNTER: how often something has happened since the handle was started
	Aggregate Class = 8 // MPI_T_PVAR_CLASS_AGGREGATE: the same of amounts
)

// Performance is something that the process counts: a Level, or a number that only rises.
type Performance struct {
	Named
	Class Class
	Of    func(*Sample) uint64
}
