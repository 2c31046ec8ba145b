package binding

import "banyan/internal/runtime/lane"

// C sends and receives small messages of committed types itself (package lane), if it knows where
// their data lies.

// tellLane makes a type that was committed just now known to C.
func (p *Process) tellLane(o *datatype) {
	if p.job.Engine().Lane() == nil || o.handle < firstHandle || o.Size() == 0 || o.Size() > lane.MaxSize {
		return
	}
	var runs []lane.Run
	if !o.Runs(func(disp, size int64) bool {
		runs = append(runs, lane.Run{Disp: disp, Size: size})
		return len(runs) <= lane.MaxRuns
	}) {
		return
	}
	_, extent := o.Extent()
	o.runs = runs
	p.job.Engine().SetType(uint64(o.handle), extent, runs)
}

// dropFromLane has C forget a type whose handle is about to be freed.
func (p *Process) dropFromLane(o *datatype) {
	if o.runs != nil {
		p.job.Engine().DropType(uint64(o.handle))
		o.runs = nil
	}
}
