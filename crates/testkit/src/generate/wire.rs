//! Documents of the dialect `wire`.
