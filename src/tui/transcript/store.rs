//! The entries of the conversation, in order, each stored once.

use crate::domain::{CallId, ItemId, StepId, TurnId};
use crate::tui::cell::{Cell, Change};
use crate::tui::text::highlight::{Highlighter, Mode, Waker};
use std::collections::HashMap;

/// Which entry. Rises with order; valid until [`Store::clear`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub(super) u32);

/// Where an entry belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// Its turn.
    pub turn: Option<TurnId>,
    /// Its step.
    pub step: Option<StepId>,
}

/// An entry with what the views must know of it.
#[derive(Debug)]
pub struct Slot {
    /// The entry.
    pub cell: Cell,
    /// Where it belongs.
    pub place: Place,
    /// Rises with every change; unique over all slots of a store.
    pub revision: u64,
}

/// All entries.
#[derive(Debug, Default)]
pub struct Store {
    slots: Vec<Slot>,
    items: HashMap<ItemId, SlotId>,
    steps: HashMap<StepId, (u32, TurnId)>,
    turns: HashMap<TurnId, u32>,
    first_of_step: HashMap<StepId, SlotId>,
    revision: u64,
    generation: u64,
    highlighter: Highlighter,
}

impl Store {
    /// An empty one, whose code is coloured in a thread of its own, once there is some.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty one, whose code is coloured in this way.
    pub fn with_colours(mode: Mode) -> Self {
        Self { highlighter: Highlighter::new(mode), ..Self::default() }
    }

    /// Says what to call when colours became ready and a frame would show them. It is called on another thread.
    pub fn set_waker(&self, waker: Waker) {
        self.highlighter.set_waker(waker);
    }

    /// What colours code.
    pub(super) fn highlighter(&self) -> &Highlighter {
        &self.highlighter
    }

    /// Forgets everything: another session was opened. Views start over by themselves.
    pub fn clear(&mut self) {
        let generation = self.generation + 1;
        let highlighter = std::mem::take(&mut self.highlighter);
        *self = Self { generation, highlighter, ..Self::default() };
    }

    /// Appends an entry that nothing refers to later.
    pub fn push(&mut self, place: Place, cell: Cell) -> SlotId {
        let id = SlotId(self.slots.len() as u32);
        self.revision += 1;
        if let Some(step) = place.step {
            self.first_of_step.entry(step).or_insert(id);
        }
        self.slots.push(Slot { cell, place, revision: self.revision });
        id
    }

    /// Appends an entry that is found again by its item; a call's item has the call's number.
    pub fn push_item(&mut self, place: Place, item: ItemId, cell: Cell) -> SlotId {
        let id = self.push(place, cell);
        self.items.insert(item, id);
        id
    }

    /// Says that a step began: which of its turn, from 1.
    pub fn begin_step(&mut self, turn: TurnId, step: StepId, number: u32) {
        self.steps.insert(step, (number, turn));
        let last = self.turns.entry(turn).or_default();
        *last = (*last).max(number);
    }

    /// Which step of its turn this is, and how many that has so far.
    pub fn step_number(&self, step: StepId) -> Option<(u32, u32)> {
        let (number, turn) = self.steps.get(&step)?;
        Some((*number, *self.turns.get(turn)?))
    }

    /// The first entry of a step.
    pub(super) fn first_of_step(&self, step: StepId) -> Option<SlotId> {
        self.first_of_step.get(&step).copied()
    }

    /// Changes an entry. Costs what the change itself costs (a delta: one `push_str`); nothing is laid out.
    pub fn change(&mut self, id: SlotId, change: Change<'_>) {
        if let Some(slot) = self.slots.get_mut(id.0 as usize)
            && slot.cell.change(change)
        {
            self.revision += 1;
            slot.revision = self.revision;
        }
    }

    /// The entry of an item.
    pub fn find(&self, item: ItemId) -> Option<SlotId> {
        self.items.get(&item).copied()
    }

    /// The entry of a call.
    pub fn find_call(&self, call: CallId) -> Option<SlotId> {
        self.find(ItemId(call.0))
    }

    /// An entry.
    pub fn get(&self, id: SlotId) -> Option<&Slot> {
        self.slots.get(id.0 as usize)
    }

    /// All entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (SlotId, &Slot)> {
        self.slots.iter().enumerate().map(|(i, slot)| (SlotId(i as u32), slot))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Rises with every change of anything.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Another number after each [`Store::clear`].
    pub fn generation(&self) -> u64 {
        self.generation
    }
}
