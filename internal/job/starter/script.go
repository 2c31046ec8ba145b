package starter

import "fmt"

// followerName is the command of banyan that follows orders.
const followerName = "start-agent"

// script is a line for the login shell of another host, whichever that is. It becomes the follower:
// banyan at the path that it has here, or the one in PATH.
func script(self string) string {
	missing := quote("there is no banyan at " + self + ", nor in PATH: install it there")
	return "exec sh -c " + quote(fmt.Sprintf(`b=%s; [ -x "$b" ] || b=$(command -v banyan) || { echo %s >&2; exit 127; }; exec "$b" %s`,
		quote(self), missing, followerName))
}
