//! The frame buffer that the boot loader set up: cells are painted into it.

use crate::arch::boot;
use crate::mm::DeviceMemory;
use askr_screen::{Cell, font};
use bootloader_api::BootInfo;
use bootloader_api::info::{FrameBufferInfo, Optional, PixelFormat};

/// A screen of so many lines or more shows each pixel of the font twice as large in each direction.
const LINES_FOR_DOUBLE: usize = 1600;

/// A frame buffer and where its cells are.
pub(crate) struct FrameBuffer {
    memory: DeviceMemory,
    info: FrameBufferInfo,
    scale: usize,
}

/// Where the frame buffer lies physically, and its layout.
#[derive(Clone, Copy)]
pub(crate) struct Location {
    physical: u64,
    info: FrameBufferInfo,
}

/// The frame buffer of the boot loader, if it found one that can be used. Call it while the boot loader's page tables
/// are in use.
pub(crate) fn locate(info: &mut BootInfo) -> Option<Location> {
    let Optional::Some(buffer) = &info.framebuffer else { return None };
    let layout = buffer.info();
    let fits = layout.width <= layout.stride
        && layout.stride * layout.height * layout.bytes_per_pixel <= layout.byte_len
        && layout.width >= font::WIDTH
        && layout.height >= font::HEIGHT
        && matches!(layout.bytes_per_pixel, 3 | 4);
    let physical = boot::translate(buffer.buffer().as_ptr() as u64)?;
    fits.then_some(Location { physical, info: layout })
}

impl FrameBuffer {
    /// Before there is anything else: for a message that the kernel cannot go on.
    pub(crate) fn early(location: Location) -> Option<Self> {
        // SAFETY: the boot loader says that the frame buffer is there.
        let memory = unsafe { DeviceMemory::direct(location.physical, location.info.byte_len) }?;
        Some(Self::new(memory, location.info))
    }

    /// For good; `None` where there is no memory for the mapping.
    pub(crate) fn open(location: Location) -> Option<Self> {
        // SAFETY: as above.
        let memory = unsafe { DeviceMemory::gathering(location.physical, location.info.byte_len) }?;
        Some(Self::new(memory, location.info))
    }

    fn new(memory: DeviceMemory, info: FrameBufferInfo) -> Self {
        let scale = if info.height >= LINES_FOR_DOUBLE { 2 } else { 1 };
        Self { memory, info, scale }
    }

    /// Rows of cells.
    pub(crate) fn rows(&self) -> usize {
        self.info.height / (font::HEIGHT * self.scale)
    }

    /// Columns of cells.
    pub(crate) fn columns(&self) -> usize {
        self.info.width / (font::WIDTH * self.scale)
    }

    /// Width and height in pixels.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.info.width, self.info.height)
    }

    /// Paints a cell inside of rows and columns.
    pub(crate) fn paint(&self, row: usize, column: usize, cell: Cell) {
        let (left, top) = (column * font::WIDTH * self.scale, row * font::HEIGHT * self.scale);
        font::paint(cell, |x, y, color| {
            for part in 0..self.scale * self.scale {
                let (right, down) = (part % self.scale, part / self.scale);
                self.put(left + x * self.scale + right, top + y * self.scale + down, color);
            }
        });
    }

    /// Makes everything black, also beside the cells.
    pub(crate) fn clear(&self) {
        for y in 0..self.info.height {
            for x in 0..self.info.width {
                self.put(x, y, 0);
            }
        }
    }

    /// Sets a pixel to the color 0xRRGGBB.
    fn put(&self, x: usize, y: usize, color: u32) {
        let offset = (y * self.info.stride + x) * self.info.bytes_per_pixel;
        let [_, red, green, blue] = color.to_be_bytes();
        let value = match self.info.pixel_format {
            PixelFormat::Rgb => u32::from_le_bytes([red, green, blue, 0]),
            PixelFormat::Unknown { red_position, green_position, blue_position } => {
                u32::from(red) << red_position
                    | u32::from(green) << green_position
                    | u32::from(blue) << blue_position
            }
            _ => u32::from_le_bytes([blue, green, red, 0]),
        };
        if self.info.bytes_per_pixel == 4 {
            self.memory.write(offset, value);
        } else {
            for (at, byte) in (offset..).zip(value.to_le_bytes()).take(3) {
                self.memory.write(at, byte);
            }
        }
    }
}
