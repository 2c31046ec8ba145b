package file

import (
	"errors"
	"fmt"
	"math"
	"sort"

	types "banyan/internal/mpi/datatype"
)

// Errors of views, for errors.Is.
var (
	ErrView = errors.New("invalid view")
	ErrFar  = errors.New("beyond the largest offset")
)

// View is what a rank sees of a file: the bytes of a filetype, which repeats without end, from a
// displacement on. It never changes. A filetype without bytes is for a rank that takes part with no
// data.
type View struct {
	disp     int64
	etype    int64 // bytes of an elementary type, in the file
	filetype *types.Type
	size     int64 // bytes of an instance of filetype
	extent   int64
	plain    bool // no gaps
	once     bool // instances would overlap: only the first can be accessed
}

// NewView checks a view. The types are as they lie in the file.
func NewView(disp int64, etype, filetype *types.Type) (*View, error) {
	_, extent := filetype.Extent()
	trueLB, trueExtent := filetype.TrueExtent()
	size, e := filetype.Size(), etype.Size()
	switch {
	case disp < 0:
		return nil, fmt.Errorf("%w: the displacement is %d", ErrView, disp)
	case e <= 0:
		return nil, fmt.Errorf("%w: the etype has %d bytes", ErrView, e)
	case size%e != 0:
		return nil, fmt.Errorf("%w: the filetype has %d bytes, which are no whole number of etypes of %d", ErrView, size, e)
	case trueLB < 0:
		return nil, fmt.Errorf("%w: the filetype begins at %d", ErrView, trueLB)
	case !filetype.Ascends():
		return nil, fmt.Errorf("%w: the filetype's displacements don't ascend", ErrView)
	}
	first, contiguous := filetype.Contiguous(2)
	return &View{
		disp: disp, etype: e, filetype: filetype, size: size, extent: extent,
		plain: size > 0 && contiguous && first == 0, once: extent < trueExtent,
	}, nil
}

// Etype is the number of bytes of an elementary type.
func (v *View) Etype() int64 { return v.etype }

// Bytes is the number of bytes of the view before an offset in etypes.
func (v *View) Bytes(offset int64) (int64, error) {
	if offset < 0 || offset > math.MaxInt64/v.etype {
		return 0, fmt.Errorf("%w: %d etypes of %d bytes", ErrFar, offset, v.etype)
	}
	return offset * v.etype, nil
}

// Position is the place in the file of a byte of the view.
func (v *View) Position(skip int64) (int64, error) {
	if v.size == 0 {
		return 0, fmt.Errorf("%w: the filetype has no bytes", ErrView)
	}
	instance, into := skip/v.size, skip%v.size
	if v.once && instance > 0 {
		return 0, fmt.Errorf("%w: byte %d of the view is in the filetype's second instance, which would overlap the first: that ends at %d, and the extent is %d", ErrView, skip, v.trueEnd(), v.extent)
	}
	if instance > (math.MaxInt64-v.disp)/max(v.extent, 1) {
		return 0, ErrFar
	}
	at, in := v.disp+instance*v.extent, into
	if !v.plain {
		in = v.filetype.Position(into)
	}
	if in > math.MaxInt64-at {
		return 0, ErrFar
	}
	return at + in, nil
}

// Runs are the places in the file of n bytes of the view, from byte skip on.
func (v *View) Runs(skip, n int64) ([]Run, error) {
	if n == 0 {
		return nil, nil
	}
	if n > math.MaxInt64-skip {
		return nil, ErrFar
	}
	if last, err := v.Position(skip + n - 1); err != nil {
		return nil, err
	} else if last == math.MaxInt64 {
		return nil, ErrFar
	}
	if v.plain {
		return []Run{{v.disp + skip, n}}, nil
	}
	var runs []Run
	for at := v.disp + skip/v.size*v.extent; n > 0; at += v.extent {
		v.filetype.RunsFrom(skip%v.size, func(disp, size int64) bool {
			size = min(size, n)
			runs = add(runs, at+disp, size)
			n -= size
			return n > 0
		})
		skip = 0
	}
	return runs, nil
}

// Before is how many bytes of the view lie before a position in the file.
func (v *View) Before(end int64) int64 {
	if end <= v.disp || v.size == 0 {
		return 0
	}
	if v.plain {
		return end - v.disp
	}
	// The instances lie one behind another from the first byte of the first on.
	first, _ := v.filetype.TrueExtent()
	if end -= v.disp + first; end <= 0 {
		return 0
	}
	instances, rest := int64(0), end
	if !v.once {
		instances, rest = end/v.extent, end%v.extent
	}
	in := sort.Search(int(v.size), func(i int) bool { return v.filetype.Position(int64(i))-first >= rest })
	return instances*v.size + int64(in)
}

// trueEnd is where the bytes of an instance end.
func (v *View) trueEnd() int64 {
	lb, n := v.filetype.TrueExtent()
	return lb + n
}
