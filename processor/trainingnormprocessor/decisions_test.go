package trainingnormprocessor

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/pathologize/otelcol-train/internal/componentcheck"
	"github.com/pathologize/otelcol-train/internal/componentkit"
	"github.com/pathologize/otelcol-train/internal/trainprofile"
	"github.com/pathologize/otelcol-train/internal/trainrecord"
	"github.com/pathologize/otelcol-train/processor/trainingnormprocessor/internal/metadata"
)

func componentID(name string) component.ID { return component.NewIDWithName(metadata.Type, name) }

func isPermanent(err error) bool { return consumererror.IsPermanent(err) }

// storedStreams gives how many streams a storage holds.
func storedStreams(t *testing.T, host *componentcheck.StorageHost) int {
	t.Helper()
	n := 0
	for _, text := range host.Data(storageClient) {
		var doc shardDocument
		require.NoError(t, json.Unmarshal(text, &doc))
		n += len(doc.Streams)
	}
	return n
}

func TestStorageHoldsNoMoreStreamsThanTheMemory(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	client, err := host.GetExtensions()[host.StorageID()].(storage.Extension).GetClient(t.Context(), component.KindProcessor, componentID(""), clientName)
	require.NoError(t, err)
	set, err := createDefaultConfig().(*Config).profiles()
	require.NoError(t, err)
	begin := func(limit int) *decisions {
		d := &decisions{streams: newStreams(limit)}
		damaged, err := d.open(t.Context(), client, set)
		require.NoError(t, err)
		require.Empty(t, damaged)
		return d
	}
	use := func(d *decisions, key string) {
		stream, forgotten := d.streams.get(key, "", false)
		stream.Restore(trainprofile.Decision{Profile: set.Profile("lightning"), Offset: 5})
		require.NoError(t, d.save(t.Context(), []string{key, forgotten}))
	}
	d := begin(3)
	for _, i := range []int{2, 9, 4, 0, 1, 3, 8, 7, 6, 5} {
		use(d, fmt.Sprint(i))
		require.LessOrEqual(t, storedStreams(t, host), 3)
	}
	use(d, "7") // used again, so 6 is the least recent
	use(d, "new")
	d = begin(2) // the limit is smaller now: the oldest decision goes
	assert.Equal(t, []bool{false, true, true}, []bool{known(d, "7"), known(d, "5"), known(d, "new")})
	use(d, "5")
	assert.Equal(t, 3, storedStreams(t, host), "no write without a reason")
	use(d, "last")
	assert.Equal(t, 2, storedStreams(t, host))
	assert.Equal(t, []bool{false, true, true}, []bool{known(d, "new"), known(d, "5"), known(d, "last")})
}

func known(d *decisions, key string) bool {
	ok := d.streams.peek(key) != nil
	return ok
}

// TestEveryBatchThatGoesOnIsBackedByTheStorage has many batches of a few streams at once; each must find its decision in
// the storage when it goes on, whoever made it.
func TestEveryBatchThatGoesOnIsBackedByTheStorage(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	p := begin(t, host)
	defer p.end(t)
	var mu sync.Mutex
	p.next = func(ld plog.Logs) error {
		mu.Lock()
		defer mu.Unlock()
		v, _ := ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes().Get(trainrecord.AttrLogFilePath)
		shard := host.Data(storageClient)[shardKey(shardOf("f"+v.Str()))]
		held, err := decodeShard(shardOf("f"+v.Str()), shard)
		assert.NoError(t, err)
		assert.Contains(t, held, "f"+v.Str())
		return errBusy
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 40 {
				ld := batch(t, row{file: fmt.Sprint(i / 4), offset: -1, body: huggingFaceRow})
				assert.ErrorIs(t, p.ConsumeLogs(t.Context(), ld), errBusy)
			}
		})
	}
	wg.Wait()
}

func TestDamagedDecisionsAreSaidAndSurvived(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"no JSON":       `{"v":1,`,
		"version":       `{"v":99,"streams":[]}`,
		"wrong place":   `{"v":1,"streams":[{"key":"Zm90aGVy","profile":"lightning","offset":1,"seq":1}]}`,
		"lost profile":  "",
		"absurd offset": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := componentcheck.NewStorageHost(t)
			i := shardOf("fa")
			switch name {
			case "lost profile":
				value = `{"v":1,"streams":[{"key":"ZmE=","profile":"gone","offset":1,"seq":1}]}`
			case "absurd offset":
				value = `{"v":1,"streams":[{"key":"ZmE=","profile":"huggingface","offset":-9223372036854775808,"seq":18446744073709551615}]}`
			case "wrong place":
				require.NotEqual(t, i, shardOf("fother"))
			}
			client, err := host.GetExtensions()[host.StorageID()].(storage.Extension).GetClient(t.Context(), component.KindProcessor, componentID(""), clientName)
			require.NoError(t, err)
			require.NoError(t, client.Set(t.Context(), shardKey(i), []byte(value)))
			require.NoError(t, client.Close(t.Context()))
			p := begin(t, host)
			ld := batch(t, row{file: "a", offset: 0, body: lightningRow}, row{file: "a", offset: 50, body: plainRow})
			require.NoError(t, p.ConsumeLogs(t.Context(), ld))
			assert.Equal(t, []string{"lightning", "lightning"}, frameworks(ld))
			lines := componentcheck.FormatTelemetry(t, p.tel, "otelcol_training_norm_storage_errors")
			if name == "lost profile" || name == "absurd offset" {
				assert.Empty(t, lines)
			} else {
				assert.Equal(t, []string{series("storage_errors", `reason="damaged"`) + " 1"}, lines)
			}
			p.kill(t)
			p = begin(t, host) // and it is whole again
			defer p.end(t)
			ld = batch(t, row{file: "a", offset: 90, body: plainRow})
			require.NoError(t, p.ConsumeLogs(t.Context(), ld))
			assert.Equal(t, []string{"lightning"}, frameworks(ld))
			assert.Empty(t, componentcheck.FormatTelemetry(t, p.tel, "otelcol_training_norm_storage_errors"))
		})
	}
}

func TestStorageThatCannotBeUsedKeepsItFromStarting(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	other := componentcheck.NewStorageHost(t, componentcheck.WithStorageID(component.MustNewID("other_storage")))
	unreadable := componentcheck.NewStorageHost(t)
	unreadable.Fail(func(call componentcheck.StorageCall) error {
		if call.Op == "batch" {
			return errFull
		}
		return nil
	})
	for name, c := range map[string]struct {
		host component.Host
		want string
	}{
		"not configured": {other, "storage: extension file_storage is not configured; add it to extensions and to service::extensions"},
		"no storage":     {wrongHost{}, "storage: extension file_storage is no storage, want one such as file_storage"},
		"unreadable":     {unreadable, "storage: read the decisions: disk full"},
	} {
		p := create(t, NewFactory(), host)
		assert.EqualError(t, p.Start(t.Context(), c.host), c.want, name)
		assert.NoError(t, p.Shutdown(t.Context()), name)
	}
	assert.Empty(t, unreadable.OpenClients())
}

// TestOneIDStandsInOnePipeline needs no help of the storage, and an id is free again after a stop and after a failed start.
func TestOneIDStandsInOnePipeline(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	factory := NewFactory()
	first, second := create(t, factory, host), create(t, factory, host)
	require.Error(t, first.Start(t.Context(), wrongHost{}))
	require.NoError(t, first.Start(t.Context(), host))
	assert.EqualError(t, second.Start(t.Context(), host), "storage: training_norm stands in two pipelines of logs; give each its own id, "+
		"such as training_norm/second, or leave storage out")
	require.NoError(t, second.Shutdown(t.Context()), "the loser takes nothing away")
	assert.Len(t, host.OpenClients(), 1)
	stranger := create(t, NewFactory(), host)
	assert.ErrorContains(t, stranger.Start(t.Context(), host), "open the client of ")
	require.NoError(t, first.Shutdown(t.Context()))
	require.NoError(t, second.Start(t.Context(), host))
	require.NoError(t, second.Shutdown(t.Context()))
}

func TestNothingNewGoesOnWhenTheStorageIsClosed(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	p := begin(t, host)
	p.end(t)
	assert.ErrorIs(t, p.ConsumeLogs(context.Background(), batch(t, row{file: "a", offset: 40, body: lightningRow})), errClosed)
	assert.Empty(t, p.seen)
}

func create(t *testing.T, factory processor.Factory, host *componentcheck.StorageHost) component.Component {
	t.Helper()
	set := processortest.NewNopSettings(metadata.Type)
	set.ID = componentID("")
	id := host.StorageID()
	p, err := factory.CreateLogs(t.Context(), set, &Config{Timezone: "UTC", Storage: &id}, consumertest.NewNop())
	require.NoError(t, err)
	return p
}

// wrongHost has an extension of the storage's name that is none.
type wrongHost struct{}

func (wrongHost) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{component.MustNewID("file_storage"): notStorage{}}
}

type notStorage struct {
	component.StartFunc
	component.ShutdownFunc
}

func TestAForgottenStreamLeavesTheStorageWithTheBatchThatForgetsIt(t *testing.T) {
	t.Parallel()
	host := componentcheck.NewStorageHost(t)
	set := processortest.NewNopSettings(metadata.Type)
	set.ID = componentID("")
	id := host.StorageID()
	n, err := newLogNormalizer(&Config{Timezone: "UTC", Storage: &id}, set, &componentkit.Claims{})
	require.NoError(t, err)
	n.streams.limit = 2
	require.NoError(t, n.start(t.Context(), host))
	for i, body := range []map[string]any{lightningRow, lightningRow, plainRow, plainRow} {
		_, err := n.processLogs(t.Context(), batch(t, row{file: fmt.Sprint(i), offset: 40, body: body}))
		require.NoError(t, err)
		assert.Equal(t, []int{1, 2, 1, 0}[i], storedStreams(t, host))
	}
	require.NoError(t, n.shutdown(t.Context()))
	require.NoError(t, n.shutdown(t.Context()))
	assert.Empty(t, host.OpenClients())
}
