//! The terminal's screen as a person sees it, and what a test looks for on it.

/// The text, row by row, without the blanks at the ends.
pub fn text(screen: &vt100::Screen) -> String {
    let (_, columns) = screen.size();
    screen.rows(0, columns).map(|row| row.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// What stands in a cell; the second half of a wide character is empty.
pub fn cell(screen: &vt100::Screen, row: u16, column: u16) -> String {
    screen.cell(row, column).map(|cell| cell.contents().to_owned()).unwrap_or_default()
}

/// The cells of a row, one string each.
pub fn cells(screen: &vt100::Screen, row: u16) -> Vec<String> {
    (0..screen.size().1).map(|column| cell(screen, row, column)).collect()
}

/// The line between the panes stands in one column from its top to its bottom: nothing wide has pushed it away. Its column.
#[track_caller]
pub fn assert_divider(screen: &vt100::Screen) -> u16 {
    let top = cells(screen, 1);
    let column = top.iter().position(|cell| cell == "┬").expect("the panes stand side by side");
    let column = u16::try_from(column).unwrap();
    let rows = screen.size().0;
    let mut height = 0;
    for row in 2..rows {
        match cell(screen, row, column).as_str() {
            "│" | "├" | "┤" => height += 1,
            "┴" | "─" => break,
            other => panic!("{other:?} in row {row} where the line is\n{}", text(screen)),
        }
    }
    assert!(height > 3, "the line is {height} rows high\n{}", text(screen));
    column
}

/// Rows that are rules from edge to edge.
pub fn rules(screen: &vt100::Screen) -> Vec<u16> {
    let is_rule = |row: &u16| {
        let cells = cells(screen, *row);
        cells.first().is_some_and(|cell| cell == "─") && cells.last().is_some_and(|cell| cell == "─")
    };
    (0..screen.size().0).filter(is_rule).collect()
}
