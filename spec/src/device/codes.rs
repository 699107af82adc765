//! Codes of the contract.
use crate::coded::coded_enum;

coded_enum! {
    /// How a DMA descriptor ended.
    DmaStatus {
        /// All of it was transferred.
        Ok = 0, "ok";
        /// The other side does not know the address, or does not allow the access.
        Unmapped = 1, "unmapped";
        /// The other side broke off, or what it sent was damaged.
        Aborted = 2, "aborted";
        /// The answer to a read was not as long as the read.
        Answer = 3, "answer";
        /// The address is no multiple of `DMA_ALIGN`, or the transfer ends behind the last address.
        Address = 4, "address";
        /// The length is 0 or over `DMA_BYTES_MAX`.
        Length = 5, "length";
        /// DMA is not allowed: `control.DMA` is 0.
        Disabled = 6, "disabled";
    }
}

coded_enum! {
    /// What a message to the other side of the DMA engine is.
    MessageKind {
        /// A read of so many bytes, answered under its tag.
        Read = 0, "read";
        /// A write, posted.
        Write = 1, "write";
        /// Raises the vector whose number stands in place of the address.
        Interrupt = 2, "interrupt";
    }
}

coded_enum! {
    /// What a submission asks for.
    Opcode {
        /// Read the body and decide the request.
        Decide = 1, "decide";
    }
}

coded_enum! {
    /// Whether more completions of a request follow.
    CompletionKind {
        /// Another one follows: the request is held.
        Interim = 1, "interim";
        /// The last one; the body's memory is the driver's again.
        Final = 2, "final";
    }
}

coded_enum! {
    /// Whether a submission could be worked on; with any but `ok` the completion is final and its verdict means nothing.
    EntryStatus {
        /// It was decided.
        Ok = 0, "ok";
        /// No such `Opcode`.
        Opcode = 1, "opcode";
        /// A reserved byte or bit is not zero.
        Reserved = 2, "reserved";
        /// The body's address is no multiple of `DMA_ALIGN`.
        BodyAddress = 3, "body_address";
        /// The body has no byte, or more than `BODY_BYTES_MAX`.
        BodyBytes = 4, "body_bytes";
        /// The body could not be read; `reason` is the `DmaStatus`.
        BodyRead = 5, "body_read";
        /// Admitted, and its slot could not be filled; `reason` is the `FillStatus`. The slot is free again.
        Fill = 6, "fill";
    }
}

coded_enum! {
    /// How the filling of a slot ended.
    FillStatus {
        /// Ids and header are where the reader looks.
        Filled = 0, "filled";
        /// The ids do not fit into a slot; nothing was written.
        SlotTooSmall = 1, "slot_too_small";
        /// There is no slot of this number, or no layout is set; nothing was written.
        NoSlot = 2, "no_slot";
        /// A descriptor of it was refused or the read behind it failed: the memory is not there.
        Target = 3, "target";
    }
}

coded_enum! {
    /// Bits of `error` and `error_mask`, by number.
    ErrorBit {
        /// A register was accessed that is not there, that may not be accessed so, or not as a whole word.
        Access = 0, "access";
        /// A reserved bit was written as 1, or a value that is not allowed; the write changed nothing.
        Value = 1, "value";
        /// A doorbell names an entry that the queue does not have, or one of a queue that is not enabled.
        Doorbell = 2, "doorbell";
        /// A submission entry could not be fetched; its queue has stopped.
        Fetch = 3, "fetch";
        /// A read by DMA failed.
        Read = 4, "read";
        /// The other side could not do a posted write.
        Write = 5, "write";
        /// An answer came to a read that was not on its way.
        Unexpected = 6, "unexpected";
        /// A release named a slot or generation that does not hold.
        Release = 7, "release";
    }
}
