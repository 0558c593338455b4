//! What is known of a fault.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// As the hub gives it: numbers of 64 bits are hexadecimal text.
#[derive(Deserialize, Serialize, JsonSchema)]
pub(super) struct Fault {
    /// The signal that ended the process, such as `SEGV`.
    signal: String,
    /// Vector of the exception: 14 is a page fault, 13 a general protection fault, 6 an invalid instruction, 0 a
    /// division error.
    vector: u32,
    /// Error code of the exception.
    error: String,
    /// The address that was accessed.
    address: String,
    /// Address of the instruction.
    rip: String,
    /// Registers by name.
    registers: BTreeMap<String, String>,
    /// Return addresses, the innermost first.
    backtrace: Vec<String>,
    /// Where `rip` and the return addresses lie in the source, for a program that the host knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    places: Vec<Place>,
}

/// A place in a program's source.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Place {
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}
