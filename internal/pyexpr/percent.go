package pyexpr

// percent computes format % args.
func percent(m *machine, format string, args value) (value, error) {
	return nil, unsupported("%", format, args)
}
