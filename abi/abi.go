// Package abi is the C interface of MPI-5.0 as a table: its constants, types and functions. The
// table, mpi-abi.json, is their only definition. From it abi/generate writes mpi.h, the C entry
// points and their Go side in capi, and the constants of internal/mpi/binding.
//
//go:generate go run ./generate
package abi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

//go:embed mpi-abi.json
var source []byte

// Table is the whole interface, in the order of the file.
type Table struct {
	Constants []Constant
	Types     []string // as in a typedef, without the keyword
	Functions []Function
}

// Constant is a macro of mpi.h.
type Constant struct {
	Name  string
	Value string // in C
}

// Function is one function. Params is its parameter list in C.
type Function struct {
	Name    string
	Returns string
	Params  string
}

// Param is one parameter: "const int recvcounts[]" has the type "const int" and the
// array "[]".
type Param struct {
	Type, Name, Array string
}

// Load reads the table.
func Load() (*Table, error) {
	t := new(Table)
	if err := json.Unmarshal(source, t); err != nil {
		return nil, fmt.Errorf("mpi-abi.json: %w", err)
	}
	return t, nil
}

var paramPattern = regexp.MustCompile(`^(.*?)\s*(\w+)((?:\[\d*\])*)$`)

// List is the parameters of a function, without a final "...".
func (f Function) List() ([]Param, error) {
	if f.Params == "void" {
		return nil, nil
	}
	var list []Param
	for s := range strings.SplitSeq(f.Params, ",") {
		if strings.TrimSpace(s) == "..." {
			continue
		}
		m := paramPattern.FindStringSubmatch(strings.TrimSpace(s))
		if m == nil || m[1] == "" {
			return nil, fmt.Errorf("%s: %q is no parameter", f.Name, s)
		}
		list = append(list, Param{m[1], m[2], m[3]})
	}
	return list, nil
}

// String is the parameter in C.
func (p Param) String() string {
	space := " "
	if strings.HasSuffix(p.Type, "*") {
		space = ""
	}
	return p.Type + space + p.Name + p.Array
}

var castPattern = regexp.MustCompile(`^\(\((.*)\)\s*(-?\w+)\)$`)

// Number is the constant's value, and the type that it is cast to ("" for int). ok is false if
// the value is the name of another constant.
func (c Constant) Number() (value int64, cast string, ok bool) {
	s := c.Value
	if m := castPattern.FindStringSubmatch(s); m != nil {
		cast, s = m[1], m[2]
	}
	value, err := strconv.ParseInt(s, 0, 64)
	return value, cast, err == nil
}
