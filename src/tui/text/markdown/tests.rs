use super::*;

fn rows(text: &str, width: u16) -> Vec<String> {
    let setting = Setting { width, base: Role::Text, signs: Signs::Symbols, image: "image", colours: None };
    render(text, 0..text.len(), Context::default(), &setting).rows.into_iter().map(|row| row.text.into()).collect()
}

#[test]
fn links_show_their_target_only_where_it_says_something_else() {
    assert_eq!(rows("[a](http://x.y)", 40), ["a (http://x.y)"]);
    assert_eq!(rows("<http://x.y>", 40), ["http://x.y"]);
    assert_eq!(rows("[x.y](https://x.y/)", 40), ["x.y"]);
    assert_eq!(rows("[up](#top) ![map](m.png) ![](m.png)", 60), ["up [image map] (m.png) [image] (m.png)"]);
}

#[test]
fn tables_shrink_and_then_become_records() {
    let table = "| name | what it is |\n|---|---|\n| one | a fairly long description |\n| two | short |\n";
    assert_eq!(rows(table, 40)[0], "name │ what it is");
    assert_eq!(rows(table, 40).len(), 4);
    let narrow = rows(table, 20);
    assert!(narrow.iter().any(|row| row == "     │ description"), "{narrow:#?}");
    let wide = "|a|b|c|d|\n|-|-|-|-|\n|1111111|2222222|3333333|4444444|\n";
    assert_eq!(rows(wide, 20), ["a: 1111111", "b: 2222222", "c: 3333333", "d: 4444444"]);
    assert_eq!(rows("|a|\n|-|\n|x<br>y|\n", 20), ["a", "─", "x", "y"]);
}

#[test]
fn code_wraps_below_its_own_beginning() {
    assert_eq!(rows("```\n    let name = value;\n```", 20), ["      let name =", "      value;"]);
}

#[test]
fn a_reference_defined_elsewhere_is_found() {
    let mut definitions = Definitions::default();
    definitions.add("Foo  Bar", "http://x", "");
    let setting = Setting { width: 40, base: Role::Text, signs: Signs::Symbols, image: "image", colours: None };
    let context = Context { definitions: Some(&definitions), ..Context::default() };
    let rendered = render("[foo bar]", 0..9, context, &setting);
    assert_eq!(&*rendered.rows[0].text, "foo bar (http://x)");
}

#[test]
fn what_is_nested_without_end_is_laid_out_in_linear_time() {
    for (text, says) in [
        (format!("{}deep", "> ".repeat(30_000)), "deep"),
        (format!("{}deep", "> - ".repeat(15_000)), "deep"),
        (format!("{}\nEND", ">".repeat(60_000)), "END"),
    ] {
        let rows = rows(&text, 60);
        assert!(rows.len() < 100 && rows.iter().any(|row| row.contains(says)), "{}", rows.len());
    }
}
