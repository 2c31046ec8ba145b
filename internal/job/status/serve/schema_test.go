package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"banyan/internal/job/status"
)

const (
	guide  = "../../../../docs/guide/status.md"
	schema = "../../../../docs/guide/status/event.schema.json"
)

// fits says why a value doesn't fit a JSON Schema, of which it knows what the events' has.
func fits(s map[string]any, v any, at string) error {
	for word, want := range s {
		switch word {
		case "$schema", "title", "format", "properties", "additionalProperties":
		case "type":
			is := map[string]bool{}
			switch x := v.(type) {
			case string:
				is["string"] = true
			case float64:
				is["number"], is["integer"] = true, x == math.Trunc(x)
			case []any:
				is["array"] = true
			case map[string]any:
				is["object"] = true
			}
			if !is[want.(string)] {
				return fmt.Errorf("%s is %v, want a %v", at, v, want)
			}
		case "enum":
			if !slices.Contains(want.([]any), v) {
				return fmt.Errorf("%s is %v, want one of %v", at, v, want)
			}
		case "minimum":
			if x, is := v.(float64); is && x < want.(float64) { // else "type" says so
				return fmt.Errorf("%s is %v, want at least %v", at, v, want)
			}
		case "required":
			for _, name := range want.([]any) {
				if _, is := v.(map[string]any)[name.(string)]; !is {
					return fmt.Errorf("%s lacks %v", at, name)
				}
			}
		case "items":
			for i, x := range v.([]any) {
				if err := fits(want.(map[string]any), x, fmt.Sprintf("%s[%d]", at, i)); err != nil {
					return err
				}
			}
		default:
			return fmt.Errorf("the test doesn't know %q", word)
		}
	}
	object, is := v.(map[string]any)
	if !is {
		return nil
	}
	for name, x := range object {
		of, known := s["properties"].(map[string]any)[name].(map[string]any)
		if !known {
			return fmt.Errorf("%s has %q, which the schema doesn't know", at, name)
		}
		if err := fits(of, x, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// constants are the values of status's constants whose names match.
func constants(t *testing.T, name string) (all []any) {
	t.Helper()
	text, err := os.ReadFile("../state.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\t`+name+`\s*= "([^"]+)"`).FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
	}
	return all
}

// Each event as --events writes it fits the schema, which has all kinds, states and fields; what
// doesn't fit is noticed.
func TestEventsFitSchema(t *testing.T) {
	text, err := os.ReadFile(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	properties := s["properties"].(map[string]any)
	kinds := constants(t, `Kind\w+`)
	if got := properties["kind"].(map[string]any)["enum"]; len(kinds) < 18 || !reflect.DeepEqual(got, kinds) {
		t.Errorf("the schema has the kinds\n%v, there are\n%v", got, kinds)
	}
	states := constants(t, `(?:Starting|Live|Silent|Fenced|Dead|Healing|Donor|Finished|Failed)`)
	item := properties["set"].(map[string]any)["items"].(map[string]any)
	if got := item["properties"].(map[string]any)["state"].(map[string]any)["enum"]; len(states) != 9 || !reflect.DeepEqual(got, states) {
		t.Errorf("the schema has the states\n%v, there are\n%v", got, states)
	}

	h := NewHub("heat-1")
	var out bytes.Buffer
	done := h.Record(&out)
	h.Begin(status.Job{Ranks: 2, Replicas: 1})
	o := &status.Observation{Hosts: []status.Host{{Name: "a"}}, Slots: []status.Slot{{State: status.Live}, {Rank: 1, State: status.Live, Incarnation: 3}}}
	for _, kind := range kinds { // each with all fields
		o.News = append(o.News, status.Event{Kind: kind.(string), Text: "text", Process: new(int), Rank: new(int), Replica: new(int), Host: new(int),
			Cause: "signal", Took: 0.5, File: "/x", View: 2, Members: 2})
	}
	h.Observe(o)
	h.Close()
	<-done
	lines, used := 0, map[string]bool{}
	for line := range strings.Lines(out.String()) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if err := fits(s, v, "the event"); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		for name := range v {
			used[name] = true
		}
		lines++
	}
	if lines != len(kinds)+1 {
		t.Errorf("%d lines", lines)
	}
	for name := range properties {
		if !used[name] {
			t.Errorf("no event has %q", name)
		}
	}
	for _, bad := range []string{`{"number":"1"}`, `{"number":1.5}`, `{"number":0}`, `{"kind":"party"}`, `{"set":[{"process":1}]}`, `{"rank":-1}`, `{"more":1}`, `[]`} {
		var v any
		if err := json.Unmarshal([]byte(bad), &v); err != nil {
			t.Fatal(err)
		}
		loose := map[string]any{"type": "object", "properties": properties}
		if fits(loose, v, "it") == nil {
			t.Errorf("%s fits", bad)
		}
	}
}

// The guide names each field of the state, each kind of event and each state of a process.
func TestGuideHasAllFields(t *testing.T) {
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(x reflect.Type) {
		switch x.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(x.Elem())
		case reflect.Struct:
			if seen[x] {
				return
			}
			seen[x] = true
			for i := range x.NumField() {
				name, _, _ := strings.Cut(x.Field(i).Tag.Get("json"), ",")
				names = append(names, name)
				walk(x.Field(i).Type)
			}
		}
	}
	walk(reflect.TypeFor[status.State]())
	for _, c := range append(constants(t, `Kind\w+`), constants(t, `(?:Starting|Live|Silent|Fenced|Dead|Healing|Donor|Finished|Failed)`)...) {
		names = append(names, c.(string))
	}
	if len(names) < 80 {
		t.Errorf("there are %d names only", len(names))
	}
	for _, name := range names {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("the guide lacks `%s`", name)
		}
	}
}
