//! Running commands.

use super::*;
use crate::tools::scene::Limits;
use std::time::{Duration, Instant};

fn is_running(pid: &str) -> bool {
    if cfg!(target_os = "linux") {
        // A process that ended but was not waited for by init yet is a zombie, and counts as ended.
        return std::fs::read_to_string(format!("/proc/{pid}/stat"))
            .is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z')));
    }
    let pid = pid.parse().ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

async fn until(what: &str, check: impl Fn() -> bool) {
    for _ in 0..500 {
        if check() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {what}");
}

fn exit_of(outcome: ToolOutcome) -> (String, bool) {
    match outcome {
        ToolOutcome::Done { content, is_error, .. } => (crate::domain::content::plain(&content), is_error),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_whole_command_is_shown_and_its_output_comes_back_in_order() {
    let bench = Bench::new();
    bench.put("sub/x", "");
    let command = "pwd; echo out; echo err >&2; echo again; exit 3";
    let arguments = json!({"command": command, "cwd": "sub"});
    let inspection = bench.inspect("execute_command", &arguments).await;
    let cwd = bench.work.join("sub").display().to_string();
    assert_eq!(inspection.preview, Preview::Command { command: command.into(), cwd: cwd.clone() });
    assert_eq!(inspection.facts, Facts { paths: vec![cwd.clone()], inside: true, command: Some(command.into()) });
    let (text, is_error) = exit_of(bench.run("execute_command", arguments).await);
    assert_eq!(text, format!("{cwd}\nout\nerr\nagain\n[exit code 3]"));
    assert!(is_error);
    let heard = bench.heard.lock().unwrap().clone();
    let streamed: String = heard
        .iter()
        .filter_map(|signal| match signal {
            ToolSignal::Output { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(streamed, format!("{cwd}\nout\nerr\nagain\n"));
    assert!(bench.watched.0.lock().unwrap().is_empty(), "an ended group is watched no more");
    assert_eq!(
        exit_of(bench.call("execute_command", json!({"command": "true"})).await),
        ("[exit code 0]".into(), false)
    );
}

#[tokio::test]
async fn there_is_no_terminal_and_nothing_to_read() {
    let bench = Bench::with(|setting| setting.environment = vec![("MINE".into(), "yes".into())]);
    let command = "cat; test -t 0 || echo no-tty; echo $TERM $PAGER $MINE; (exec </dev/tty) 2>/dev/null || echo no-ctty; ps -o sid= -p $$ 2>/dev/null | tr -d ' ' | sed \"s/^$$\\$/own-session/\"";
    let (text, _) = exit_of(bench.call("execute_command", json!({"command": command})).await);
    assert!(text.starts_with("no-tty\ndumb cat yes\nno-ctty\n"), "{text}");
}

#[tokio::test]
async fn output_is_streamed_while_it_comes() {
    let bench = Bench::new();
    let arguments = json!({"command": "echo first; while [ ! -e go ]; do sleep 0.02; done; echo last"});
    bench.inspect("execute_command", &arguments).await;
    let running = tokio::spawn(bench.tool("execute_command").run(bench.invocation(arguments)));
    let heard = Arc::clone(&bench.heard);
    until("the first line", || heard.lock().unwrap().contains(&ToolSignal::Output { text: "first\n".into() })).await;
    bench.put("go", "");
    assert_eq!(exit_of(running.await.unwrap()).0, "first\nlast\n[exit code 0]");
}

#[tokio::test]
async fn a_silent_command_is_stopped_with_all_it_started() {
    let bench = Bench::with(|setting| {
        setting.limits = Limits { idle: Duration::from_millis(300), total: Duration::from_secs(60) }
    });
    let arguments = json!({"command": "echo $$; sleep 600 & echo $!; wait"});
    match bench.call("execute_command", arguments).await {
        ToolOutcome::Failed { message, may_have_run: true } => {
            assert!(message.contains("wrote nothing for 0 seconds"), "{message}");
            for pid in message.lines().take(2) {
                assert!(!is_running(pid), "{pid}");
            }
        }
        other => panic!("{other:?}"),
    }
    assert!(bench.watched.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_command_that_talks_on_is_stopped_at_its_own_limit() {
    let bench = Bench::new();
    let start = Instant::now();
    let arguments = json!({"command": "while true; do echo tick; sleep 0.1; done", "timeout_seconds": 1});
    match bench.call("execute_command", arguments).await {
        ToolOutcome::Failed { message, may_have_run: true } => {
            assert!(message.starts_with("tick\n") && message.contains("ran for 1 seconds"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn called_off_it_ends_even_when_it_does_not_want_to() {
    let bench = Bench::new();
    let arguments = json!({"command": "trap '' TERM; echo $$; while true; do sleep 0.05; done"});
    bench.inspect("execute_command", &arguments).await;
    let invocation = bench.invocation(arguments);
    let cancel = invocation.cancel.clone();
    let running = tokio::spawn(bench.tool("execute_command").run(invocation));
    let heard = Arc::clone(&bench.heard);
    until("its number", || !heard.lock().unwrap().is_empty()).await;
    let pid = match &heard.lock().unwrap()[0] {
        ToolSignal::Output { text } => text.trim().to_owned(),
        other => panic!("{other:?}"),
    };
    assert!(is_running(&pid));
    cancel.cancel();
    assert_eq!(running.await.unwrap(), ToolOutcome::Interrupted);
    assert!(!is_running(&pid));
    assert!(bench.watched.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_dropped_call_leaves_no_process() {
    let bench = Bench::new();
    let arguments = json!({"command": "echo $$; sleep 600"});
    bench.inspect("execute_command", &arguments).await;
    let running = tokio::spawn(bench.tool("execute_command").run(bench.invocation(arguments)));
    let heard = Arc::clone(&bench.heard);
    until("its number", || !heard.lock().unwrap().is_empty()).await;
    let pid = match &heard.lock().unwrap()[0] {
        ToolSignal::Output { text } => text.trim().to_owned(),
        other => panic!("{other:?}"),
    };
    running.abort();
    until("its end", || !is_running(&pid)).await;
    assert!(bench.watched.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_goes_on_in_the_background_holds_nothing_up_and_stays_watched() {
    let bench = Bench::new();
    let start = Instant::now();
    let command =
        "(while [ ! -e go ]; do sleep 0.02; done; echo late; while [ ! -e stop ]; do sleep 0.02; done) & echo started";
    let (text, is_error) = exit_of(bench.call("execute_command", json!({"command": command})).await);
    assert!(start.elapsed() < Duration::from_secs(10) && !is_error);
    assert!(text.starts_with("started\n[A part of it goes on in the background"), "{text}");
    assert_eq!(bench.watched.0.lock().unwrap().len(), 1);
    // Its later output goes where the text says.
    let path = text.split("goes to ").nth(1).unwrap().lines().next().unwrap().trim_end_matches(".]").to_owned();
    bench.put("go", "");
    until("late output", || std::fs::read_to_string(&path).is_ok_and(|text| text == "started\nlate\n")).await;
    bench.put("stop", "");
    until("its end", || {
        bench.scene.strays().sweep();
        bench.watched.0.lock().unwrap().is_empty()
    })
    .await;
}

#[tokio::test]
async fn with_its_output_elsewhere_it_is_still_found() {
    let bench = Bench::new();
    let (text, _) =
        exit_of(bench.call("execute_command", json!({"command": "sleep 600 >/dev/null 2>&1 & echo $!"})).await);
    let pid = text.lines().next().unwrap().to_owned();
    assert!(text.contains("goes on in the background") && is_running(&pid), "{text}");
    let Bench { scene, tools, .. } = bench;
    drop(tools);
    drop(scene);
    until("its end with the scene", || !is_running(&pid)).await;
}

#[tokio::test]
async fn endless_output_is_bounded_in_memory_and_whole_in_a_file() {
    let bench = Bench::new();
    let outcome = bench.call("execute_command", json!({"command": "seq 1 300000"})).await;
    let ToolOutcome::Done { content, for_model, spilled, .. } = outcome else { panic!("not done") };
    assert!(crate::domain::content::plain(&content).len() < 300 * 1024);
    let for_model = for_model.unwrap();
    assert!(
        for_model.len() <= 24_000 && for_model.starts_with("1\n2\n") && for_model.ends_with("300000\n[exit code 0]")
    );
    let whole = std::fs::read_to_string(spilled.unwrap()).unwrap();
    assert_eq!(whole.lines().count(), 300_000);
}

#[tokio::test]
async fn a_signal_a_bad_shell_and_a_bad_directory() {
    let bench = Bench::new();
    let (text, is_error) = exit_of(bench.call("execute_command", json!({"command": "kill -9 $$"})).await);
    assert!(is_error && text == "[ended by signal 9]", "{text}");
    assert!(
        bench
            .failure("execute_command", json!({"command": "true", "cwd": "nowhere"}))
            .await
            .contains("not a directory")
    );
    assert!(bench.failure("execute_command", json!({"command": " "})).await.contains("empty"));
    let bench = Bench::with(|setting| setting.shell = "/no/such/shell".into());
    assert!(bench.failure("execute_command", json!({"command": "true"})).await.contains("could not be started"));
}

#[tokio::test]
async fn what_cannot_be_seen_is_warned_of() {
    let bench = Bench::new();
    for (command, seen) in [
        ("ls -l\n\tpwd", true),
        ("ls \u{202e}fr- mr", false),
        ("ls\u{200b}", false),
        ("a\rb", false),
        ("echo 好", true),
    ] {
        let inspection = bench.inspect("execute_command", &json!({"command": command})).await;
        assert_eq!(inspection.warnings.is_empty(), seen, "{command:?}");
    }
    let inspection = bench.inspect("execute_command", &json!({"command": "ls", "cwd": ".."})).await;
    assert!(!inspection.facts.inside && !inspection.facts.paths.is_empty());
}
