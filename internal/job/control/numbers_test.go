package control

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"
)

// The line of a message that has only numbers is that of encoding/json, whatever the numbers are,
// and for every field that there is.
func TestEncodeNumbers(t *testing.T) {
	whole := Message{
		Type: HealFailed, Proc: 1<<31 - 1, Incarnation: math.MaxUint32, Code: -1, Pid: 4194304, Signal: 9, Silent: time.Hour,
		Input: math.MaxInt64, Number: math.MaxUint64, Members: 16384,
	}
	all := []Message{{Type: Ready, Pid: 7}, {Type: Finalized}, {Type: "unknown"}, {}, whole, {Type: "a\"b"}, {Type: "<a>"}, {Type: "ä"}}
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
	numbers := 0
	for _, m := range all {
		want, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := encodeNumbers(m)
		if ok {
			numbers++
		}
		if ok && string(got) != string(want)+"\n" {
			t.Errorf("%+v: %s, want %s", m, got, want)
		}
	}
	if numbers != 14 {
		t.Errorf("%d of %d messages have only numbers", numbers, len(all))
	}
}
