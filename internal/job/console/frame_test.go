package console

import (
	"bytes"
	"reflect"
	"testing"
)

func samples() []Frame {
	return []Frame{
		{Kind: Hello, Number: Version}, {Kind: Beat}, {Kind: Refusal, Text: "no"},
		{Kind: Request, Text: "status", Data: []byte("{}")}, {Kind: Output, Stream: Stderr, Offset: 1 << 40, Data: []byte("x\n"), From: []From{{Launcher, 3, 1}, {7, 1 << 50, 1}}},
		{Kind: Ack, Stream: Stderr, Offset: 17}, {Kind: Input, Offset: 3, Data: []byte("line\n"), End: true}, {Kind: Exit, Number: 137},
	}
}

func TestFrames(t *testing.T) {
	for _, f := range samples() {
		got, err := Parse(f.Append(nil)[headSize:])
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Data) == 0 {
			got.Data = nil
		}
		if !reflect.DeepEqual(got, f) {
			t.Errorf("%+v became %+v", f, got)
		}
	}
}

func TestFramesRefused(t *testing.T) {
	long := Frame{Kind: Output, Data: make([]byte, MaxPiece+1), From: []From{{0, 0, MaxPiece + 1}}}
	short := Frame{Kind: Output, Data: make([]byte, 5), From: []From{{0, 0, 4}}}
	misplaced := Frame{Kind: Input, Data: make([]byte, 5), From: []From{{0, 0, 5}}}
	for name, b := range map[string][]byte{
		"empty": {}, "no kind": {0, 0, 0, 0, 0, 0, 0, 0}, "unknown kind": {byte(kinds), 0, 0, 0, 0, 0, 0, 0},
		"unknown stream": {byte(Output), 2, 0, 0, 0, 0, 0, 0}, "too short": {byte(Output), 0, 0, 0, 0, 0, 1},
		"something behind": {byte(Beat), 0, 0, 0, 0, 0, 0, 0, 0}, "too much output": long.Append(nil)[headSize:],
		"output of nobody": short.Append(nil)[headSize:], "input of a rank": misplaced.Append(nil)[headSize:],
		"negative offset": {byte(Output), 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0, 0, 0, 0, 0},
	} {
		if f, err := Parse(b); err == nil {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// Whatever comes is refused, or is a frame that is written as it was read.
func FuzzParse(f *testing.F) {
	for _, s := range samples() {
		f.Add(s.Append(nil)[headSize:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		frame, err := Parse(b)
		if err != nil {
			return
		}
		again, err := Parse(frame.Append(nil)[headSize:])
		if err != nil || !bytes.Equal(again.Data, frame.Data) || again.Text != frame.Text || again.Offset != frame.Offset || again.Kind != frame.Kind {
			t.Fatalf("%+v became %+v (%v)", frame, again, err)
		}
	})
}
