//! The keys that work in a form, for the line below it.

use super::Purpose;
use super::field::Control;
use crate::tui::command::Command;
use crate::tui::keymap::Context;
use crate::tui::look::Look;
use crate::tui::prompt::glyph::Hints;

/// The hints for the focused control, or for a button.
pub(super) fn of<'a>(focused: Option<&Control>, purpose: Purpose, look: &'a Look<'a>) -> Hints<'a> {
    let sideways = [Command::ChoiceLeft, Command::ChoiceRight];
    let hints = Hints::new(look);
    let hints = match focused {
        None => hints.key(Context::Form, Command::FieldNext, "form.key.press").pair(
            Context::Form,
            sideways,
            "form.key.choose",
        ),
        Some(control) if control.is_block() => hints.key(Context::Form, Command::Next, "form.key.next").key(
            Context::Form,
            Command::FieldNext,
            "form.key.line",
        ),
        Some(Control::Multi(_)) => hints
            .key(Context::Form, Command::FieldNext, "form.key.next")
            .pair(Context::Form, sideways, "form.key.move")
            .key(Context::Form, Command::FieldToggle, "form.key.toggle"),
        Some(Control::Select(_) | Control::Toggle(_)) => hints
            .key(Context::Form, Command::FieldNext, "form.key.next")
            .pair(Context::Form, sideways, "form.key.choose"),
        Some(Control::Number(_)) => {
            hints.key(Context::Form, Command::FieldNext, "form.key.next").keys("+/-", "form.key.step")
        }
        Some(_) => hints.key(Context::Form, Command::FieldNext, "form.key.next"),
    };
    let (submit, escape) = match purpose {
        Purpose::Elicit => ("form.key.submit", "form.key.cancel"),
        Purpose::Arguments => ("form.key.apply", "form.key.back"),
        Purpose::Run => ("form.key.run", "form.key.cancel"),
    };
    let hints = hints.key(Context::Form, Command::Submit, submit);
    let hints = match purpose {
        Purpose::Elicit => hints.key(Context::Form, Command::Decline, "form.key.decline"),
        Purpose::Arguments | Purpose::Run => hints,
    };
    hints.key(Context::Form, Command::Escape, escape)
}
