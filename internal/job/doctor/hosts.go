package doctor

import (
	"fmt"
	"math"
	"strings"
)

// clockFar is how far clocks may be apart before times of several hosts mislead people, and
// clockWrong before a certificate that one of them makes isn't valid for another one.
const (
	clockFar   = 1.0
	clockWrong = 3600.0
)

// Hosts judges the other hosts of a job, from the machine here.
func Hosts(here *Facts, all []Host) (findings []Finding) {
	machines := map[string]string{here.Boot: "this machine"}
	for i := range all {
		h := &all[i]
		j := judgement{host: h.Name}
		if h.Trouble != "" {
			j.add("login", Problem, h.Trouble, advice(h.Name, h.Trouble))
			findings = append(findings, j.all...)
			continue
		}
		j.add("login", Fine, "banyan answers there", "")
		if h.Facts.Build != here.Build {
			j.add("build", Problem, "another build of banyan is there", "copy this machine's banyan there, to the same path")
		} else {
			j.add("build", Fine, "the same", "")
		}
		j.either("way back", h.Back, Problem, "it can connect to this machine", "let a firewall allow connections from "+h.Name+" to all ports of this machine: agents connect to it")
		j.clock(h)
		if other, again := machines[h.Facts.Boot]; again && h.Facts.Boot != "" {
			j.add("machine", Warning, "it is the same as "+other, "replicas of a rank never share a machine: name another host, or pass --allow-shared-host")
		} else {
			machines[h.Facts.Boot] = h.Name
		}
		if h.Slots > h.Facts.Affinity && h.Facts.Affinity > 0 {
			j.add("slots", Warning, fmt.Sprintf("%d for %d cores", h.Slots, h.Facts.Affinity), "processes will share cores, and wait for each other: name fewer slots")
		}
		findings = append(findings, j.all...)
		there := h.Facts
		there.Name = h.Name
		findings = append(findings, Machine(&there)...)
	}
	return findings
}

func (j *judgement) clock(h *Host) {
	found := fmt.Sprintf("%+.3f s, give or take %.3f s", h.Ahead, h.Within)
	switch off := math.Abs(h.Ahead) - h.Within; {
	case off > clockWrong:
		j.add("clock", Warning, found, "set it (chrony, ntpd): the certificate of --status isn't valid there, and times of several hosts in files don't fit")
	case off > clockFar:
		j.add("clock", Warning, found, "set it (chrony, ntpd): times of several hosts in reports and traces don't fit; jobs run all the same")
	default:
		j.add("clock", Fine, found, "")
	}
}

// advice says what to do if a host can't be asked. The messages are those of ssh, and of banyan.
func advice(host, trouble string) string {
	for _, x := range []struct{ has, do string }{
		{"Permission denied", "ssh-copy-id " + host + ", or start an agent for your keys: banyan never asks for a password"},
		{"Host key verification failed", "connect once by hand: ssh " + host},
		{"Could not resolve hostname", "correct the name, or put it into /etc/hosts or ~/.ssh/config"},
		{"Connection refused", "start sshd on " + host + ", or name its port in ~/.ssh/config"},
		{"No route to host", "look whether " + host + " has power and a network"},
		{"timed out", "look whether " + host + " has power and a network, and whether a firewall lets ssh through"},
		{"executable file not found", "install ssh here, or name another command with --launch-agent"},
		{"not found", "install banyan there, at the path that it has here or in its PATH"},
		{"no banyan", "install banyan there, at the path that it has here or in its PATH"},
		{"unknown command", "copy this machine's banyan there: it is an older one"},
	} {
		if strings.Contains(trouble, x.has) {
			return x.do
		}
	}
	return "try: ssh " + host + " true"
}
