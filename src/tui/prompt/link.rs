//! A server wants the user to visit a URL. Nothing is opened or fetched before the user says so.
//!
//! The whole URL is shown, its host highlighted, with what about it deserves a second look.

use super::card::{Act, Place, Summary, Title};
use super::glyph::{Hints, glyphs};
use super::lines::{Break, Lines, Piece, first_line};
use super::menu::{Choice, Menu, Picked, Trigger};
use super::page::Page;
use super::panel;
use crate::domain::ServerName;
use crate::domain::prompt::{Answer, LinkRequest};
use crate::tui::command::Command;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::outcome::Effect;
use crate::tui::text::Row;
use crate::tui::theme::{Paint, Role};
use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use serde_json::Map;
use url::{Host, Url};

/// What is odd about a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Odd {
    /// It cannot be read as a URL.
    Unreadable,
    /// Neither http nor https: it is not opened from here.
    Scheme,
    /// Not encrypted, and not on this machine.
    Plain,
    /// A name or password stands before the host: `https://bank.example@evil.example`.
    User,
    /// The host is written in other letters than it seems (punycode).
    Disguised,
    /// The host is a number.
    Address,
}

impl Odd {
    fn key(self) -> &'static str {
        match self {
            Self::Unreadable => "prompt.link.unreadable",
            Self::Scheme => "prompt.link.scheme",
            Self::Plain => "prompt.link.plain",
            Self::User => "prompt.link.user",
            Self::Disguised => "prompt.link.disguised",
            Self::Address => "prompt.link.address",
        }
    }
}

/// A URL taken apart.
#[derive(Debug, Clone)]
struct Target {
    /// What stands before, in and after the host, as it will be opened.
    parts: [String; 3],
    odd: Vec<Odd>,
    can_open: bool,
}

impl Target {
    fn new(text: &str) -> Self {
        let Ok(url) = Url::parse(text) else {
            return Self {
                parts: [text.to_owned(), String::new(), String::new()],
                odd: vec![Odd::Unreadable],
                can_open: false,
            };
        };
        let can_open = matches!(url.scheme(), "http" | "https") && url.has_host();
        let mut odd = Vec::new();
        if !can_open {
            odd.push(Odd::Scheme);
        }
        let local = match url.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        if url.scheme() == "http" && !local {
            odd.push(Odd::Plain);
        }
        if !url.username().is_empty() || url.password().is_some() {
            odd.push(Odd::User);
        }
        match url.host() {
            Some(Host::Domain(name)) if name.split('.').any(|label| label.starts_with("xn--")) => {
                odd.push(Odd::Disguised);
            }
            Some(Host::Ipv4(_) | Host::Ipv6(_)) if !local => odd.push(Odd::Address),
            _ => {}
        }
        Self { parts: split(&url), odd, can_open }
    }
}

/// The URL in three pieces around its host and port.
fn split(url: &Url) -> [String; 3] {
    let text = url.as_str();
    let (Some(host), Some(port_at)) = (url.host_str(), text.find("://")) else {
        return [text.to_owned(), String::new(), String::new()];
    };
    let authority = port_at + 3;
    let end = text[authority..].find(['/', '?', '#']).map_or(text.len(), |at| authority + at);
    let start = text[authority..end].rfind('@').map_or(authority, |at| authority + at + 1);
    debug_assert!(text[start..end].starts_with(host));
    [text[..start].to_owned(), text[start..end].to_owned(), text[end..].to_owned()]
}

/// A URL on the screen.
#[derive(Debug, Clone)]
pub(super) struct LinkCard {
    request: LinkRequest,
    target: Target,
    menu: Menu,
    page: Page,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Open,
    Copy,
    Done,
    Decline,
    Cancel,
}

impl LinkCard {
    pub(super) fn new(request: LinkRequest) -> Self {
        let mut card =
            Self { target: Target::new(&request.url), request, menu: Menu::default(), page: Page::default() };
        // `Enter` is *done*, as promised; opening takes a key of its own.
        let done = card.ways().iter().position(|way| *way == Way::Done);
        card.menu.highlight(done.unwrap_or(0));
        card
    }

    pub(super) fn server(&self) -> &ServerName {
        &self.request.server
    }

    fn ways(&self) -> Vec<Way> {
        let open = self.target.can_open.then_some(Way::Open);
        open.into_iter().chain([Way::Copy, Way::Done, Way::Decline, Way::Cancel]).collect()
    }

    fn choices(&self, look: &Look<'_>) -> Vec<Choice> {
        let choice = |way: Way| {
            let (trigger, label, about) = match way {
                Way::Open => (Trigger::Letter('o'), "prompt.link.open", "prompt.link.about_open"),
                Way::Copy => (Trigger::Letter('c'), "prompt.link.copy", "prompt.link.about_copy"),
                Way::Done => (Trigger::Letter('d'), "prompt.link.done", "prompt.link.about_done"),
                Way::Decline => (Trigger::Form(Command::Decline), "prompt.link.decline", "prompt.link.about_decline"),
                Way::Cancel => (Trigger::Form(Command::Escape), "prompt.link.cancel", "prompt.link.about_cancel"),
            };
            let get = |key: &str| look.strings.get(key).to_owned();
            Choice { trigger, label: get(label), about: get(about) }
        };
        self.ways().into_iter().map(choice).collect()
    }

    pub(super) fn key(&mut self, key: KeyEvent, _: Place, look: &Look<'_>) -> Act {
        if panel::scroll_key(key, &mut self.page, look) {
            return Act::Consumed;
        }
        match self.menu.key(key, &self.choices(look), look) {
            Picked::Moved => Act::Consumed,
            Picked::Taken(index) => {
                // Whatever was done, the next thing to say is *done*.
                let done = self.ways().iter().position(|way| *way == Way::Done);
                self.menu.highlight(done.unwrap_or(index));
                self.take(self.ways()[index])
            }
            Picked::Ignored if key.code == KeyCode::Esc => Act::Answer(Answer::Cancel),
            Picked::Ignored => match look.keymap.find(Context::Call, key) {
                Some(Command::Help) => Act::Emit(vec![Effect::Command(Command::Help)]),
                Some(_) => Act::Consumed,
                None => Act::Ignored,
            },
        }
    }

    /// What is opened and copied is the URL as it is shown.
    fn take(&self, way: Way) -> Act {
        match way {
            Way::Open => Act::Do(vec![Effect::OpenUrl(self.target.parts.concat())]),
            Way::Copy => Act::Do(vec![Effect::Copy(self.target.parts.concat())]),
            Way::Done => Act::Answer(Answer::Submit { values: Map::new() }),
            Way::Decline => Act::Answer(Answer::Decline),
            Way::Cancel => Act::Answer(Answer::Cancel),
        }
    }

    pub(super) fn summary(&self, _: Place, look: &Look<'_>) -> Summary {
        let host = if self.target.parts[1].is_empty() { &self.request.url } else { &self.target.parts[1] };
        let head = look.strings.fill("prompt.link.asks", &[("server", self.request.server.as_str()), ("host", host)]);
        Summary { head, rest: first_line(&self.request.message).to_owned() }
    }

    pub(super) fn title(&self, place: Place, look: &Look<'_>) -> Title {
        vec![(self.summary(place, look).head, Role::TitleFocused)]
    }

    pub(super) fn hints<'a>(look: &'a Look<'a>) -> Hints<'a> {
        Hints::new(look)
            .pair(Context::Call, [Command::Up, Command::Down], "prompt.key.choose")
            .key(Context::Call, Command::Confirm, "prompt.key.confirm")
            .key(Context::Form, Command::Escape, "form.key.cancel")
    }

    fn rows(&self, columns: u16, look: &Look<'_>) -> Vec<Row> {
        let mut lines = Lines::new(columns);
        if !self.request.message.trim().is_empty() {
            lines.text(self.request.message.trim(), Role::Text);
            lines.blank();
        }
        let [before, host, after] = &self.target.parts;
        let dim: Paint = Role::Dim.into();
        let pieces: [Piece<'_>; 3] =
            [(before, dim), (host, Role::Link.with(Modifier::BOLD | Modifier::UNDERLINED)), (after, dim)];
        lines.hanging(&[], &pieces, Break::Anywhere);
        let mark = glyphs(look).warning;
        for odd in &self.target.odd {
            let text = look.strings.get(odd.key());
            let warning: Paint = Role::Warning.into();
            lines.hanging(&[(mark, warning), (" ", warning)], &[(text, warning)], Break::Words);
        }
        lines.finish()
    }

    pub(super) fn height(&mut self, columns: u16, _: Place, look: &Look<'_>) -> u16 {
        let pinned = self.menu.height(&self.choices(look), columns, look);
        panel::height(self.rows(panel::columns(columns), look).len(), pinned)
    }

    pub(super) fn draw(&mut self, area: Rect, _: Place, buffer: &mut Buffer, look: &Look<'_>) -> Option<Position> {
        let choices = self.choices(look);
        let rows = self.rows(panel::columns(area.width), look);
        let pinned = self.menu.height(&choices, area.width, look);
        let rest = panel::draw_body(&rows, pinned, &mut self.page, area, buffer, look);
        self.menu.draw(&choices, rest, buffer, look)
    }

    pub(super) fn below(&self) -> usize {
        self.page.below()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_what_the_browser_will_reach() {
        let parts = |url: &str| Target::new(url).parts;
        assert_eq!(parts("https://a.example:8443/x?y#z"), ["https://", "a.example:8443", "/x?y#z"].map(str::to_owned));
        assert_eq!(parts("https://bank.example@evil.example/")[1], "evil.example");
        assert_eq!(parts("https://good.example\\@evil.example/")[1], "good.example");
    }

    #[test]
    fn odd_urls_are_said_to_be_odd() {
        let odd = |url: &str| Target::new(url).odd;
        assert_eq!(odd("https://mcp.example/login"), []);
        assert_eq!(odd("http://127.0.0.1:3000/"), []);
        assert_eq!(odd("http://mcp.example/"), [Odd::Plain]);
        assert_eq!(odd("https://a@b.example/"), [Odd::User]);
        assert_eq!(odd("https://аррӏе.com/"), [Odd::Disguised]);
        assert_eq!(odd("https://10.0.0.1/"), [Odd::Address]);
        assert_eq!(odd("file:///etc/passwd"), [Odd::Scheme]);
        assert_eq!(odd("javascript:alert(1)"), [Odd::Scheme]);
        assert_eq!(odd("nonsense"), [Odd::Unreadable]);
        assert!(!Target::new("file:///etc/passwd").can_open);
    }
}
