//! Listing and searching.

use super::*;
use std::os::unix::fs::symlink;

#[tokio::test]
async fn a_directory_is_listed() {
    let bench = Bench::new();
    for path in ["src/main.rs", "src/deep/lib.rs", "README.md", "target/out", "made/out", ".gitignore"] {
        bench.put(path, "");
    }
    bench.put(".gitignore", "target\n/made/*\n");
    symlink("/etc", bench.work.join("etc")).unwrap();
    assert_eq!(bench.text("list_files", json!({})).await, ".gitignore\nREADME.md\netc -> /etc\nmade/\nsrc/");
    assert_eq!(
        bench.text("list_files", json!({"path": "src", "recursive": true})).await,
        "deep/\ndeep/lib.rs\nmain.rs"
    );
    assert_eq!(
        bench.text("list_files", json!({"recursive": "true", "pattern": "*.rs"})).await,
        "src/deep/lib.rs\nsrc/main.rs"
    );
    assert_eq!(bench.text("list_files", json!({"pattern": "src/*.rs"})).await, "src/main.rs");
    assert_eq!(bench.text("list_files", json!({"pattern": "*.none"})).await, "[Nothing there.]");
    assert_eq!(bench.text("list_files", json!({"path": "target"})).await, "out");
    assert!(bench.text("list_files", json!({"path": "made"})).await.starts_with("out\n[This directory is excluded"));
    assert!(bench.failure("list_files", json!({"path": "README.md"})).await.contains("Use read_file"));
    assert!(bench.failure("list_files", json!({"path": "scr"})).await.contains("Near names: src"));
    assert!(bench.failure("list_files", json!({"pattern": "["})).await.contains("not a glob"));
}

#[tokio::test]
async fn of_too_many_the_nearest_to_the_top_are_kept() {
    let bench = Bench::with(|setting| setting.budget = 2000);
    for n in 0..200 {
        bench.put(&format!("a/b/c/file{n}"), "");
    }
    bench.put("z.txt", "");
    let text = bench.text("list_files", json!({"recursive": true})).await;
    assert!(text.len() <= 2000 && text.starts_with("a/\na/b/\na/b/c/\n") && text.contains("\nz.txt\n"), "{text}");
    assert!(text.contains("of 204 entries"), "{text}");
}

#[tokio::test]
async fn lines_are_found_with_their_numbers() {
    let bench = Bench::new();
    bench.put("src/a.rs", "fn one() {}\n// two\nfn three() {}\nend\n");
    bench.put("b.txt", "nothing\nfn in text\r\n");
    bench.put("bin", b"fn \0");
    bench.put("skip/x.rs", "fn ignored() {}");
    bench.put(".gitignore", "skip\n");
    let all = bench.text("search_files", json!({"pattern": r"^fn \w+"})).await;
    assert_eq!(
        all,
        "b.txt\n2:fn in text\n\nsrc/a.rs\n1:fn one() {}\n3:fn three() {}\n[3 matching lines in 2 of 3 files]"
    );
    let context = bench.text("search_files", json!({"pattern": "three", "context": "1", "glob": "*.rs"})).await;
    assert_eq!(context, "src/a.rs\n2-// two\n3:fn three() {}\n4-end\n[1 matching line in 1 of 1 file]");
    assert_eq!(
        bench.text("search_files", json!({"pattern": "end", "path": "src/a.rs"})).await,
        "src/a.rs\n4:end\n[1 matching line in 1 of 1 file]"
    );
    assert_eq!(bench.text("search_files", json!({"pattern": "absent"})).await, "No match in 3 files.");
    assert!(bench.text("search_files", json!({"pattern": "fn", "path": "skip"})).await.contains("1:fn ignored"));
    assert_eq!(
        bench.text("search_files", json!({"pattern": "x*$", "path": "src/a.rs"})).await.matches('\n').count(),
        5,
        "an empty match is a match of each line"
    );
}

#[tokio::test]
async fn context_of_neighbours_is_not_shown_twice() {
    let bench = Bench::new();
    bench.put("a", "1\nx\n3\nx\n5\n6\n7\n8\nx\n");
    let text = bench.text("search_files", json!({"pattern": "x", "context": 1})).await;
    assert_eq!(text, "a\n1-1\n2:x\n3-3\n4:x\n5-5\n--\n8-8\n9:x\n[3 matching lines in 1 of 1 file]");
}

#[tokio::test]
async fn a_broken_pattern_is_explained() {
    let bench = Bench::new();
    let arguments = json!({"pattern": "foo("});
    let inspection = bench.inspect("search_files", &arguments).await;
    assert!(
        why_of(&inspection).contains("unclosed group") && why_of(&inspection).contains(r#""foo\\(""#),
        "{}",
        why_of(&inspection)
    );
    assert!(bench.failure("search_files", arguments).await.contains("unclosed group"));
}

#[tokio::test]
async fn results_are_bounded() {
    let bench = Bench::with(|setting| setting.budget = 3000);
    for n in 0..30 {
        bench.put(&format!("f{n:02}"), format!("{}needle{}\n", "字".repeat(400), "a".repeat(5000)).repeat(20));
    }
    let text = bench.text("search_files", json!({"pattern": "needle"})).await;
    assert!(text.len() <= 3000 && text.contains("There are more matches"), "{}", text.len());
    let line = text.lines().nth(1).unwrap();
    assert!(line.contains("needle") && line.len() < 400, "{line}");
}

#[tokio::test]
async fn a_link_is_not_searched_through() {
    let bench = Bench::new();
    std::fs::write(bench.root.join("secret"), "password").unwrap();
    std::fs::create_dir(bench.root.join("dir")).unwrap();
    std::fs::write(bench.root.join("dir/secret"), "password").unwrap();
    symlink(bench.root.join("secret"), bench.work.join("a")).unwrap();
    symlink(bench.root.join("dir"), bench.work.join("b")).unwrap();
    assert_eq!(bench.text("search_files", json!({"pattern": "password"})).await, "No match in 0 files.");
}

#[tokio::test]
async fn a_search_can_be_called_off() {
    let bench = Bench::new();
    bench.put("a", "x");
    let arguments = json!({"pattern": "x"});
    bench.inspect("search_files", &arguments).await;
    let invocation = bench.invocation(arguments);
    invocation.cancel.cancel();
    assert_eq!(bench.tool("search_files").run(invocation).await, ToolOutcome::Interrupted);
}
