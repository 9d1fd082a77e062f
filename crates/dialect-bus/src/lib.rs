//! The dialect `bus`.
