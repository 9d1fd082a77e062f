//! The dialect `comms`.
