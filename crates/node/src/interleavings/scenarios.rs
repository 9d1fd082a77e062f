//! What must hold in every order of the threads.

use shuttle::rand::Rng;
use shuttle::thread::{self, JoinHandle};

use super::bus::{Bus, Ends, Size};
use super::check;
use super::failing_log::Fault;
use super::threads::Stopped;

/// How often a caller writes until something has failed for sure.
const WRITES_MAX: usize = 8;

#[test]
fn no_wake_up_is_lost_while_the_writer_goes_to_sleep() {
    check(|| {
        let bus = Bus::start(None);
        let callers = (0..3).map(|_| {
            caller(&bus, |bus| {
                // The writer may sleep before each.
                for _ in 0..2 {
                    bus.write(Size::Small).expect("nothing stops the node");
                }
            })
        });
        join(callers.collect());
        bus.close();
        bus.join_closed();
    });
}

#[test]
fn completions_leave_in_the_order_in_which_they_were_decided() {
    check(|| {
        let bus = Bus::start(None);
        let callers = [Size::Large, Size::Large, Size::Small].map(|size| {
            caller(&bus, move |bus| {
                for _ in 0..2 {
                    bus.write_and_ask(size).expect("nothing stops the node");
                }
            })
        });
        join(callers.into());
        bus.close();
        bus.join_closed();
    });
}

#[test]
fn a_failed_append_is_told_to_every_caller() {
    check(|| fail(Fault::Append));
}

#[test]
fn a_failed_sync_is_told_to_every_caller() {
    check(|| fail(Fault::Sync));
}

#[test]
fn a_panic_in_an_append_is_told_to_every_caller() {
    check(|| fail(Fault::AppendPanics));
}

#[test]
fn a_panic_in_a_sync_is_told_to_every_caller() {
    check(|| fail(Fault::SyncPanics));
}

#[test]
fn a_failure_of_maintenance_is_told_to_every_caller() {
    check(|| fail(Fault::Keep));
}

#[test]
fn a_panic_while_deciding_is_told_to_every_caller() {
    check(|| fail_by(Ends::Deciding));
}

#[test]
fn a_panic_of_a_completion_is_told_to_every_caller() {
    check(|| fail_by(Ends::Leaving));
}

#[test]
fn whatever_was_accepted_is_durable_when_the_node_has_shut_down() {
    check(|| {
        let bus = Bus::start(None);
        let mut threads: Vec<JoinHandle<()>> = [Size::Large, Size::Small]
            .map(|size| {
                caller(&bus, move |bus| {
                    // Until the node is closed.
                    for _ in 0..3 {
                        if bus.write_and_ask(size).is_none() {
                            return;
                        }
                    }
                })
            })
            .into();
        threads.push(caller(&bus, |bus| {
            let at = bus.follow();
            assert_eq!(at, bus.durable(), "who follows the log is told of its end");
        }));
        bus.close();
        bus.join_closed();
        join(threads);
    });
}

#[test]
fn every_job_that_was_taken_in_before_the_end_is_answered() {
    check(|| {
        let bus = Bus::start(None);
        let closer = caller(&bus, Bus::close);
        let callers = (0..2).map(|_| caller(&bus, |bus| bus.expect_answer_if_taken(Size::Small)));
        join(callers.collect());
        join(vec![closer]);
        bus.join_closed();
    });
}

#[test]
fn a_trim_that_is_asked_for_while_the_node_closes_is_answered_or_dropped() {
    check(|| {
        let bus = Bus::start(None);
        let callers = vec![
            caller(&bus, |bus| {
                for _ in 0..4 {
                    if bus.write(Size::Large).is_none() {
                        return;
                    }
                }
            }),
            caller(&bus, |bus| {
                for _ in 0..3 {
                    let _trimmed = bus.trim();
                }
            }),
            caller(&bus, |bus| {
                // Closes now and then before, between and after the others.
                if bus.ask(Ends::Well).is_some() && shuttle::rand::thread_rng().gen_bool(0.5) {
                    bus.write(Size::Small);
                }
                bus.close();
            }),
        ];
        join(callers);
        bus.join_closed();
    });
}

#[test]
fn a_trim_under_way_keeps_nobody_waiting_for_segments() {
    check(|| {
        let bus = Bus::start(None);
        let mut callers: Vec<_> = (0..2)
            .map(|_| {
                caller(&bus, |bus| {
                    for _ in 0..WRITES_MAX {
                        bus.write(Size::Large).expect("nothing stops the node");
                    }
                })
            })
            .collect();
        callers.push(caller(&bus, |bus| {
            for _ in 0..3 {
                bus.trim().expect("nothing stops the node");
            }
        }));
        join(callers);
        bus.close();
        bus.join_closed();
    });
}

#[test]
fn a_full_disk_keeps_nobody_waiting() {
    check(|| {
        let bus = Bus::start(None);
        bus.fill_disk();
        let callers = (0..2).map(|_| {
            caller(&bus, |bus| {
                bus.expect_answer_if_taken(Size::Large);
                bus.expect_answer_if_taken(Size::Small);
            })
        });
        join(callers.collect());
        bus.close();
        assert_eq!(bus.join(), Stopped::Asked);
    });
}

/// Lets something fail while callers write: each is answered or learns that the node has stopped, and all threads end.
fn fail(fault: Fault) {
    let bus = Bus::start(Some((fault, shuttle::rand::thread_rng().gen_range(0..3))));
    let callers: Vec<_> = [Size::Large, Size::Small, Size::Small].map(|size| writes_on(&bus, size)).into();
    let is_failed = matches!(bus.join(), Stopped::Failed(_));
    join(callers);
    assert!(is_failed, "{fault:?} does not end the node");
}

/// Lets the job of a caller panic while others write.
fn fail_by(ends: Ends) {
    let bus = Bus::start(None);
    let callers: Vec<_> = [Size::Large, Size::Small].map(|size| writes_on(&bus, size)).into();
    assert!(bus.ask(ends).is_none());
    assert!(matches!(bus.join(), Stopped::Failed(_)));
    join(callers);
}

/// Starts a caller that writes until the node has stopped, or for long enough.
fn writes_on(bus: &Bus, size: Size) -> JoinHandle<()> {
    caller(bus, move |bus| {
        for _ in 0..WRITES_MAX {
            if bus.write_and_ask(size).is_none() {
                return;
            }
            // Maintenance has something to do only when it is asked.
            let _trimmed = bus.trim();
        }
    })
}

fn caller(bus: &Bus, work: impl FnOnce(&Bus) + Send + 'static) -> JoinHandle<()> {
    let bus = bus.clone();
    thread::spawn(move || work(&bus))
}

fn join(threads: Vec<JoinHandle<()>>) {
    for thread in threads {
        thread.join().unwrap();
    }
}
