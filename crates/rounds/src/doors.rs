//! The doors that have sockets, and where those of an agent are.

/// A door with sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketDoor {
    /// The native one: orders and deliveries as JSON.
    Native,
    /// One `AgentMessage` a frame.
    Bus,
    /// One message of the Agent Communication Protocols a frame.
    Coord,
    /// What happens in repos, for whoever follows; nothing is delivered there.
    Stream,
}

impl SocketDoor {
    /// All of them.
    pub const ALL: [SocketDoor; 4] =
        [SocketDoor::Native, SocketDoor::Bus, SocketDoor::Coord, SocketDoor::Stream];

    /// Returns the path of an agent's socket.
    pub fn path(self, agent: &str) -> String {
        match self {
            SocketDoor::Native => format!("/v1/agents/{agent}/socket"),
            SocketDoor::Bus => format!("/bus?agent_id={agent}"),
            SocketDoor::Coord => format!("/coord/agents/{agent}"),
            SocketDoor::Stream => "/subscribe".to_owned(),
        }
    }

    /// Returns what must be said before something is delivered; nothing where nothing must be said.
    pub fn wish(self) -> Option<&'static str> {
        match self {
            SocketDoor::Native => Some(r#"{"op":"credit","n":100}"#),
            SocketDoor::Bus | SocketDoor::Coord | SocketDoor::Stream => None,
        }
    }

    /// Tells whether messages are delivered over it.
    pub fn delivers(self) -> bool {
        self != SocketDoor::Stream
    }
}
