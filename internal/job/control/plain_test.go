package control

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"
)

// The line of a plain message is that of encoding/json, whatever its numbers and texts are, and for
// every field that there is; and it is read as encoding/json reads it.
func TestPlain(t *testing.T) {
	whole := Message{
		Type: HealFailed, Proc: 1<<31 - 1, Incarnation: math.MaxUint32, Code: -1, Pid: 4194304, Signal: 9, Silent: time.Hour,
		Input: math.MaxInt64, Number: math.MaxUint64, Members: 16384,
	}
	all := []Message{{Type: Ready, Pid: 7}, {Type: Finalized}, {Type: "unknown"}, {}, whole, {Type: "a\"b"}, {Type: "<a>"}, {Type: "ä"},
		{Type: Death, Cause: "its host is lost (6 s)", Text: "it's {gone: [1, 2]}"}, {Type: Death, Cause: "a\nb"}, {Type: Abort, Code: math.MinInt, Text: "a & b"}}
	fields := reflect.ValueOf(whole)
	for i := range fields.NumField() {
		m := Message{Type: Death}
		field := reflect.ValueOf(&m).Elem().Field(i)
		switch {
		case i == 0:
			continue
		case !fields.Field(i).IsZero():
			field.Set(fields.Field(i))
		case field.Kind() == reflect.String:
			field.SetString("a \"b\"")
		case field.Kind() == reflect.Bool:
			field.SetBool(true)
		case field.Kind() == reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case field.Kind() == reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		default:
			t.Fatalf("the test has no value for %s", fields.Type().Field(i).Name)
		}
		all = append(all, m)
	}
	plain := 0
	for _, m := range all {
		want, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := encodePlain(m)
		if !ok {
			continue
		}
		plain++
		if string(got) != string(want)+"\n" {
			t.Errorf("%+v: %s, want %s", m, got, want)
		}
		if read, ok := decodePlain(got); m.Type != "" && m.Number <= math.MaxInt64 && (!ok || !reflect.DeepEqual(read, m)) {
			t.Errorf("%s: read as %+v, %v", got, read, ok)
		}
	}
	if plain != 15 {
		t.Errorf("%d of %d messages are plain", plain, len(all))
	}
}

// Lines that aren't quite plain are left to encoding/json.
func TestNotPlain(t *testing.T) {
	for _, line := range []string{
		"", "{", "{}", `{"type":"death"`, `{"type":"death",}`, `{"type":"death"}}`, `{"type":"death"} `, `{"type":""}`, `{"proc":1}`,
		`{"type":"death","proc":}`, `{"type":"death","proc":01}`, `{"type":"death","proc":-0}`, `{"type":"death","proc":1.5}`,
		`{"type":"death","proc":2147483648}`, `{"type":"death","incarnation":-1}`, `{"type":"death","number":18446744073709551615}`,
		`{"type":"death","cause":"a\u0062"}`, `{"type":"death","cause":1}`, `{"type":"death","card":"a"}`, `{"type":"death" "proc":1}`, `{"Type":"death"}`,
	} {
		if m, ok := decodePlain([]byte(line)); ok {
			t.Errorf("%s: read as %+v", line, m)
		}
	}
}

// The first plain messages of a process don't reach encoding/json.
func TestPlainIsCheap(t *testing.T) {
	line := []byte(`{"type":"death","proc":63,"signal":9,"cause":"found by the launcher"}`)
	var m Message
	if n := testing.AllocsPerRun(100, func() { m, _ = decode(line) }); n > 2 || m.Proc != 63 {
		t.Errorf("%+v, with %v allocations", m, n)
	}
}

// Whatever is taken for a plain line, encoding/json reads the same.
func FuzzPlain(f *testing.F) {
	f.Add([]byte(`{"type":"death","proc":63,"signal":9,"cause":"found by the launcher"}`))
	f.Add([]byte(`{"type":"waits","type":"ready","proc":-1,"number":3,"text":""}` + "\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		got, ok := decodePlain(line)
		if !ok {
			return
		}
		var want Message
		if err := json.Unmarshal(line, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v, %v", line, got, want, err)
		}
	})
}
