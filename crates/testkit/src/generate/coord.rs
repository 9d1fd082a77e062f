//! Documents of the dialect `coord`.
