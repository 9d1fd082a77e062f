//! The stable codes of findings that are this dialect's own. A code keeps its meaning; new ones may be added.

/// The document names a major version of Agent Wire that is not read here; nothing else was checked.
pub const UNSUPPORTED_WIRE_VERSION: &str = "unsupported_wire_version";
/// The document is an Agent Card, which is no message.
pub const NOT_A_MESSAGE: &str = "not_a_message";
/// A text has more words than its field allows.
pub const TOO_MANY_WORDS: &str = "too_many_words";
/// A completion says that its own verification failed.
pub const FAILED_VERIFICATION: &str = "failed_verification";
/// Somebody claims work for somebody else.
pub const NOT_THE_SENDER: &str = "not_the_sender";
/// A message for a role topic does not stay under its limit of bytes.
pub const ROLE_TOPIC_SIZE: &str = "role_topic_size";

/// Warning: the type is the ledger's name of it.
pub const TYPE_ALIAS: &str = "type_alias";
/// Warning: the time is not given in UTC.
pub const NOT_UTC: &str = "not_utc";
/// A text should be, or must be, exactly one sentence; an error in a card, a warning in a brief.
pub const ONE_SENTENCE: &str = "one_sentence";
/// Warning: a goal tells somebody to do something instead of what is true when it is done.
pub const NOT_DECLARATIVE: &str = "not_declarative";
/// Warning: the priority is not the one that the type of the message has.
pub const PRIORITY_MISMATCH: &str = "priority_mismatch";
/// Warning: something that is only for information asks for action.
pub const INFO_WITH_ACTION: &str = "info_with_action";
/// Warning: a value is left to the origin, because the canonical message cannot hold it.
pub const NOT_CARRIED: &str = "not_carried";
/// Warning: nobody is named as the sender.
pub const NO_SENDER: &str = "no_sender";

/// A text of a card has more sentences than allowed.
pub const TOO_MANY_SENTENCES: &str = "too_many_sentences";
/// A card has fewer constraints than the standard demands.
pub const TOO_FEW_CONSTRAINTS: &str = "too_few_constraints";
/// A constraint does not start with "I never".
pub const NOT_A_PROHIBITION: &str = "not_a_prohibition";
/// An escalation leads to nobody who is registered.
pub const UNKNOWN_ROUTE: &str = "unknown_route";
/// An agent is not registered.
pub const UNKNOWN_AGENT: &str = "unknown_agent";
/// A type of output is not registered.
pub const UNKNOWN_OUTPUT_TYPE: &str = "unknown_output_type";

/// A completion speaks of another task than its brief.
pub const OTHER_TASK: &str = "other_task";
/// The semantic verdict of a completion does not fit what its brief asks to evaluate.
pub const EVALUATION_MISMATCH: &str = "evaluation_mismatch";
/// A completion lacks the output that its brief demands.
pub const NO_OUTPUT: &str = "no_output";
/// The document is a wire of another type than the one wanted.
pub const OTHER_TYPE: &str = "other_type";
