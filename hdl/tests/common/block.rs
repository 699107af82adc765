//! Many leaves in one block, so that one Verilated model compares all of them.

/// Makes a block with the leaves as children; each of their ports gets a port of the block, named after the arrow.
macro_rules! leaves {
    ($name:ident, clock [$($clocked:ident)*], {
        $($leaf:ident: [$($kind:tt)+] {
            $($input:ident <- $from:ident: [$($in_type:tt)+],)*
        } {
            $($output:ident -> $to:ident: [$($out_type:tt)+],)*
        })+
    }) => {
        #[derive(LogicBlock, Default)]
        pub(crate) struct $name {
            pub(crate) clock: Signal<In, Clock>,
            $(
                $leaf: $($kind)+,
                $(pub(crate) $from: Signal<In, $($in_type)+>,)*
                $(pub(crate) $to: Signal<Out, $($out_type)+>,)*
            )+
        }

        impl Logic for $name {
            #[hdl_gen]
            fn update(&mut self) {
                $(self.$clocked.clock.next = self.clock.val();)*
                $(
                    $(self.$leaf.$input.next = self.$from.val();)*
                    $(self.$to.next = self.$leaf.$output.val();)*
                )+
            }
        }
    };
}

pub(crate) use leaves;
