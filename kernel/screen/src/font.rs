//! Pixels of a cell. The font is Noto Sans Mono, rasterized, by the crate `noto-sans-mono-bitmap`: ASCII, Latin-1 and
//! Latin Extended-A. A character that it does not have is shown as a box.

use crate::Cell;
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, RasterizedChar, get_raster, get_raster_width};

const WEIGHT: FontWeight = FontWeight::Regular;
const SIZE: RasterHeight = RasterHeight::Size16;
/// Width of a cell in pixels.
pub const WIDTH: usize = get_raster_width(WEIGHT, SIZE);
/// Height of a cell in pixels.
pub const HEIGHT: usize = SIZE.val();

/// The sixteen colours as 0xRRGGBB, those of the PC's text mode.
const PALETTE: [u32; 16] = [
    0x00_00_00, 0xaa_00_00, 0x00_aa_00, 0xaa_55_00, 0x00_00_aa, 0xaa_00_aa, 0x00_aa_aa, 0xaa_aa_aa,
    0x55_55_55, 0xff_55_55, 0x55_ff_55, 0xff_ff_55, 0x55_55_ff, 0xff_55_ff, 0x55_ff_ff, 0xff_ff_ff,
];

/// Calls `put(x, y, color)` for each pixel of the cell, row by row; the color is 0xRRGGBB.
pub fn paint(cell: Cell, mut put: impl FnMut(usize, usize, u32)) {
    let (text, ground) = (color(cell.colors.text), color(cell.colors.ground));
    let glyph = glyph(cell.character);
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let coverage = match glyph {
                Glyph::Blank => 0,
                Glyph::Box => box_at(x, y),
                Glyph::Raster(raster) => raster.pixel(x, y).unwrap_or(0),
            };
            put(x, y, mix(text, ground, coverage));
        }
    }
}

enum Glyph {
    Blank,
    Box,
    Raster(RasterizedChar),
}

fn glyph(character: char) -> Glyph {
    match character {
        ' ' | '\u{a0}' | Cell::TAIL => Glyph::Blank,
        _ => get_raster(character, WEIGHT, SIZE).map_or(Glyph::Box, Glyph::Raster),
    }
}

/// A frame with a margin around it.
const fn box_at(x: usize, y: usize) -> u8 {
    let (left, right, top, bottom) = (1, WIDTH - 2, 3, HEIGHT - 4);
    let inside = x >= left && x <= right && y >= top && y <= bottom;
    if inside && (x == left || x == right || y == top || y == bottom) { 0xff } else { 0 }
}

fn color(number: u8) -> u32 {
    PALETTE[usize::from(number) % PALETTE.len()]
}

/// `coverage` of 255 parts of `text`, the rest of `ground`, in each channel.
fn mix(text: u32, ground: u32, coverage: u8) -> u32 {
    match coverage {
        0 => ground,
        0xff => text,
        _ => {
            let coverage = u32::from(coverage);
            let channel = |shift: u32| {
                let of = |color: u32| color >> shift & 0xff;
                ((of(text) * coverage + of(ground) * (255 - coverage)) / 255) << shift
            };
            channel(16) | channel(8) | channel(0)
        }
    }
}
