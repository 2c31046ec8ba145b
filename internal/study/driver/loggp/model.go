package loggp

import (
	"math"

	"banyan/internal/proto"
	"banyan/internal/study/field"
)

// Model are LogGP's parameters. P is how many nodes a Network has.
type Model struct {
	Latency  proto.Time // L, nanoseconds, at least 1
	Overhead proto.Time // o, of sending and of receiving, nanoseconds: the nodes spend it
	Gap      proto.Time // g, between two frames of one port, nanoseconds
	PerByte  float64    // G, nanoseconds for each byte
}

// longest bounds each parameter: sums of a few billion don't overflow.
const longest = proto.Time(1e9)

// Validate says which parameter is impossible. The fields are called latency, overhead, gap and
// per_byte.
func (m *Model) Validate() error {
	switch {
	case m.Latency < 1 || m.Latency > longest:
		return field.Errorf("latency", "%d ns: want 1ns to 1s", m.Latency)
	case m.Overhead < 0 || m.Overhead > longest:
		return field.Errorf("overhead", "%d ns: want 0 to 1s", m.Overhead)
	case m.Gap < 0 || m.Gap > longest:
		return field.Errorf("gap", "%d ns: want 0 to 1s", m.Gap)
	case !(m.PerByte >= 0 && m.PerByte <= 1e6):
		return field.Errorf("per_byte", "%v ns: want 0 to 1e6", m.PerByte)
	}
	return nil
}

// Occupied is how long a frame occupies a port.
func (m *Model) Occupied(size uint32) proto.Time { return max(m.Gap, m.Stretch(size)) }

// Stretch is s·G, from the first byte of a frame to its last.
func (m *Model) Stretch(size uint32) proto.Time {
	return proto.Time(math.Round(m.PerByte * float64(size)))
}
