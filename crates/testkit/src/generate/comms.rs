//! Documents of the dialect `comms`.
