//! The variables of a shell (POSIX.1-2017, XCU 2.5.3).

use super::expand::Failure;
use super::name_length;
use alloc_crate::collections::BTreeMap;
use alloc_crate::vec::Vec;

/// A variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// Its value; a variable may be exported without having one.
    pub value: Option<Vec<u8>>,
    /// Programs get it.
    pub exported: bool,
    /// It stays as it is.
    pub read_only: bool,
}

/// All variables, and what calls of functions hide.
#[derive(Debug, Default)]
pub struct Variables {
    all: BTreeMap<Vec<u8>, Variable>,
    /// For each call that goes on: the variables that it hides, as they were.
    hidden: Vec<Vec<(Vec<u8>, Option<Variable>)>>,
}

impl Variables {
    /// The variables that a program was started with, `NAME=value` each. What has no name is left out.
    #[must_use]
    pub fn from_environment(entries: &[&[u8]]) -> Self {
        let mut variables = Self::default();
        for entry in entries {
            let length = name_length(entry);
            if length > 0 && entry.get(length) == Some(&b'=') {
                let value = Some(entry[length + 1..].to_vec());
                let variable = Variable { value, exported: true, read_only: false };
                variables.all.insert(entry[..length].to_vec(), variable);
            }
        }
        variables
    }

    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.all.get(name)?.value.as_deref()
    }

    /// Gives a variable a value.
    ///
    /// # Errors
    /// It is read-only.
    pub fn set(&mut self, name: &[u8], value: Vec<u8>) -> Result<(), Failure> {
        self.changeable(name)?.value = Some(value);
        Ok(())
    }

    fn changeable(&mut self, name: &[u8]) -> Result<&mut Variable, Failure> {
        let variable = self.all.entry(name.to_vec()).or_default();
        if variable.read_only { Err(Failure::ReadOnly(name.to_vec())) } else { Ok(variable) }
    }

    /// Programs get it from now on.
    pub fn export(&mut self, name: &[u8]) {
        self.all.entry(name.to_vec()).or_default().exported = true;
    }

    /// It stays as it is from now on.
    pub fn make_read_only(&mut self, name: &[u8]) {
        self.all.entry(name.to_vec()).or_default().read_only = true;
    }

    /// Takes a variable away.
    ///
    /// # Errors
    /// It is read-only.
    pub fn unset(&mut self, name: &[u8]) -> Result<(), Failure> {
        if self.all.get(name).is_some_and(|variable| variable.read_only) {
            return Err(Failure::ReadOnly(name.to_vec()));
        }
        self.all.remove(name);
        Ok(())
    }

    /// The variables in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &Variable)> {
        self.all.iter().map(|(name, variable)| (name.as_slice(), variable))
    }

    /// What a program gets, `NAME=value` each.
    #[must_use]
    pub fn environment(&self) -> Vec<Vec<u8>> {
        let exported = self.all.iter().filter(|(_, variable)| variable.exported);
        let entry = |(name, variable): (&Vec<u8>, &Variable)| {
            variable.value.as_ref().map(|value| [name.as_slice(), b"=", value].concat())
        };
        exported.filter_map(entry).collect()
    }

    /// A variable as it is, to be put back by [`Variables::put_back`].
    #[must_use]
    pub fn save(&self, name: &[u8]) -> (Vec<u8>, Option<Variable>) {
        (name.to_vec(), self.all.get(name).cloned())
    }

    /// Makes a variable what it was.
    pub fn put_back(&mut self, (name, variable): (Vec<u8>, Option<Variable>)) {
        match variable {
            Some(variable) => drop(self.all.insert(name, variable)),
            None => drop(self.all.remove(&name)),
        }
    }

    /// A function begins.
    pub fn enter(&mut self) {
        self.hidden.push(Vec::new());
    }

    /// A function ends: what it hid is as it was before.
    pub fn leave(&mut self) {
        for saved in self.hidden.pop().unwrap_or_default().into_iter().rev() {
            self.put_back(saved);
        }
    }

    /// Hides a variable until the function ends; its value stays. False outside of functions.
    pub fn hide(&mut self, name: &[u8]) -> bool {
        let saved = self.save(name);
        match self.hidden.last_mut() {
            Some(hidden) => {
                hidden.push(saved);
                true
            }
            None => false,
        }
    }
}

/// A value so that it can be read again as one word.
#[must_use]
pub fn quoted(value: &[u8]) -> Vec<u8> {
    let mut text = b"'".to_vec();
    for &byte in value {
        if byte == b'\'' {
            text.extend_from_slice(b"'\\''");
        } else {
            text.push(byte);
        }
    }
    text.push(b'\'');
    text
}

#[cfg(test)]
mod tests {
    use super::Variables;

    #[test]
    fn variables_are_set_exported_and_hidden() {
        let mut variables = Variables::from_environment(&[b"A=1", b"B=", b"nonsense", b"1=2"]);
        assert_eq!(variables.environment(), [b"A=1".to_vec(), b"B=".to_vec()]);
        variables.set(b"C", b"x".to_vec()).unwrap();
        assert_eq!(variables.environment().len(), 2);
        variables.export(b"C");
        variables.export(b"D");
        assert_eq!(variables.environment().len(), 3);
        assert!(!variables.hide(b"A"));
        variables.enter();
        assert!(variables.hide(b"A") && variables.hide(b"E"));
        variables.set(b"A", b"2".to_vec()).unwrap();
        variables.set(b"E", b"2".to_vec()).unwrap();
        variables.leave();
        assert_eq!((variables.get(b"A"), variables.get(b"E")), (Some(&b"1"[..]), None));
        variables.make_read_only(b"A");
        assert!(variables.set(b"A", Vec::new()).is_err() && variables.unset(b"A").is_err());
        variables.unset(b"C").unwrap();
        assert_eq!(variables.get(b"C"), None);
    }
}
