package test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"banyan/abi"
	"banyan/internal/testing/cprogram"
)

// Every function of the standard's table is called once by a program in C, and answers. Most are
// called with arguments that are wrong, such as null handles: the answer is an error's class then.
// None may end the process, or say that it isn't implemented. "make count" prints the number.
func TestEveryFunction(t *testing.T) {
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(cprogram.Dir(), "every.c")
	var b bytes.Buffer
	b.WriteString(everyBegin)
	for _, f := range table.Functions {
		if f.Name != "MPI_Init" && f.Name != "MPI_Finalize" && f.Name != "MPI_Abort" { // the others are between
			b.WriteString(callOf(t, f))
		}
	}
	b.WriteString(everyEnd)
	if err := os.WriteFile(source, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(cprogram.Dir(), "every")
	if out, err := exec.Command("gcc", "-w", "-I", cprogram.Header(), "-o", program, source, cprogram.Library(), "-Wl,-rpath,"+filepath.Join(cprogram.Dir(), "lib")).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	o := cprogram.Run(t, cprogram.Tool("mpiexec"), "--timeout", "50", "-n", "1", program)
	o.Fine(t)
	var answered int
	fmt.Sscanf(o.Stdout[strings.LastIndex(strings.TrimSpace(o.Stdout), "\n")+1:], "%d answered", &answered)
	answered++ // MPI_Abort, which ends the job
	if o := cprogram.Run(t, cprogram.Tool("mpiexec"), "-n", "1", program, "abort"); o.Code != 7 {
		answered--
		t.Errorf("MPI_Abort: %v", o)
	}
	fmt.Printf("%d of %d functions answer\n", answered, len(table.Functions))
	if answered != len(table.Functions) {
		t.Error(o)
	}
}

// callOf is a call of a function, in C.
func callOf(t *testing.T, f abi.Function) string {
	params, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	var args []string
	for _, p := range params {
		args = append(args, argumentOf(f.Name, p))
	}
	call := f.Name + "(" + strings.Join(args, ", ") + ")"
	if f.Returns != "int" {
		return fmt.Sprintf("\tBEGIN(%q); %s; END(MPI_SUCCESS);\n", f.Name, call)
	}
	return fmt.Sprintf("\tBEGIN(%q); END(%s);\n", f.Name, call)
}

// argumentOf is an argument, in C.
func argumentOf(function string, p abi.Param) string {
	base := strings.TrimRight(strings.TrimPrefix(p.Type, "const "), " *")
	indirect := strings.Contains(p.Type, "*") || p.Array != ""
	switch {
	case function == "MPI_Pcontrol":
		return "0"
	case strings.HasSuffix(base, "_function") || strings.HasSuffix(base, "_fn") || strings.HasSuffix(base, "_function_c") || strings.HasSuffix(base, "_cb_function"):
		return "0"
	case indirect && (p.Name == "argc" || p.Name == "argv"):
		return "0"
	case indirect && base == "char" && strings.HasPrefix(p.Type, "const "):
		return `"banyan"`
	case indirect:
		return "scratch()"
	case base == "int" && p.Name == "fd":
		return "-1"
	case base == "int" && p.Name == "required":
		return "MPI_THREAD_SINGLE"
	case base == "int" || base == "MPI_Aint" || base == "MPI_Count" || base == "MPI_Offset":
		return "-3"
	case base == "double" || base == "MPI_Fint":
		return "0"
	}
	return "0" // a handle of MPI_T, or one that is converted
}

const everyBegin = `#define MPI_NO_DEPRECATED
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char memory[64][1 << 14];
static int next, answered;
static const char *name;

/* Zeros to read from, and room to write to. */
static void *scratch(void) {
	next = (next + 1) % 64;
	return memset(memory[next], 0, sizeof memory[next]);
}

#define BEGIN(function) (name = function, fprintf(stderr, "%s\n", name))

static void END(int code) {
	int c = MPI_SUCCESS;
	if (code != MPI_SUCCESS && MPI_Error_class(code, &c) != MPI_SUCCESS)
		printf("%s: %d has no class\n", name, code);
	else if (c == MPI_ERR_UNSUPPORTED_OPERATION)
		printf("%s isn't implemented\n", name);
	else
		answered++;
}

int main(int argc, char **argv) {
	BEGIN("MPI_Init");
	END(MPI_Init(&argc, &argv));
	if (argc > 1)
		MPI_Abort(MPI_COMM_WORLD, 7);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	freopen("/dev/null", "w", stderr);
`

const everyEnd = `	BEGIN("MPI_Finalize");
	END(MPI_Finalize());
	printf("%d answered\n", answered);
	return 0;
}
`
