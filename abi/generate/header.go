package main

import (
	"bytes"
	"fmt"
	"strings"

	"banyan/abi"
)

// enums are the types whose constants are enumerators, with the prefixes of their names.
var enums = []struct{ name, prefix string }{
	{"MPI_T_cb_safety", "MPI_T_CB_"},
	{"MPI_T_source_order", "MPI_T_SOURCE_"},
}

// header writes mpi.h.
func header(table *abi.Table) ([]byte, error) {
	var b bytes.Buffer
	// Comments are C89's, because some programs are compiled so.
	b.WriteString("/* " + strings.TrimSuffix(strings.TrimPrefix(notice, "// "), "\n") + " */\n")
	b.WriteString(`/* mpi.h is the interface of libmpi_abi.so.1: the standard ABI of MPI-5.0. */
#ifndef MPI_H_INCLUDED
#define MPI_H_INCLUDED

#include <stddef.h> /* for programs that rely on other libraries' headers, which have it */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

`)
	for _, e := range enums {
		fmt.Fprintf(&b, "typedef enum %s {\n", e.name)
		for _, c := range table.Constants {
			if strings.HasPrefix(c.Name, e.prefix) {
				fmt.Fprintf(&b, "\t%s = %s,\n", c.Name, c.Value)
			}
		}
		fmt.Fprintf(&b, "} %s;\n\n", e.name)
	}
	for _, t := range table.Types {
		if body, name, ok := strings.Cut(t, "} "); ok {
			body = strings.NewReplacer("{ ", "{\n\t", "; ", ";\n\t").Replace(strings.TrimSpace(body))
			fmt.Fprintf(&b, "typedef %s\n} %s;\n", strings.Replace(body, "struct", "struct "+name, 1), name)
			continue
		}
		fmt.Fprintf(&b, "typedef %s;\n", t)
	}
	b.WriteString("\n")
	width := 0
	for _, c := range table.Constants {
		width = max(width, len(c.Name))
	}
	for _, c := range table.Constants {
		if !enumerator(c.Name) {
			fmt.Fprintf(&b, "#define %-*s %s\n", width, c.Name, c.Value)
		}
	}
	b.WriteString("\n")
	for _, prefix := range []string{"", "P"} {
		for _, f := range table.Functions {
			fmt.Fprintf(&b, "%s;\n", declaration(prefix, f))
		}
		b.WriteString("\n")
	}
	conversions(&b, table)
	b.WriteString("#ifdef __cplusplus\n}\n#endif\n\n#endif\n")
	return b.Bytes(), nil
}

func enumerator(name string) bool {
	for _, e := range enums {
		if strings.HasPrefix(name, e.prefix) {
			return true
		}
	}
	return false
}

// declaration declares a C function, with a prefix to its name.
func declaration(prefix string, f abi.Function) string {
	return fmt.Sprintf("%s %s%s(%s)", f.Returns, prefix, f.Name, f.Params)
}

// conversions writes the declarations for C programs with Fortran parts. They belong to the
// standard but not to its ABI, because the size of a Fortran INTEGER depends on the compiler.
// Here it is an int, the compilers' default.
func conversions(b *bytes.Buffer, table *abi.Table) {
	b.WriteString("typedef int MPI_Fint;\n\n")
	for _, f := range table.Functions {
		if object, ok := strings.CutSuffix(f.Name, "_toint"); ok {
			fmt.Fprintf(b, "#define %s_c2f %s_toint\n#define %s_f2c %s_fromint\n", object, object, object, object)
		}
	}
	b.WriteString(`
/* What Fortran passes for MPI_STATUS_IGNORE, in all its modules. The library for Fortran has
   these variables. A program without it has no such status, and NULL here. */
#ifdef __ELF__
extern MPI_Fint banyan_mpi_status_ignore_[] __attribute__((weak));
extern MPI_Fint banyan_mpi_statuses_ignore_[] __attribute__((weak));
#define MPI_F_STATUS_IGNORE ((MPI_Fint *)banyan_mpi_status_ignore_)
#define MPI_F_STATUSES_IGNORE ((MPI_Fint *)banyan_mpi_statuses_ignore_)
#else
#define MPI_F_STATUS_IGNORE ((MPI_Fint *)0)
#define MPI_F_STATUSES_IGNORE ((MPI_Fint *)0)
#endif
#define MPI_F08_STATUS_IGNORE ((MPI_F08_status *)(void *)MPI_F_STATUS_IGNORE)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status *)(void *)MPI_F_STATUSES_IGNORE)

/* A status of mpi_f08: the same in memory. */
typedef MPI_Status MPI_F08_status;

static __inline__ int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
	*(MPI_Status *)(void *)f_status = *c_status;
	return MPI_SUCCESS;
}

static __inline__ int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
	*c_status = *(const MPI_Status *)(const void *)f_status;
	return MPI_SUCCESS;
}

static __inline__ int MPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
	*f08_status = *c_status;
	return MPI_SUCCESS;
}

static __inline__ int MPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
	*c_status = *f08_status;
	return MPI_SUCCESS;
}

static __inline__ int MPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
	return MPI_Status_f2c(f_status, f08_status);
}

static __inline__ int MPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
	return MPI_Status_c2f(f08_status, f_status);
}

`)
}
