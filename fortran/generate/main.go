// Command generate makes the Fortran side of the library from the table in package abi: mpif.h,
// the modules mpi and mpi_f08, and what they call in C: entries.c, and sections.c for buffers of
// mpi_f08. What the table doesn't say of an argument (its intent, LOGICALs, arrays) is in
// argument.go. Run it with go generate.
//
// # Fortran's conventions
//
// All arguments are passed by reference. Handles are INTEGERs (the library's own handles fit).
// Strings have no final zero; their lengths follow at the end of the argument list. The last
// argument before them is the error code. Names are in lower case with an underscore behind, as
// in gfortran. Its .true. is 1, as in C, so logicals need no translation.
//
//go:generate go run . ..
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"banyan/abi"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate DIRECTORY")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// write writes the files into a directory.
func write(dir string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate is the content of each file.
func generate() (map[string][]byte, error) {
	table, err := abi.Load()
	if err != nil {
		return nil, err
	}
	var header, entries bytes.Buffer
	if err := writeHeader(&header, table); err != nil {
		return nil, err
	}
	if err := writeEntries(&entries, table); err != nil {
		return nil, err
	}
	var sections, module, module08 bytes.Buffer
	if err := writeSections(&sections, table); err != nil {
		return nil, err
	}
	if err := writeModule(&module, table); err != nil {
		return nil, err
	}
	if err := writeModule08(&module08, table); err != nil {
		return nil, err
	}
	return map[string][]byte{
		"mpif.h": header.Bytes(), "entries.c": entries.Bytes(), "sections.c": sections.Bytes(),
		"mpi.f90": module.Bytes(), "mpi_f08.f90": module08.Bytes(),
	}, nil
}
