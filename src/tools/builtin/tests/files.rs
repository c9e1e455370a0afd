//! Reading, writing and changing files.

use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

fn rows(count: usize) -> String {
    (1..=count).map(|n| format!("row {n}\n")).collect()
}

#[tokio::test]
async fn a_file_is_read_as_it_is() {
    let bench = Bench::new();
    bench.put("a.txt", "one\r\n  two\n\nlast");
    let inspection = bench.inspect("read_file", &json!({"path": "a.txt"})).await;
    assert!(inspection.facts.inside && inspection.warnings.is_empty());
    assert_eq!(inspection.facts.paths, [bench.work.join("a.txt").display().to_string()]);
    assert_eq!(bench.text("read_file", json!({"path": "a.txt"})).await, "one\r\n  two\n\nlast");
    bench.put("empty", "");
    assert_eq!(bench.text("read_file", json!({"path": "empty"})).await, "[The file is empty.]");
}

#[tokio::test]
async fn lines_are_counted_from_one_and_both_ends_belong() {
    let bench = Bench::new();
    bench.put("rows", rows(50));
    let read =
        |from: u64, to: u64| bench.text("read_file", json!({"path": "rows", "start_line": from, "end_line": to}));
    assert_eq!(read(2, 3).await, "row 2\nrow 3\n[lines 2-3 of 50; read on with start_line 4]");
    assert_eq!(read(49, 900).await, "row 49\nrow 50\n[lines 49-50 of 50]");
    assert_eq!(read(1, 50).await, rows(50), "all of it needs no note");
    assert!(bench.failure("read_file", json!({"path": "rows", "start_line": 51})).await.contains("has 50 lines"));
    assert!(
        bench.failure("read_file", json!({"path": "rows", "start_line": 5, "end_line": 4})).await.contains("before")
    );
}

#[tokio::test]
async fn a_long_file_shows_both_ends_and_can_be_read_on_to_the_last_line() {
    let bench = Bench::with(|setting| setting.budget = 3000);
    bench.put("rows", rows(3000));
    let text = bench.text("read_file", json!({"path": "rows"})).await;
    assert!(text.len() <= 3000 && text.starts_with("row 1\n") && text.ends_with("row 3000\n"));
    let note = text.lines().find(|line| line.starts_with("[…")).unwrap();
    assert!(note.contains("of 3000 (") && note.contains(r#"read_file {"path": "rows", "start_line": "#), "{note}");
    // Following the notes, every row is seen once and in order.
    let mut at: u64 = note.split("\"start_line\": ").nth(1).unwrap().split('}').next().unwrap().parse().unwrap();
    let head: Vec<&str> = text.lines().take_while(|line| !line.starts_with('[')).collect();
    assert_eq!(head.len() as u64, at - 1);
    let mut seen = head.len();
    loop {
        let piece = bench.text("read_file", json!({"path": "rows", "start_line": at})).await;
        assert!(piece.len() <= 3000);
        for line in piece.lines().filter(|line| line.starts_with("row")) {
            seen += 1;
            assert_eq!(line, format!("row {seen}"));
        }
        match piece.rsplit("start_line ").next().and_then(|rest| rest.trim_end_matches(']').parse().ok()) {
            Some(next) => at = next,
            None => break,
        }
    }
    assert_eq!(seen, 3000);
}

#[tokio::test]
async fn a_line_without_end_does_not_trap_the_reader() {
    let bench = Bench::with(|setting| setting.budget = 2000);
    bench.put("long", format!("{}\nsecond\n", "x".repeat(90_000)));
    let text = bench.text("read_file", json!({"path": "long", "start_line": 1})).await;
    assert!(text.len() <= 2000 && text.contains("start_line 2"), "{text}");
    assert!(bench.text("read_file", json!({"path": "long", "start_line": 2})).await.starts_with("second\n"));
}

#[tokio::test]
async fn other_kinds_of_files() {
    let bench = Bench::new();
    bench.put("tool", b"\x7fELF\x02\x01\0\0");
    let said = bench.failure("read_file", json!({"path": "tool"})).await;
    assert_eq!(said, "tool is not text but an ELF program, 8 bytes.");
    bench.put("zeros", b"text\0more");
    assert!(bench.failure("read_file", json!({"path": "zeros"})).await.contains("binary data"));
    bench.put("latin", b"caf\xe9\n");
    let text = bench.text("read_file", json!({"path": "latin"})).await;
    assert!(text.starts_with("caf\u{fffd}\n[The file is not UTF-8"), "{text}");
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain("hé\n".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    bench.put("wide", utf16);
    assert_eq!(bench.text("read_file", json!({"path": "wide"})).await, "hé\n[The file is in UTF-16.]");
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0".to_vec();
    png.resize(12 * 1024, 7);
    bench.put("p.png", png);
    match bench.call("read_file", json!({"path": "p.png"})).await {
        ToolOutcome::Done { content, for_model, .. } => {
            assert!(
                matches!(&content[0], Content::Image { mime, data } if mime == "image/png" && data.bytes == 12 * 1024)
            );
            assert_eq!(for_model.unwrap(), "[image png 640×480, 12 KB: p.png]");
        }
        other => panic!("{other:?}"),
    }
    assert!(bench.failure("read_file", json!({"path": "."})).await.contains("Use list_files"));
}

#[tokio::test]
async fn a_missing_file_names_near_ones() {
    let bench = Bench::new();
    bench.put("src/main.rs", "");
    for asked in ["src/mian.rs", "main.rs", "lib/main.rs"] {
        let said = bench.failure("read_file", json!({"path": asked})).await;
        assert!(said.contains("Near names: src/main.rs"), "{said}");
    }
}

#[tokio::test]
async fn places_outside_are_known_as_such() {
    let bench = Bench::new();
    std::fs::write(bench.root.join("secret"), "s").unwrap();
    symlink(bench.root.join("secret"), bench.work.join("link")).unwrap();
    for path in ["../secret", "link", "/etc/hostname", "~/x", "a/../../secret"] {
        let read = bench.inspect("read_file", &json!({"path": path})).await;
        // `~` without a home is a name like any other.
        assert_eq!(read.facts.inside, path == "~/x", "{path}");
        let write = bench.inspect("write_to_file", &json!({"path": path, "content": ""})).await;
        assert_eq!(write.facts.inside, path == "~/x", "{path}");
    }
}

#[tokio::test]
async fn a_spilled_result_is_read_without_asking() {
    let bench = Bench::new();
    let path = bench.scene.spill().text(CallId(3), &rows(10)).unwrap();
    let arguments = json!({"path": path.display().to_string(), "start_line": 9});
    assert!(bench.inspect("read_file", &arguments).await.facts.inside);
    assert!(bench.text("read_file", arguments).await.starts_with("row 9\nrow 10\n"));
}

#[tokio::test]
async fn writing_shows_a_diff_and_keeps_what_a_model_cannot_see() {
    let bench = Bench::new();
    let path = bench.put("a.txt", "\u{feff}one\r\ntwo\r\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let arguments = json!({"path": "a.txt", "content": "one\n2\nthree\n"});
    let inspection = bench.inspect("write_to_file", &arguments).await;
    let diff = diff_of(&inspection);
    assert_eq!((diff.exists, diff.added, diff.removed, diff.hunks[0].len()), (true, 2, 1, 4));
    assert_eq!(bench.get("a.txt"), "\u{feff}one\r\ntwo\r\n", "an inspection writes nothing");
    let said = text_of(bench.run("write_to_file", arguments.clone()).await);
    assert_eq!(said, "Wrote a.txt: 3 lines, 18 bytes (before: 2 lines). Line ends stay CRLF.");
    assert_eq!(bench.get("a.txt"), "\u{feff}one\r\n2\r\nthree\r\n");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert!(bench.text("write_to_file", arguments).await.contains("already"));
}

#[tokio::test]
async fn a_new_file_gets_its_directories() {
    let bench = Bench::new();
    let arguments = json!({"path": "a/b/result.md", "content": "纽约明天 24 ℃\n"});
    let inspection = bench.inspect("write_to_file", &arguments).await;
    assert!(!diff_of(&inspection).exists);
    assert!(!bench.work.join("a").exists());
    assert_eq!(bench.text("write_to_file", arguments).await, "Wrote a/b/result.md: 1 line, 20 bytes (new file).");
    assert_eq!(bench.get("a/b/result.md"), "纽约明天 24 ℃\n");
}

#[tokio::test]
async fn through_a_link_its_target_is_written() {
    let bench = Bench::new();
    bench.put("real.txt", "old\n");
    symlink("real.txt", bench.work.join("link.txt")).unwrap();
    let arguments = json!({"path": "link.txt", "content": "new\n"});
    let inspection = bench.inspect("write_to_file", &arguments).await;
    assert!(inspection.facts.paths[0].ends_with("/real.txt") && inspection.warnings[0].key == "tool.linked");
    text_of(bench.run("write_to_file", arguments).await);
    assert_eq!(bench.get("real.txt"), "new\n");
    assert!(bench.work.join("link.txt").is_symlink());
}

#[tokio::test]
async fn nothing_is_written_over_what_was_not_seen() {
    let bench = Bench::new();
    bench.put("a.txt", "old\n");
    for (name, arguments) in [
        ("write_to_file", json!({"path": "a.txt", "content": "mine\n"})),
        ("replace_in_file", json!({"path": "a.txt", "search": "old", "replace": "mine"})),
        ("write_to_file", json!({"path": "new.txt", "content": "mine\n"})),
    ] {
        bench.put("a.txt", "old\n");
        let _ = std::fs::remove_file(bench.work.join("new.txt"));
        bench.inspect(name, &arguments).await;
        bench.put("a.txt", "theirs old\n");
        bench.put("new.txt", "theirs\n");
        bench.heard.lock().unwrap().clear();
        let outcome = bench.run(name, arguments.clone()).await;
        assert!(
            matches!(&outcome, ToolOutcome::Failed { message, may_have_run: false } if message.contains("changed after")),
            "{outcome:?}"
        );
        assert_eq!(*bench.heard.lock().unwrap(), [ToolSignal::Stale]);
        assert_eq!((bench.get("a.txt").as_str(), bench.get("new.txt").as_str()), ("theirs old\n", "theirs\n"));
        // Looked at anew, it goes ahead.
        assert!(matches!(bench.call(name, arguments).await, ToolOutcome::Done { .. }));
    }
}

#[tokio::test]
async fn what_cannot_be_written_says_so_and_is_not_inspected_for_ever() {
    let bench = Bench::new();
    bench.put("dir/x", "");
    let arguments = json!({"path": "dir", "content": ""});
    let inspection = bench.inspect("write_to_file", &arguments).await;
    assert!(why_of(&inspection).contains("is a directory") && inspection.facts.inside);
    bench.heard.lock().unwrap().clear();
    assert!(matches!(bench.run("write_to_file", arguments).await, ToolOutcome::Failed { may_have_run: false, .. }));
    assert!(bench.heard.lock().unwrap().is_empty(), "inspecting again would not help");
    bench.put("bin", b"\0\x01");
    let inspection = bench.inspect("write_to_file", &json!({"path": "bin", "content": "t"})).await;
    assert_eq!(inspection.warnings[0].key, "tool.not_text");
}

#[tokio::test]
async fn parts_of_a_file_are_changed() {
    let bench = Bench::new();
    bench.put("a.rs", "fn a() {}\r\nfn b() {}\r\n");
    let diff = "<<<<<<< SEARCH\nfn a() {}\n=======\nfn a() { b() }\n>>>>>>> REPLACE\n";
    let arguments = json!({"path": "a.rs", "diff": diff});
    let inspection = bench.inspect("replace_in_file", &arguments).await;
    assert_eq!((diff_of(&inspection).added, diff_of(&inspection).removed), (1, 1));
    assert_eq!(text_of(bench.run("replace_in_file", arguments).await), "Changed 1 place in a.rs. Line ends stay CRLF.");
    assert_eq!(bench.get("a.rs"), "fn a() { b() }\r\nfn b() {}\r\n");
    let said = bench
        .text("replace_in_file", json!({"path": "a.rs", "search": "  fn b() {}\n", "replace": "  fn b() { a() }\n"}))
        .await;
    assert!(said.contains("indentation"), "{said}");
    assert_eq!(bench.get("a.rs"), "fn a() { b() }\r\nfn b() { a() }\r\n");
}

#[tokio::test]
async fn an_edit_that_cannot_be_made_is_shown_before_it_is_asked_for() {
    let bench = Bench::new();
    bench.put("a.txt", "let colour = 1;\n");
    bench.put("bin", b"\xff\xfe\xff");
    for (arguments, says) in [
        (json!({"path": "a.txt", "search": "let color = 1;", "replace": "x"}), "    1 | let colour = 1;"),
        (json!({"path": "a.txt", "search": "colour", "replace": "colour"}), "changes nothing"),
        (json!({"path": "a.txt", "diff": "rubbish"}), "no SEARCH/REPLACE block"),
        (json!({"path": "a.txt"}), "diff is missing"),
        (json!({"path": "a.txt", "diff": "x", "search": "y"}), "not both"),
        (json!({"path": "b.txt", "search": "a", "replace": "b"}), "use write_to_file. Near names: a.txt"),
        (json!({"path": "bin", "search": "a", "replace": "b"}), "not a text in UTF-8"),
    ] {
        let inspection = bench.inspect("replace_in_file", &arguments).await;
        assert!(why_of(&inspection).contains(says), "{}", why_of(&inspection));
        assert!(bench.failure("replace_in_file", arguments).await.contains(says));
    }
    assert_eq!(bench.get("a.txt"), "let colour = 1;\n");
}
