//! Writes the page of the device's contract, `spec/device.md`, to standard output.
use forebay_spec::device::Page;

fn main() {
    print!("{Page}");
}
