package starter

import (
	"fmt"
	"strings"
)

// followerName is the command of banyan that follows orders.
const followerName = "start-agent"

// script is a line for the login shell of another host, whichever that is. It becomes a command of
// banyan: of that at the path that it has here, or of the one in PATH.
func script(self string, words ...string) string {
	for i, w := range words {
		words[i] = quote(w)
	}
	missing := quote("there is no banyan at " + self + ", nor in PATH: install it there")
	return "exec sh -c " + quote(fmt.Sprintf(`b=%s; [ -x "$b" ] || b=$(command -v banyan) || { echo %s >&2; exit 127; }; exec "$b" %s`,
		quote(self), missing, strings.Join(words, " ")))
}
