package main

import (
	"errors"
	"fmt"
	"strings"
)

// options holds a parsed command line.
type options struct {
	help, list, version bool
	describe            string // the tool to describe
	completion          string // the shell to write completions for
	call                string // the id of a call that the proxy stores
	b64                 string // the arguments in Base64
	url                 string // the only proxy that may be asked
	data, store, config string

	name string   // of the tool
	args []string // the words after the name: the arguments, or none
}

// parse returns the options of a command line, or an error if it is wrong. Options come before the
// name of the tool. Nothing after the name is an option, so a model's argument such as --data is
// never taken for one. "--" ends the options, for a name that begins with a dash.
func parse(args []string) (o options, err error) {
	words := map[string]*string{
		"--describe": &o.describe, "--completion": &o.completion, "--call": &o.call,
		"--b64": &o.b64,
		"--url": &o.url, "--data": &o.data, "--store": &o.store, "--config": &o.config,
	}
	given := map[string]bool{}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		option, value, joined := strings.Cut(args[0], "=")
		args = args[1:]
		if option == "--" && !joined {
			break
		}
		word, takesWord := words[option]
		if takesWord && !joined && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		switch {
		case given[option]:
			return o, fmt.Errorf("%s is given twice", option)
		case takesWord && value == "":
			return o, fmt.Errorf("%s needs a value", option)
		case takesWord:
			*word = value
		case joined:
			return o, fmt.Errorf("option %s does not exist or takes no value", option)
		case option == "--list":
			o.list = true
		case option == "--version":
			o.version = true
		case option == "--help", option == "-h":
			o.help = true
		default:
			return o, fmt.Errorf("unknown option %s", option)
		}
		given[option] = true
	}
	if len(args) > 0 {
		o.name, o.args = args[0], args[1:]
	}
	return o, o.check(given)
}

// check returns an error for options that cannot be combined. A wrong command line runs nothing,
// because guessing its meaning could run a tool that changes something.
func (o *options) check(given map[string]bool) error {
	var alone []string // options that need no name
	for _, option := range []string{"--list", "--describe", "--completion", "--call"} {
		if given[option] {
			alone = append(alone, option)
		}
	}
	switch {
	case o.help, o.version:
		return nil
	case len(alone) > 1:
		return fmt.Errorf("%s cannot be combined", strings.Join(alone, " and "))
	case len(alone) == 1 && (o.name != "" || len(o.args) > 0 || given["--b64"]):
		return fmt.Errorf("%s cannot be combined with a tool", alone[0])
	case len(alone) == 1:
		return nil
	case o.name == "":
		return errors.New("no tool given; toolrun --list names them")
	case given["--b64"] && len(o.args) > 0:
		return errors.New("the arguments are given twice, by --b64 and after the name")
	case len(o.args) > 1:
		return fmt.Errorf(
			"%d words follow the name; pass the arguments as one JSON text in single quotes",
			len(o.args))
	}
	return nil
}
