//! Commands that are known: how each is started, gets its prompt and prints its answer.

use crate::extraction::Extraction;
use crate::invocation::PromptBy;

/// A command that is known by a name.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The name.
    pub name: &'static str,
    /// The program and its arguments.
    pub argv: &'static [&'static str],
    /// How it gets the prompt.
    pub prompt_by: PromptBy,
    /// Which part of its output is the answer.
    pub extraction: Extraction,
    /// What it needs of the environment beside what every command gets.
    pub variables: &'static [&'static str],
}

/// Those that are known.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "claude",
        argv: &["claude", "--print"],
        prompt_by: PromptBy::Stdin,
        extraction: Extraction::Whole,
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_MODEL",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CONFIG_DIR",
        ],
    },
    Profile {
        name: "codex",
        argv: &["codex", "exec", "--skip-git-repo-check", "-"],
        prompt_by: PromptBy::Stdin,
        extraction: Extraction::Whole,
        variables: &["CODEX_API_KEY", "CODEX_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL"],
    },
    Profile {
        name: "gemini",
        argv: &["gemini"],
        prompt_by: PromptBy::Stdin,
        extraction: Extraction::Whole,
        variables: &[
            "GEMINI_API_KEY",
            "GEMINI_MODEL",
            "GOOGLE_API_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_CLOUD_LOCATION",
            "GOOGLE_CLOUD_PROJECT",
            "GOOGLE_GENAI_USE_VERTEXAI",
        ],
    },
    Profile {
        name: "opencode",
        argv: &["opencode", "run"],
        prompt_by: PromptBy::Stdin,
        extraction: Extraction::Whole,
        variables: &[
            "ANTHROPIC_API_KEY",
            "GEMINI_API_KEY",
            "OPENAI_API_KEY",
            "OPENCODE_API_KEY",
            "OPENCODE_CONFIG",
            "OPENROUTER_API_KEY",
        ],
    },
];

/// Finds a profile by its name.
pub fn find(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}
