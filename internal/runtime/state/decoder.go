package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// ErrCorrupt is wrapped by every error about a stream that no Encoder made.
var ErrCorrupt = errors.New("the transferred state is damaged")

// ErrDiffers is wrapped by every error about regions that differ from the reader's.
var ErrDiffers = errors.New("the state is not that of this program")

// Sink is where the bytes of the region of the same name go.
type Sink struct {
	Name string
	// Memory is filled by a region of exactly its length, unless Load is set.
	Memory []byte
	// Load takes a region of at most Limit bytes as a whole, and owns them. It is called when
	// the region's last byte has come, before the stream's checksum is known.
	Load  func(data []byte) error
	Limit uint64
}

// Decoder takes a stream apart. The regions may come in any order. Each sink needs one.
type Decoder struct {
	sinks map[string]Sink
	small []byte // the start of something of a known length that isn't complete
	need  int    // that length
	step  func(d *Decoder, b []byte) error
	sink  Sink   // the one whose bytes are coming
	data  []byte // the part of its memory that isn't filled yet
	whole []byte // all of its memory, if Load wants it
	sum   uint32
	err   error
	done  bool
}

// NewDecoder makes a Decoder. It panics if two sinks have one name.
func NewDecoder(sinks ...Sink) *Decoder {
	d := &Decoder{sinks: make(map[string]Sink, len(sinks))}
	for _, s := range sinks {
		if _, twice := d.sinks[s.Name]; twice {
			panic("state: two sinks are called " + s.Name)
		}
		d.sinks[s.Name] = s
	}
	d.expect(headLength, (*Decoder).begin)
	return d
}

// Whole tells whether the stream has come to its end, with the right checksum.
func (d *Decoder) Whole() bool { return d.done }

// Write takes the next bytes of the stream, divided in any way. It keeps none of them. After an
// error it takes nothing more.
func (d *Decoder) Write(b []byte) error {
	for len(b) > 0 && d.err == nil {
		switch {
		case d.done:
			d.err = fmt.Errorf("%w: %d bytes follow its end", ErrCorrupt, len(b))
		case d.step == nil:
			n := copy(d.data, b)
			d.sum = crc32.Update(d.sum, castagnoli(), b[:n])
			d.data, b = d.data[n:], b[n:]
			if len(d.data) == 0 {
				d.err = d.filled()
			}
		default:
			n := min(len(b), d.need-len(d.small))
			d.small, b = append(d.small, b[:n]...), b[n:]
			if len(d.small) == d.need {
				d.err = d.step(d, d.small)
			}
		}
	}
	return d.err
}

// expect says what follows: how many bytes, and what to do with them.
func (d *Decoder) expect(n int, step func(*Decoder, []byte) error) {
	d.small, d.need, d.step = d.small[:0], n, step
}

func (d *Decoder) count(b []byte) { d.sum = crc32.Update(d.sum, castagnoli(), b) }

func (d *Decoder) begin(b []byte) error {
	d.count(b)
	if [headLength]byte(b) != head {
		return fmt.Errorf("%w: it begins with %x", ErrCorrupt, b)
	}
	d.expect(2, (*Decoder).title)
	return nil
}

func (d *Decoder) title(b []byte) error {
	d.count(b)
	switch n := binary.LittleEndian.Uint16(b); {
	case n == endMark:
		d.expect(4, (*Decoder).end)
	case n == 0 || n > maxName:
		return fmt.Errorf("%w: a name of %d bytes", ErrCorrupt, n)
	default:
		d.expect(int(n)+8, (*Decoder).region)
	}
	return nil
}

func (d *Decoder) region(b []byte) error {
	d.count(b)
	name, length := string(b[:len(b)-8]), binary.LittleEndian.Uint64(b[len(b)-8:])
	sink, known := d.sinks[name]
	switch {
	case !known:
		return fmt.Errorf("%w: it has %q, which isn't registered here, or came twice", ErrDiffers, name)
	case sink.Load == nil && length != uint64(len(sink.Memory)):
		return fmt.Errorf("%w: %q has %d bytes, but %d are registered here", ErrDiffers, name, length, len(sink.Memory))
	case sink.Load != nil && length > sink.Limit:
		return fmt.Errorf("%w: %q has %d bytes, and at most %d are taken", ErrDiffers, name, length, sink.Limit)
	}
	delete(d.sinks, name)
	d.sink, d.whole = sink, nil
	d.data = sink.Memory
	if sink.Load != nil {
		d.whole = make([]byte, length)
		d.data = d.whole
	}
	d.step = nil
	if length == 0 {
		return d.filled()
	}
	return nil
}

// filled ends a region that is complete.
func (d *Decoder) filled() error {
	d.expect(2, (*Decoder).title)
	if d.sink.Load == nil {
		return nil
	}
	if err := d.sink.Load(d.whole); err != nil {
		return fmt.Errorf("%q: %w", d.sink.Name, err)
	}
	d.whole = nil
	return nil
}

func (d *Decoder) end(b []byte) error {
	if sum := binary.LittleEndian.Uint32(b); sum != d.sum {
		return fmt.Errorf("%w: its checksum is %08x, not %08x", ErrCorrupt, d.sum, sum)
	}
	if len(d.sinks) > 0 {
		return fmt.Errorf("%w: it lacks %q, which is registered here", ErrDiffers, d.lacking())
	}
	d.done = true
	return nil
}

// lacking is the first name, in alphabetical order, for which no region has come.
func (d *Decoder) lacking() (first string) {
	for name := range d.sinks {
		if first == "" || name < first {
			first = name //banyan:maporder the first in alphabetical order
		}
	}
	return first
}
