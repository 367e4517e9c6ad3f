package main

import (
	"fmt"
	"maps"

	"github.com/rs/zerolog"

	"toolnorm/internal/auth"
)

// readKeys reads the keys of a setting, and the keys in the file that the setting NAME-file names.
// An error says which of the two is wrong.
func (s *settings) readKeys(setting string, words []string, file string) (auth.Keys, error) {
	all, odd, err := auth.ParseKeys(words)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	s.leaveOut(setting, odd)
	if file == "" {
		return all, nil
	}
	more, odd, err := auth.ReadKeys(file)
	if err != nil {
		return nil, fmt.Errorf("%s-file: %w", setting, err)
	}
	s.leaveOut(setting+"-file", odd)
	return append(all, more...), nil
}

// withoutFormats removes the entries of the setting format that name families which cannot be read.
func (c *Config) withoutFormats(s *settings) {
	if !s.oddFamilies {
		return
	}
	s.unread = map[string]string{}
	c.Format = maps.Clone(c.Format)
	for model, name := range c.Format {
		if s.formats.Named(name) == nil {
			s.unread[model] = name
			delete(c.Format, model)
			s.leaveOut("format", []error{fmt.Errorf("there is no format %q for %s", name, model)})
		}
	}
}

// leaveOut records the parts of a setting that cannot be used.
func (s *settings) leaveOut(setting string, odd []error) {
	for _, err := range odd {
		s.odd = append(s.odd, fmt.Errorf("%s: %w", setting, err))
	}
}

// sayOdd logs the parts of the settings that are left out.
func sayOdd(log zerolog.Logger, s settings) {
	for _, err := range s.odd {
		log.Warn().Str("error", fmt.Sprintf("%.500s", err)).Msg(
			"this cannot be used and is left out; it is read again when its file changes")
	}
}
