// Package version says which version a program is.
package version

import "runtime/debug"

// String returns the version of the program that runs: what make took from git's tag, else the
// module's version, which go install writes into a program, else Source.
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

// Source is the version of this source: what tests and builds without git say, and what
// internal/release/version.sh counts commits on.
const Source = "0.4.0-dev"
