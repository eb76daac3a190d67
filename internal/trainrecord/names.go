package trainrecord

// Namespace is the prefix of every attribute key and event name of the vocabulary.
const Namespace = "pathologize.ml.training"

// SchemaName is the value of a line's "schema" key without its version; see SchemaVersion.
const SchemaName = Namespace + "/"

// Version of the vocabulary. It is also the version of the scope of every record.
const (
	SchemaVersion = "1"
	Schema        = SchemaName + SchemaVersion
	ScopeName     = Namespace
)

// SchemaURL is that of the vocabulary's version; resource and scope of every record carry it.
const SchemaURL = "https://pathologize.ml/schemas/training/" + SchemaVersion

// Event names as a line spells them. EventName gives the OpenTelemetry spelling.
const (
	EventRunStart       = "run.start"
	EventEpochEnd       = "epoch.end"
	EventStepEnd        = "step.end"
	EventPhaseStart     = "phase.start"
	EventPhaseEnd       = "phase.end"
	EventCheckpointSave = "checkpoint.save"
	EventArtifact       = "artifact"
	EventRunFailure     = "run.failure"
	EventRunEnd         = "run.end"
	EventHeartbeat      = "heartbeat"
	EventLog            = "log"
	EventStreamStatus   = "stream.status"
)

// Attribute keys on log records and spans; the registry says which may be on metrics.
const (
	AttrRunID           = Namespace + ".run.id"
	AttrRunAttempt      = Namespace + ".run.attempt"
	AttrRunRank         = Namespace + ".run.rank"
	AttrRunPart         = Namespace + ".run.part"
	AttrRunOutcome      = Namespace + ".run.outcome"
	AttrFramework       = Namespace + ".framework"
	AttrPhase           = Namespace + ".phase"
	AttrTaskFamily      = Namespace + ".task.family"
	AttrEpochCurrent    = Namespace + ".epoch.current"
	AttrEpochPlanned    = Namespace + ".epoch.planned"
	AttrRecordError     = Namespace + ".record.error"
	AttrRecordSampled   = Namespace + ".record.sampled"
	AttrRecordSeq       = Namespace + ".record.seq"
	AttrRecordArraysCut = Namespace + ".record.arrays_cut"
	AttrStreamText      = Namespace + ".stream.text"
	AttrStreamReplaces  = Namespace + ".stream.replaces"
	AttrEventName       = Namespace + ".event.name"
	AttrEpochCompleted  = Namespace + ".epoch.completed"
	AttrRunState        = Namespace + ".run.state"
	AttrStopReason      = Namespace + ".stop.reason"
	AttrSpanTimeSource  = Namespace + ".span.time_source"
	AttrSpansDropped    = Namespace + ".spans.dropped"
	AttrEventOriginal   = Namespace + ".event.original"

	AttrSpanNameOriginal   = Namespace + ".span.name.original"
	AttrFrameworkOriginal  = Namespace + ".framework.original"
	AttrPhaseOriginal      = Namespace + ".phase.original"
	AttrTaskFamilyOriginal = Namespace + ".task.family.original"
	AttrRunOutcomeOriginal = Namespace + ".run.outcome.original"
)

// Attribute keys of the OpenTelemetry semantic conventions 1.45.0 that a record carries.
const (
	AttrLogFilePath         = "log.file.path"
	AttrLogFileName         = "log.file.name"
	AttrLogFileRecordOffset = "log.file.record_offset" // int, bytes from the start of the file
	AttrLogRecordUID        = "log.record.uid"
	AttrHostName            = "host.name"
)

// Top-level keys of a line.
const (
	KeySchema    = "schema"
	KeyTS        = "ts"
	KeyEvent     = "event"
	KeyRunID     = "run_id"
	KeyAttempt   = "attempt"
	KeyPart      = "part"
	KeySeq       = "seq"
	KeyRank      = "rank"
	KeyHost      = "host"
	KeyFramework = "framework"
	KeyPhase     = "phase"
	KeySeverity  = "severity"
	KeyTraceID   = "trace_id"
	KeySpanID    = "span_id"
	KeyResource  = "resource"
	KeyBody      = "body"
)

// Keys of the body. Which event carries which is in the registry. BodyFramework holds what has no shared meaning.
const (
	BodyPlannedEpochs   = "planned_epochs"
	BodyPlannedSteps    = "planned_steps"
	BodyParams          = "params"
	BodyObjective       = "objective"
	BodyResumedFrom     = "resumed_from"
	BodyGit             = "git"
	BodyCommand         = "command"
	BodyVersions        = "versions"
	BodyTaskFamily      = "task_family"
	BodyEmits           = "emits"
	BodyEpoch           = "epoch"
	BodyEpochProgress   = "epoch_progress"
	BodyStep            = "step"
	BodyLearningRate    = "learning_rate"
	BodyDurations       = "durations"
	BodyMeasurements    = "measurements"
	BodySamples         = "samples"
	BodyTokens          = "tokens"
	BodyCheckpoint      = "checkpoint"
	BodyBest            = "best"
	BodyPath            = "path"
	BodyKind            = "kind"
	BodySHA256          = "sha256"
	BodySize            = "size"
	BodyMetric          = "metric"
	BodyValue           = "value"
	BodyRole            = "role"
	BodyErrorType       = "error_type"
	BodyMessage         = "message"
	BodyStack           = "stack"
	BodyOutcome         = "outcome"
	BodyStopReason      = "stop_reason"
	BodyEpochsCompleted = "epochs_completed"
	BodyArtifacts       = "artifacts"
	BodyState           = "state"
	BodyLastGrowth      = "last_growth"
	BodyBytesBehind     = "bytes_behind"
	BodyFramework       = "framework"
)

// Keys inside objects of the body which are no keys of a body themselves.
const (
	InnerMode   = "mode"
	InnerCommit = "commit"
	InnerBranch = "branch"
	InnerDirty  = "dirty"
)

// Phases, reported outcomes and the word for values off a list.
const (
	PhaseRun        = "run"
	PhaseTrain      = "train"
	PhaseValidation = "validation"
	PhaseTest       = "test"
	PhaseCheckpoint = "checkpoint"
	PhaseDataLoad   = "data_load"
	PhaseEpoch      = "epoch" // derived: of rows that tell the time of an epoch and of nothing in it

	OutcomeSuccess = "success"
	OutcomeFailed  = "failed"
	OutcomeAborted = "aborted"
	OutcomeUnknown = "unknown" // derived, never on a record
	OutcomeStalled = "stalled" // derived, never on a record

	Other = "other"

	FrameworkPyTorch = "pytorch" // also of rows that name nobody's
)

// Names of the metrics that are derived from records, without the namespace.
const (
	MetricRunActive          = "run.active"
	MetricRunOutcomes        = "run.outcomes"
	MetricRunDuration        = "run.duration"
	MetricPhaseDuration      = "phase.duration"
	MetricPhaseTime          = "phase.time"
	MetricBatchDuration      = "batch.duration"
	MetricDataWaitDuration   = "data_wait.duration"
	MetricDataWaitTime       = "data_wait.time"
	MetricSampleProcessed    = "sample.processed"
	MetricEpochLastCompleted = "epoch.last_completed"
)

// States of an attempt that goes on, and what the times of a derived span rest on.
const (
	StateRunning = "running"
	StateStalled = "stalled"

	TimeFromRecords   = "records"
	TimeFromDurations = "durations"
)

// States of a stream, as stream.status tells them.
const (
	StreamGrowing = "growing"
	StreamSilent  = "silent"
	StreamEnded   = "ended"
	StreamBlocked = "blocked"
)

// Keys in the durations of a body.
const (
	DurationEpoch      = "epoch_s"
	DurationTrain      = "train_s"
	DurationValidation = "validation_s"
	DurationDataWait   = "data_wait_s"
	DurationBatch      = "batch_s"
	DurationPhase      = "phase_s"
	DurationRun        = "run_s"
)

// Signals that a run.start may say its trainer emits by itself.
const (
	EmitsMetrics = "metrics"
	EmitsTraces  = "traces"
)

// Reason says why a line was no record. The set is bounded.
type Reason string

// Reasons, the values of AttrRecordError.
const (
	ReasonNotJSON       Reason = "not_json"
	ReasonNotObject     Reason = "not_object"
	ReasonTooLong       Reason = "too_long"
	ReasonTooDeep       Reason = "too_deep"
	ReasonTooManyKeys   Reason = "too_many_keys"
	ReasonTooManyValues Reason = "too_many_values"
	ReasonTrailingData  Reason = "trailing_data"
	ReasonWrongType     Reason = "wrong_type"
	ReasonNoRunID       Reason = "no_run_id"
	ReasonTorn          Reason = "torn"
	ReasonPythonRepr    Reason = "python_repr" // a dict as Python prints it, not as json.dumps writes it
	ReasonUTF16         Reason = "utf16"
	ReasonNULBytes      Reason = "nul_bytes" // what a crash, or a truncation under a writer that does not append, leaves
)

// EventName gives the OpenTelemetry event name of an event of the list.
func EventName(event string) string { return Namespace + "." + event }

// MetadataRunID is the client metadata key under which a call that carries the records of one run names that run.
const MetadataRunID = "training.run.id"
