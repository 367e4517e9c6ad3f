package main

import (
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// renamed holds the settings whose names could not be guessed, and the names that say what they do. An old name works for one
// release, as a flag, in the environment and in the file, and the log says so: remove this file in the release after.
var renamed = map[string]string{
	"quiet":      "ignore-thinking-calls", // everyone reads --quiet as less output
	"gate":       "ask-before-tools",
	"hold":       "call-buffer",
	"block":      "shell-fence",
	"unwedge":    "unload-stuck",
	"runner-b64": "runner-base64", // in the environment it was TOOLNORM_RUNNER_B_64
	"dialect":    "client-form",
}

// rename is a setting that somebody gave by its old name, spelled as it was given: "--gate", "TOOLNORM_GATE" or "gate".
type rename struct{ old, now string }

// renamedFlags returns the arguments with the present names of flags, and which ones had old ones. Behind "--" nothing is a flag.
func renamedFlags(args []string) (now []string, found []rename) {
	now = slices.Clone(args)
	for i, arg := range args {
		if arg == "--" {
			break
		}
		flag, isFlag := strings.CutPrefix(arg, "--")
		name, value, hasValue := strings.Cut(flag, "=")
		plain, isOld := renamed[name]
		if !isFlag || !isOld {
			continue
		}
		now[i] = "--" + plain
		found = append(found, rename{"--" + name, now[i]})
		if hasValue {
			now[i] += "=" + value
		}
	}
	return now, found
}

// oldVariables gives settings the values of environment variables with their old names.
type oldVariables struct{}

var _ kong.Resolver = oldVariables{}

// oldVariable returns the old variable of a setting, empty when it never had another.
// kong cuts a word at its digits: runner-b64 became TOOLNORM_RUNNER_B_64.
func oldVariable(setting string) string {
	for old, now := range renamed {
		if now == setting {
			return "TOOLNORM_" + strings.ToUpper(strings.NewReplacer("-", "_", "b64", "B_64").Replace(old))
		}
	}
	return ""
}

// Validate finds nothing wrong.
func (oldVariables) Validate(*kong.Application) error { return nil }

// Resolve returns the old variable's value, unless the present one is set.
func (oldVariables) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if value, set := os.LookupEnv(oldVariable(flag.Name)); set && len(flag.Envs) > 0 {
		if _, now := os.LookupEnv(flag.Envs[0]); !now {
			return value, nil
		}
	}
	return nil, nil
}

// renamedVariables lists the old variables that are set.
func renamedVariables() (found []rename) {
	for _, name := range renamed {
		old := oldVariable(name)
		if _, set := os.LookupEnv(old); set {
			found = append(found, rename{old, "TOOLNORM_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))})
		}
	}
	slices.SortFunc(found, func(a, b rename) int { return strings.Compare(a.old, b.old) })
	return found
}

// sayRenamed logs each old name.
func (m *Main) sayRenamed() {
	for _, r := range m.renamed {
		m.log.Warn().Str("setting", r.old).Str("use", r.now).Msg("this setting has a new name; the old one stops working in the next release")
	}
}
