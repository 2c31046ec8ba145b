package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"banyan/abi"
)

// call is one exported Go function and the C functions that call it: MPI_Send and
// MPI_Send_c, say.
type call struct {
	Name    string  // in Go: the function is banyan_Name
	Method  string  // of *binding.Process, which it calls
	Variant string  // binding's constructor of the Variant, for a collective
	Forms   []*form // the plain one first
	Params  []param
	Result  string // Go's: Code for nearly all
	Go      bool   // package binding has the method
}

// form is a C function.
type form struct {
	abi.Function
	List   []abi.Param
	Call   *call
	Native bool // it is in capi/native.h
}

// kind is how a parameter crosses from C to Go.
type kind int

const (
	scalar  kind = iota // an integer
	handle              // a named uintptr
	pointer             // a pointer, also to handles
	code                // a function pointer: a plain uintptr
	counts              // an array that is wide in some forms: Counts
	out                 // a result or inout that is wide in some forms: CountOut
)

// param is a parameter of a method.
type param struct {
	Name string
	Kind kind
	Go   string // type in package binding
}

// group finds the forms that share a method: their parameters differ only in the width of
// counts.
func group(table *abi.Table) ([]*call, error) {
	var calls []*call
	byName := map[string]*call{}
	for _, f := range table.Functions {
		list, err := f.List()
		if err != nil {
			return nil, err
		}
		fm := &form{Function: f, List: list}
		base := f.Name
		for _, suffix := range []string{"_c", "_x"} {
			base = strings.TrimSuffix(base, suffix)
		}
		if c := byName[base]; c != nil && !slices.Contains(separate, f.Name) && shareable(c.Forms[0].List, list) {
			fm.Call = c
			c.Forms = append(c.Forms, fm)
			continue
		}
		c := &call{Name: method(f.Name), Method: method(f.Name), Forms: []*form{fm}}
		fm.Call = c
		calls = append(calls, c)
		byName[f.Name] = c
	}
	for _, c := range calls {
		if err := c.translate(); err != nil {
			return nil, err
		}
	}
	collectives(calls)
	return calls, nil
}

// collectives finds the variants of each collective, which share a method: MPI_X, MPI_Ix with
// a request more, and MPI_X_init with an info object and a request more. A persistent
// send or receive has no info object.
func collectives(calls []*call) {
	byName := map[string]*call{}
	for _, c := range calls {
		byName[c.Name] = c
	}
	for _, c := range calls {
		started, persistent := byName["I"+strings.ToLower(c.Name[:1])+c.Name[1:]], byName[c.Name+"Init"]
		request := param{"request", pointer, "*Request"}
		if started == nil || !slices.Equal(started.Params, append(slices.Clone(c.Params), request)) ||
			persistent == nil || !slices.Equal(persistent.Params, append(slices.Clone(c.Params), param{"info", handle, "Info"}, request)) {
			continue
		}
		c.Variant, started.Variant, persistent.Variant = "Blocking", "Nonblocking", "Persistent"
		started.Method, persistent.Method = c.Method, c.Method
	}
}

// arguments are the parameters that go to the method: for a collective, those that its
// variants have in common.
func (c *call) arguments() []param {
	switch c.Variant {
	case "Nonblocking":
		return c.Params[:len(c.Params)-1]
	case "Persistent":
		return c.Params[:len(c.Params)-2]
	}
	return c.Params
}

// separate are large-count forms with a method of their own: MPI_Type_get_envelope tells them from
// the plain forms, and they have no array parameter, by which the method could.
var separate = []string{
	"MPI_Type_contiguous_c", "MPI_Type_vector_c", "MPI_Type_create_hvector_c",
	"MPI_Type_create_hindexed_block_c", "MPI_Type_create_resized_c",
}

func shareable(a, b []abi.Param) bool {
	return slices.EqualFunc(a, b, func(p, q abi.Param) bool {
		return p.Name == q.Name && p.Array == q.Array &&
			(p.Type == q.Type || width(p.Type) > 0 && width(q.Type) > 0)
	})
}

// width is 4 or 8 for types of integers that may differ between forms, and for pointers to
// them. It is 0 for other types.
func width(ctype string) int {
	switch strings.TrimSuffix(strings.TrimPrefix(ctype, "const "), " *") {
	case "int":
		return 4
	case "MPI_Count", "MPI_Aint", "MPI_Offset":
		return 8
	}
	return 0
}

// method is the Go name of a C function.
func method(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(name, "MPI_"), "_") {
		r := []rune(part)
		b.WriteString(string(unicode.ToUpper(r[0])) + string(r[1:]))
	}
	return b.String()
}

var reserved = []string{"len", "type", "func", "range", "map", "select", "string", "copy", "clear"}

// translate sets the method's parameters and result.
func (c *call) translate() error {
	plain := c.Forms[0]
	for i, p := range plain.List {
		varies := false
		for _, f := range c.Forms {
			varies = varies || width(f.List[i].Type) != width(p.Type)
		}
		if isWord(plain.Name, p) {
			c.Params = append(c.Params, param{goName(p.Name), code, "uintptr"})
			continue
		}
		q, err := translate(p, varies)
		if err != nil {
			return fmt.Errorf("%s: %w", plain.Name, err)
		}
		c.Params = append(c.Params, q)
	}
	c.Result = "Code"
	if plain.Returns != "int" {
		c.Result = plain.Returns // of native functions only: exports checks it
	}
	return nil
}

// isWord says that a void * is a word of the program that need not be an address: the value of
// an attribute, or the state for callbacks.
func isWord(function string, p abi.Param) bool {
	value := p.Name == "attribute_val" && (strings.HasSuffix(function, "_set_attr") || function == "MPI_Attr_put")
	return p.Type == "void *" && (value || p.Name == "extra_state" || p.Name == "user_data")
}

var handles = []string{"Comm", "Group", "Datatype", "Op", "Request", "Info", "Errhandler", "Message", "Win", "File", "Session"}

// translate is a parameter in Go. varies says that its width depends on the form.
func translate(p abi.Param, varies bool) (param, error) {
	q := param{Name: goName(p.Name)}
	base := strings.TrimPrefix(p.Type, "const ")
	stars := strings.Count(base, "*")
	base = strings.TrimRight(base, " *")
	isConst := strings.HasPrefix(p.Type, "const ")
	indirect := stars > 0 || p.Array != ""
	name, isMPI := strings.CutPrefix(base, "MPI_")
	switch {
	case strings.HasSuffix(base, "_function") || strings.HasSuffix(base, "_function_c") || strings.HasSuffix(base, "_fn"):
		q.Kind, q.Go = code, "uintptr"
	case varies && indirect && isConst:
		q.Kind, q.Go = counts, "Counts"
	case varies && indirect:
		q.Kind, q.Go = out, "CountOut"
	case varies:
		q.Kind, q.Go = scalar, "int64"
	case base == "void", stars+strings.Count(p.Array, "[]") > 1:
		q.Kind, q.Go = pointer, "unsafe.Pointer"
	case base == "char":
		q.Kind, q.Go = pointer, "*byte"
	case isMPI && slices.Contains(handles, name):
		q.Kind, q.Go = handle, name
		if indirect {
			q.Kind, q.Go = pointer, "*"+name
		}
	case base == "MPI_Status":
		q.Kind, q.Go = pointer, "*Status"
	case width(base) == 4 || base == "MPI_T_cb_safety" || base == "MPI_T_source_order":
		q.Kind, q.Go = scalar, "int32"
	case width(base) == 8:
		q.Kind, q.Go = scalar, "int64"
	case strings.HasPrefix(name, "T_"):
		q.Kind, q.Go = code, "uintptr"
	default:
		return q, fmt.Errorf("type %q of %s isn't known", p.Type, p.Name)
	}
	if q.Kind == scalar && indirect || q.Kind == code && strings.HasPrefix(name, "T_") && indirect && stars > 0 {
		q.Kind, q.Go = pointer, "*"+q.Go
	}
	return q, nil
}

func goName(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	name = strings.Join(words, "")
	if slices.Contains(reserved, name) {
		name += "_"
	}
	return name
}

// signature is the method's required signature in package binding.
func (c *call) signature() string {
	var list []string
	if c.Variant != "" {
		list = append(list, "v Variant")
	}
	params := c.arguments()
	for i, p := range params {
		s := p.Name
		if i+1 == len(params) || params[i+1].Go != p.Go {
			s += " " + p.Go
		}
		list = append(list, s)
	}
	return fmt.Sprintf("func (p *Process) %s(%s) %s", c.Method, strings.Join(list, ", "), c.Result)
}

// SignatureOf is the method for a C function, with a comment that names all functions that it
// serves.
func SignatureOf(table *abi.Table, name string) (string, error) {
	calls, err := group(table)
	if err != nil {
		return "", err
	}
	served := map[string][]string{} // C functions, by method
	var found *call
	for _, c := range calls {
		for _, f := range c.Forms {
			served[c.Method] = append(served[c.Method], f.Name)
			if f.Name == name {
				found = c
			}
		}
	}
	if found == nil {
		return "", fmt.Errorf("there is no function %s", name)
	}
	return "// " + found.Method + " is " + strings.Join(served[found.Method], ", ") + ".\n" + found.signature(), nil
}
