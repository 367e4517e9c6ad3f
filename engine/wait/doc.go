// Package wait bounds every wait for a model server and keeps the client's connection alive meanwhile: the [Pulse] of a
// reply, the limits of its waits, and the queue in front of a busy server.
package wait
