package abi

import (
	"slices"
	"testing"
)

func load(t *testing.T) *Table {
	t.Helper()
	table, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// The table is complete, and each entry of it can be parsed.
func TestTable(t *testing.T) {
	table := load(t)
	if len(table.Functions) != 664 || len(table.Constants) != 364 || len(table.Types) != 48 {
		t.Errorf("%d functions, %d constants, %d types", len(table.Functions), len(table.Constants), len(table.Types))
	}
	seen := map[string]bool{}
	for _, f := range table.Functions {
		if seen[f.Name] {
			t.Errorf("%s twice", f.Name)
		}
		seen[f.Name] = true
		if _, err := f.List(); err != nil {
			t.Error(err)
		}
	}
	for _, c := range table.Constants {
		if _, _, ok := c.Number(); !ok && !slices.ContainsFunc(table.Constants, func(d Constant) bool { return d.Name == c.Value }) {
			t.Errorf("%s = %q is neither a number nor another constant", c.Name, c.Value)
		}
	}
}

func TestParams(t *testing.T) {
	f := Function{Name: "f", Params: "const void *buf, const int counts[], int ranges[][3], char *argv[], MPI_Comm comm"}
	got, err := f.List()
	if err != nil {
		t.Fatal(err)
	}
	want := []Param{{"const void *", "buf", ""}, {"const int", "counts", "[]"}, {"int", "ranges", "[][3]"},
		{"char *", "argv", "[]"}, {"MPI_Comm", "comm", ""}}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i, s := range []string{"const void *buf", "const int counts[]", "int ranges[][3]", "char *argv[]", "MPI_Comm comm"} {
		if got[i].String() != s {
			t.Errorf("%q, want %q", got[i].String(), s)
		}
	}
	if _, err := (Function{Name: "f", Params: "int"}).List(); err == nil {
		t.Error("a parameter without a name is read")
	}
}

func TestNumber(t *testing.T) {
	for s, want := range map[string]struct {
		value int64
		cast  string
	}{"((MPI_Op)0x00000020)": {32, "MPI_Op"}, "-32766": {-32766, ""}, "((MPI_Offset)-1)": {-1, "MPI_Offset"},
		"((MPI_Copy_function*)0x1)": {1, "MPI_Copy_function*"}} {
		if value, cast, ok := (Constant{Value: s}).Number(); !ok || value != want.value || cast != want.cast {
			t.Errorf("%s is %d of type %q", s, value, cast)
		}
	}
}
