//! The dialect `coord`.
