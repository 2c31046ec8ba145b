package membership

import (
	"cmp"
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// This file is what members say of themselves: metadata, which are a part of views. So all members
// that have a view have the same metadata of each member, and changes come in the order of views.

// MaxMetadata bounds what a member says of itself, in bytes.
const MaxMetadata = 256

// Metadata is what a member says of itself. Each change has a higher version, from 1 on.
type Metadata struct {
	Member
	Version uint32
	Bytes   string
}

func (d *Metadata) check() error {
	switch {
	case d.Version == 0:
		return fmt.Errorf("metadata of %v without a version", d.Member)
	case len(d.Bytes) > MaxMetadata:
		return fmt.Errorf("metadata of %v have %d bytes: want at most %d", d.Member, len(d.Bytes), MaxMetadata)
	}
	return nil
}

// metadatum is the index of a process in a list that is sorted by process.
func metadatum(list []Metadata, m Member) (int, bool) {
	return slices.BinarySearchFunc(list, m, func(d Metadata, m Member) int { return cmp.Compare(d.Proc, m.Proc) })
}

// MetadataOf is what a member says of itself in this view; its version is 0 if that is nothing.
func (v *View) MetadataOf(m Member) Metadata {
	if i, ok := metadatum(v.Metadata, m); ok && v.Metadata[i].Member == m {
		return v.Metadata[i]
	}
	return Metadata{Member: m}
}

// SetMetadata gives the metadata to a view that was just made. It returns an error that says what
// is wrong with them.
func (v *View) SetMetadata(updated, all []Metadata) error {
	for i := range all {
		d := &all[i]
		switch err := d.check(); {
		case err != nil:
			return fmt.Errorf("view %d: %w", v.Number, err)
		case i > 0 && all[i-1].Proc >= d.Proc:
			return fmt.Errorf("view %d: metadata aren't in order at %v", v.Number, d.Member)
		case !v.Has(d.Member):
			return fmt.Errorf("view %d: metadata of %v, who is no member", v.Number, d.Member)
		}
	}
	v.Updated, v.Metadata = updated, all
	for i, d := range updated {
		if i > 0 && updated[i-1].Proc >= d.Proc || v.MetadataOf(d.Member) != d {
			return fmt.Errorf("view %d: metadata of %v have changed, and aren't the view's", v.Number, d.Member)
		}
	}
	v.seal()
	return nil
}

// update is the metadata of the view after v: those of its members, with changes.
func (v *View) update(w *View, updated []Metadata) {
	if len(v.Metadata)+len(updated) == 0 {
		return
	}
	w.Updated = slices.Clone(updated)
	slices.SortFunc(w.Updated, func(a, b Metadata) int { return cmp.Compare(a.Proc, b.Proc) })
	if len(updated) == 0 && len(w.Gone)+len(w.Joined) == 0 {
		w.Metadata = v.Metadata
		return
	}
	w.Metadata = make([]Metadata, 0, len(v.Metadata)+len(updated))
	for _, d := range v.Metadata {
		if _, changed := metadatum(w.Updated, d.Member); !changed && w.Has(d.Member) {
			w.Metadata = append(w.Metadata, d)
		}
	}
	w.Metadata = append(w.Metadata, w.Updated...)
	slices.SortFunc(w.Metadata, func(a, b Metadata) int { return cmp.Compare(a.Proc, b.Proc) })
}

// updates checks the changes of metadata from a base.
func (v *View) updates(base *View) error {
	for _, d := range v.Updated {
		if err := d.check(); err != nil {
			return fmt.Errorf("view %d: %w", v.Number, err)
		}
		if d.Version <= base.MetadataOf(d.Member).Version || !v.Has(d.Member) {
			return fmt.Errorf("view %d: metadata of %v of version %d", v.Number, d.Member, d.Version)
		}
	}
	return nil
}

// SetMetadata changes what this process says of itself. The change comes with a later view; of
// several that follow each other fast it may be only the last.
func (m *Machine) SetMetadata(now proto.Time, bytes string, out *Actions) {
	m.own = Metadata{m.cfg.Self, m.own.Version + 1, bytes}
	if m.view != nil && !m.over {
		m.askToUpdate(out)
		m.drive(now, out)
	}
}

// Remind repeats what this process has asked for and no view has brought. The coordinator that it
// asked may not have had it in its view. It says whether there was anything.
func (m *Machine) Remind(now proto.Time, out *Actions) bool {
	if m.over || m.view == nil || !m.leaving && !m.updating() {
		return false
	}
	if m.leaving {
		m.askToLeave(out)
	}
	m.askToUpdate(out)
	m.drive(now, out)
	return true
}

// updating says whether this process's metadata aren't in the view in force.
func (m *Machine) updating() bool { return m.own.Version > m.view.MetadataOf(m.cfg.Self).Version }

func (m *Machine) askToUpdate(out *Actions) {
	if !m.updating() {
		return
	}
	switch c, ok := m.Coordinator(); {
	case !ok:
	case c != m.cfg.Self:
		m.send(c, &Message{Kind: Update, Metadata: m.own}, out)
	default:
		m.noteUpdate(m.own)
	}
}

// noteUpdate notes what a member, or one that asks to be let in, says of itself.
func (m *Machine) noteUpdate(d Metadata) {
	if d.Version <= m.view.MetadataOf(d.Member).Version {
		return
	}
	for i := range m.updates {
		if m.updates[i].Member == d.Member {
			if m.updates[i].Version < d.Version {
				m.updates[i] = d
			}
			return
		}
	}
	m.updates = append(m.updates, d)
}

// changed are the metadata that a next view can have.
func (m *Machine) changed(gone []Departure, joined []Member) (list []Metadata) {
	for _, d := range m.updates {
		if m.view.Has(d.Member) && departed(gone, d.Member) < 0 && departed(m.gone, d.Member) < 0 || slices.Contains(joined, d.Member) {
			list = append(list, d)
		}
	}
	return list
}

// forgetUpdates drops those that the view in force has, or whose members are gone.
func (m *Machine) forgetUpdates() {
	m.updates = slices.DeleteFunc(m.updates, func(d Metadata) bool {
		return m.view.Excludes(d.Member) || d.Version <= m.view.MetadataOf(d.Member).Version
	})
}
