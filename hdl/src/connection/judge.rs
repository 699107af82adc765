//! What a segment, a step of time or a resume does to its context; wires only.
use rust_hdl::prelude::*;

/// The table of `spec/frames.md`, "What a segment does", and what time and the host do.
///
/// Codes of `frame_end` are those of `FrameEnd`, of `cause` those of `CloseCause`.
#[derive(LogicBlock, Default)]
pub struct Judge {
    /// 0 a segment, 1 a step of time, 2 a resume.
    pub kind: Signal<In, Bits<2>>,
    /// FIN.
    pub fin: Signal<In, Bit>,
    /// SYN.
    pub syn: Signal<In, Bit>,
    /// RST.
    pub rst: Signal<In, Bit>,
    /// Without any of SYN, RST and ACK, or with SYN and ACK.
    pub odd: Signal<In, Bit>,
    /// No payload.
    pub empty: Signal<In, Bit>,
    /// One byte of payload.
    pub single: Signal<In, Bit>,
    /// The tuple has a context.
    pub found: Signal<In, Bit>,
    /// If there is none: 0 the place is free, 1 it is half open, 2 it is the oldest.
    pub choice: Signal<In, Bits<2>>,
    /// The context was not used for long.
    pub aged: Signal<In, Bit>,
    /// It is half open,
    pub half_open: Signal<In, Bit>,
    /// live,
    pub live: Signal<In, Bit>,
    /// or given up.
    pub host: Signal<In, Bit>,
    /// The host means its present use.
    pub same_generation: Signal<In, Bit>,
    /// The segment begins at the next sequence number,
    pub is_next: Signal<In, Bit>,
    /// one before,
    pub is_one_behind: Signal<In, Bit>,
    /// ahead,
    pub is_ahead: Signal<In, Bit>,
    /// or behind.
    pub is_behind: Signal<In, Bit>,
    /// Behind, and it ends before the next sequence number.
    pub ends_before: Signal<In, Bit>,
    /// Behind, and it ends after the next sequence number.
    pub ends_after: Signal<In, Bit>,
    /// It was compared with what is remembered:
    pub compared: Signal<In, Bit>,
    /// it is equal.
    pub equal: Signal<In, Bit>,
    /// It has to be compared first; nothing else counts.
    pub compares: Signal<Out, Bit>,
    /// Where the frame ends.
    pub frame_end: Signal<Out, Bits<5>>,
    /// Payload is passed on.
    pub passes: Signal<Out, Bit>,
    /// The connection is given up:
    pub gives_up: Signal<Out, Bit>,
    /// for an overlap.
    pub overlap: Signal<Out, Bit>,
    /// The context is freed, behind what is passed on:
    pub closes: Signal<Out, Bit>,
    /// why.
    pub cause: Signal<Out, Bits<3>>,
    /// The context becomes half open, behind its close.
    pub renews: Signal<Out, Bit>,
    /// The context was used.
    pub touches: Signal<Out, Bit>,
    /// The host gives it back.
    pub resumes: Signal<Out, Bit>,
    /// The host does so too late.
    pub is_stale: Signal<Out, Bit>,
    /// A half open one makes room.
    pub evicts_half_open: Signal<Out, Bit>,
    /// A half open one was not used for long.
    pub expires_half_open: Signal<Out, Bit>,
    reads: Signal<Local, Bit>,
    contradicts: Signal<Local, Bit>,
}

impl Logic for Judge {
    #[hdl_gen]
    fn update(&mut self) {
        self.compares.next = false;
        self.frame_end.next = 0.into();
        self.passes.next = false;
        self.gives_up.next = false;
        self.overlap.next = false;
        self.closes.next = false;
        self.cause.next = 0.into();
        self.renews.next = false;
        self.touches.next = false;
        self.resumes.next = false;
        self.is_stale.next = false;
        self.evicts_half_open.next = false;
        self.expires_half_open.next = false;
        self.contradicts.next = self.fin.val() & self.ends_before.val();
        self.reads.next = false;

        if self.kind.val() == 1 {
            if self.aged.val() & (self.half_open.val() | self.live.val() | self.host.val()) {
                self.closes.next = true;
                self.cause.next = 2.into();
                self.expires_half_open.next = self.half_open.val();
            }
        } else if self.kind.val() == 2 {
            self.resumes.next = self.host.val() & self.same_generation.val();
            self.is_stale.next = !self.resumes.val();
        } else if self.odd.val() {
            self.frame_end.next = 12.into();
        } else if self.syn.val() {
            self.frame_end.next = 15.into();
            self.renews.next = true;
            if !self.found.val() {
                self.evicts_half_open.next = self.choice.val() == 1;
                if self.choice.val() == 2 {
                    self.closes.next = self.aged.val();
                    self.cause.next = 3.into();
                    if !self.aged.val() {
                        self.renews.next = false;
                        self.frame_end.next = 18.into();
                    }
                }
            } else if self.half_open.val() {
                if self.is_one_behind.val() {
                    self.renews.next = false;
                    self.frame_end.next = 16.into();
                }
            } else {
                self.closes.next = self.aged.val();
                self.cause.next = 4.into();
                if !self.aged.val() {
                    self.renews.next = false;
                    self.frame_end.next = 17.into();
                }
            }
        } else if !self.found.val() {
            self.frame_end.next = 13.into();
            if self.rst.val() | self.empty.val() {
                self.frame_end.next = 14.into();
            }
        } else if self.host.val() {
            self.frame_end.next = 27.into();
            self.closes.next = self.rst.val() | self.fin.val();
            if self.rst.val() {
                self.cause.next = 1.into();
            }
            self.touches.next = !self.rst.val() & !self.fin.val();
        } else if self.rst.val() {
            self.frame_end.next = 29.into();
            if self.is_next.val() {
                self.frame_end.next = 28.into();
                self.closes.next = true;
                self.cause.next = 1.into();
            }
        } else if self.empty.val() & !self.fin.val() {
            self.frame_end.next = 19.into();
            self.touches.next = self.is_next.val() & self.live.val();
        } else if self.single.val() & !self.fin.val() & self.is_one_behind.val() {
            self.frame_end.next = 20.into();
        } else {
            self.reads.next = true;
        }

        if self.reads.val() {
            self.frame_end.next = 24.into();
            if self.is_ahead.val() {
                self.frame_end.next = 25.into();
                self.gives_up.next = true;
            }
            if self.is_next.val() {
                self.frame_end.next = 21.into();
                self.passes.next = !self.empty.val();
                self.closes.next = self.fin.val();
                if self.empty.val() {
                    self.frame_end.next = 30.into();
                }
            }
            if self.is_behind.val() {
                if self.contradicts.val() | (self.compared.val() & !self.equal.val()) {
                    self.frame_end.next = 26.into();
                    self.gives_up.next = true;
                    self.overlap.next = true;
                } else if !self.compared.val() {
                    self.compares.next = true;
                } else {
                    self.frame_end.next = 22.into();
                    self.touches.next = true;
                    self.closes.next = self.fin.val();
                    if self.ends_after.val() {
                        self.frame_end.next = 23.into();
                        self.passes.next = true;
                    }
                }
            }
        }
    }
}
