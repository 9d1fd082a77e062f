//! Documents of the dialect `channel`.
