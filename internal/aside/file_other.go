//go:build !unix

package aside

// smallFiles does nothing where a system has no such limit.
func smallFiles() {}
