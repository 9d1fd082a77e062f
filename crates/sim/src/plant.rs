//! Planted faults: wrong behaviours that the simulation must find, here and in the crates under test.

/// One planted fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plant {
    /// In the broker.
    Broker(broker::plant::Plant),
    /// In the log.
    Log(log::Plant),
    /// In what drives them.
    Driver(DriverPlant),
}

/// A wrong behaviour of what drives broker and log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DriverPlant {
    AckBeforeSync,
    DuplicateBeforeDurable,
    SnapshotUnsynced,
    SnapshotTwice,
    SnapshotForgets,
    DropReturned,
    TrimWithoutCarry,
    TrimRecords,
    ForgetRestart,
    IgnoreSyncFailure,
    ClaimBeforeDurable,
    TrimTasks,
    ForgetWorkDue,
}

impl DriverPlant {
    pub(crate) const ALL: [DriverPlant; 13] = [
        DriverPlant::AckBeforeSync,
        DriverPlant::DuplicateBeforeDurable,
        DriverPlant::SnapshotUnsynced,
        DriverPlant::SnapshotTwice,
        DriverPlant::SnapshotForgets,
        DriverPlant::DropReturned,
        DriverPlant::TrimWithoutCarry,
        DriverPlant::TrimRecords,
        DriverPlant::ForgetRestart,
        DriverPlant::IgnoreSyncFailure,
        DriverPlant::ClaimBeforeDurable,
        DriverPlant::TrimTasks,
        DriverPlant::ForgetWorkDue,
    ];

    fn words(self) -> (&'static str, &'static str) {
        match self {
            DriverPlant::AckBeforeSync => ("ack-before-sync", "answers leave before the log is synced"),
            DriverPlant::DuplicateBeforeDurable => {
                ("duplicate-before-durable", "answers that append nothing leave at once")
            }
            DriverPlant::SnapshotUnsynced => {
                ("snapshot-unsynced", "a snapshot is taken of the living state, ahead of what is durable")
            }
            DriverPlant::SnapshotTwice => {
                ("snapshot-twice", "after a restart the last events of the snapshot are applied again")
            }
            DriverPlant::SnapshotForgets => {
                ("snapshot-forgets", "a snapshot is marked with a later place than it was folded to")
            }
            DriverPlant::DropReturned => {
                ("drop-returned", "what was never written is not put back, though somebody is told so")
            }
            DriverPlant::TrimWithoutCarry => {
                ("trim-without-carry", "the log is trimmed without carrying living bodies forward")
            }
            DriverPlant::TrimRecords => {
                ("trim-records", "the log is trimmed without carrying the documents of records forward")
            }
            DriverPlant::ForgetRestart => {
                ("forget-restart", "after a restart nobody says that connections are gone")
            }
            DriverPlant::IgnoreSyncFailure => {
                ("ignore-sync-failure", "a failed sync is taken for a good one")
            }
            DriverPlant::ClaimBeforeDurable => {
                ("claim-before-durable", "who claims a task is told so before that is durable")
            }
            DriverPlant::TrimTasks => {
                ("trim-tasks", "the log is trimmed without carrying forward what asks for open tasks")
            }
            DriverPlant::ForgetWorkDue => {
                ("forget-work-due", "nobody looks at the clock for work: claims, gates and help never end")
            }
        }
    }
}

impl Plant {
    /// Returns all of them, the driver's first.
    pub(crate) fn all() -> impl Iterator<Item = Plant> {
        let driver = DriverPlant::ALL.into_iter().map(Plant::Driver);
        let broker = broker::plant::Plant::ALL.iter().copied().map(Plant::Broker);
        driver.chain(broker).chain(log::Plant::ALL.into_iter().map(Plant::Log))
    }

    /// Returns the name by which the command line knows it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Plant::Broker(plant) => plant.name(),
            Plant::Log(plant) => plant.name(),
            Plant::Driver(plant) => plant.words().0,
        }
    }

    /// Says in one line what is wrong.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            Plant::Broker(plant) => plant.summary(),
            Plant::Log(plant) => plant.summary(),
            Plant::Driver(plant) => plant.words().1,
        }
    }

    /// Returns the plant as the broker knows it.
    pub(crate) fn of_broker(plant: Option<Plant>) -> Option<broker::plant::Plant> {
        match plant? {
            Plant::Broker(plant) => Some(plant),
            Plant::Log(_) | Plant::Driver(_) => None,
        }
    }

    /// Returns the plant as the log knows it.
    pub(crate) fn of_log(plant: Option<Plant>) -> Option<log::Plant> {
        match plant? {
            Plant::Log(plant) => Some(plant),
            Plant::Broker(_) | Plant::Driver(_) => None,
        }
    }

    /// Returns the plant as the driver knows it.
    pub(crate) fn of_driver(plant: Option<Plant>) -> Option<DriverPlant> {
        match plant? {
            Plant::Driver(plant) => Some(plant),
            Plant::Broker(_) | Plant::Log(_) => None,
        }
    }
}
