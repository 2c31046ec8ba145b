package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// implement finds the functions that are implemented, in Go or in C, and checks signatures.
func implement(calls []*call, root string) error {
	methods, err := scanBinding(filepath.Join(root, "internal/mpi/binding"))
	if err != nil {
		return err
	}
	native, err := scanNative(filepath.Join(root, "capi/native*.h"))
	if err != nil {
		return err
	}
	var problems []error
	for _, c := range calls {
		if m, ok := methods[c.Method]; ok {
			c.Go = true
			var want []string
			if c.Variant != "" {
				want = append(want, "Variant")
			}
			for _, p := range c.arguments() {
				want = append(want, p.Go)
			}
			if expected := strings.Join(want, ", ") + " -> " + c.Result; m != expected {
				problems = append(problems, fmt.Errorf("binding.Process.%s has\n\t%s\nand must have\n\t%s\n\t%s", c.Method, m, expected, c.signature()))
			}
		}
		for _, f := range c.Forms {
			f.Native = native[f.Name]
			delete(native, f.Name)
		}
	}
	for name := range native {
		problems = append(problems, fmt.Errorf("capi/native.h has native_%s, which is no function of the table", strings.TrimPrefix(name, "MPI_")))
	}
	return errors.Join(problems...)
}

// scanBinding is the types of each exported method of *Process, by name.
func scanBinding(dir string) (map[string]string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !f.Name.IsExported() || types.ExprString(f.Recv.List[0].Type) != "*Process" {
				continue
			}
			found[f.Name.Name] = strings.Join(typesOf(f.Type.Params), ", ") + " -> " + strings.Join(typesOf(f.Type.Results), ", ")
		}
	}
	return found, nil
}

func typesOf(fields *ast.FieldList) (list []string) {
	if fields == nil {
		return nil
	}
	for _, f := range fields.List {
		for range max(1, len(f.Names)) {
			list = append(list, types.ExprString(f.Type))
		}
	}
	return list
}

var nativePattern = regexp.MustCompile(`(?m)^static inline .*\bnative_(\w+)\(`)

// scanNative is the functions that are written in C, in files whose names match a pattern.
func scanNative(pattern string) (map[string]bool, error) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, m := range nativePattern.FindAllSubmatch(source, -1) {
			found["MPI_"+string(m[1])] = true
		}
	}
	return found, nil
}
