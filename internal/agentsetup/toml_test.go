package agentsetup

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/agenthost"
)

// TestAnyTable: whatever stands before our table, and whatever tables and comments are written
// behind it, stay as they are when it goes.
func TestAnyTable(t *testing.T) {
	server := agenthost.MCPServer(agenthost.Codex, true)

	rapid.Check(t, func(r *rapid.T) {
		tables := 0
		part := func(name string) (text string) {
			for range rapid.IntRange(0, 4).Draw(r, name) {
				tables++
				text += rapid.SampledFrom([]string{
					"# [mcp_servers.label-state]\n", "\n", fmt.Sprintf("[t%d]\nb = [\n  1, # x\n]\n", tables),
					fmt.Sprintf("  [ \"t %d\" . c ] # y\r\nd = '''\n[mcp_servers.x]\n'''\n", tables),
					fmt.Sprintf("[mcp_servers.s%d]\ncommand = \"x\"\n", tables), "[[list]]\ne = {f = 1}\n",
				}).Draw(r, name)
			}

			return text
		}

		before := rapid.SampledFrom([]string{"", "a = 1 # z\n"}).Draw(r, "top") + part("before")
		with, err := withTable([]byte(before), server)
		if err != nil {
			r.Fatalf("%v\n%s", err, before)
		}

		behind := part("behind")
		without, found, err := withoutTable([]byte(string(with)+behind), server)
		if err != nil || !found || string(without) != before+behind {
			r.Errorf("%v, %v: %q, want %q", found, err, without, before+behind)
		}
	})
}
