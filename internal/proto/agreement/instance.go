package agreement

// instance is what a member keeps of one agreement, until every live member has its decision.
type instance struct {
	entered bool // this member has contributed
	decided bool
	under   int32 // the root under which the decision was accepted
	own     Value // the contribution
	value   Value // the decision; the payload's memory is the instance's

	offer   report   // of two members: the root's contribution
	reports []report // by child, under the present root
	here    int      // how many have come
}

// report is what a child has said of one agreement.
type report struct {
	here     bool
	kind     Kind
	accepted int32
	decided  uint64
	value    Value // the payload's memory is the report's
}

func (r *report) set(m *Message) {
	payload := append(r.value.Payload[:0], m.Value.Payload...)
	*r = report{here: true, kind: m.Kind, accepted: m.Accepted, decided: m.Decided, value: m.Value}
	r.value.Payload = payload
}

// fit makes room for the reports of so many children, and empties it.
func (i *instance) fit(children int) {
	i.here = 0
	if cap(i.reports) < children {
		i.reports = append(i.reports[:cap(i.reports)], make([]report, children-cap(i.reports))...)
	}
	i.reports = i.reports[:children]
	for j := range i.reports {
		i.reports[j].here = false
	}
}

// reset makes an instance as good as new. Its memory stays.
func (i *instance) reset(children int) {
	i.fit(children)
	own, value, offer := i.own.Payload[:0], i.value.Payload[:0], i.offer.value.Payload[:0]
	*i = instance{reports: i.reports}
	i.own.Payload, i.value.Payload, i.offer.value.Payload = own, value, offer
}

// rearrange keeps the reports of the children that are still there. moved gives their new index
// by the old one, or -1.
func (i *instance) rearrange(moved []int32, children int) {
	old := append([]report(nil), i.reports...)
	i.reports, i.here = make([]report, children), 0
	for j, r := range old {
		if r.here && moved[j] >= 0 {
			i.reports[moved[j]] = r
			i.here++
		}
	}
}

// put sets v to another value, with v's own memory for the payload.
func (v *Value) put(w *Value) {
	payload := append(v.Payload[:0], w.Payload...)
	*v = *w
	v.Payload = payload
}
