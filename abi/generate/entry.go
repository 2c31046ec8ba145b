package main

import (
	"bytes"
	"fmt"
	"go/format"
	"regexp"
	"strings"
)

// entries writes the C functions.
func entries(calls []*call) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(notice)
	b.WriteString(`//
// Each function is PMPI_X, with MPI_X as a weak alias, so that a profiling library may have its
// own MPI_X. banyan.h explains the macros.

#include "banyan.h"
#include "native.h"

`)
	for _, c := range calls {
		for _, f := range c.Forms {
			if f.Call.Go && !f.Native && !conversion.MatchString(f.Name) {
				fmt.Fprintf(&b, "ENTRY(%s, (%s), (%s),\n      %s);\n\n", f.Name, f.Params, strings.Join(f.names(), ", "), f.work())
				continue
			}
			body := f.body()
			if body == "" {
				return nil, fmt.Errorf("%s is neither a method of package binding nor in capi/native.h", f.Name)
			}
			fmt.Fprintf(&b, "%s\n{\n%s}\n", declaration("P", f.Function), body)
			fmt.Fprintf(&b, "ALIAS(%s, %s, (%s));\n\n", f.Returns, f.Name, f.Params)
		}
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

var conversion = regexp.MustCompile(`^MPI_\w+_(toint|fromint)$`)

// names are the parameters' names.
func (f *form) names() (names []string) {
	for _, p := range f.List {
		names = append(names, p.Name)
	}
	return names
}

// body is the body of a C function that doesn't enter Go; empty if there is none.
func (f *form) body() string {
	args := f.names()
	switch m := conversion.FindStringSubmatch(f.Name); {
	case m != nil && m[1] == "toint":
		return fmt.Sprintf("\treturn (int)(intptr_t)%s;\n", args[0])
	case m != nil:
		return fmt.Sprintf("\treturn (%s)(intptr_t)%s;\n", f.Returns, args[0])
	case f.Native:
		return fmt.Sprintf("\treturn native_%s(%s);\n", strings.TrimPrefix(f.Name, "MPI_"), strings.Join(args, ", "))
	}
	return ""
}

// work is the call of the Go function.
func (f *form) work() string {
	var args []string
	for i, p := range f.Call.Params {
		c := f.List[i]
		switch p.Kind {
		case scalar:
			args = append(args, c.Name)
		case handle:
			args = append(args, "HANDLE("+c.Name+")")
		case code:
			args = append(args, "(uintptr_t)"+c.Name)
		case pointer:
			args = append(args, "POINTER("+c.Name+")")
		case counts, out:
			args = append(args, "POINTER("+c.Name+")", fmt.Sprint(width(c.Type)/8))
		}
	}
	return fmt.Sprintf("RESULT(banyan_%s(%s))", f.Call.Name, strings.Join(args, ", "))
}

// exports writes the Go functions that the C ones call.
func exports(calls []*call) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(notice)
	b.WriteString(`
package main

import "C"

import (
	"unsafe"

	"banyan/internal/mpi/binding"
)

`)
	for _, c := range calls {
		if !c.Go {
			continue
		}
		if c.Result != "Code" {
			return nil, fmt.Errorf("binding.Process.%s: only functions that return an error code can be in Go", c.Method)
		}
		var params, args []string
		switch c.Variant {
		case "Blocking":
			args = append(args, fmt.Sprintf("binding.Blocking(%q)", c.Forms[0].Name))
		case "Nonblocking", "Persistent":
			args = append(args, fmt.Sprintf("binding.%s(%q, (*binding.Request)(_request))", c.Variant, c.Forms[0].Name))
		}
		for _, p := range c.Params {
			name := "_" + p.Name
			switch p.Kind {
			case scalar, code:
				params, args = append(params, name+" "+p.Go), append(args, name)
			case handle:
				params, args = append(params, name+" uintptr"), append(args, "binding."+p.Go+"("+name+")")
			case pointer:
				params = append(params, name+" unsafe.Pointer")
				switch elem := strings.TrimPrefix(p.Go, "*"); {
				case p.Go == "unsafe.Pointer":
					args = append(args, name)
				case strings.ToLower(elem[:1]) == elem[:1]:
					args = append(args, "("+p.Go+")("+name+")")
				default:
					args = append(args, "(*binding."+elem+")("+name+")")
				}
			case counts, out:
				params = append(params, name+" unsafe.Pointer", name+"Wide int32")
				args = append(args, "binding."+p.Go+"{P: "+name+", Wide: "+name+"Wide != 0}")
			}
		}
		if shared := len(c.arguments()); shared < len(c.Params) { // the rest is in the Variant
			args = args[:1+shared]
		}
		fmt.Fprintf(&b, "//export banyan_%s\nfunc banyan_%s(%s) int32 {\n%s\treturn int32(process.%s(%s))\n}\n\n",
			c.Name, c.Name, strings.Join(params, ", "), c.nulls(), c.Method, strings.Join(args, ", "))
	}
	return format.Source(b.Bytes())
}
