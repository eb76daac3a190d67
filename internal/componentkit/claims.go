package componentkit

import "sync"

// Claims are what one component at a time may have, such as the storage client of its id or the file of its report, whether or not what is
// behind it refuses a second one. The zero value is ready; it may be used by many goroutines.
type Claims struct {
	mu sync.Mutex
	of map[any]any
}

// Take gives what to who, and answers false when another has it, or who has it already.
func (c *Claims) Take(what, who any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.of[what]; taken {
		return false
	}
	if c.of == nil {
		c.of = map[any]any{}
	}
	c.of[what] = who
	return true
}

// Release lets go of what who has; of what another has it does nothing.
func (c *Claims) Release(what, who any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[what] == who {
		delete(c.of, what)
	}
}
