//! The pipeline between deciding and the log, step by step.

use log::Batch;
use message::Seq;

use crate::driver::{Next, PendingBatch, Pipeline};

/// Returns a batch that ends at a place.
fn batch(last: u64) -> PendingBatch {
    PendingBatch { batch: Batch::new(), completions: Vec::new(), last: Seq(last), needs: Seq(last) }
}

/// Takes what may be taken now; says where it ends.
fn take(pipeline: &mut Pipeline) -> Vec<u64> {
    match pipeline.take_next() {
        Next::Batches(batches) => batches.iter().map(|batch| batch.last.0).collect(),
        Next::Wait | Next::End => Vec::new(),
    }
}

#[test]
fn as_many_appends_are_in_flight_as_the_log_allows() {
    for in_flight_max in 1..4 {
        let mut pipeline = Pipeline::new(Seq(0), 0, in_flight_max);
        for last in 1..=in_flight_max as u64 {
            assert!(pipeline.push(batch(last)).is_none());
            assert_eq!(take(&mut pipeline), [last]);
        }
        assert!(pipeline.push(batch(10)).is_none());
        assert!(pipeline.push(batch(11)).is_none());
        assert_eq!(take(&mut pipeline), []);
        pipeline.end_commit();
        assert_eq!(take(&mut pipeline), [10, 11], "what waits is taken together");
    }
}

#[test]
fn nothing_is_taken_while_the_writer_commits_alone() {
    let mut pipeline = Pipeline::new(Seq(0), 0, 3);
    assert!(pipeline.begin_alone(10));
    assert!(pipeline.push(batch(2)).is_none());
    assert_eq!(take(&mut pipeline), []);
    pipeline.end_commit();
    assert!(!pipeline.begin_alone(10), "what waits goes first");
    assert_eq!(take(&mut pipeline), [2]);
    assert!(!pipeline.begin_alone(10), "an append is in flight");
}

#[test]
fn a_refusal_settles_what_is_behind_it_and_waits_for_what_is_before() {
    let mut pipeline = Pipeline::new(Seq(0), 0, 3);
    for last in 1..=3 {
        assert!(pipeline.push(batch(last)).is_none());
        assert_eq!(take(&mut pipeline), [last]);
    }
    assert!(pipeline.push(batch(4)).is_none());
    // The newest of the three.
    assert_eq!(pipeline.refuse(2).len(), 1, "what waits is given back");
    assert!(pipeline.push(batch(5)).is_some(), "so is what was decided behind it");
    assert!(!pipeline.begin_alone(10));
    for is_last in [false, true] {
        assert!(!pipeline.wants_reload());
        assert_eq!(take(&mut pipeline), []);
        pipeline.end_commit();
        assert_eq!(pipeline.wants_reload(), is_last);
    }
    pipeline.reloaded(Seq(2), 0);
    assert_eq!(pipeline.durable(), Seq(2));
    assert!(pipeline.push(batch(3)).is_none());
    assert_eq!(take(&mut pipeline), [3]);
}

#[test]
fn a_closed_pipeline_ends_when_nothing_is_in_flight() {
    let mut pipeline = Pipeline::new(Seq(0), 0, 2);
    assert!(pipeline.push(batch(1)).is_none());
    assert_eq!(take(&mut pipeline), [1]);
    pipeline.close();
    assert!(matches!(pipeline.take_next(), Next::Wait));
    pipeline.end_commit();
    assert!(matches!(pipeline.take_next(), Next::End));
}
