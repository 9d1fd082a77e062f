//! The dialect `wire`.
