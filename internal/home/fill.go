package home

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Fill sets the fields of the struct that into points to, from the environment and the settings
// file. A field's tags say how: env names environment variables, name a setting in the file, and
// default a value for the case that neither is set. A variable wins over the file. The error names
// the first setting whose text cannot be parsed. Fill is for toolrun, which has no parser of flags.
// With the tags, a new setting is declared in one place.
func Fill(into any, env func(string) string, file map[string]any) error {
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		text := ""
		for name := range strings.SplitSeq(tag.Get("env"), ",") {
			if text == "" {
				text = env(name)
			}
		}
		if value, there := file[tag.Get("name")]; text == "" && there {
			text = strings.Trim(strings.ReplaceAll(fmt.Sprint(value), " ", ","), "[]")
		}
		if text == "" {
			text = tag.Get("default")
		}
		if err := set(v.Field(i), text); err != nil {
			return fmt.Errorf("%s: %w", tag.Get("name"), err)
		}
	}
	return nil
}

// set parses a text into a field, and returns an error if the text does not fit the field's type.
// It knows the types that the settings of toolrun have; a field of another type is left unchanged.
func set(field reflect.Value, text string) error {
	switch field.Interface().(type) {
	case string:
		field.SetString(text)
	case []string:
		if text != "" {
			field.Set(reflect.ValueOf(strings.Split(text, ",")))
		}
	case bool:
		// YAML has true and false; an empty text means that the setting was not made.
		yes, err := strconv.ParseBool(cmp.Or(text, "false"))
		if err != nil {
			return err
		}
		field.SetBool(yes)
	case int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		field.SetInt(int64(n))
	case time.Duration:
		n, err := time.ParseDuration(text)
		if err != nil {
			return err
		}
		field.SetInt(int64(n))
	}
	return nil
}
