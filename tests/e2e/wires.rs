//! The real program with models that do not speak Chat Completions.

use crate::rig::speech::{End, OTHERS, Say, reply};
use crate::rig::sse_model::ModelServer;
use crate::rig::{Place, ms};
use serde_json::json;

/// The variable with the key, the header it goes out in, and what stands before it there.
fn key(provider: &str) -> (&'static str, &'static str, &'static str) {
    match provider {
        "anthropic" => ("ANTHROPIC_API_KEY", "x-api-key", ""),
        "gemini" => ("GEMINI_API_KEY", "x-goog-api-key", ""),
        "ollama" => ("OLLAMA_API_KEY", "authorization", "Bearer "),
        _ => ("OPENAI_API_KEY", "authorization", "Bearer "),
    }
}

#[test]
fn each_provider_thinks_calls_and_answers_and_its_key_stays_where_it_belongs() {
    for provider in OTHERS {
        let place = Place::new();
        let file = json!({ "path": "a.txt", "content": "written by a model" });
        let server = ModelServer::start(vec![
            reply(provider, &[Say::Think("They want a file."), Say::Call("c1", "write_to_file", file)], End::Done),
            reply(provider, &[Say::Text("It is written.")], End::Done),
        ]);
        // The bare address: each format knows its own version.
        let base = format!("http://127.0.0.1:{}", server.port());
        let base = if provider == "openai-responses" { format!("{base}/v1") } else { base };
        let model = format!("{provider}:test-model");
        let (variable, header, before) = key(provider);
        let mut launch = place.launch(&["-m", &model, "--base-url", &base]);
        let mut program = launch.env(variable, "sk-do-not-show-me").start();
        program.wait_for(&model).wait_quiet(ms(300)).submit("Write a file");
        program.open("write_to_file waits", "y once").wait_for("They want a file.");
        program.answer("y", "It is written.");
        assert_eq!(place.read("work/a.txt"), "written by a model", "{provider}");
        let asked = server.all_requests();
        for request in &asked {
            assert!(!request.path.contains("sk-do-not-show-me"), "{provider}");
            let sent = request.header(header).map(str::to_owned);
            assert_eq!(sent, Some(format!("{before}sk-do-not-show-me")), "{provider}");
        }
        assert_eq!(server.requests_now().len(), 2, "{provider}");
        program.quit();
        assert!(!program.written().contains("sk-do-not-show-me"), "{provider}");
        let journals = format!("{:?}", place.journals());
        assert!(journals.contains("It is written.") && !journals.contains("sk-do-not-show-me"), "{provider}");
    }
}
