package table

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestReadCSV(t *testing.T) {
	read := func(text string) ([]int, error) {
		return ReadCSV(strings.NewReader(text), []string{"a", "b"}, "a test", func(fields []string) (int, error) {
			return strconv.Atoi(fields[0] + fields[1])
		})
	}
	if rows, err := read("a,b\n1,2\n3,4\n"); err != nil || !slices.Equal(rows, []int{12, 34}) {
		t.Errorf("%v, %v", rows, err)
	}
	for text, want := range map[string]string{
		"":                "is empty",
		"b,a\n1,2\n":      `heading "b,a": want a,b, as a test writes`,
		"a,b\n1,2\nx,4\n": "line 3: ",
		"a,b\n1\n":        "wrong number of fields",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
