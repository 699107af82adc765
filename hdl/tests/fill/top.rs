//! The block that fills slots in front of the DMA engine.
use forebay_hdl::dma::Dma;
use forebay_hdl::fill::Fill;
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub(crate) struct Top<const W: usize, const B: usize, const S: usize, const N: usize, const C: usize, const R: usize> {
    pub(crate) clock: Signal<In, Clock>,
    pub(crate) reset: Signal<In, Bit>,
    pub(crate) enable: Signal<In, Bit>,
    pub(crate) code: Signal<In, Bits<2>>,
    pub(crate) area: Signal<In, Bits<64>>,
    pub(crate) units: Signal<In, Bits<17>>,
    pub(crate) slots: Signal<In, Bits<15>>,
    pub(crate) flush: Signal<In, Bit>,
    pub(crate) g_valid: Signal<In, Bit>,
    pub(crate) g_ready: Signal<Out, Bit>,
    pub(crate) g_id: Signal<In, Bits<64>>,
    pub(crate) g_slot: Signal<In, Bits<16>>,
    pub(crate) g_generation: Signal<In, Bits<8>>,
    pub(crate) g_tenant: Signal<In, Bits<8>>,
    pub(crate) g_model: Signal<In, Bits<8>>,
    pub(crate) g_tokens: Signal<In, Bits<32>>,
    pub(crate) g_as_bytes: Signal<In, Bit>,
    pub(crate) g_max_tokens: Signal<In, Bits<32>>,
    pub(crate) t_valid: Signal<In, Bit>,
    pub(crate) t_ready: Signal<Out, Bit>,
    pub(crate) t_data: Signal<In, Bits<B>>,
    pub(crate) f_valid: Signal<Out, Bit>,
    pub(crate) f_ready: Signal<In, Bit>,
    pub(crate) f_slot: Signal<Out, Bits<16>>,
    pub(crate) f_generation: Signal<Out, Bits<8>>,
    pub(crate) f_id: Signal<Out, Bits<64>>,
    pub(crate) f_status: Signal<Out, Bits<2>>,
    pub(crate) f_reason: Signal<Out, Bits<3>>,
    pub(crate) f_cleared: Signal<Out, Bit>,
    pub(crate) m_valid: Signal<Out, Bit>,
    pub(crate) m_ready: Signal<In, Bit>,
    pub(crate) m_kind: Signal<Out, Bits<2>>,
    pub(crate) m_address: Signal<Out, Bits<64>>,
    pub(crate) m_bytes: Signal<Out, Bits<10>>,
    pub(crate) m_tag: Signal<Out, Bits<5>>,
    pub(crate) m_data: Signal<Out, Bits<B>>,
    pub(crate) m_first: Signal<Out, Bit>,
    pub(crate) m_last: Signal<Out, Bit>,
    pub(crate) c_valid: Signal<In, Bit>,
    pub(crate) c_tag: Signal<In, Bits<5>>,
    pub(crate) c_status: Signal<In, Bits<3>>,
    pub(crate) wd_valid: Signal<Out, Bit>,
    pub(crate) idle: Signal<Out, Bit>,
    fill: Fill<W, B, S>,
    dma: Dma<W, B, N, C, R>,
}

impl<const W: usize, const B: usize, const S: usize, const N: usize, const C: usize, const R: usize> Logic
    for Top<W, B, S, N, C, R>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, fill, dma);
        self.fill.reset.next = self.reset.val();
        self.fill.area.next = self.area.val();
        self.fill.units.next = self.units.val();
        self.fill.slots.next = self.slots.val();
        self.fill.flush.next = self.flush.val();
        self.fill.g_valid.next = self.g_valid.val();
        self.g_ready.next = self.fill.g_ready.val();
        self.fill.g_id.next = self.g_id.val();
        self.fill.g_slot.next = self.g_slot.val();
        self.fill.g_generation.next = self.g_generation.val();
        self.fill.g_tenant.next = self.g_tenant.val();
        self.fill.g_model.next = self.g_model.val();
        self.fill.g_tokens.next = self.g_tokens.val();
        self.fill.g_as_bytes.next = self.g_as_bytes.val();
        self.fill.g_max_tokens.next = self.g_max_tokens.val();
        self.fill.t_valid.next = self.t_valid.val();
        self.t_ready.next = self.fill.t_ready.val();
        self.fill.t_data.next = self.t_data.val();
        self.f_valid.next = self.fill.f_valid.val();
        self.fill.f_ready.next = self.f_ready.val();
        self.f_slot.next = self.fill.f_slot.val();
        self.f_generation.next = self.fill.f_generation.val();
        self.f_id.next = self.fill.f_id.val();
        self.f_status.next = self.fill.f_status.val();
        self.f_reason.next = self.fill.f_reason.val();
        self.f_cleared.next = self.fill.f_cleared.val();
        self.dma.reset.next = self.reset.val();
        self.dma.enable.next = self.enable.val();
        self.dma.payload_code.next = self.code.val();
        self.dma.read_code.next = self.code.val();
        self.dma.rd_valid.next = self.fill.rd_valid.val();
        self.fill.rd_ready.next = self.dma.rd_ready.val();
        self.dma.rd_address.next = self.fill.wd_address.val();
        self.dma.rd_bytes.next = 8.into();
        self.dma.rd_tag.next = 0.into();
        self.dma.r_ready.next = true;
        self.fill.r_end.next = self.dma.r_valid.val() & self.dma.r_last.val();
        self.fill.r_status.next = self.dma.r_status.val();
        self.dma.wd_valid.next = self.fill.wd_valid.val();
        self.wd_valid.next = self.fill.wd_valid.val();
        self.fill.wd_ready.next = self.dma.wd_ready.val();
        self.dma.wd_address.next = self.fill.wd_address.val();
        self.dma.wd_bytes.next = self.fill.wd_bytes.val();
        self.dma.wd_tag.next = 0.into();
        self.dma.wd_interrupt.next = false;
        self.dma.w_valid.next = self.fill.w_valid.val();
        self.fill.w_ready.next = self.dma.w_ready.val();
        self.dma.w_data.next = self.fill.w_data.val();
        self.fill.b_valid.next = self.dma.b_valid.val();
        self.fill.b_status.next = self.dma.b_status.val();
        self.m_valid.next = self.dma.m_valid.val();
        self.dma.m_ready.next = self.m_ready.val();
        self.m_kind.next = self.dma.m_kind.val();
        self.m_address.next = self.dma.m_address.val();
        self.m_bytes.next = self.dma.m_bytes.val();
        self.m_tag.next = self.dma.m_tag.val();
        self.m_data.next = self.dma.m_data.val();
        self.m_first.next = self.dma.m_first.val();
        self.m_last.next = self.dma.m_last.val();
        self.dma.c_valid.next = self.c_valid.val();
        self.dma.c_tag.next = self.c_tag.val();
        self.dma.c_data.next = 0.into();
        self.dma.c_last.next = true;
        self.dma.c_status.next = self.c_status.val();
        self.idle.next = self.dma.idle.val() & self.fill.g_ready.val();
    }
}
