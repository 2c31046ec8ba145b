package handshake

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Peer says which process and which user is at the other end of a unix socket: the one that had
// called connect or listen.
func Peer(conn *net.UnixConn) (pid, uid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var peer *unix.Ucred
	var errno error
	if err := raw.Control(func(fd uintptr) {
		peer, errno = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, 0, err
	}
	if errno != nil {
		return 0, 0, errno
	}
	return int(peer.Pid), int(peer.Uid), nil
}

// checkUser says whether the other end of a unix socket is a process of this user.
func checkUser(conn *net.UnixConn) error {
	pid, uid, err := Peer(conn)
	if err == nil && uid != os.Geteuid() {
		err = fmt.Errorf("%w: at the other end is process %d of user %d", ErrStranger, pid, uid)
	}
	return err
}
