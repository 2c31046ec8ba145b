package table

import (
	"bytes"
	"math"
	"testing"
)

type row struct {
	name  string
	ratio float64
	known bool
}

var columns = []Column[row]{
	Col("name", func(r *row) any { return r.name }),
	Col("ratio", func(r *row) any { return Optional(r.ratio, r.known) }),
}

var rows = []row{{"a, b", 1.0 / 3, true}, {"c", 0, false}}

func TestWrite(t *testing.T) {
	for format, want := range map[Format]string{
		Text: "name  ratio\na, b  0.3333\nc     -\n",
		CSV:  "name,ratio\n\"a, b\",0.333333333\nc,\n",
		JSON: "[\n  {\"name\": \"a, b\", \"ratio\": 0.333333333},\n  {\"name\": \"c\", \"ratio\": null}\n]\n",
	} {
		var out bytes.Buffer
		if err := Write(&out, format, columns, rows); err != nil || out.String() != want {
			t.Errorf("%s: %v, wrote %q, want %q", format, err, &out, want)
		}
	}
	if err := Write(new(bytes.Buffer), "xml", columns, rows); err == nil || Format("xml").Validate() == nil {
		t.Error("xml is no format")
	}
	if err := Write(new(bytes.Buffer), JSON, columns, []row{{"", math.Inf(1), true}}); err == nil {
		t.Error("JSON has no infinity")
	}
}

func TestWriteRecord(t *testing.T) {
	for i, want := range []string{"name   a, b\nratio  0.3333\n", "name  c\n"} {
		var out bytes.Buffer
		if err := WriteRecord(&out, columns, &rows[i]); err != nil || out.String() != want {
			t.Errorf("%v, wrote %q, want %q", err, &out, want)
		}
	}
}
