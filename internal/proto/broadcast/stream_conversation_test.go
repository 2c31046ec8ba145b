package broadcast

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"banyan/internal/proto"
)

// TestStreamConversations runs the scripts in testdata/stream. A script names a few members and
// says what each does and when. Time stays at 0 except for ticks and sends.
func TestStreamConversations(t *testing.T) {
	datadriven.Walk(t, "testdata/stream", func(t *testing.T, path string) {
		var members []*Stream
		var links [][]Frame
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var size, window, at, from, root, gone, now, after, number int
			var payload string
			d.MaybeScanArgs(t, "size", &size)
			d.MaybeScanArgs(t, "window", &window)
			d.MaybeScanArgs(t, "at", &at)
			d.MaybeScanArgs(t, "from", &from)
			d.MaybeScanArgs(t, "root", &root)
			d.MaybeScanArgs(t, "gone", &gone)
			d.MaybeScanArgs(t, "now", &now)
			d.MaybeScanArgs(t, "after", &after)
			d.MaybeScanArgs(t, "number", &number)
			d.MaybeScanArgs(t, "payload", &payload)
			var out StreamActions
			switch d.Cmd {
			case "new":
				members, links = nil, make([][]Frame, size*size)
				for i := range size {
					members = append(members, NewStream(StreamConfig{
						Self: i, Size: size, Window: window, OfferAbove: 8, Distance: 1, PullDelay: 100, CorrectAfter: proto.Time(after),
					}))
				}
			case "start":
				if at == root && !members[at].MayStart() {
					return "no room\n"
				}
				var p []byte
				if at == root {
					p = []byte(payload)
				}
				members[at].Start(0, root, p, &out)
			case "send": // all that it has
				for members[at].SendReady(proto.Time(now), &out) {
				}
			case "deliver": // all that is under way on a link
				link := from*len(members) + at
				for _, f := range links[link] {
					members[at].Receive(0, from, f, &out)
				}
				links[link] = nil
			case "heard":
				members[at].Heard(0, from, uint64(number), &out)
			case "dead":
				members[at].Dead(0, gone, &out)
			case "tick":
				members[at].Tick(proto.Time(now), &out)
			default:
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			var b strings.Builder
			for _, a := range out {
				b.WriteString(describeStream(a))
				if a.Kind == SendFrame {
					a.Frame.Payload = bytes.Clone(a.Frame.Payload)
					link := at*len(members) + a.To
					links[link] = append(links[link], a.Frame)
				}
			}
			if b.Len() == 0 {
				return "nothing\n"
			}
			return b.String()
		})
	})
}

func describeStream(a StreamAction) string {
	f := a.Frame
	switch a.Kind {
	case Coloured:
		return fmt.Sprintf("coloured %d: %s\n", f.Number, f.Payload)
	case Failed:
		return fmt.Sprintf("failed %d: root %d is gone\n", f.Number, a.To)
	case Recycle:
		if _, ok := readDigest(f.Payload); ok {
			return "recycle a digest\n"
		}
		return fmt.Sprintf("recycle %s\n", f.Payload)
	}
	names := [...]string{"tree", "correction", "offer", "pull", "missing", "report"}
	s := fmt.Sprintf("%s %d of root %d to %d", names[f.Kind], f.Number, f.Root, a.To)
	if f.Kind <= FrameCorrection {
		s += ": " + string(f.Payload)
	}
	return s + "\n"
}
