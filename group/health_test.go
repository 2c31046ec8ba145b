package group_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"banyan/group"
)

// A member knows the round trips to the others, and whose heartbeats come. One that is stopped is
// suspected before it is taken for dead, and its heartbeats are late afterwards.
func TestHealth(t *testing.T) {
	t.Parallel()
	const limit = 5 * time.Second
	cfg := group.Config{Name: "anna", Secret: secret, HeartbeatPeriod: 20 * time.Millisecond, HeartbeatTimeout: limit}
	anna := join(t, cfg)
	cfg.Name, cfg.Seeds = "bert", []string{anna.Self().Address}
	bert := startProcess(t, cfg)
	awaitSize(t, []testMember{bert}, 2)
	see := func(what string, is func(h *group.Health, bert *group.MemberHealth) bool) group.Health {
		t.Helper()
		var h group.Health
		if !eventually(settleLimit, func() bool {
			var ok bool
			h, ok = anna.Health()
			return ok && len(h.Others) == 1 && is(&h, &h.Others[0])
		}) {
			t.Fatalf("never %s: %+v", what, h)
		}
		return h
	}
	h := see("connected, with heartbeats", func(h *group.Health, x *group.MemberHealth) bool {
		return x.Connected && x.Heartbeats > 3 && (x.RoundTrip > 0 || runtime.GOOS != "linux")
	})
	if x := h.Others[0]; x.Name != "bert" || x.Suspicion != group.NotSuspected || x.RoundTrip > time.Second || h.View.Position("bert") != 1 || h.BytesSent == 0 || h.FramesReceived < x.Heartbeats {
		t.Errorf("%+v", h)
	}
	late := h.Late
	bert.stop()
	see("suspected", func(_ *group.Health, x *group.MemberHealth) bool {
		return x.Suspicion == group.Overdue && x.SinceHeartbeat > limit/2
	})
	bert.cont()
	h = see("late", func(h *group.Health, x *group.MemberHealth) bool {
		return h.Late > late && x.LongestGap > limit/2 && x.Suspicion == group.NotSuspected
	})
	got := map[string]float64{}
	for _, x := range anna.Metrics() {
		got[x.Name] = x.Value
	}
	if got["banyan_group_late_heartbeats_total"] < float64(h.Late) || got["banyan_group_heartbeats_total"] == 0 || got["banyan_group_suspected"] != 0 || got["banyan_group_sent_bytes_total"] == 0 {
		t.Errorf("%v", got)
	}
	b, err := json.Marshal(h)
	var back group.Health
	if err == nil {
		err = json.Unmarshal(b, &back)
	}
	if err != nil || fmt.Sprint(back) != fmt.Sprint(h) || !strings.Contains(string(b), `"Suspicion":"none"`) {
		t.Errorf("%s, %v", b, err)
	}
	anna.Close()
	if h, ok := anna.Health(); ok || h.View.Number == 0 {
		t.Errorf("after the end: %v, %+v", ok, h)
	}
}
