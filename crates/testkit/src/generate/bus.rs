//! Documents of the dialect `bus`.
