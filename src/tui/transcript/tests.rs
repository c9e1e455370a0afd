use super::*;
use crate::domain::tool::Progress;
use crate::domain::{
    CallId, Content, ItemId, Origin, ServerName, StepId, ToolCall, ToolId, ToolOutcome, TurnId, UserInput,
};
use crate::strings::Strings;
use crate::tui::cell::{Cell, Change, ToolChange};
use crate::tui::keymap::Keymap;
use crate::tui::look::Look;
use crate::tui::text::highlight::Mode;
use crate::tui::theme::{Role, Theme};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::json;
use std::time::Instant;

struct Desk {
    store: Store,
    view: View,
    theme: Theme,
    strings: Strings,
    keymap: Keymap,
    now: Instant,
    area: Rect,
    drawn: Drawn,
}

impl Desk {
    fn new(filter: Filter, width: u16, height: u16) -> Self {
        Self {
            store: Store::with_colours(Mode::Off),
            view: View::new(filter),
            theme: Theme::probe(),
            strings: Strings::default(),
            keymap: Keymap::built_in(),
            now: Instant::now(),
            area: Rect::new(0, 0, width, height),
            drawn: Drawn::default(),
        }
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut View, &Store, &Look<'_>) -> T) -> T {
        let look = Look {
            theme: &self.theme,
            strings: &self.strings,
            keymap: &self.keymap,
            now: self.now,
            ascii: false,
            animate: true,
            shift_enter: false,
        };
        act(&mut self.view, &self.store, &look)
    }

    fn draw(&mut self) -> Buffer {
        let mut buffer = Buffer::empty(self.area);
        let area = self.area;
        self.drawn = self.with(|view, store, look| view.draw(store, area, &mut buffer, look, Attention::Focused));
        buffer
    }

    /// The lines of a frame, without the margins.
    fn lines(&mut self) -> Vec<String> {
        let buffer = self.draw();
        (0..buffer.area.height)
            .map(|y| {
                let line: String = (1..buffer.area.width - 1).map(|x| buffer[(x, y)].symbol().to_owned()).collect();
                line.trim_end().to_owned()
            })
            .collect()
    }

    fn answer(&mut self, text: &str) -> SlotId {
        let id = self.open_answer(text);
        self.store.change(id, Change::Finish);
        id
    }

    fn open_answer(&mut self, text: &str) -> SlotId {
        let id = self.store.push(Place::default(), Cell::answer());
        self.store.change(id, Change::Append(text));
        id
    }

    fn work(&self) -> Work {
        self.view.work()
    }

    /// What a frame costs.
    fn cost(&mut self) -> Work {
        let before = self.work();
        self.draw();
        let after = self.work();
        Work {
            layouts: after.layouts - before.layouts,
            rows: after.rows - before.rows,
            entries: after.entries - before.entries,
            parses: after.parses - before.parses,
        }
    }

    fn scroll(&mut self, rows: i32) {
        self.with(|view, store, look| view.scroll(rows, store, look));
    }
}

fn paragraphs(range: std::ops::Range<usize>) -> String {
    range.map(|i| format!("paragraph {i}\n\n")).collect()
}

fn call(id: u64, name: &str, arguments: serde_json::Value) -> Box<ToolCall> {
    let tool = Some(ToolId::on(&ServerName::from("s"), name));
    Box::new(ToolCall {
        id: CallId(id),
        provider_id: None,
        asked: name.into(),
        tool,
        arguments,
        origin: Origin::Native,
    })
}

fn tool(desk: &mut Desk, step: u64, id: u64, result: &str) -> SlotId {
    let place = Place { turn: Some(TurnId(1)), step: Some(StepId(step)) };
    let slot = desk.store.push(place, Cell::tool(CallId(id)));
    let call = call(id, &format!("tool{id}"), json!({"a": id}));
    desk.store.change(slot, Change::Tool(ToolChange::Proposed { call, spec: None }));
    let outcome = ToolOutcome::text(result);
    desk.store.change(slot, Change::Tool(ToolChange::Finished { outcome, at: None }));
    slot
}

#[test]
fn a_frame_asks_only_for_what_is_visible() {
    let mut costs = Vec::new();
    for count in [50, 1000] {
        let mut desk = Desk::new(Filter::ANSWER, 80, 30);
        for i in 0..count {
            desk.answer(&format!("# Answer {i}\n\n{}", paragraphs(0..10)));
        }
        costs.push(desk.cost());
        assert_eq!(desk.cost().layouts, 0, "a second frame lays nothing out");
    }
    assert_eq!(costs[0], costs[1], "a thousand answers cost what fifty cost");
    assert!(costs[0].layouts < 40, "{costs:?}");
}

#[test]
fn a_delta_lays_out_only_the_open_block() {
    let mut desk = Desk::new(Filter::ANSWER, 80, 30);
    let id = desk.open_answer(&paragraphs(0..8000));
    desk.draw();
    for text in ["one ", "more ", "word", "\n", "next"] {
        desk.store.change(id, Change::Append(text));
        let cost = desk.cost();
        // Small blocks are sealed together, so a few short paragraphs may be open.
        assert!(cost.layouts <= 2 && cost.parses <= 1 && cost.rows <= 64, "{cost:?} for {text:?}");
    }
    let before = desk.work();
    desk.store.change(id, Change::Append("many\n\n"));
    desk.store.change(id, Change::Append("deltas "));
    assert_eq!(desk.work(), before, "nothing is laid out on arrival");
}

#[test]
fn an_endless_line_costs_as_much_at_its_end_as_at_its_beginning() {
    let mut desk = Desk::new(Filter::ANSWER, 80, 30);
    let id = desk.open_answer("");
    let mut costs = Vec::new();
    for i in 0..20_000 {
        desk.store.change(id, Change::Append("sixteen letters "));
        if i % 10 == 0 {
            costs.push(desk.cost().rows);
        }
    }
    let (first, last) = (&costs[500..1000], &costs[1500..2000]);
    let (first, last) = (first.iter().sum::<usize>(), last.iter().sum::<usize>());
    assert!(last * 10 <= first * 12, "{first} rows at the beginning, {last} at the end");
    assert!(desk.view.cached_rows() < 3000, "{}", desk.view.cached_rows());
    let lines = desk.lines();
    assert!(lines.iter().take(29).all(|line| line.len() > 60), "rows are full where the text was cut: {lines:#?}");
}

#[test]
fn link_definitions_heal_when_the_text_is_whole() {
    let mut desk = Desk::new(Filter::ANSWER, 60, 10);
    let id = desk.open_answer(&format!("see [the page][1]\n\n{}\n\nmore\n\n", "word ".repeat(60)));
    desk.draw();
    assert_eq!(desk.lines()[0], "see [the page][1]");
    desk.store.change(id, Change::Append("[1]: http://x.y\n"));
    desk.store.change(id, Change::Finish);
    assert_eq!(desk.lines()[0], "see the page (http://x.y)");
}

#[test]
fn colours_come_when_they_are_ready_to_all_parts_of_a_fence() {
    let mut desk = Desk::new(Filter::ANSWER, 60, 400);
    desk.store = Store::with_colours(Mode::Background);
    let (sender, woken) = std::sync::mpsc::channel();
    desk.store.set_waker(std::sync::Arc::new(move || sender.send(()).unwrap_or_default()));
    let id = desk.open_answer("```rust\n");
    for _ in 0..300 {
        desk.store.change(id, Change::Append("let x = \"a string\"; // and a comment\n"));
    }
    desk.draw();
    desk.store.change(id, Change::Append("```\n"));
    let coloured = |desk: &mut Desk| {
        let buffer = desk.draw();
        (0..400).filter(|&y| Theme::role_of(buffer[(3, y)].fg) == Some(Role::SynKeyword)).count()
    };
    assert_eq!(coloured(&mut desk), 0, "a frame does not wait");
    assert!(woken.recv_timeout(std::time::Duration::from_secs(120)).is_ok());
    assert_eq!(coloured(&mut desk), 300);
    assert_eq!(desk.cost().layouts, 0);
}

#[test]
fn resize_lays_out_visible_blocks_only_and_keeps_the_line() {
    let mut desk = Desk::new(Filter::ANSWER, 80, 20);
    for i in 0..300 {
        desk.answer(&format!("{}\n\nmark {i}", "word ".repeat(60)));
    }
    desk.draw();
    desk.scroll(-501);
    let before = desk.lines();
    let parses = desk.work().parses;
    desk.area.width = 50;
    let cost = desk.cost();
    assert!(cost.layouts < 40, "{cost:?}");
    assert_eq!(desk.work().parses - parses, cost.parses);
    let mark = |lines: &[String]| lines.iter().find(|line| line.starts_with("mark")).cloned();
    desk.area.width = 80;
    assert_eq!(mark(&desk.lines()), mark(&before));
}

#[test]
fn ten_megabytes_never_stand_in_memory_as_rows() {
    let mut desk = Desk::new(Filter::ANSWER, 80, 40);
    desk.answer(&paragraphs(0..600_000));
    desk.draw();
    desk.with(View::top);
    assert_eq!(desk.lines()[0], "paragraph 0");
    for _ in 0..200 {
        desk.with(|view, store, look| view.page(Direction::Forward, store, look));
        desk.draw();
    }
    assert!(desk.view.cached_rows() <= 2100, "{}", desk.view.cached_rows());
    assert_eq!(desk.lines()[0], format!("paragraph {}", 200 * 38 / 2));
    desk.view.bottom();
    assert_eq!(desk.lines().last().map(String::as_str), Some("paragraph 599999"), "far beyond 65,536 rows");
}

#[test]
fn what_arrives_moves_only_a_reader_at_the_end() {
    let mut desk = Desk::new(Filter::ANSWER, 40, 10);
    let id = desk.open_answer(&paragraphs(0..30));
    desk.draw();
    assert!(desk.view.is_following());
    desk.store.change(id, Change::Append("new\n\n"));
    assert_eq!(desk.lines().last().map(String::as_str), Some("new"));
    desk.scroll(-4);
    let before = desk.lines();
    assert!(!desk.view.is_following());
    assert_eq!(desk.drawn.below, Some(Below { entries: 0, fresh: false }));
    desk.store.change(id, Change::Append(&paragraphs(30..60)));
    desk.answer("another");
    assert_eq!(desk.lines(), before);
    assert_eq!(desk.drawn.below, Some(Below { entries: 1, fresh: true }));
    desk.view.bottom();
    assert_eq!(desk.lines().last().map(String::as_str), Some("another"));
    assert_eq!(desk.drawn.below, None);
}

#[test]
fn sealing_does_not_move_a_reader_inside_the_open_block() {
    let mut desk = Desk::new(Filter::ANSWER, 40, 6);
    let text: String = (0..40).map(|i| format!("line {i}\n")).collect();
    let id = desk.open_answer(&text);
    desk.draw();
    desk.scroll(-12);
    let before = desk.lines();
    desk.store.change(id, Change::Append("\n\nanother paragraph\n\n# heading\n\nand more"));
    assert_eq!(desk.lines(), before);
    desk.store.change(id, Change::Finish);
    assert_eq!(desk.lines(), before);
}

#[test]
fn the_cursor_moves_by_rows_and_takes_the_window_along() {
    let mut desk = Desk::new(Filter::ANSWER, 40, 5);
    let text: String = (0..20).map(|i| format!("line {i}\n")).collect();
    desk.answer(&text);
    assert_eq!(desk.lines(), ["line 15", "line 16", "line 17", "line 18", "line 19"]);
    assert_eq!(desk.drawn.caret, Some(Position::new(0, 4)));
    desk.scroll(-1);
    assert_eq!(desk.lines()[0], "line 14");
    assert_eq!(desk.drawn.caret, Some(Position::new(0, 4)), "it stays where it is on the screen");
    desk.scroll(-100);
    assert_eq!((desk.lines()[0].as_str(), desk.drawn.caret), ("line 0", Some(Position::new(0, 0))));
    desk.scroll(1);
    assert_eq!((desk.lines()[0].as_str(), desk.drawn.caret), ("line 1", Some(Position::new(0, 0))));
    desk.scroll(17);
    assert_eq!((desk.lines()[0].as_str(), desk.drawn.caret), ("line 15", Some(Position::new(0, 3))));
    desk.scroll(1);
    assert!(desk.view.is_following());
}

#[test]
fn steps_are_walked_and_shown_in_other_views() {
    let mut desk = Desk::new(Filter::TOOLS, 40, 6);
    for step in 1..=4 {
        for n in 0..3 {
            tool(&mut desk, step, step * 10 + n, "done");
        }
    }
    desk.draw();
    assert_eq!(desk.view.current_step(&desk.store), Some(StepId(4)));
    desk.with(|view, store, look| view.step(Direction::Back, store, look));
    assert_eq!(desk.view.current_step(&desk.store), Some(StepId(3)));
    assert!(desk.lines().iter().any(|line| line.contains("tool30")));
    desk.with(|view, store, look| view.show_step(StepId(1), store, look));
    assert!(desk.lines()[0].contains("tool10"));
    desk.with(|view, store, look| view.step(Direction::Forward, store, look));
    assert_eq!(desk.view.current_step(&desk.store), Some(StepId(2)));
    let before = desk.lines();
    desk.with(|view, store, look| view.show_step(StepId(99), store, look));
    assert_eq!(desk.lines(), before);
}

#[test]
fn opening_an_entry_keeps_its_head_where_it_is_if_there_is_room() {
    let mut desk = Desk::new(Filter::TOOLS, 40, 12);
    for id in 0..10 {
        let long: String = (0..if id == 7 { 50 } else { 4 }).map(|i| format!("result {i}\n")).collect();
        tool(&mut desk, 1, id, &long);
    }
    desk.draw();
    desk.scroll(-26);
    let head = |desk: &mut Desk, id: u64| desk.lines().iter().position(|line| line.contains(&format!("tool{id}")));
    let (before, at) = (desk.lines(), head(&mut desk, 1).unwrap());
    assert!(desk.with(View::toggle));
    assert!(desk.view.is_open(&desk.store));
    assert_eq!(head(&mut desk, 1), Some(at), "{:#?}", desk.lines());
    assert!(desk.lines().iter().any(|line| line.contains("result 3")), "{:#?}", desk.lines());
    assert!(desk.with(View::toggle));
    assert_eq!(desk.lines(), before);
    desk.view.bottom();
    desk.scroll(-6);
    assert!(desk.with(View::toggle));
    assert_eq!(head(&mut desk, 7), Some(0), "a long one needs all the room: {:#?}", desk.lines());
}

#[test]
fn selected_rows_are_copied_as_their_source() {
    let mut desk = Desk::new(Filter::ANSWER, 40, 20);
    desk.answer("# Title\n\nSome **bold** text that is long enough to be wrapped in a narrow pane.\n\n- one\n- two\n");
    desk.draw();
    desk.with(View::top);
    desk.scroll(2);
    desk.with(View::toggle_selection);
    desk.scroll(4);
    let copied = desk.with(View::copy_text);
    assert_eq!(copied, "Some **bold** text that is long enough to be wrapped in a narrow pane.\n\n- one\n- two");
    let buffer = desk.draw();
    assert_eq!(Theme::role_of(buffer[(2, 3)].fg), Some(Role::Selection));
    assert!(desk.view.end_selection());
    let whole = desk.with(View::copy_text);
    assert!(whole.starts_with("# Title\n\nSome **bold**"));
}

#[test]
fn a_selection_over_entries_tells_them_apart() {
    let mut desk = Desk::new(Filter::TIMELINE, 40, 30);
    desk.store.push(Place::default(), Cell::user(UserInput::text("question")));
    tool(&mut desk, 1, 1, "result");
    desk.answer("answer");
    desk.draw();
    desk.with(View::top);
    desk.with(View::toggle_selection);
    desk.scroll(30);
    let copied = desk.with(View::copy_text);
    assert!(copied.starts_with("question\n\n✓ s:tool1"), "{copied:?}");
    assert!(copied.ends_with("→ result\n\nanswer"), "{copied:?}");
}

#[test]
fn search_finds_folded_text_and_opens_it() {
    let mut desk = Desk::new(Filter::TIMELINE, 40, 10);
    desk.answer("a needle here");
    let hidden: String =
        (0..50).map(|i| if i == 33 { "NEEDLE 33\n".to_owned() } else { format!("hay {i}\n") }).collect();
    tool(&mut desk, 1, 1, &hidden);
    desk.answer(&paragraphs(0..30));
    desk.draw();
    let found = desk.with(|view, store, look| view.search("needle", store, look));
    assert_eq!(found, Found { current: 1, total: 2 }, "from the end on it goes around");
    assert!(desk.lines().iter().any(|line| line.contains("a needle here")));
    let found = desk.with(|view, store, look| view.search_next(Direction::Forward, store, look));
    assert_eq!(found.current, 2);
    let buffer = desk.draw();
    let lines = desk.lines();
    let y = lines.iter().position(|line| line.contains("NEEDLE 33")).expect("opened and shown") as u16;
    let roles: Vec<_> = (0..40).filter(|&x| Theme::role_of(buffer[(x, y)].fg) == Some(Role::MatchCurrent)).collect();
    assert_eq!(roles.len(), "needle".len());
    let found = desk.with(|view, store, look| view.search("NEEDLE", store, look));
    assert_eq!(found.total, 1, "upper case is meant");
    desk.with(|view, store, look| view.search("", store, look));
    assert_eq!(desk.view.query(), None);
}

#[test]
fn a_match_torn_by_wrapping_is_marked_in_both_rows() {
    let mut desk = Desk::new(Filter::ANSWER, 14, 10);
    desk.answer("alpha beta gamma delta");
    desk.draw();
    desk.with(|view, store, look| view.search("beta gamma", store, look));
    let buffer = desk.draw();
    let marked = |y| (0..14).filter(|&x| Theme::role_of(buffer[(x, y)].fg) == Some(Role::MatchCurrent)).count();
    assert_eq!((marked(0), marked(1)), (4, 5));
}

#[test]
fn the_scrollbar_is_exact_at_both_ends() {
    let mut desk = Desk::new(Filter::ANSWER, 40, 10);
    desk.answer("short");
    desk.draw();
    assert_eq!(desk.drawn.scroll, Scroll { above: 0.0, inside: 1.0 });
    for i in 0..200 {
        desk.answer(&paragraphs(i..i + 5));
    }
    desk.draw();
    let end = desk.drawn.scroll;
    assert!(end.above > 0.95 && (end.above + end.inside - 1.0).abs() < 1e-6, "{end:?}");
    desk.with(View::top);
    desk.draw();
    assert!(desk.drawn.scroll.above == 0.0 && desk.drawn.scroll.inside < 0.05);
}

#[test]
fn another_session_starts_over() {
    let mut desk = Desk::new(Filter::ANSWER, 40, 5);
    desk.answer(&paragraphs(0..50));
    desk.draw();
    desk.scroll(-20);
    desk.store.clear();
    desk.answer("fresh");
    assert_eq!(desk.lines()[0], "fresh");
    assert!(desk.view.is_following());
}

#[test]
fn every_change_of_a_cell_rises_its_revision() {
    let mut store = Store::new();
    let text = store.push_item(Place::default(), ItemId(1), Cell::answer());
    let tool = store.push_item(Place::default(), ItemId(2), Cell::tool(CallId(2)));
    assert_eq!((store.find(ItemId(1)), store.find_call(CallId(2))), (Some(text), Some(tool)));
    let check = |what| crate::domain::policy::Check {
        verdict: crate::domain::policy::Verdict::Ask { why: crate::domain::Phrase::literal(what) },
        warnings: Vec::new(),
        preview: crate::domain::policy::Preview::Arguments,
        grant: None,
    };
    let changes: Vec<(SlotId, Change<'_>)> = vec![
        (text, Change::Append("x")),
        (text, Change::Finish),
        (tool, Change::Tool(ToolChange::Writing { name: "n", bytes: 1 })),
        (tool, Change::Tool(ToolChange::Abandoned)),
        (tool, Change::Tool(ToolChange::Proposed { call: call(2, "n", json!({})), spec: None })),
        (tool, Change::Tool(ToolChange::Checked(Box::new(check("x"))))),
        (tool, Change::Tool(ToolChange::WaitingForServer(ServerName::from("s")))),
        (tool, Change::Tool(ToolChange::Started { at: Instant::now() })),
        (tool, Change::Tool(ToolChange::Progress(Progress::default()))),
        (tool, Change::Tool(ToolChange::Output("x"))),
        (tool, Change::Tool(ToolChange::Suspended)),
        (tool, Change::Tool(ToolChange::Resumed)),
        (tool, Change::Tool(ToolChange::Finished { outcome: ToolOutcome::Cancelled, at: None })),
    ];
    for (slot, change) in changes {
        let said = format!("{change:?}");
        let before = (store.get(slot).unwrap().revision, store.revision());
        store.change(slot, change);
        assert!(store.get(slot).unwrap().revision > before.0 && store.revision() > before.1, "{said}");
    }
    let before = store.revision();
    store.change(text, Change::Tool(ToolChange::Resumed));
    assert_eq!(store.revision(), before, "what does not fit changes nothing");
}

#[test]
fn output_of_a_running_call_is_bounded() {
    let mut desk = Desk::new(Filter::TOOLS, 40, 10);
    let slot = desk.store.push(Place::default(), Cell::tool(CallId(1)));
    desk.store.change(slot, Change::Tool(ToolChange::Proposed { call: call(1, "run", json!({})), spec: None }));
    desk.store.change(slot, Change::Tool(ToolChange::Started { at: desk.now }));
    desk.draw();
    assert!(desk.drawn.ticks);
    desk.with(View::toggle);
    for i in 0..30_000 {
        desk.store.change(slot, Change::Tool(ToolChange::Output(&format!("line {i}\n"))));
        if i % 500 == 0 {
            desk.draw();
        }
    }
    assert_eq!(desk.lines().last().map(String::as_str), Some("  line 29999"));
    assert!(!desk.drawn.ticks, "what ticks is not in sight");
    let outcome = ToolOutcome::Done {
        content: vec![Content::text("all")],
        is_error: false,
        for_model: None,
        spilled: None,
        millis: 5,
    };
    desk.store.change(slot, Change::Tool(ToolChange::Finished { outcome, at: None }));
    assert!(desk.lines().iter().any(|line| line.contains("→ all")));
    assert!(!desk.drawn.ticks);
}

#[test]
fn a_hostile_name_or_result_draws_no_control() {
    let mut desk = Desk::new(Filter::TIMELINE, 60, 30);
    let evil = "\u{1b}[31m\u{202e}x\u{200b}\u{7}\r\n\u{9b}2J";
    desk.store.push(Place::default(), Cell::user(UserInput::text(evil)));
    let slot = desk.store.push(Place::default(), Cell::tool(CallId(1)));
    let call =
        Box::new(ToolCall { tool: None, asked: evil.into(), ..*call(1, "x", json!({ evil: evil, "b": [evil] })) });
    desk.store.change(slot, Change::Tool(ToolChange::Proposed { call, spec: None }));
    desk.store.change(slot, Change::Tool(ToolChange::Started { at: desk.now }));
    desk.store.change(slot, Change::Tool(ToolChange::Output(evil)));
    desk.store.change(
        slot,
        Change::Tool(ToolChange::Progress(Progress { message: Some(evil.into()), ..Progress::default() })),
    );
    desk.answer(&format!("# {evil}\n\n`{evil}` [{evil}](http://{evil})\n\n```{evil}\n{evil}\n```\n"));
    for _ in 0..2 {
        let buffer = desk.draw();
        for cell in &buffer.content {
            assert!(
                cell.symbol()
                    .chars()
                    .all(|c| !c.is_control() && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')),
                "{:?}",
                cell.symbol()
            );
        }
        desk.scroll(-12);
        desk.with(View::toggle);
    }
    for line in plain(&desk.store, &desk.strings) {
        assert!(line.chars().all(|c| !c.is_control()), "{line:?}");
    }
}

#[derive(Debug, Clone)]
enum Act {
    Append(usize, String),
    Finish(usize),
    Push(u8),
    Scroll(i32),
    Page(bool),
    Ends(bool),
    Toggle,
    Select,
    Step(bool),
    Resize(u16, u16),
    Search(String),
    Next(bool),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (any::<usize>(), "([a-c *`#|>-]{0,9}\n{0,2}){0,5}").prop_map(|(i, text)| Act::Append(i, text)),
        1 => any::<usize>().prop_map(Act::Finish),
        3 => (0_u8..5).prop_map(Act::Push),
        4 => (-9_i32..9).prop_map(Act::Scroll),
        2 => any::<bool>().prop_map(Act::Page),
        1 => any::<bool>().prop_map(Act::Ends),
        2 => Just(Act::Toggle),
        1 => Just(Act::Select),
        1 => any::<bool>().prop_map(Act::Step),
        2 => (0_u16..40, 0_u16..12).prop_map(|(w, h)| Act::Resize(w, h)),
        1 => "[a-c]{0,2}".prop_map(Act::Search),
        1 => any::<bool>().prop_map(Act::Next),
    ]
}

fn perform(desk: &mut Desk, texts: &mut Vec<SlotId>, act: Act) {
    let way = |back| if back { Direction::Back } else { Direction::Forward };
    match act {
        Act::Append(i, text) if !texts.is_empty() => desk.store.change(texts[i % texts.len()], Change::Append(&text)),
        Act::Finish(i) if !texts.is_empty() => {
            let id = texts.remove(i % texts.len());
            desk.store.change(id, Change::Finish);
        }
        Act::Append(..) | Act::Finish(_) => {}
        Act::Push(0) => drop(tool(desk, 1, desk.store.len() as u64, "a\nb\nc")),
        Act::Push(1) => drop(desk.store.push(Place::default(), Cell::user(UserInput::text("user")))),
        Act::Push(2) => texts.push(desk.store.push(Place::default(), Cell::thinking())),
        Act::Push(_) => texts.push(desk.store.push(Place::default(), Cell::answer())),
        Act::Scroll(rows) => desk.scroll(rows),
        Act::Page(back) => desk.with(|view, store, look| view.page(way(back), store, look)),
        Act::Ends(true) => desk.with(View::top),
        Act::Ends(false) => desk.view.bottom(),
        Act::Toggle => drop(desk.with(View::toggle)),
        Act::Select => desk.with(View::toggle_selection),
        Act::Step(back) => desk.with(|view, store, look| view.step(way(back), store, look)),
        Act::Resize(width, height) => desk.area = Rect::new(0, 0, width, height),
        Act::Search(query) => drop(desk.with(|view, store, look| view.search(&query, store, look))),
        Act::Next(back) => drop(desk.with(|view, store, look| view.search_next(way(back), store, look))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    /// Whatever happened to a view on the way, it shows at its end what a fresh one shows.
    #[test]
    fn a_used_view_shows_what_a_fresh_one_shows(acts in proptest::collection::vec(act(), 1..60)) {
        let mut desk = Desk::new(Filter::TIMELINE, 30, 8);
        let mut texts = Vec::new();
        for act in acts {
            perform(&mut desk, &mut texts, act);
            desk.draw();
            let _ = desk.with(View::copy_text);
        }
        desk.view.end_selection();
        desk.with(|view, store, look| view.search("", store, look));
        desk.view.bottom();
        desk.area = Rect::new(0, 0, 30, 8);
        let used = desk.lines();
        // Folds are the reader's; a fresh view has the same.
        let folds = desk.view.folds();
        desk.view = View::new(Filter::TIMELINE);
        desk.view.set_folds(folds);
        prop_assert_eq!(desk.lines(), used);
    }
}
