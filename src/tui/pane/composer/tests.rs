use super::*;
use crate::strings::Strings;
use crate::tui::keymap::Keymap;
use crate::tui::theme::Theme;
use std::time::Instant;

struct Desk {
    composer: Composer,
    theme: Theme,
    strings: Strings,
    keymap: Keymap,
    queued: usize,
}

impl Desk {
    fn new() -> Self {
        Self {
            composer: Composer::new(History::default(), vec!["dark".into()]),
            theme: Theme::default(),
            strings: Strings::default(),
            keymap: Keymap::built_in(),
            queued: 0,
        }
    }

    fn with<T>(&mut self, act: impl FnOnce(&mut Composer, &Look<'_>, usize) -> T) -> T {
        let look = Look {
            theme: &self.theme,
            strings: &self.strings,
            keymap: &self.keymap,
            now: Instant::now(),
            ascii: false,
            animate: true,
            shift_enter: false,
        };
        act(&mut self.composer, &look, self.queued)
    }

    fn key(&mut self, code: KeyCode, modifiers: KeyModifiers) -> Wish {
        self.with(|composer, look, queued| composer.key(KeyEvent::new(code, modifiers), look, queued))
    }

    fn press(&mut self, code: KeyCode) -> Wish {
        self.key(code, KeyModifiers::NONE)
    }

    fn type_text(&mut self, text: &str) {
        for c in text.chars() {
            self.press(KeyCode::Char(c));
        }
    }

    fn paste(&mut self, text: &str) {
        self.with(|composer, look, _| composer.paste(text, look));
    }
}

#[test]
fn sends_and_remembers() {
    let mut desk = Desk::new();
    assert_eq!(desk.press(KeyCode::Enter), Wish::Open);
    desk.type_text("one");
    assert_eq!(desk.press(KeyCode::Enter), Wish::Send("one".into()));
    desk.type_text("two\\");
    assert_eq!(desk.press(KeyCode::Enter), Wish::Nothing, "a backslash asks for a new line");
    desk.key(KeyCode::Enter, KeyModifiers::ALT);
    desk.type_text("b");
    assert_eq!(desk.press(KeyCode::Enter), Wish::Send("two\n\nb".into()));
    desk.type_text("draft");
    desk.press(KeyCode::Up);
    assert_eq!(desk.composer.draft(), "two\n\nb");
    desk.type_text("!");
    for _ in 0..3 {
        desk.press(KeyCode::Up);
    }
    assert_eq!(desk.composer.draft(), "one");
    for _ in 0..4 {
        desk.press(KeyCode::Down);
    }
    assert_eq!(desk.composer.draft(), "draft", "what was being written is back");
    desk.press(KeyCode::Up);
    assert_eq!(desk.composer.draft(), "two\n\nb!", "and so is what was changed on the way");
}

#[test]
fn up_takes_the_queued_message_back_first() {
    let mut desk = Desk::new();
    desk.queued = 1;
    desk.type_text("more");
    assert_eq!(desk.press(KeyCode::Up), Wish::Unqueue);
    desk.composer.put_back("queued");
    assert_eq!(desk.composer.draft(), "queued\nmore");
}

#[test]
fn a_long_paste_is_folded_opened_and_sent_whole() {
    let mut desk = Desk::new();
    let text = "line\n".repeat(20);
    desk.type_text("see ");
    desk.paste(&text);
    assert_eq!(desk.with(|c, _, _| c.rows(60)), 1);
    assert_eq!(desk.composer.draft(), format!("see {text}"));
    assert!(desk.composer.is_at_paste());
    desk.key(KeyCode::Char('t'), KeyModifiers::CONTROL);
    assert_eq!(desk.with(|c, _, _| c.rows(60)), 21);
    assert_eq!(desk.press(KeyCode::Enter), Wish::Send(format!("see {text}")));
}

#[test]
fn a_paste_is_deleted_as_one_and_cannot_be_forged() {
    let mut desk = Desk::new();
    desk.paste(&"x".repeat(2000));
    desk.press(KeyCode::Backspace);
    assert!(desk.composer.is_empty());
    desk.paste("\u{f0000}");
    assert_eq!(desk.composer.draft(), "\u{fffd}");
}

#[test]
fn slash_commands() {
    let mut desk = Desk::new();
    desk.type_text("/he");
    assert!(desk.composer.is_completing());
    assert_eq!(desk.press(KeyCode::Enter), Wish::Command(Command::Help, String::new()));
    assert!(desk.composer.is_empty());
    desk.type_text("/dia");
    desk.press(KeyCode::Tab);
    desk.type_text("x");
    assert_eq!(desk.press(KeyCode::Enter), Wish::Command(Command::Dialect, "xml".into()));
    desk.type_text("/model ollama:qwen3");
    assert_eq!(desk.press(KeyCode::Enter), Wish::Command(Command::Model, "ollama:qwen3".into()));
    desk.type_text("/nonsense");
    assert_eq!(desk.press(KeyCode::Enter), Wish::Unknown("nonsense".into()));
    assert_eq!(desk.composer.draft(), "/nonsense");
    desk.composer.clear();
    desk.type_text("/help me with this");
    assert_eq!(desk.press(KeyCode::Enter), Wish::Send("/help me with this".into()));
}

#[test]
fn global_keys_are_left_alone() {
    let mut desk = Desk::new();
    desk.type_text("ab");
    for c in ['o', 'p', 'z', 'l', 'c'] {
        assert_eq!(desk.key(KeyCode::Char(c), KeyModifiers::CONTROL), Wish::Ignored, "{c}");
    }
    assert_eq!(desk.press(KeyCode::Tab), Wish::Ignored);
    assert_eq!(desk.press(KeyCode::Esc), Wish::Ignored);
    assert_eq!(desk.key(KeyCode::Char('d'), KeyModifiers::CONTROL), Wish::Nothing);
    desk.composer.clear();
    assert_eq!(desk.key(KeyCode::Char('d'), KeyModifiers::CONTROL), Wish::Quit);
}
