package main

import (
	"fmt"
	"slices"
	"strings"

	"banyan/abi"
)

// kind says what an argument is for Fortran.
type kind int

const (
	integer   kind = iota
	logical        // an int in C that is 0 or 1
	handle         // typ is its type, such as MPI_Comm
	status         // MPI_Status
	choice         // a buffer of any type
	address        // an integer of MPI_ADDRESS_KIND
	count          // of MPI_COUNT_KIND
	offset         // of MPI_OFFSET_KIND
	double         // double precision
	text           // a string
	pointer        // the address of memory that the library gives or takes: TYPE(C_PTR)
	procedure      // typ is its abstract interface, such as MPI_User_function
)

// argument is one argument of a procedure, as both modules declare it.
type argument struct {
	name     string
	kind     kind
	typ      string
	intent   string // "in", "out", "inout", or "" where it is left open
	elements string // of an array, in parentheses; "" for a scalar
}

// logicals are the parameters that are LOGICAL in Fortran, where they are ints or arrays of ints.
var logicals = []string{"flag", "commute", "reorder", "periods", "remain_dims", "high", "weighted", "is_set", "quorum"}

// given are handles and positions that a procedure reads and changes. Other pointers to what isn't
// constant are results. The first part is the function, or "" for all of them.
var given = []string{
	"MPI_Cancel.request", "MPI_Wait.request", "MPI_Test.request", "MPI_Start.request", "MPI_Request_free.request",
	"MPI_Mrecv.message", "MPI_Mrecv_c.message", "MPI_Imrecv.message", "MPI_Imrecv_c.message",
	"MPI_Comm_disconnect.comm", "MPI_File_close.fh", "MPI_Session_finalize.session", "MPI_Type_commit.datatype",
	"MPI_Dims_create.dims", "MPI_Info_get_string.buflen", ".array_of_requests", ".position",
	"MPI_Status_set_elements.status", "MPI_Status_set_elements_c.status", "MPI_Status_set_cancelled.status",
	"MPI_Status_set_source.status", "MPI_Status_set_tag.status", "MPI_Status_set_error.status",
}

// shapes are the elements of arrays that aren't just "(*)", and of pointers that are arrays.
var shapes = map[string]string{
	"ranges":            "(3,*)",
	"sourceweights":     "(*)",
	"destweights":       "(*)",
	"weights":           "(*)",
	"array_of_errcodes": "(*)",
}

// texts are the elements of arrays of strings.
var texts = map[string]string{"argv": "(*)", "array_of_commands": "(*)", "array_of_argv": "(count,*)"}

// pointers are addresses that the library gives, by parameter.
var pointers = []string{"baseptr", "buffer_addr"}

// arguments are those of a function, without the error code.
func arguments(f abi.Function) ([]argument, error) {
	params, err := f.List()
	if err != nil {
		return nil, err
	}
	if f.Name == "MPI_Init" || f.Name == "MPI_Init_thread" || f.Name == "MPI_Info_create_env" {
		params = slices.DeleteFunc(params, func(p abi.Param) bool { return p.Name == "argc" || p.Name == "argv" })
	}
	var list []argument
	for _, p := range params {
		a, err := newArgument(f.Name, p)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

func newArgument(function string, p abi.Param) (argument, error) {
	constant := strings.HasPrefix(p.Type, "const ")
	base := strings.TrimRight(strings.TrimPrefix(p.Type, "const "), " *")
	indirect := strings.Contains(p.Type, "*") || p.Array != ""
	a := argument{name: p.Name, typ: base, intent: "in", elements: elements(p)}
	if indirect && !constant && p.Name != "ranges" {
		a.intent = "out"
		if slices.Contains(given, function+"."+p.Name) || slices.Contains(given, "."+p.Name) || strings.HasSuffix(function, "_free") {
			a.intent = "inout"
		}
	}
	switch {
	case base == "void" && (p.Name == "extra_state" || strings.HasPrefix(p.Name, "attribute_val")):
		a.kind, a.intent = address, "in"
		if slices.Contains(removed, function) {
			a.kind = integer // those of MPI-1
		}
		if strings.HasSuffix(function, "_get_attr") || function == "MPI_Attr_get" {
			a.intent = "out"
		}
	case base == "void" && slices.Contains(pointers, p.Name) && !constant:
		a.kind, a.intent = pointer, "out"
	case base == "void":
		a.kind, a.elements = choice, ""
		if !constant {
			a.intent = ""
		}
	case base == "char":
		a.kind, a.elements = text, texts[p.Name]
		if a.elements != "" {
			a.intent = "in"
		}
	case slices.Contains(handles, base):
		a.kind = handle
	case base == "MPI_Status":
		a.kind = status
		if !constant && a.intent == "out" {
			a.intent = "" // it may be MPI_STATUS_IGNORE
		}
	case base == "int" && slices.Contains(logicals, p.Name):
		a.kind = logical
	case base == "int":
		a.kind = integer
		if p.Name == "array_of_errcodes" {
			a.intent = "" // it may be MPI_ERRCODES_IGNORE
		}
	case base == "MPI_Aint":
		a.kind = address
	case base == "MPI_Count":
		a.kind = count
	case base == "MPI_Offset":
		a.kind = offset
	case base == "double":
		a.kind = double
	case strings.HasSuffix(base, "_function"), strings.HasSuffix(base, "_function_c"):
		a.kind, a.intent = procedure, ""
	default:
		return a, fmt.Errorf("%s: the type of %v is unknown", function, p)
	}
	return a, nil
}

func elements(p abi.Param) string {
	if s := shapes[p.Name]; s != "" {
		return s
	}
	if p.Array != "" || strings.HasPrefix(p.Name, "array_of_") {
		return "(*)"
	}
	return ""
}

// nonblocking says whether a procedure's buffers are still in use when it has returned.
func nonblocking(function string) bool {
	name := strings.TrimSuffix(strings.TrimPrefix(function, "MPI_"), "_c")
	for _, prefix := range []string{"Ineighbor", "Isend", "Ibsend", "Issend", "Irsend", "Irecv", "Imrecv", "Ibcast", "Igather",
		"Iscatter", "Iallgather", "Ialltoall", "Ireduce", "Iallreduce", "Iscan", "Iexscan", "File_i", "Rput", "Rget", "Raccumulate",
		"Put", "Get", "Accumulate", "Fetch_and_op", "Compare_and_swap", "Win_create", "Win_attach", "Buffer_attach",
		"Comm_attach_buffer", "Session_attach_buffer"} {
		if strings.HasPrefix(name, prefix) && name != "Get_address" {
			return true
		}
	}
	return strings.HasSuffix(name, "_init") || strings.HasSuffix(name, "_begin") || strings.HasSuffix(name, "_end")
}
