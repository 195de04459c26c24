package setup

import "testing"

func TestVersion(t *testing.T) {
	if got := Version("v1.2.3"); got != "v1.2.3" {
		t.Errorf("Version = %q, the linker said v1.2.3", got)
	}
	for module, want := range map[string]string{"": "dev", "(devel)": "dev", "v1.4.0": "v1.4.0"} {
		if got := stamped("dev", module); got != want {
			t.Errorf("stamped(dev, %q) = %q, want %q", module, got, want)
		}
	}
}
