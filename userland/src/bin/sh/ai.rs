//! `ai TEXT`: the text goes to the program as it stands, as one argument.

use crate::Shell;
use crate::simple::Assignments;

impl Shell {
    /// Runs `ai` in the foreground; its exit status.
    pub(crate) fn run_ai(&mut self, text: &[u8]) -> i32 {
        let words = [b"ai".to_vec(), text.to_vec()];
        self.run_program(&words, &Assignments::new(), &[], b"ai", false);
        self.status
    }
}
