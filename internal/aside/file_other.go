//go:build !unix

package aside

// smallFiles does nothing on a system that cannot limit the size of files.
func smallFiles() {}
