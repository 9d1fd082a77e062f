//! The dialect `channel`.
