//! VirtIO on PCI, by the capabilities of the modern interface (4.1.4).

use super::{Found, Memory};
use crate::kprintln;
use virtio_drivers::transport::DeviceType;
use virtio_drivers::transport::pci::bus::{Command, ConfigurationAccess, DeviceFunction, PciRoot};
use virtio_drivers::transport::pci::{PciTransport, virtio_device_type};
use x86_64::instructions::port::Port;

/// The bus that QEMU's devices are on without a bridge.
const BUS: u8 = 0;
/// Register with the interrupt line, which the firmware chose, in its lowest byte (PCI 3.0, 6.2.4).
const INTERRUPT_LINE: u8 = 0x3c;
/// Lines of the two 8259; 0xff means none.
const LINES: u8 = 16;

/// Configuration mechanism #1 (PCI 3.0, 3.2.2.3.2): address at port 0xcf8, data at 0xcfc.
struct Ports;

impl Ports {
    fn select(device: DeviceFunction, register: u8) -> Port<u32> {
        let function = u32::from(device.device) << 11 | u32::from(device.function) << 8;
        let address = 1 << 31 | u32::from(device.bus) << 16 | function | u32::from(register & 0xfc);
        // SAFETY: selects what the data port stands for, and nothing else. Only tasks come here, one after another.
        unsafe { Port::new(0xcf8).write(address) };
        Port::new(0xcfc)
    }
}

impl ConfigurationAccess for Ports {
    fn read_word(&self, device: DeviceFunction, register: u8) -> u32 {
        // SAFETY: reading configuration space changes nothing; without a device, or without PCI, it is all ones.
        unsafe { Self::select(device, register).read() }
    }

    fn write_word(&mut self, device: DeviceFunction, register: u8, data: u32) {
        // SAFETY: `virtio-drivers` sizes base addresses and restores them, `find` sets the command register.
        unsafe { Self::select(device, register).write(data) };
    }

    unsafe fn unsafe_clone(&self) -> Self {
        Self
    }
}

/// Whether the machine has PCI.
pub(super) fn is_present() -> bool {
    // The host bridge.
    Ports.read_word(DeviceFunction { bus: BUS, device: 0, function: 0 }, 0) != u32::MAX
}

/// The first device of this kind. One that cannot be used is reported.
pub(super) fn find(kind: DeviceType) -> Option<Found> {
    let mut root = PciRoot::new(Ports);
    let mut devices = root.enumerate_bus(BUS);
    let (device, _) = devices.find(|(_, facts)| virtio_device_type(facts) == Some(kind))?;
    let (_, command) = root.get_status_command(device);
    // Off until the registers are found: their size is asked for several times, and each time decoding is stopped for that
    // and goes on, an emulator maps them anew.
    root.set_command(device, command & !(Command::MEMORY_SPACE | Command::IO_SPACE));
    let transport = PciTransport::new::<Memory, _>(&mut root, device);
    root.set_command(device, command | Command::MEMORY_SPACE | Command::BUS_MASTER);
    match transport {
        Ok(transport) => {
            let line = Ports.read_word(device, INTERRUPT_LINE) as u8;
            Some(Found { transport: transport.into(), line: (1..LINES).contains(&line).then_some(line) })
        }
        Err(error) => {
            kprintln!("virtio {kind:?} at {device}: {error}");
            None
        }
    }
}
