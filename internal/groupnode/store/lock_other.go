//go:build !windows && (!unix || solaris || illumos || aix)

package store

import "os"

// tryLock can't lock here.
func tryLock(*os.File) error { return nil }
