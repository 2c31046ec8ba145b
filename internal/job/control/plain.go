package control

import (
	"math"
	"strconv"
	"time"

	"banyan/internal/proto"
)

// Most messages have only a type, numbers, and texts that JSON has as they are. Such a plain line
// is written and read here, because encoding/json takes a third of a millisecond to get to know
// the type of the first message: at each process of a job, when it says that it is ready, and when
// it hears of the first death.

// encodePlain returns the line of a message that is plain.
func encodePlain(m Message) (line []byte, ok bool) {
	if m.Card != "" || m.Opaque || len(m.Gone) > 0 || len(m.Joined) > 0 || len(m.Group) > 0 || m.Order != nil || m.Report != nil || m.Kept != nil ||
		m.Spawned != nil || len(m.Results) > 0 || len(m.Claims) > 0 || len(m.Debts) > 0 || !plain(m.Type) || !plain(m.Cause) || !plain(m.Text) {
		return nil, false
	}
	b := append(make([]byte, 0, 64+len(m.Cause)+len(m.Text)), `{"type":"`...)
	b = append(append(b, m.Type...), '"')
	b = appendNumber(b, "proc", int64(m.Proc))
	b = appendNumber(b, "incarnation", int64(m.Incarnation))
	b = appendNumber(b, "code", int64(m.Code))
	b = appendNumber(b, "pid", int64(m.Pid))
	b = appendNumber(b, "signal", int64(m.Signal))
	b = appendText(b, "cause", m.Cause)
	b = appendText(b, "text", m.Text)
	b = appendNumber(b, "silent_ns", int64(m.Silent))
	b = appendNumber(b, "input", m.Input)
	if m.Number != 0 {
		b = strconv.AppendUint(append(b, `,"number":`...), m.Number, 10)
	}
	b = appendNumber(b, "members", int64(m.Members))
	return append(b, "}\n"...), true
}

// appendNumber appends a field, unless it is 0.
func appendNumber(b []byte, name string, value int64) []byte {
	if value == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendInt(b, value, 10)
}

// appendText appends a field, unless it is empty.
func appendText(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":"`...)
	return append(append(b, value...), '"')
}

// plain says whether JSON has a text as it is.
func plain[T ~string | ~[]byte](text T) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}

// decodePlain reads a line that encodePlain may have written. Any other line isn't ok, right or
// wrong.
func decodePlain(line []byte) (m Message, ok bool) {
	p := plainParser{line}
	for before := byte('{'); p.skip(before); before = ',' {
		name, named := p.text()
		if !named || !p.skip(':') || !p.value(&m, name) {
			break
		}
		if p.skip('}') {
			return m, m.Type != "" && (len(p.rest) == 0 || string(p.rest) == "\n")
		}
	}
	return Message{}, false
}

// plainParser goes through a line.
type plainParser struct {
	rest []byte // not read yet
}

// value reads the value of the field of that name.
func (p *plainParser) value(m *Message, name []byte) bool {
	var text *string
	switch string(name) {
	case "type":
		text = (*string)(&m.Type)
	case "cause":
		text = &m.Cause
	case "text":
		text = &m.Text
	case "proc":
		return number(p, &m.Proc, math.MinInt32, math.MaxInt32)
	case "incarnation":
		return number(p, &m.Incarnation, 0, math.MaxUint32)
	case "code":
		return number(p, &m.Code, math.MinInt, math.MaxInt)
	case "pid":
		return number(p, &m.Pid, math.MinInt, math.MaxInt)
	case "signal":
		return number(p, &m.Signal, math.MinInt, math.MaxInt)
	case "silent_ns":
		return number(p, &m.Silent, math.MinInt64, math.MaxInt64)
	case "input":
		return number(p, &m.Input, math.MinInt64, math.MaxInt64)
	case "number":
		return number(p, &m.Number, 0, math.MaxInt64) // larger ones are left to encoding/json
	case "members":
		return number(p, &m.Members, math.MinInt, math.MaxInt)
	default:
		return false
	}
	s, ok := p.text()
	*text = string(s)
	return ok
}

// skip reads that character, if it is the next one.
func (p *plainParser) skip(c byte) bool {
	if len(p.rest) == 0 || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// text reads a string without escapes.
func (p *plainParser) text() ([]byte, bool) {
	if !p.skip('"') {
		return nil, false
	}
	for i, c := range p.rest {
		if c == '"' {
			s := p.rest[:i]
			p.rest = p.rest[i+1:]
			return s, plain(s)
		}
	}
	return nil, false
}

// number reads an integer that JSON allows, from least to most.
func number[T proto.Proc | proto.Incarnation | int | int64 | uint64 | time.Duration](p *plainParser, to *T, least, most int64) bool {
	n := 0
	for n < len(p.rest) && (p.rest[n] == '-' || p.rest[n] >= '0' && p.rest[n] <= '9') {
		n++
	}
	digits := string(p.rest[:n])
	value, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || value < least || value > most || strconv.FormatInt(value, 10) != digits {
		return false // such as 007, which JSON doesn't allow, and -0
	}
	p.rest = p.rest[n:]
	*to = T(value)
	return true
}
