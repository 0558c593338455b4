//! Who answers asks.

use serde_json::{Value, json};

/// Who would get an ask now, and whether the built-in agent could answer one. Never has a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentStatus {
    /// The hub has a built-in agent. The rest but `takers` is about that.
    pub built_in: bool,
    /// Waits and subscriptions of clients that are there to answer asks: these get them first.
    pub takers: usize,
    /// Who answers, as `agent.conf` names it.
    pub provider: Option<&'static str>,
    /// Where requests to it go.
    pub endpoint: Option<String>,
    /// Which model.
    pub model: Option<String>,
    /// The variable of the bridge's environment that its key is in.
    pub key_variable: Option<String>,
    /// What is wrong with `agent.conf`.
    pub complaints: Vec<String>,
    /// Why it could not answer now, and what to do about it.
    pub problem: Option<String>,
}

impl AgentStatus {
    /// The same for a client.
    pub(crate) fn to_value(&self) -> Value {
        json!({
            "built_in": self.built_in,
            "takers": self.takers,
            "provider": self.provider,
            "endpoint": self.endpoint,
            "model": self.model,
            "key_variable": self.key_variable,
            "complaints": self.complaints,
            "problem": self.problem,
        })
    }
}
