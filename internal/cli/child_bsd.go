//go:build unix && !linux

package cli

import "syscall"

// dieTogether does nothing: only Linux has parent-death signals.
func dieTogether(*syscall.SysProcAttr) {}
