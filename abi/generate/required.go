package main

import (
	"fmt"
	"regexp"
	"strings"

	"banyan/abi"
)

// plainTypes are those of values that functions store where a pointer says.
var plainTypes = regexp.MustCompile(`^(int|MPI_(Aint|Count|Offset|Comm|Group|Datatype|Op|Request|Win|Info|Errhandler|File|Session|Message))\s*\*$`)

// required tells whether a parameter points to where a function stores a result, so that it
// can't be NULL: not arrays, which may have no elements, nor buffers, statuses of calls that may
// do without one and what is only read. Strings whose size the program gives may be NULL if it is
// 0, and so may everything in MPI_T.
func required(function string, p abi.Param) bool {
	switch {
	case strings.HasPrefix(function, "MPI_T_"), p.Array != "":
		return false
	case strings.TrimSpace(strings.TrimSuffix(p.Type, "*")) == "char":
		return p.Name != "value" && p.Name != "pset_name"
	case strings.TrimSpace(strings.TrimSuffix(p.Type, "*")) == "void":
		return p.Name == "baseptr" || p.Name == "attribute_val" && strings.HasSuffix(function, "_get_attr") ||
			p.Name == "buffer_addr" && strings.Contains(function, "etach")
	case strings.HasPrefix(function, "MPI_Status_"), function == "MPI_Test_cancelled":
		return p.Type != "void *" // the status, which is what the call is about
	case (function == "MPI_Init" || function == "MPI_Init_thread") && p.Name == "argc":
		return false
	}
	return plainTypes.MatchString(p.Type)
}

// nulls are the Go statements that end a call in which such a pointer is NULL.
func (c *call) nulls() string {
	f := c.Forms[0]
	name, handle := "Null", ""
	for _, p := range f.List {
		if m := holder.FindStringSubmatch(p.Type); m != nil {
			name, handle = "NullFor"+m[1], ", binding."+m[1]+"(_"+c.Params[f.index(p.Name)].Name+")"
			break
		}
	}
	var b strings.Builder
	for i, p := range c.Params {
		if (p.Kind == pointer || p.Kind == out) && required(f.Name, f.List[i]) {
			fmt.Fprintf(&b, "\tif _%s == nil {\n\t\treturn int32(process.%s(%q, %q%s))\n\t}\n", p.Name, name, f.Name, f.List[i].Name, handle)
		}
	}
	return b.String()
}

// holder is an object that has an error handler.
var holder = regexp.MustCompile(`^MPI_(Comm|Win|File|Session)$`)

// index is the position of a parameter.
func (f *form) index(name string) int {
	for i, p := range f.List {
		if p.Name == name {
			return i
		}
	}
	return -1
}
