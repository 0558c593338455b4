//! A queue whose buffers are its own, one descriptor each. Nothing here waits for the device.

use super::Memory;
use alloc::boxed::Box;
use alloc::vec;
use core::mem::ManuallyDrop;
use core::sync::atomic::{Ordering, fence};
use virtio_drivers::queue::VirtQueue;
use virtio_drivers::transport::{SomeTransport, Transport};
use virtio_drivers::{Error, Result};

/// A queue of `N` buffers. None of its memory is freed while the device may come for it, also if it is not used any more.
pub(crate) struct Ring<const N: usize> {
    index: u16,
    queue: ManuallyDrop<VirtQueue<Memory, N>>,
    buffers: &'static mut [Box<[u8]>; N],
    /// The buffer that the device has under each token, and how many bytes of it.
    given: [Option<(usize, usize)>; N],
}

impl<const N: usize> Ring<N> {
    /// Makes queue number `index` of a device that is being started, with buffers of this size.
    ///
    /// # Errors
    /// The device has no such queue, or a shorter one; or there is no memory.
    pub(crate) fn new(transport: &mut SomeTransport<'static>, index: u16, size: usize) -> Result<Self> {
        let queue = ManuallyDrop::new(VirtQueue::new(transport, index, false, false)?);
        let buffers = Box::new(core::array::from_fn(|_| vec![0; size].into_boxed_slice()));
        Ok(Self { index, queue, buffers: Box::leak(buffers), given: [None; N] })
    }

    /// Makes the queue anew, after the device was reset and while it is being started again: it has none of this any more.
    ///
    /// # Errors
    /// There is no memory.
    pub(crate) fn restart(&mut self, transport: &mut SomeTransport<'static>) -> Result<()> {
        let queue = ManuallyDrop::new(VirtQueue::new(transport, self.index, false, false)?);
        drop(ManuallyDrop::into_inner(core::mem::replace(&mut self.queue, queue)));
        self.given = [None; N];
        Ok(())
    }

    /// A buffer that the device does not have.
    pub(crate) fn free(&self) -> Option<usize> {
        (0..N).find(|&buffer| self.is_ours(buffer))
    }

    /// Whether the device has none.
    pub(crate) fn is_idle(&self) -> bool {
        self.given.iter().all(Option::is_none)
    }

    fn is_ours(&self, buffer: usize) -> bool {
        self.given.iter().flatten().all(|&(given, _)| given != buffer)
    }

    /// The bytes of a buffer that the device does not have.
    pub(crate) fn bytes(&self, buffer: usize) -> &[u8] {
        assert!(self.is_ours(buffer), "the device has this buffer");
        &self.buffers[buffer]
    }

    /// Gives a buffer to the device, to be filled.
    ///
    /// # Errors
    /// The device has it already.
    pub(crate) fn offer(&mut self, buffer: usize) -> Result<()> {
        if !self.is_ours(buffer) {
            return Err(Error::AlreadyUsed);
        }
        let bytes = &mut self.buffers[buffer][..];
        let length = bytes.len();
        // SAFETY: buffers are never freed, and nothing here touches one that the device has.
        let token = unsafe { self.queue.add(&[], &mut [bytes])? };
        self.given[usize::from(token)] = Some((buffer, length));
        Ok(())
    }

    /// Takes back the next buffer that the device has filled, and how many bytes are in it.
    ///
    /// # Errors
    /// The device says what cannot be.
    pub(crate) fn take_filled(&mut self) -> Result<Option<(usize, usize)>> {
        let Some((token, buffer, given)) = self.next_used()? else { return Ok(None) };
        let bytes = &mut self.buffers[buffer][..given];
        // SAFETY: this is what was given under this token, and nothing has touched it since.
        let length = unsafe { self.queue.pop_used(token, &[], &mut [bytes])? } as usize;
        self.given[usize::from(token)] = None;
        if length > given { Err(Error::IoError) } else { Ok(Some((buffer, length))) }
    }

    /// Gives bytes to the device, in a buffer that it does not have.
    ///
    /// # Errors
    /// It has that buffer, or they do not fit into it.
    pub(crate) fn send(
        &mut self,
        transport: &mut SomeTransport<'static>,
        buffer: usize,
        bytes: &[u8],
    ) -> Result<()> {
        if !self.is_ours(buffer) {
            return Err(Error::AlreadyUsed);
        }
        let place = self.buffers[buffer].get_mut(..bytes.len()).ok_or(Error::InvalidParam)?;
        place.copy_from_slice(bytes);
        // SAFETY: as in `offer`.
        let token = unsafe { self.queue.add(&[place], &mut [])? };
        self.given[usize::from(token)] = Some((buffer, bytes.len()));
        self.notify(transport);
        Ok(())
    }

    /// Takes back the buffers that the device has read. Returns how many.
    ///
    /// # Errors
    /// The device says what cannot be.
    pub(crate) fn reap(&mut self) -> Result<usize> {
        for count in 0..N {
            let Some((token, buffer, given)) = self.next_used()? else { return Ok(count) };
            let bytes = &self.buffers[buffer][..given];
            // SAFETY: this is what was given under this token, and nothing has touched it since.
            unsafe { self.queue.pop_used(token, &[bytes], &mut [])? };
            self.given[usize::from(token)] = None;
        }
        Ok(N)
    }

    /// Token, buffer and length of the next buffer that the device is done with.
    fn next_used(&self) -> Result<Option<(u16, usize, usize)>> {
        let Some(token) = self.queue.peek_used() else { return Ok(None) };
        let given = self.given.get(usize::from(token)).copied().flatten();
        given.map(|(buffer, length)| Some((token, buffer, length))).ok_or(Error::WrongToken)
    }

    /// Whether the device raises its interrupt when it is done with a buffer of this queue.
    pub(crate) fn set_interrupts(&mut self, on: bool) {
        self.queue.set_dev_notify(on);
        // Before the next look at the queue: else the device may see the old word, and this side the old queue (2.7.7).
        fence(Ordering::SeqCst);
    }

    /// Tells the device that there is something in the queue, if it wants to know.
    pub(crate) fn notify(&self, transport: &mut SomeTransport<'static>) {
        if self.queue.should_notify() {
            transport.notify(self.index);
        }
    }
}
