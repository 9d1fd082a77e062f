//! A node with a few agents, as tests want it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use broker::{Accept, AgentKey, Command, Identity, Register, Retention};
use log::Options;
use message::{Kind, MessageId};

use crate::{CallError, Clock, Letter, Node, Settings, Started, SystemClock, Wishes};

pub(super) struct Bus {
    pub(super) node: Node,
    pub(super) started: Started,
    pub(super) ann: AgentKey,
    pub(super) bob: AgentKey,
}

pub(super) fn settings(folder: &Path) -> Settings {
    let mut log = Options::small(1);
    (log.segment_bytes, log.first_segment_bytes) = (1 << 20, 1 << 20);
    log.record_bytes_max = 256 << 10;
    Settings {
        folder: folder.to_owned(),
        broker: testkit::broker_settings(),
        retention: Retention::USUAL,
        log,
        calls_max: 10_000,
        snapshot_bytes: u64::MAX,
        keep: crate::Keep::WHOLE,
        hook: crate::driver::Hook::default(),
    }
}

impl Bus {
    pub(super) async fn open(settings: Settings) -> Bus {
        Bus::open_at(settings, Arc::new(SystemClock::new())).await
    }

    pub(super) async fn open_at(settings: Settings, clock: Arc<dyn Clock>) -> Bus {
        let (node, started) = Node::start(settings, clock).unwrap();
        let ann = register(&node, "ann").await;
        let bob = register(&node, "bob").await;
        Bus { node, started, ann, bob }
    }

    pub(super) async fn send(&self, id: &str, body: &str) -> MessageId {
        self.send_kind(id, body, Kind::Note, None, None).await.unwrap().0
    }

    pub(super) async fn send_kind(
        &self,
        id: &str,
        body: &str,
        kind: Kind,
        reply_to: Option<MessageId>,
        wait: Option<Duration>,
    ) -> Result<(MessageId, Option<crate::Awaited>), CallError> {
        let (id, body) = (id.to_owned(), body.to_owned());
        let (from, to) = if reply_to.is_some() { (self.bob, "ann") } else { (self.ann, "bob") };
        let (to, identity) = (vec![to.parse().unwrap()], Identity::Native(id.into()));
        let accept = Accept {
            reply_to: reply_to.map(|id| id.to_string().into()),
            wait_ms: wait.map(|wait| wait.as_millis().try_into().unwrap()),
            ..Accept::new(from, to, kind, identity, body.into())
        };
        let (receipted, awaited) = self.node.accept(Box::new(accept)).await?;
        Ok((receipted.id, awaited))
    }

    pub(super) fn wishes(&self, max: u32) -> Wishes {
        Wishes {
            agent: self.bob,
            session: None,
            max,
            bytes_max: u64::MAX,
            lease_ms: 60_000,
            by: "test".into(),
        }
    }

    pub(super) async fn take(&self, max: u32) -> Vec<Letter> {
        self.node.take(self.wishes(max), Duration::ZERO).await.unwrap()
    }

    pub(super) async fn ack(&self, letter: &Letter) {
        let (agent, delivery) = (self.bob, letter.delivery.delivery);
        self.node.execute(Command::Ack { agent, delivery, by: "test".into() }).await.unwrap();
    }

    pub(super) async fn give_back(&self, letter: &Letter) {
        let (agent, delivery) = (self.bob, letter.delivery.delivery);
        self.node.execute(Command::Return { agent, delivery }).await.unwrap();
    }

    pub(super) fn bodies(&self, letters: &[Letter]) -> Vec<String> {
        let body = |letter: &Letter| self.node.body_blocking(letter.delivery.body).unwrap();
        letters.iter().map(|letter| String::from_utf8(body(letter).to_vec()).unwrap()).collect()
    }
}

async fn register(node: &Node, name: &str) -> AgentKey {
    node.execute(Register::of(name.parse().unwrap())).await.unwrap()
}
