//! The rows of a view, as far as they are needed.
//!
//! Owns the cache: per entry its parts, per part the index of its blocks and the rows of those that were drawn lately. Asks the text layer for the
//! rest. **Invariants:** a block is laid out at most once for a width, unless it is open and grew, its colours came, or it was forgotten; rows far
//! from what is drawn are forgotten.

use super::store::{Slot, SlotId, Store};
use crate::strings::Language;
use crate::tui::cell::{Body, Ctx, Part, Shown, Sign};
use crate::tui::look::Look;
use crate::tui::text::blocks::{Blocks, Growth};
use crate::tui::text::markdown::Setting;
use crate::tui::text::row::Row;
use crate::tui::text::{Signs, width};
use crate::tui::theme::Role;
use std::collections::HashMap;
use std::sync::Arc;

/// The open block of a text is cut at a row when it is longer than this, in bytes: it is laid out with every delta.
const CUT: usize = 1536;
/// So many rows are kept beyond what is drawn.
const KEPT_ROWS: usize = 2000;
/// The index of a text shorter than this is forgotten with its rows: it is cheap to find again.
const CHEAP: usize = 64 * 1024;
/// The number of the part that is the empty rows before an entry.
pub(super) const LEAD: u16 = u16::MAX;

/// What rows depend on, besides the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    width: u16,
    signs: Signs,
    language: Language,
    widths: u8,
}

/// What was done, for tests: performance is guarded by counting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Blocks laid out.
    pub layouts: usize,
    /// Rows made.
    pub rows: usize,
    /// Entries whose parts were looked at.
    pub entries: usize,
    /// Times Markdown was parsed to find blocks.
    pub parses: usize,
}

#[derive(Debug)]
struct Cached {
    rows: Arc<[Row]>,
    used: u64,
    /// Made in this frame (what moves is made anew in each).
    made: u64,
    /// Its colours were still to come at this revision of the highlighter.
    waits: Option<u64>,
}

#[derive(Debug)]
enum Content {
    /// So many empty rows.
    Lead(usize),
    Rows,
    Ticking,
    Chunks(usize),
    Text {
        blocks: Box<Blocks>,
        edition: u32,
        bytes: usize,
        /// Its open block has become long and may be cut here before it grows on.
        cut: Option<usize>,
    },
}

/// A part as it is laid out.
#[derive(Debug)]
pub(super) struct PartLayout {
    pub key: u16,
    pub inset: u16,
    pub sign: Option<Sign>,
    pub under: Role,
    content: Content,
    rows: HashMap<usize, Cached>,
}

impl PartLayout {
    /// How many blocks it has.
    pub fn blocks(&self) -> usize {
        match &self.content {
            Content::Lead(rows) => usize::from(*rows > 0),
            Content::Rows | Content::Ticking => 1,
            Content::Chunks(chunks) => *chunks,
            Content::Text { blocks, .. } => blocks.count(),
        }
    }

    /// The block that holds this byte of the part's text, if it is a text.
    pub fn block_at(&self, offset: usize) -> Option<usize> {
        match &self.content {
            Content::Text { blocks, .. } => Some(blocks.at(offset)),
            _ => None,
        }
    }

    /// How far a row of a block stands into the part, and how long the part is: in bytes of the text, else in blocks made comparable.
    pub fn progress(&self, block: usize, offset: usize) -> (usize, usize) {
        /// About the bytes of text that fill a chunk's rows.
        const BLOCK: usize = 256;
        match &self.content {
            Content::Text { bytes, .. } => (offset.min(*bytes), *bytes),
            _ => (block * BLOCK, self.blocks() * BLOCK),
        }
    }

    pub fn ticks(&self) -> bool {
        matches!(self.content, Content::Ticking)
    }
}

#[derive(Debug)]
struct SlotLayout {
    revision: u64,
    shown: Shown,
    parts: Vec<PartLayout>,
    used: u64,
}

/// The cache of a view.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    key: Option<Key>,
    slots: HashMap<SlotId, SlotLayout>,
    frame: u64,
    colours: u64,
    /// Rows made since they were counted, and those counted then: never fewer than there are.
    cached_rows: usize,
    pub work: Work,
}

impl Layouts {
    /// Forgets one entry: it is shown in another way.
    pub fn forget(&mut self, slot: SlotId) {
        self.slots.remove(&slot);
    }

    /// Takes in what rows depend on.
    pub fn prepare(&mut self, store: &Store, width: u16, look: &Look<'_>) {
        let key = Key { width, signs: Signs::of(look), language: look.strings.language(), widths: width::epoch() };
        if self.key != Some(key) {
            // Where blocks begin does not depend on the width (cuts aside, which stay); rows do.
            let same_words = self.key.is_some_and(|old| Key { width, ..old } == key);
            self.key = Some(key);
            self.cached_rows = 0;
            if same_words {
                for part in self.slots.values_mut().flat_map(|slot| &mut slot.parts) {
                    part.rows.clear();
                }
            } else {
                self.slots.clear();
            }
        }
        self.colours = store.highlighter().revision();
    }

    /// Columns that rows are laid out for; 0 before the first frame.
    pub fn width(&self) -> u16 {
        self.key.map_or(0, |key| key.width)
    }

    /// Begins a frame.
    pub fn begin(&mut self) {
        self.frame += 1;
    }

    /// Ends a frame: forgets what was not drawn lately, if that has become much.
    pub fn end(&mut self, height: usize) {
        if self.cached_rows <= KEPT_ROWS.max(height * 4) {
            return;
        }
        let frame = self.frame;
        self.slots.retain(|_, slot| {
            for part in &mut slot.parts {
                part.rows.retain(|_, cached| cached.used == frame);
            }
            let dear = |part: &PartLayout| matches!(&part.content, Content::Text { bytes, .. } if *bytes > CHEAP);
            slot.used == frame || slot.parts.iter().any(dear)
        });
        self.cached_rows = self.count_rows();
    }

    /// Rows that are kept now.
    pub fn count_rows(&self) -> usize {
        let parts = self.slots.values().flat_map(|slot| &slot.parts);
        parts.flat_map(|part| part.rows.values()).map(|cached| cached.rows.len()).sum()
    }

    /// The parts of an entry, brought up to date.
    pub fn parts(&mut self, id: SlotId, slot: &Slot, shown: Shown, lead: usize) -> &[PartLayout] {
        let layout = self.slots.entry(id).or_insert_with(|| {
            let lead = PartLayout {
                key: LEAD,
                inset: 0,
                sign: None,
                under: Role::Text,
                content: Content::Lead(lead),
                rows: HashMap::new(),
            };
            SlotLayout { revision: 0, shown, parts: vec![lead], used: 0 }
        });
        layout.used = self.frame;
        if layout.revision != slot.revision || layout.shown != shown {
            self.work.entries += 1;
            let mut parts = Vec::new();
            slot.cell.parts(shown, &mut parts);
            let mut old = std::mem::take(&mut layout.parts);
            let lead = old.remove(0);
            layout.parts.reserve(parts.len() + 1);
            layout.parts.push(lead);
            let changed_shown = layout.shown != shown;
            for part in &parts {
                let kept = old.iter().position(|layout| layout.key == part.key).map(|at| old.swap_remove(at));
                let updated = update(part, kept.filter(|_| !changed_shown), &mut self.work);
                layout.parts.push(updated);
            }
            layout.revision = slot.revision;
            layout.shown = shown;
        }
        &layout.parts
    }

    /// The parts of an entry as they were when last asked for.
    pub fn known_parts(&self, id: SlotId) -> &[PartLayout] {
        self.slots.get(&id).map_or(&[], |layout| &layout.parts)
    }

    /// The rows of a block of a part of an entry, which must have been brought up to date.
    pub fn rows(&mut self, id: SlotId, part: usize, block: usize, store: &Store, look: &Look<'_>) -> Arc<[Row]> {
        let (Some(slot), Some(layout)) = (store.get(id), self.slots.get_mut(&id)) else { return Arc::new([]) };
        let shown = layout.shown;
        let Some(layout) = layout.parts.get_mut(part) else { return Arc::new([]) };
        let ticking = layout.ticks();
        if let Some(cached) = layout.rows.get_mut(&block)
            && (!ticking || cached.made == self.frame)
            && cached.waits.is_none_or(|since| since == self.colours)
        {
            cached.used = self.frame;
            return Arc::clone(&cached.rows);
        }
        let width = self.key.map_or(0, |key| key.width).saturating_sub(layout.inset);
        let (rows, making_colours) = lay_out(layout, block, slot, shown, Ctx { look, width }, store);
        self.work.layouts += 1;
        self.work.rows += rows.len();
        self.cached_rows += rows.len();
        let rows: Arc<[Row]> = rows.into();
        let waits = making_colours.then_some(self.colours);
        let cached = Cached { rows: Arc::clone(&rows), used: self.frame, made: self.frame, waits };
        layout.rows.insert(block, cached);
        rows
    }
}

/// A part brought up to date; what of its rows still holds is kept.
fn update(part: &Part<'_>, old: Option<PartLayout>, work: &mut Work) -> PartLayout {
    let fresh = |content| PartLayout {
        key: part.key,
        inset: part.inset,
        sign: part.sign,
        under: part.under,
        content,
        rows: HashMap::new(),
    };
    let (flow, growth, edition) = match part.body {
        Body::Rows => return fresh(Content::Rows),
        Body::Ticking => return fresh(Content::Ticking),
        Body::Chunks(chunks) => return fresh(Content::Chunks(chunks)),
        Body::Text { flow, growth, edition, .. } => (flow, growth, edition),
    };
    let mut layout = match old {
        Some(old) if matches!(old.content, Content::Text { edition: e, bytes, .. } if e == edition && bytes <= part.text.len()) => {
            old
        }
        _ => fresh(Content::Text { blocks: Box::new(Blocks::new(flow)), edition, bytes: 0, cut: None }),
    };
    if let Content::Text { blocks, bytes, cut, .. } = &mut layout.content {
        if let Some(at) = cut.take().filter(|_| growth == Growth::Open) {
            layout.rows.remove(&(blocks.count().saturating_sub(1)));
            blocks.cut_open(at);
        }
        let (open, parses) = (blocks.count().saturating_sub(1), blocks.parses());
        let stale = blocks.update(part.text, growth).map_or(open, |first| first.min(open));
        work.parses += blocks.parses() - parses;
        *bytes = part.text.len();
        layout.rows.retain(|&block, _| block < stale);
    }
    layout
}

/// Lays out one block. Answers its rows and whether their colours are still to come.
fn lay_out(
    layout: &mut PartLayout,
    block: usize,
    slot: &Slot,
    shown: Shown,
    ctx: Ctx<'_>,
    store: &Store,
) -> (Vec<Row>, bool) {
    let (blocks, cut) = match &mut layout.content {
        Content::Lead(rows) => return ((0..*rows).map(|_| Row::blank(0)).collect(), false),
        Content::Rows | Content::Ticking | Content::Chunks(_) => {
            return (slot.cell.rows(layout.key, block, shown, &ctx), false);
        }
        Content::Text { blocks, cut, .. } => (blocks, cut),
    };
    let mut parts = Vec::new();
    slot.cell.parts(shown, &mut parts);
    let Some(part) = parts.iter().find(|part| part.key == layout.key) else { return (Vec::new(), false) };
    let Body::Text { base, .. } = part.body else { return (Vec::new(), false) };
    let setting = Setting {
        width: ctx.width,
        base,
        signs: ctx.signs(),
        image: ctx.look.strings.get("cell.image"),
        colours: Some(store.highlighter()),
    };
    let range = blocks.range(block);
    let rendered = blocks.render(part.text, block, &setting);
    if blocks.is_open(block)
        && rendered.cuttable
        && range.len() > CUT
        && let Some(last) = rendered.rows.last()
        && last.source.start > range.start
    {
        *cut = Some(last.source.start);
    }
    (rendered.rows, rendered.making_colours)
}
