// Command toolnorm serves an OpenAI-compatible endpoint in front of local models, whose tool calls it turns into strict
// ones while they stream. "toolnorm serve -h" lists its settings.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "toolnorm: %v\n", err)
		os.Exit(1)
	}
}

// run does what the arguments say until ctx ends. A second signal kills, since the first one gives the signals back.
func run(ctx context.Context, args []string) error {
	m := NewMain(os.Stdout, os.Stderr)
	switch err := m.ParseFlags(args); {
	case errors.Is(err, errDone):
		return nil
	case err != nil:
		return err
	}
	if err := m.Run(); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case err := <-m.Failed():
		return errors.Join(err, m.Close())
	}
	return m.Close()
}
