//! What is in a pipe, against the simplest model of it: a list of bytes.

use askr_vfs::{Errno, PIPE_BUF, PIPE_CAPACITY, Pipe};
use proptest::prelude::*;

#[test]
fn an_end_that_is_gone_shows_at_the_other() {
    let mut pipe = Pipe::new().unwrap();
    let mut byte = [0];
    assert_eq!(pipe.read(&mut byte), Err(Errno::EAGAIN));
    assert!(!pipe.is_readable() && pipe.is_writable());
    assert_eq!(pipe.write(b"ab", true), Ok(2));
    pipe.close_writer();
    assert_eq!(pipe.read(&mut byte), Ok(1));
    assert_eq!(pipe.read(&mut byte), Ok(1));
    assert!(pipe.is_readable() && !pipe.has_writer());
    assert_eq!(pipe.read(&mut byte), Ok(0));
    let mut pipe = Pipe::new().unwrap();
    pipe.close_reader();
    assert!(pipe.is_writable() && !pipe.has_reader());
    assert_eq!(pipe.write(b"a", true), Err(Errno::EPIPE));
}

#[test]
fn without_more_memory_a_pipe_holds_one_step() {
    let mut pipe = Pipe::new().unwrap();
    assert_eq!(pipe.write(&[1; PIPE_BUF + 1], false), Ok(PIPE_BUF));
    assert_eq!(pipe.write(&[1], false), Err(Errno::EAGAIN));
    assert_eq!(pipe.write(&[1], true), Ok(1));
    assert_eq!(pipe.len(), PIPE_BUF + 1);
}

#[derive(Clone, Debug)]
enum Step {
    Read(usize),
    Write(usize, bool),
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![0..100_usize, 4000..4200_usize, 0..2 * PIPE_CAPACITY];
    prop_oneof![
        size.clone().prop_map(Step::Read),
        (size, any::<bool>()).prop_map(|(size, grow)| Step::Write(size, grow)),
    ]
}

proptest! {
    /// Bytes come out as they went in, none is lost, and a step that fits into PIPE_BUF is never cut.
    #[test]
    fn a_pipe_is_a_queue(steps in proptest::collection::vec(step(), 1..40)) {
        let mut pipe = Pipe::new().unwrap();
        let (mut put, mut got) = (0_u64, 0_u64);
        let byte = |place: u64| (place % 251) as u8;
        for step in steps {
            match step {
                Step::Read(size) => {
                    let mut buffer = vec![0; size];
                    match pipe.read(&mut buffer) {
                        Ok(count) => {
                            prop_assert_eq!(count as u64, (size as u64).min(put - got));
                            for &read in &buffer[..count] {
                                prop_assert_eq!(read, byte(got));
                                got += 1;
                            }
                        }
                        Err(errno) => prop_assert!(errno == Errno::EAGAIN && put == got && size > 0),
                    }
                }
                Step::Write(size, grow) => {
                    let bytes: Vec<u8> = (put..put + size as u64).map(byte).collect();
                    match pipe.write(&bytes, grow) {
                        Ok(count) => {
                            prop_assert!(count == size || count > 0 && size > PIPE_BUF);
                            put += count as u64;
                        }
                        Err(errno) => {
                            prop_assert_eq!(errno, Errno::EAGAIN);
                            prop_assert!(!pipe.is_writable());
                        }
                    }
                }
            }
            prop_assert!(pipe.len() as u64 == put - got && pipe.len() <= PIPE_CAPACITY);
            prop_assert_eq!(pipe.is_readable(), put > got);
        }
    }
}
