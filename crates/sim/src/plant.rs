//! Planted faults: wrong behaviours that the simulation must find, here and in the crates under test.

/// One planted fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plant {
    /// In the broker.
    Broker(broker::plant::Plant),
    /// In the log.
    Log(log::Plant),
    /// In what drives them.
    Driver(node::driver::Plant),
}

impl Plant {
    /// Returns all of them, the driver's first.
    pub(crate) fn all() -> impl Iterator<Item = Plant> {
        let driver = node::driver::Plant::ALL.iter().copied().map(Plant::Driver);
        let broker = broker::plant::Plant::ALL.iter().copied().map(Plant::Broker);
        driver.chain(broker).chain(log::Plant::ALL.into_iter().map(Plant::Log))
    }

    /// Returns the name by which the command line knows it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Plant::Broker(plant) => plant.name(),
            Plant::Log(plant) => plant.name(),
            Plant::Driver(plant) => plant.name(),
        }
    }

    /// Says in one line what is wrong.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            Plant::Broker(plant) => plant.summary(),
            Plant::Log(plant) => plant.summary(),
            Plant::Driver(plant) => plant.summary(),
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
    pub(crate) fn of_driver(plant: Option<Plant>) -> Option<node::driver::Plant> {
        match plant? {
            Plant::Driver(plant) => Some(plant),
            Plant::Broker(_) | Plant::Log(_) => None,
        }
    }
}
