// Package isolateconnector is the isolate connector: a bounded, never-failing hop between two pipelines of the same
// signal. It copies each batch and the client metadata of its call into a queue bounded in bytes and answers nil at once,
// whatever happens behind it: a backend that refuses, hangs or is down ends here. When the queue is full the oldest
// batches are dropped, and counted.
package isolateconnector
