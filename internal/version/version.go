// Package version says which version a program is.
package version

import "runtime/debug"

// String returns the version of the running program. It is the version that make took from git's
// tag or, without one, the module version that go install writes into a program. If neither is
// known it is Source.
func String() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" &&
		info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return Source
}

// release is set by the linker (-X, see Makefile).
var release string

// Source is the version of this source code. Tests and builds without git report it, and
// internal/release/version.sh counts the commits since it was set.
const Source = "0.4.0-dev"
