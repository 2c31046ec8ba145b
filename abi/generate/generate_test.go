package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"banyan/abi"
)

func table(t *testing.T) *abi.Table {
	t.Helper()
	table, err := abi.Load()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestCurrent fails if "go generate ./abi" would change anything.
func TestCurrent(t *testing.T) {
	const root = "../.."
	files, err := Generate(table(t), root)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if old, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(old) != string(content) {
			t.Errorf("%s isn't current: run go generate ./abi (%v)", name, err)
		}
	}
}

func TestSignature(t *testing.T) {
	for name, want := range map[string]string{
		"MPI_Send_c":              "func (p *Process) Send(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm) Code",
		"MPI_Gatherv":             "func (p *Process) Gatherv(v Variant, sendbuf unsafe.Pointer, sendcount int64, sendtype Datatype, recvbuf unsafe.Pointer, recvcounts, displs Counts, recvtype Datatype, root int32, comm Comm) Code",
		"MPI_Type_size_x":         "func (p *Process) TypeSize(datatype Datatype, size CountOut) Code",
		"MPI_Op_create_c":         "func (p *Process) OpCreateC(userFn uintptr, commute int32, op *Op) Code",
		"MPI_Type_get_envelope_c": "func (p *Process) TypeGetEnvelopeC(datatype Datatype, numIntegers, numAddresses, numLargeCounts, numDatatypes *int64, combiner *int32) Code",
		"MPI_Comm_set_attr":       "func (p *Process) CommSetAttr(comm Comm, commKeyval int32, attributeVal uintptr) Code",
		"MPI_Comm_get_attr":       "func (p *Process) CommGetAttr(comm Comm, commKeyval int32, attributeVal unsafe.Pointer, flag *int32) Code",
		"MPI_Reduce_init_c":       "func (p *Process) Reduce(v Variant, sendbuf, recvbuf unsafe.Pointer, count int64, datatype Datatype, op Op, root int32, comm Comm) Code",
		"MPI_Ibarrier":            "func (p *Process) Barrier(v Variant, comm Comm) Code",
		"MPI_Send_init":           "func (p *Process) SendInit(buf unsafe.Pointer, count int64, datatype Datatype, dest, tag int32, comm Comm, request *Request) Code",
		"MPI_Waitall":             "func (p *Process) Waitall(count int32, arrayOfRequests *Request, arrayOfStatuses *Status) Code",
	} {
		got, err := SignatureOf(table(t), name)
		if err != nil || !strings.HasSuffix(got, "\n"+want) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if _, err := SignatureOf(table(t), "MPI_Sendd"); err == nil {
		t.Error("there is an MPI_Sendd")
	}
}

// Each function is in one exported Go function, and no two of those have the same name. Only
// the variants of a collective share a method.
func TestMethods(t *testing.T) {
	calls, err := group(table(t))
	if err != nil {
		t.Fatal(err)
	}
	forms, names, methods := 0, map[string]bool{}, map[string][]string{}
	for _, c := range calls {
		forms += len(c.Forms)
		if names[c.Name] {
			t.Errorf("%s twice", c.Name)
		}
		names[c.Name] = true
		methods[c.Method] = append(methods[c.Method], c.Variant)
	}
	if forms != 664 {
		t.Errorf("%d functions", forms)
	}
	collectives := 0
	for method, variants := range methods {
		slices.Sort(variants)
		switch {
		case slices.Equal(variants, []string{"Blocking", "Nonblocking", "Persistent"}):
			collectives++
		case !slices.Equal(variants, []string{""}):
			t.Errorf("%s has the variants %q", method, variants)
		}
	}
	if collectives != 22 {
		t.Errorf("%d collectives", collectives)
	}
}

// A method with a wrong signature is an error, and so are a native function of a wrong name and a
// function that nobody has written.
func TestWrongSignature(t *testing.T) {
	root := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("capi/native.h", "static inline double native_Wtime(void)\n")
	write("internal/mpi/binding/a.go", "package binding\nfunc (p *Process) Barrier(v Variant, comm Comm) Code { return 0 }\n")
	if _, err := Generate(table(t), root); err == nil || !strings.Contains(err.Error(), "is neither a method of package binding nor in capi/native.h") {
		t.Errorf("functions that nobody has written: %v", err)
	}
	write("internal/mpi/binding/a.go", "package binding\nfunc (p *Process) Barrier(v Variant, comm uintptr) Code { return 0 }\n")
	if _, err := Generate(table(t), root); err == nil || !strings.Contains(err.Error(), "Barrier(v Variant, comm Comm) Code") {
		t.Errorf("a wrong signature: %v", err)
	}
	write("internal/mpi/binding/a.go", "package binding\n")
	write("capi/native.h", "static inline double native_Time(void)\n")
	if _, err := Generate(table(t), root); err == nil || !strings.Contains(err.Error(), "native_Time") {
		t.Errorf("a native function that isn't in the table: %v", err)
	}
}
