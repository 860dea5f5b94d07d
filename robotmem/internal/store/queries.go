package store

// The queries. Each has a text in the queries.sql of every package that implements [SQL].
var (
	ActiveMemoryIDs          = Query{"ActiveMemoryIDs"}
	ActiveNaming             = Query{"ActiveNaming"}
	AddAccess                = Query{"AddAccess"}
	AddPurge                 = Query{"AddPurge"}
	AddRecallHour            = Query{"AddRecallHour"}
	AddReturns               = Query{"AddReturns"}
	AddSightings             = Query{"AddSightings"}
	AddStream                = Query{"AddStream"}
	AddToCounter             = Query{"AddToCounter"}
	AddUse                   = Query{"AddUse"}
	AdoptFleetState          = Query{"AdoptFleetState"}
	AdvanceModel             = Query{"AdvanceModel"}
	AdvanceReplica           = Query{"AdvanceReplica"}
	AllColumns               = Query{"AllColumns"}
	AllContexts              = Query{"AllContexts"}
	AllMemoryIDs             = Query{"AllMemoryIDs"}
	AllModels                = Query{"AllModels"}
	AllOutcomes              = Query{"AllOutcomes"}
	AllSessionIDs            = Query{"AllSessionIDs"}
	AllSessions              = Query{"AllSessions"}
	AllVectors               = Query{"AllVectors"}
	AllVersions              = Query{"AllVersions"}
	ArchivedByUID            = Query{"ArchivedByUID"}
	ArchivedMemories         = Query{"ArchivedMemories"}
	ArchivedOrigins          = Query{"ArchivedOrigins"}
	ArchivedPastSuccessors   = Query{"ArchivedPastSuccessors"}
	ArchivedRecalls          = Query{"ArchivedRecalls"}
	ArchivedSessionOrigins   = Query{"ArchivedSessionOrigins"}
	ArchivedSessions         = Query{"ArchivedSessions"}
	ArchivedSightings        = Query{"ArchivedSightings"}
	ArchivedSince            = Query{"ArchivedSince"}
	ArchivedSuccessors       = Query{"ArchivedSuccessors"}
	ArchivedVersions         = Query{"ArchivedVersions"}
	AttachPayload            = Query{"AttachPayload"}
	AuditPage                = Query{"AuditPage"}
	AuditPageOfMemory        = Query{"AuditPageOfMemory"}
	BestPerception           = Query{"BestPerception"}
	ChangeCounter            = Query{"ChangeCounter"}
	ChangedColumns           = Query{"ChangedColumns"}
	ChangedIDs               = Query{"ChangedIDs"}
	ChangedIDsPage           = Query{"ChangedIDsPage"}
	ChangedTexts             = Query{"ChangedTexts"}
	ChangedWithVectors       = Query{"ChangedWithVectors"}
	ClaimOfReplica           = Query{"ClaimOfReplica"}
	ClaimReplica             = Query{"ClaimReplica"}
	ClearAudit               = Query{"ClearAudit"}
	ClearOutcome             = Query{"ClearOutcome"}
	ClearPastSuccessors      = Query{"ClearPastSuccessors"}
	ClearScrub               = Query{"ClearScrub"}
	ClearSuccessors          = Query{"ClearSuccessors"}
	CollectionsNaming        = Query{"CollectionsNaming"}
	ColumnsOf                = Query{"ColumnsOf"}
	ConfirmFleetLink         = Query{"ConfirmFleetLink"}
	ConflictByID             = Query{"ConflictByID"}
	ConflictRule             = Query{"ConflictRule"}
	ConflictsOpen            = Query{"ConflictsOpen"}
	ContextAtRevision        = Query{"ContextAtRevision"}
	ContextOf                = Query{"ContextOf"}
	CopiesCredited           = Query{"CopiesCredited"}
	CountActive              = Query{"CountActive"}
	CountCredit              = Query{"CountCredit"}
	CountEqualSignatures     = Query{"CountEqualSignatures"}
	CountEvictions           = Query{"CountEvictions"}
	CountEvictionsOf         = Query{"CountEvictionsOf"}
	CountExtraFullText       = Query{"CountExtraFullText"}
	CountExtraSignatures     = Query{"CountExtraSignatures"}
	CountExtraTags           = Query{"CountExtraTags"}
	CountFleetLinksResent    = Query{"CountFleetLinksResent"}
	CountFleetNotes          = Query{"CountFleetNotes"}
	CountLostNaming          = Query{"CountLostNaming"}
	CountMemory              = Query{"CountMemory"}
	CountMissingFullText     = Query{"CountMissingFullText"}
	CountMissingSignatures   = Query{"CountMissingSignatures"}
	CountNaming              = Query{"CountNaming"}
	CountOthersNaming        = Query{"CountOthersNaming"}
	CountPayloadFile         = Query{"CountPayloadFile"}
	CountPurged              = Query{"CountPurged"}
	CountRecalled            = Query{"CountRecalled"}
	CountRecalls             = Query{"CountRecalls"}
	CountRefused             = Query{"CountRefused"}
	CountReplicasOfRobot     = Query{"CountReplicasOfRobot"}
	CountSessions            = Query{"CountSessions"}
	CountSessionsMatching    = Query{"CountSessionsMatching"}
	CountSessionsNamed       = Query{"CountSessionsNamed"}
	CountSignature           = Query{"CountSignature"}
	CountTakenEvictions      = Query{"CountTakenEvictions"}
	CountUnsealed            = Query{"CountUnsealed"}
	CountVectors             = Query{"CountVectors"}
	CountVersions            = Query{"CountVersions"}
	CountWaiting             = Query{"CountWaiting"}
	CountWithoutFeatures     = Query{"CountWithoutFeatures"}
	CounterNamed             = Query{"CounterNamed"}
	CreateFullText           = Query{"CreateFullText"}
	CreateVectors            = Query{"CreateVectors"}
	DeadRows                 = Query{"DeadRows"}
	DeleteAllFeatures        = Query{"DeleteAllFeatures"}
	DeleteAllSignatures      = Query{"DeleteAllSignatures"}
	DeleteAnswersNaming      = Query{"DeleteAnswersNaming"}
	DeleteDerivedTags        = Query{"DeleteDerivedTags"}
	DeleteEvictions          = Query{"DeleteEvictions"}
	DeleteFeaturesOfMemory   = Query{"DeleteFeaturesOfMemory"}
	DeleteFleetCopies        = Query{"DeleteFleetCopies"}
	DeleteFleetCopiesOf      = Query{"DeleteFleetCopiesOf"}
	DeleteFleetCopy          = Query{"DeleteFleetCopy"}
	DeleteFleetFeeds         = Query{"DeleteFleetFeeds"}
	DeleteFleetLinksAfter    = Query{"DeleteFleetLinksAfter"}
	DeleteFleetNote          = Query{"DeleteFleetNote"}
	DeleteFleetNotes         = Query{"DeleteFleetNotes"}
	DeleteFleetSent          = Query{"DeleteFleetSent"}
	DeleteFullText           = Query{"DeleteFullText"}
	DeleteLoosePart          = Query{"DeleteLoosePart"}
	DeleteLostEvictions      = Query{"DeleteLostEvictions"}
	DeleteMemory             = Query{"DeleteMemory"}
	DeleteModel              = Query{"DeleteModel"}
	DeleteOldRequests        = Query{"DeleteOldRequests"}
	DeleteOriginsOfMemory    = Query{"DeleteOriginsOfMemory"}
	DeleteOtherReplicas      = Query{"DeleteOtherReplicas"}
	DeletePayload            = Query{"DeletePayload"}
	DeletePurgedFiles        = Query{"DeletePurgedFiles"}
	DeleteRecallsOfMemory    = Query{"DeleteRecallsOfMemory"}
	DeleteReplicasOf         = Query{"DeleteReplicasOf"}
	DeleteSightingsOfMemory  = Query{"DeleteSightingsOfMemory"}
	DeleteSignature          = Query{"DeleteSignature"}
	DeleteSignaturesOfMemory = Query{"DeleteSignaturesOfMemory"}
	DeleteSnapshotHead       = Query{"DeleteSnapshotHead"}
	DeleteSnapshotHeads      = Query{"DeleteSnapshotHeads"}
	DeleteSnapshots          = Query{"DeleteSnapshots"}
	DeleteTags               = Query{"DeleteTags"}
	DeleteUnsealed           = Query{"DeleteUnsealed"}
	DeleteVector             = Query{"DeleteVector"}
	DeleteVersions           = Query{"DeleteVersions"}
	DocumentPassages         = Query{"DocumentPassages"}
	DocumentsStored          = Query{"DocumentsStored"}
	DropFullText             = Query{"DropFullText"}
	DropVectors              = Query{"DropVectors"}
	EndPush                  = Query{"EndPush"}
	EndedAfter               = Query{"EndedAfter"}
	EqualButForNumbers       = Query{"EqualButForNumbers"}
	EvictionsOf              = Query{"EvictionsOf"}
	FactsOfSession           = Query{"FactsOfSession"}
	FeatureRules             = Query{"FeatureRules"}
	FeatureState             = Query{"FeatureState"}
	FeaturesAfter            = Query{"FeaturesAfter"}
	FeaturesOf               = Query{"FeaturesOf"}
	FeedAdd                  = Query{"FeedAdd"}
	FeedChunkMarks           = Query{"FeedChunkMarks"}
	FeedEntries              = Query{"FeedEntries"}
	FeedHeads                = Query{"FeedHeads"}
	FeedSealed               = Query{"FeedSealed"}
	FeedStart                = Query{"FeedStart"}
	FileID                   = Query{"FileID"}
	FilePlace                = Query{"FilePlace"}
	FileSize                 = Query{"FileSize"}
	FleetCopiesElsewhere     = Query{"FleetCopiesElsewhere"}
	FleetCopiesUnseen        = Query{"FleetCopiesUnseen"}
	FleetFeed                = Query{"FleetFeed"}
	FleetFeeds               = Query{"FleetFeeds"}
	FleetLink                = Query{"FleetLink"}
	FleetLinkNamed           = Query{"FleetLinkNamed"}
	FleetMemoriesBeyond      = Query{"FleetMemoriesBeyond"}
	FleetNotes               = Query{"FleetNotes"}
	FleetNotesOldest         = Query{"FleetNotesOldest"}
	FleetSent                = Query{"FleetSent"}
	ForgetAnswer             = Query{"ForgetAnswer"}
	ForkReplica              = Query{"ForkReplica"}
	FullTextUpto             = Query{"FullTextUpto"}
	GreetReplica             = Query{"GreetReplica"}
	GroupsOfSession          = Query{"GroupsOfSession"}
	HasMemories              = Query{"HasMemories"}
	Holdings                 = Query{"Holdings"}
	InheritedOutcomes        = Query{"InheritedOutcomes"}
	InsertAudit              = Query{"InsertAudit"}
	InsertEviction           = Query{"InsertEviction"}
	InsertFullText           = Query{"InsertFullText"}
	InsertMemory             = Query{"InsertMemory"}
	InsertModel              = Query{"InsertModel"}
	InsertOrigin             = Query{"InsertOrigin"}
	InsertOriginOnce         = Query{"InsertOriginOnce"}
	InsertOutcome            = Query{"InsertOutcome"}
	InsertOutcomeOnce        = Query{"InsertOutcomeOnce"}
	InsertPurged             = Query{"InsertPurged"}
	InsertPurgedFile         = Query{"InsertPurgedFile"}
	InsertRecall             = Query{"InsertRecall"}
	InsertRequest            = Query{"InsertRequest"}
	InsertSession            = Query{"InsertSession"}
	InsertSessionOrigin      = Query{"InsertSessionOrigin"}
	InsertSessionOriginOnce  = Query{"InsertSessionOriginOnce"}
	InsertSighting           = Query{"InsertSighting"}
	InsertSightingElsewhere  = Query{"InsertSightingElsewhere"}
	InsertSignature          = Query{"InsertSignature"}
	InsertSnapshotPart       = Query{"InsertSnapshotPart"}
	InsertVersion            = Query{"InsertVersion"}
	IntegrityCheck           = Query{"IntegrityCheck"}
	LastArrival              = Query{"LastArrival"}
	LastEviction             = Query{"LastEviction"}
	LastMemoryID             = Query{"LastMemoryID"}
	LastSummary              = Query{"LastSummary"}
	LinkPastState            = Query{"LinkPastState"}
	LinkSuccessor            = Query{"LinkSuccessor"}
	LostNaming               = Query{"LostNaming"}
	MakePresent              = Query{"MakePresent"}
	MarkClones               = Query{"MarkClones"}
	MayReplaceSnapshot       = Query{"MayReplaceSnapshot"}
	MemoriesByID             = Query{"MemoriesByID"}
	MemoriesOfTool           = Query{"MemoriesOfTool"}
	MemoriesWithAutoTags     = Query{"MemoriesWithAutoTags"}
	MemoriesWithUses         = Query{"MemoriesWithUses"}
	MemoryByID               = Query{"MemoryByID"}
	MemoryByUID              = Query{"MemoryByUID"}
	MemoryOfOrigin           = Query{"MemoryOfOrigin"}
	MergeRecall              = Query{"MergeRecall"}
	MergeUses                = Query{"MergeUses"}
	ModelByID                = Query{"ModelByID"}
	ModelByName              = Query{"ModelByName"}
	NewestRules              = Query{"NewestRules"}
	NextFeatureEpoch         = Query{"NextFeatureEpoch"}
	NextRequestID            = Query{"NextRequestID"}
	OpenConflictsOf          = Query{"OpenConflictsOf"}
	OpenSessionsOf           = Query{"OpenSessionsOf"}
	OriginOfMemory           = Query{"OriginOfMemory"}
	OutcomeTexts             = Query{"OutcomeTexts"}
	OutcomeTextsUnset        = Query{"OutcomeTextsUnset"}
	OutcomesOf               = Query{"OutcomesOf"}
	PageCheck                = Query{"PageCheck"}
	PastStates               = Query{"PastStates"}
	PayloadOf                = Query{"PayloadOf"}
	PayloadSize              = Query{"PayloadSize"}
	PinMemory                = Query{"PinMemory"}
	PresentModel             = Query{"PresentModel"}
	PulledReplica            = Query{"PulledReplica"}
	PurgeCounter             = Query{"PurgeCounter"}
	PurgeVector              = Query{"PurgeVector"}
	PurgedBetween            = Query{"PurgedBetween"}
	PurgedEntry              = Query{"PurgedEntry"}
	PurgedFiles              = Query{"PurgedFiles"}
	PutArrival               = Query{"PutArrival"}
	PutConflict              = Query{"PutConflict"}
	PutCredit                = Query{"PutCredit"}
	PutFeatures              = Query{"PutFeatures"}
	PutFeedCursor            = Query{"PutFeedCursor"}
	PutFleetCopy             = Query{"PutFleetCopy"}
	PutFleetFeed             = Query{"PutFleetFeed"}
	PutFleetLink             = Query{"PutFleetLink"}
	PutFleetNote             = Query{"PutFleetNote"}
	PutFleetSent             = Query{"PutFleetSent"}
	PutPayload               = Query{"PutPayload"}
	PutReplica               = Query{"PutReplica"}
	PutSnapshotHead          = Query{"PutSnapshotHead"}
	PutUserTag               = Query{"PutUserTag"}
	PutVector                = Query{"PutVector"}
	QuickCheck               = Query{"QuickCheck"}
	RebuildFullText          = Query{"RebuildFullText"}
	RecallCounters           = Query{"RecallCounters"}
	RecallHours              = Query{"RecallHours"}
	RecallsOfSession         = Query{"RecallsOfSession"}
	ReplaceIdentity          = Query{"ReplaceIdentity"}
	ReplaceStream            = Query{"ReplaceStream"}
	ReplicaOf                = Query{"ReplicaOf"}
	ReplicaOfRobot           = Query{"ReplicaOfRobot"}
	ReplicationSettings      = Query{"ReplicationSettings"}
	RequestOf                = Query{"RequestOf"}
	ResetFullText            = Query{"ResetFullText"}
	ResetModel               = Query{"ResetModel"}
	RevisionByUID            = Query{"RevisionByUID"}
	RewriteFile              = Query{"RewriteFile"}
	RobotSeen                = Query{"RobotSeen"}
	RobotsOfSession          = Query{"RobotsOfSession"}
	RobotsOfSite             = Query{"RobotsOfSite"}
	SameFullText             = Query{"SameFullText"}
	SchemaVersion            = Query{"SchemaVersion"}
	ScrubUpto                = Query{"ScrubUpto"}
	SecureDeleteOff          = Query{"SecureDeleteOff"}
	SecureDeleteOn           = Query{"SecureDeleteOn"}
	ServerState              = Query{"ServerState"}
	SessionByID              = Query{"SessionByID"}
	SessionContext           = Query{"SessionContext"}
	SessionOfOrigin          = Query{"SessionOfOrigin"}
	SessionsByCollection     = Query{"SessionsByCollection"}
	SessionsByColumn         = Query{"SessionsByColumn"}
	SessionsByTime           = Query{"SessionsByTime"}
	SetAutoTags              = Query{"SetAutoTags"}
	SetChangeCounter         = Query{"SetChangeCounter"}
	SetChecksum              = Query{"SetChecksum"}
	SetCounter               = Query{"SetCounter"}
	SetFeatureRules          = Query{"SetFeatureRules"}
	SetFileID                = Query{"SetFileID"}
	SetFilePlace             = Query{"SetFilePlace"}
	SetFullTextUpto          = Query{"SetFullTextUpto"}
	SetIdentity              = Query{"SetIdentity"}
	SetModelSeq              = Query{"SetModelSeq"}
	SetModelState            = Query{"SetModelState"}
	SetOutcome               = Query{"SetOutcome"}
	SetScrub                 = Query{"SetScrub"}
	SetSessionChecksum       = Query{"SetSessionChecksum"}
	SetSignature             = Query{"SetSignature"}
	SetTenantIDs             = Query{"SetTenantIDs"}
	SetVersionChecksum       = Query{"SetVersionChecksum"}
	SettleConflict           = Query{"SettleConflict"}
	SightingsOf              = Query{"SightingsOf"}
	SignaturesAfter          = Query{"SignaturesAfter"}
	SignedTexts              = Query{"SignedTexts"}
	SnapshotHead             = Query{"SnapshotHead"}
	SnapshotPart             = Query{"SnapshotPart"}
	SnapshotRevision         = Query{"SnapshotRevision"}
	Standbys                 = Query{"Standbys"}
	StreamsOf                = Query{"StreamsOf"}
	SuccessorWhenForgotten   = Query{"SuccessorWhenForgotten"}
	SuccessorsChanged        = Query{"SuccessorsChanged"}
	SumEvicted               = Query{"SumEvicted"}
	SumPayloads              = Query{"SumPayloads"}
	SumStored                = Query{"SumStored"}
	SumStreams               = Query{"SumStreams"}
	SumWantedPayloads        = Query{"SumWantedPayloads"}
	SummariesOfSession       = Query{"SummariesOfSession"}
	SupersededBy             = Query{"SupersededBy"}
	TemporariesInFile        = Query{"TemporariesInFile"}
	TemporariesInMemory      = Query{"TemporariesInMemory"}
	TextOf                   = Query{"TextOf"}
	TimesOfSession           = Query{"TimesOfSession"}
	TouchFullText            = Query{"TouchFullText"}
	TriesOfSession           = Query{"TriesOfSession"}
	TruncateLog              = Query{"TruncateLog"}
	UnconfirmedPurges        = Query{"UnconfirmedPurges"}
	UnnamedPayloads          = Query{"UnnamedPayloads"}
	UnusedRecalls            = Query{"UnusedRecalls"}
	UpdateMemory             = Query{"UpdateMemory"}
	UpdateSession            = Query{"UpdateSession"}
	UserTags                 = Query{"UserTags"}
	VectorOf                 = Query{"VectorOf"}
	VectorsAfter             = Query{"VectorsAfter"}
	VectorsOf                = Query{"VectorsOf"}
	VersionsOf               = Query{"VersionsOf"}
	VersionsOfMemories       = Query{"VersionsOfMemories"}
	WantedPayloads           = Query{"WantedPayloads"}
	WithVectorOf             = Query{"WithVectorOf"}
	WithoutFeatures          = Query{"WithoutFeatures"}
)

// Queries are all queries.
var Queries = []Query{
	ActiveMemoryIDs, ActiveNaming, AddAccess, AddPurge, AddRecallHour, AddReturns, AddSightings, AddStream,
	AddToCounter, AddUse, AdoptFleetState, AdvanceModel, AdvanceReplica, AllColumns, AllContexts, AllMemoryIDs,
	AllModels, AllOutcomes, AllSessionIDs, AllSessions, AllVectors, AllVersions, ArchivedByUID, ArchivedMemories,
	ArchivedOrigins, ArchivedPastSuccessors, ArchivedRecalls, ArchivedSessionOrigins, ArchivedSessions,
	ArchivedSightings, ArchivedSince, ArchivedSuccessors, ArchivedVersions, AttachPayload, AuditPage, AuditPageOfMemory,
	BestPerception, ChangeCounter, ChangedColumns, ChangedIDs, ChangedIDsPage, ChangedTexts, ChangedWithVectors,
	ClaimOfReplica, ClaimReplica, ClearAudit, ClearOutcome, ClearPastSuccessors, ClearScrub, ClearSuccessors,
	CollectionsNaming, ColumnsOf, ConfirmFleetLink, ConflictByID, ConflictRule, ConflictsOpen, ContextAtRevision,
	ContextOf, CopiesCredited, CountActive, CountCredit, CountEqualSignatures, CountEvictions, CountEvictionsOf,
	CountExtraFullText, CountExtraSignatures, CountExtraTags, CountFleetLinksResent, CountFleetNotes, CountLostNaming,
	CountMemory, CountMissingFullText, CountMissingSignatures, CountNaming, CountOthersNaming, CountPayloadFile,
	CountPurged, CountRecalled, CountRecalls, CountRefused, CountReplicasOfRobot, CountSessions, CountSessionsMatching,
	CountSessionsNamed, CountSignature, CountTakenEvictions, CountUnsealed, CountVectors, CountVersions, CountWaiting,
	CountWithoutFeatures, CounterNamed, CreateFullText, CreateVectors, DeadRows, DeleteAllFeatures, DeleteAllSignatures,
	DeleteAnswersNaming, DeleteDerivedTags, DeleteEvictions, DeleteFeaturesOfMemory, DeleteFleetCopies,
	DeleteFleetCopiesOf, DeleteFleetCopy, DeleteFleetFeeds, DeleteFleetLinksAfter, DeleteFleetNote, DeleteFleetNotes,
	DeleteFleetSent, DeleteFullText, DeleteLoosePart, DeleteLostEvictions, DeleteMemory, DeleteModel, DeleteOldRequests,
	DeleteOriginsOfMemory, DeleteOtherReplicas, DeletePayload, DeletePurgedFiles, DeleteRecallsOfMemory,
	DeleteReplicasOf, DeleteSightingsOfMemory, DeleteSignature, DeleteSignaturesOfMemory, DeleteSnapshotHead,
	DeleteSnapshotHeads, DeleteSnapshots, DeleteTags, DeleteUnsealed, DeleteVector, DeleteVersions, DocumentPassages,
	DocumentsStored, DropFullText, DropVectors, EndPush, EndedAfter, EqualButForNumbers, EvictionsOf, FactsOfSession,
	FeatureRules, FeatureState, FeaturesAfter, FeaturesOf, FeedAdd, FeedChunkMarks, FeedEntries, FeedHeads, FeedSealed,
	FeedStart, FileID, FilePlace, FileSize, FleetCopiesElsewhere, FleetCopiesUnseen, FleetFeed, FleetFeeds, FleetLink,
	FleetLinkNamed, FleetMemoriesBeyond, FleetNotes, FleetNotesOldest, FleetSent, ForgetAnswer, ForkReplica,
	FullTextUpto, GreetReplica, GroupsOfSession, HasMemories, Holdings, InheritedOutcomes, InsertAudit, InsertEviction,
	InsertFullText, InsertMemory, InsertModel, InsertOrigin, InsertOriginOnce, InsertOutcome, InsertOutcomeOnce,
	InsertPurged, InsertPurgedFile, InsertRecall, InsertRequest, InsertSession, InsertSessionOrigin,
	InsertSessionOriginOnce, InsertSighting, InsertSightingElsewhere, InsertSignature, InsertSnapshotPart,
	InsertVersion, IntegrityCheck, LastArrival, LastEviction, LastMemoryID, LastSummary, LinkPastState, LinkSuccessor,
	LostNaming, MakePresent, MarkClones, MayReplaceSnapshot, MemoriesByID, MemoriesOfTool, MemoriesWithAutoTags,
	MemoriesWithUses, MemoryByID, MemoryByUID, MemoryOfOrigin, MergeRecall, MergeUses, ModelByID, ModelByName,
	NewestRules, NextFeatureEpoch, NextRequestID, OpenConflictsOf, OpenSessionsOf, OriginOfMemory, OutcomeTexts,
	OutcomeTextsUnset, OutcomesOf, PageCheck, PastStates, PayloadOf, PayloadSize, PinMemory, PresentModel,
	PulledReplica, PurgeCounter, PurgeVector, PurgedBetween, PurgedEntry, PurgedFiles, PutArrival, PutConflict,
	PutCredit, PutFeatures, PutFeedCursor, PutFleetCopy, PutFleetFeed, PutFleetLink, PutFleetNote, PutFleetSent,
	PutPayload, PutReplica, PutSnapshotHead, PutUserTag, PutVector, QuickCheck, RebuildFullText, RecallCounters,
	RecallHours, RecallsOfSession, ReplaceIdentity, ReplaceStream, ReplicaOf, ReplicaOfRobot, ReplicationSettings,
	RequestOf, ResetFullText, ResetModel, RevisionByUID, RewriteFile, RobotSeen, RobotsOfSession, RobotsOfSite,
	SameFullText, SchemaVersion, ScrubUpto, SecureDeleteOff, SecureDeleteOn, ServerState, SessionByID, SessionContext,
	SessionOfOrigin, SessionsByCollection, SessionsByColumn, SessionsByTime, SetAutoTags, SetChangeCounter, SetChecksum,
	SetCounter, SetFeatureRules, SetFileID, SetFilePlace, SetFullTextUpto, SetIdentity, SetModelSeq, SetModelState,
	SetOutcome, SetScrub, SetSessionChecksum, SetSignature, SetTenantIDs, SetVersionChecksum, SettleConflict,
	SightingsOf, SignaturesAfter, SignedTexts, SnapshotHead, SnapshotPart, SnapshotRevision, Standbys, StreamsOf,
	SuccessorWhenForgotten, SuccessorsChanged, SumEvicted, SumPayloads, SumStored, SumStreams, SumWantedPayloads,
	SummariesOfSession, SupersededBy, TemporariesInFile, TemporariesInMemory, TextOf, TimesOfSession, TouchFullText,
	TriesOfSession, TruncateLog, UnconfirmedPurges, UnnamedPayloads, UnusedRecalls, UpdateMemory, UpdateSession,
	UserTags, VectorOf, VectorsAfter, VectorsOf, VersionsOf, VersionsOfMemories, WantedPayloads, WithVectorOf,
	WithoutFeatures,
}
