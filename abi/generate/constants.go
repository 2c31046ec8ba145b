package main

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"
	"strings"

	"banyan/abi"
)

// constants writes the constants for package binding: handles, error classes and plain
// numbers, but no pointers.
func constants(table *abi.Table) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(notice + "\npackage binding\n\n// The constants of the C interface, under Go names.\nconst (\n")
	names := map[string]string{}
	for _, c := range table.Constants {
		value, cast, ok := c.Number()
		name, gotype := constantName(c.Name, cast)
		if !ok {
			other, known := names[c.Value]
			if !known {
				return nil, fmt.Errorf("%s is %s, which is no earlier constant", c.Name, c.Value)
			}
			names[c.Name] = name
			fmt.Fprintf(&b, "\t%s = %s\n", name, other)
			continue
		}
		if strings.Contains(cast, "*") || strings.HasPrefix(c.Name, "MPI_T_") && gotype != "Code" {
			continue
		}
		names[c.Name] = name
		text := fmt.Sprint(value)
		if gotype != "" && gotype != "Code" {
			text = fmt.Sprintf("%#x", value)
			if value < 0 {
				text = fmt.Sprint(value)
			}
		}
		fmt.Fprintf(&b, "\t%s %s = %s\n", name, gotype, text)
	}
	b.WriteString(")\n")
	return format.Source(b.Bytes())
}

// predefinedKeys are the attributes of MPI_COMM_WORLD.
var predefinedKeys = []string{"TAG_UB", "IO", "HOST", "WTIME_IS_GLOBAL", "APPNUM", "LASTUSEDCODE", "UNIVERSE_SIZE"}

// constantName gives MPI_ERR_RANK the name ErrRank and the type Code, MPI_INT the
// name TypeInt and the type Datatype, MPI_SUM the name OpSum and the type Op.
func constantName(name, cast string) (goName, gotype string) {
	s := strings.TrimPrefix(name, "MPI_")
	var b strings.Builder
	for part := range strings.SplitSeq(s, "_") {
		b.WriteString(part[:1] + strings.ToLower(part[1:]))
	}
	goName = b.String()
	if t, ok := strings.CutPrefix(cast, "MPI_"); ok && slices.Contains(handles, t) {
		gotype = t
		switch {
		case t == "Datatype" && name != "MPI_DATATYPE_NULL":
			goName = "Type" + goName
		case t == "Op" && name != "MPI_OP_NULL":
			goName = "Op" + goName
		}
	}
	switch {
	case slices.Contains(predefinedKeys, s):
		goName = "Key" + goName
	case cast == "MPI_Offset":
		gotype = "int64"
	case name == "MPI_LONG_LONG_INT" || strings.HasSuffix(name, "_COMPLEX") && cast == "" && !strings.Contains(name, "COMBINER") && !strings.Contains(name, "TYPECLASS"):
		goName = "Type" + goName
	case name == "MPI_SUCCESS" || strings.HasPrefix(name, "MPI_ERR_") || strings.HasPrefix(name, "MPI_T_ERR_"):
		gotype = "Code"
	}
	return goName, gotype
}
