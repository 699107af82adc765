#![allow(missing_docs)]
#[path = "blocks/traps.rs"]
mod traps;
use rust_hdl::prelude::*;
use traps::*;
struct P;
impl Probe for P {
    fn visit_start_scope(&mut self, n: &str, _b: &dyn Block) { println!("scope {n}"); }
    fn visit_end_scope(&mut self, _n: &str, _b: &dyn Block) {}
    fn visit_start_namespace(&mut self, n: &str, _b: &dyn Block) { println!("ns {n}"); }
    fn visit_end_namespace(&mut self, _n: &str, _b: &dyn Block) {}
    fn visit_atom(&mut self, name: &str, a: &dyn Atom) { println!("{name} {:?} {} {:?} {:?}", a.kind(), a.bits(), a.descriptor(), a.verilog()); }
}
#[derive(LogicBlock)]
pub struct Arr { pub clock: Signal<In, Clock>, pub x: [Signal<In, Bits<8>>; 2], pub y: [Signal<Out, Bits<8>>; 2], r: [DFF<Bits<8>>; 2], one: Signal<Local, Bits<1>>, k: Constant<Bits<8>>, c: Inverter }
impl Logic for Arr {
    #[hdl_gen]
    fn update(&mut self) {
        self.one.next = 1.into();
        self.c.a.next = self.k.val();
        for i in 0..2 {
        self.r[i].clock.next = self.clock.val();
        self.r[i].d.next = self.x[i].val();
        self.y[i].next = self.r[i].q.val();
        if self.one.val().get_bit(0) { self.y[i].next = self.c.y.val(); }
        }
    }
}
#[test]
fn show() {
    let mut b = NoDefaultArm::default(); b.connect_all(); b.accept("top", &mut P); println!("{}", generate_verilog(&b));
    let mut b = Arr { clock: Default::default(), x: Default::default(), y: Default::default(), r: Default::default(), one: Default::default(), c: Default::default(), k: Constant::new(5.into()) }; b.connect_all(); b.accept("top", &mut P); println!("{}", generate_verilog(&b));
    if let Verilog::Combinatorial(c) = b.hdl() { println!("{c:?}"); }
}
