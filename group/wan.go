package group

import "time"

// WAN is c with times for members in several sites, whose connections are slow and fail for
// seconds: a heartbeat each half second, and a time-out of 5 s. All members of a group must have
// the same. So a site that can't be heard for less than 5 s loses nobody. The price is that the
// death of a whole host, which nobody else sees, is known only after that time, as is a cut; and
// a change of view takes some round trips between the sites. Times that c has already are left as
// they are.
func (c Config) WAN() Config {
	if c.HeartbeatPeriod == 0 {
		c.HeartbeatPeriod = 500 * time.Millisecond
	}
	if c.HeartbeatTimeout == 0 {
		c.HeartbeatTimeout = max(5*time.Second, 10*c.HeartbeatPeriod)
	}
	return c
}
