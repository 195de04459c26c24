package setup

import "runtime/debug"

// Version is the version of this program: what the linker was told, else the version of the module
// that "go install module@version" or a checkout was built from. linked is "dev" when the linker was
// told nothing.
func Version(linked string) string {
	b, ok := debug.ReadBuildInfo()
	if linked != "dev" || !ok {
		return linked
	}
	return stamped(linked, b.Main.Version)
}

func stamped(linked, module string) string {
	if module == "" || module == "(devel)" {
		return linked
	}
	return module
}
