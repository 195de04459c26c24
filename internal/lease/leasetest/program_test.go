package leasetest

import (
	"net"
	"testing"
)

// TestFreePorts: a port that is handed out is none that a listener may get that asks for any, so
// that a server which is killed finds it free again.
func TestFreePorts(t *testing.T) {
	ports := FreePorts(t, 20)
	seen := map[int]bool{}
	for _, port := range ports {
		if port < 1024 || port >= 32768 || seen[port] {
			t.Errorf("port %d, seen %t", port, seen[port])
		}
		seen[port] = true
		l, err := net.Listen("tcp", Loopback(port))
		if err != nil {
			t.Errorf("port %d is not free: %v", port, err)
			continue
		}

		_ = l.Close() // the test is over
	}
}
