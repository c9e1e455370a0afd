use super::*;
use rmcp::model::{
    CancelledNotificationParam, ClientRequest, InitializeRequest, InitializeRequestParams, JsonRpcRequest,
};

fn asks(pending: &mut Pending, id: i64, method: &str) {
    let request = if method == "initialize" {
        ClientRequest::InitializeRequest(InitializeRequest::new(InitializeRequestParams::new(
            rmcp::model::ClientCapabilities::default(),
            rmcp::model::Implementation::new("t", "1"),
        )))
    } else {
        ClientRequest::CustomRequest(CustomRequest::new(method, None))
    };
    pending.sent(&JsonRpcMessage::Request(JsonRpcRequest::new(RequestId::Number(id), request)));
}

fn open(ids: &[i64]) -> Pending {
    let mut pending = Pending::default();
    for id in ids {
        asks(&mut pending, *id, "tools/call");
    }
    pending
}

/// What a line becomes, in short.
fn read(pending: &mut Pending, line: &str) -> Vec<String> {
    let short = |incoming: Incoming| match incoming {
        Incoming::Noise => "noise".to_owned(),
        Incoming::Late => "late".to_owned(),
        Incoming::Stray(why) => format!("stray: {why}"),
        Incoming::Message(message) => match *message {
            JsonRpcMessage::Response(response) => match response.result {
                ServerResult::CustomResult(value) => format!("{} = {}", response.id, value.0),
                other => format!("{} = {}", response.id, serde_json::to_string(&other).unwrap()),
            },
            JsonRpcMessage::Error(error) => {
                let data = error.error.data.map(|data| format!(" {data}")).unwrap_or_default();
                format!("{} ! {} {}{data}", error.id.unwrap(), error.error.code.0, error.error.message)
            }
            JsonRpcMessage::Request(request) => match request.request {
                ServerRequest::CustomRequest(custom) => format!(
                    "{} ? {} {}",
                    serde_json::to_string(&request.id).unwrap(),
                    custom.method,
                    custom.params.unwrap_or_default()
                ),
                other => format!("{:?} typed {}", request.id, serde_json::to_string(&other).unwrap()),
            },
            JsonRpcMessage::Notification(note) => match note.notification {
                ServerNotification::CustomNotification(custom) => {
                    format!("note {} {}", custom.method, custom.params.unwrap_or_default())
                }
                ServerNotification::CancelledNotification(cancelled) => {
                    format!("cancelled {}", cancelled.params.request_id.unwrap())
                }
                other => format!("typed {other:?}"),
            },
        },
    };
    pending.read(line.as_bytes()).into_iter().map(short).collect()
}

#[test]
fn a_response_reaches_its_request_however_it_is_written() {
    let cases = [
        (r#"{"jsonrpc":"2.0","id":7,"result":{"b":1,"a":2}}"#, r#"7 = {"b":1,"a":2}"#),
        (r#"{"id":7,"result":{}}"#, "7 = {}"),
        (r#"{"jsonrpc":"1.0","id":"7","result":null}"#, "7 = null"),
        (r#"{"jsonrpc":"2.0","id":7.0,"result":[],"error":null}"#, "7 = []"),
        ("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}", "7 = {}"),
        (
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"bad","data":{"x":1}}}"#,
            r#"7 ! -32602 bad {"x":1}"#,
        ),
        (r#"{"id":7,"error":{"code":"ENOENT","message":"no"}}"#, r#"7 ! -32603 no (code "ENOENT")"#),
        (r#"{"id":7,"error":{"code":1.5,"message":"no"}}"#, "7 ! -32603 no (code 1.5)"),
        (r#"{"id":7,"error":{"code":99999999999,"message":"no"}}"#, "7 ! -32603 no (code 99999999999)"),
        (r#"{"id":7,"error":{"code":-32000}}"#, "7 ! -32000 The server gave no message."),
        (r#"{"id":7,"error":{"code":-32000,"message":null,"data":"why"}}"#, r#"7 ! -32000 why "why""#),
        (r#"{"id":7,"error":{"message":{"deep":1}}}"#, r#"7 ! -32603 {"deep":1}"#),
        (r#"{"id":7,"error":"boom"}"#, "7 ! -32603 boom"),
        (r#"{"id":7,"error":{"code":-1,"message":"both"},"result":{}}"#, "7 ! -1 both"),
        (r#"{"jsonrpc":"2.0","id":7}"#, "7 ! -32603 The server answered with neither a result nor an error."),
    ];
    for (line, want) in cases {
        assert_eq!(read(&mut open(&[6, 7]), line), [want], "{line}");
    }
}

#[test]
fn what_names_no_request_fails_the_only_open_one_and_is_noted_otherwise() {
    let idless = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#;
    assert_eq!(read(&mut open(&[7]), idless), ["7 ! -32700 Parse error"]);
    assert_eq!(read(&mut open(&[7]), r#"{"error":{"code":-32600,"message":"x"}}"#), ["7 ! -32600 x"]);
    assert_eq!(read(&mut open(&[6, 7]), idless), ["stray: Parse error"]);
    assert_eq!(read(&mut open(&[]), idless), ["stray: Parse error"]);
    let wrong = r#"{"jsonrpc":"2.0","id":99,"result":{}}"#;
    assert_eq!(read(&mut open(&[7]), wrong), ["7 ! -32603 The server answered a request that was never made (99)."]);
    assert_eq!(read(&mut open(&[6, 7]), wrong), ["stray: The server answered a request that was never made (99)."]);
    // A result is never guessed to belong to a request.
    assert_eq!(
        read(&mut open(&[7]), r#"{"jsonrpc":"2.0","result":{"secret":1}}"#),
        ["7 ! -32603 The server answered without saying which request."]
    );
}

#[test]
fn second_and_late_answers_change_nothing() {
    let mut pending = open(&[6, 7]);
    let line = r#"{"jsonrpc":"2.0","id":6,"result":{}}"#;
    assert_eq!(read(&mut pending, line), ["6 = {}"]);
    // One request is open now, and still the duplicate is not taken for its answer.
    assert_eq!(read(&mut pending, line), ["late"]);
    let cancelled = CancelledNotificationParam::new(Some(RequestId::Number(7)), None);
    let note = ClientNotification::CancelledNotification(CancelledNotification::new(cancelled));
    pending.sent(&JsonRpcMessage::notification(note));
    assert_eq!(read(&mut pending, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#), ["late"]);
}

#[test]
fn batches_are_taken_apart() {
    let line = r#"[{"jsonrpc":"2.0","method":"notifications/message","params":{"a":1}}, 5, {"jsonrpc":"2.0","id":7,"result":{}}]"#;
    assert_eq!(read(&mut open(&[7]), line), [r#"note notifications/message {"a":1}"#, "noise", "7 = {}"]);
    assert_eq!(read(&mut open(&[7]), "[]"), ["noise"]);
}

#[test]
fn everything_else_is_noise_and_never_answered() {
    for line in [
        "Server started",
        "",
        "5",
        "\"x\"",
        "null",
        "{}",
        r#"{"level":"info","msg":"hi"}"#,
        "{\"id\":",
        r#"{"method":5,"id":1}"#,
    ] {
        assert_eq!(read(&mut open(&[7]), line), ["noise"], "{line}");
    }
    assert_eq!(read(&mut open(&[7]), r#"{"method":"x","result":{},"id":7}"#), ["7 = {}"], "an answer comes first");
}

#[test]
fn requests_of_the_server_come_raw_and_in_its_order() {
    let mut none = Pending::default();
    let line = r#"{"jsonrpc":"2.0","id":"a","method":"elicitation/create","params":{"requestedSchema":{"z":1,"a":2}}}"#;
    assert_eq!(read(&mut none, line), [r#""a" ? elicitation/create {"requestedSchema":{"z":1,"a":2}}"#]);
    // A numeric text stays a text: that is how the server will look for the answer.
    assert_eq!(read(&mut none, r#"{"id":"5","method":"roots/list"}"#), [r#""5" ? roots/list null"#]);
    assert_eq!(read(&mut none, r#"{"id":5,"method":"roots/list","params":null}"#), ["5 ? roots/list null"]);
    assert_eq!(
        read(&mut none, r#"{"id":1.5,"method":"x"}"#),
        ["stray: The server sent a request with an unusable id (1.5)."]
    );
    assert!(read(&mut none, r#"{"id":5,"method":"ping"}"#)[0].contains("typed"));
    assert_eq!(read(&mut none, r#"{"id":null,"method":"x/y"}"#), ["note x/y null"]);
    assert_eq!(
        read(&mut none, r#"{"method":"notifications/cancelled","params":{"requestId":"a","reason":"x"}}"#),
        ["cancelled a"]
    );
}

#[test]
fn the_handshake_is_read_leniently() {
    let init = |body: &str| {
        let mut pending = Pending::default();
        asks(&mut pending, 0, "initialize");
        read(&mut pending, &format!(r#"{{"jsonrpc":"2.0","id":0,"result":{body}}}"#)).remove(0)
    };
    assert_eq!(
        init(r#"{"protocolVersion":"2025-06-18"}"#),
        r#"0 = {"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"","version":""}}"#
    );
    assert_eq!(
        init(
            r#"{"protocolVersion":"1999-01-01","capabilities":{"tools":true,"prompts":{"listChanged":"yes"},"resources":{"subscribe":true},"logging":null,"odd":7},"serverInfo":{"name":"n","version":3,"icons":"x"},"instructions":"do"}"#
        ),
        r#"0 = {"protocolVersion":"1999-01-01","capabilities":{"prompts":{},"resources":{"subscribe":true},"tools":{}},"serverInfo":{"name":"n","version":""},"instructions":"do"}"#
    );
    assert!(init(r#"{"capabilities":{}}"#).contains("no protocolVersion"));
    assert!(init("null").contains("no protocolVersion"));
}

#[test]
fn a_carrier_that_knows_its_request_fails_that_one_and_no_other() {
    let seven = RequestId::Number(7);
    let idless = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}"#;
    let mut pending = open(&[6, 7]);
    let failed = pending.read_of(idless.as_bytes(), Some(&seven));
    assert!(
        matches!(&failed[..], [Incoming::Message(message)] if matches!(&**message, JsonRpcMessage::Error(error) if error.id == Some(seven.clone())))
    );
    assert!(!pending.is_open(&seven) && pending.is_open(&RequestId::Number(6)));
    // An answer to another request is that one's, whatever it came with.
    let other = pending.read_of(br#"{"id":6,"result":{}}"#, Some(&seven));
    assert!(
        matches!(&other[..], [Incoming::Message(message)] if matches!(&**message, JsonRpcMessage::Response(response) if response.id == RequestId::Number(6)))
    );
    assert!(matches!(&pending.read_of(idless.as_bytes(), Some(&seven))[..], [Incoming::Stray(_)]));
}

#[test]
fn a_request_fails_once() {
    let mut pending = open(&[7]);
    assert!(pending.fail(&RequestId::Number(7), "lost").is_some());
    assert!(pending.fail(&RequestId::Number(7), "lost").is_none());
    assert_eq!(read(&mut pending, r#"{"id":7,"result":{}}"#), ["late"]);
}

#[test]
fn errors_in_bodies_of_refusals() {
    let text = |body: &str| error_in(body.as_bytes()).map(|error| format!("{} {}", error.code.0, error.message));
    let stale = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"No valid session"}}"#;
    assert_eq!(text(stale).as_deref(), Some("-32000 No valid session"));
    assert_eq!(text(r#"{"id":"server-error","error":{"message":"x"}}"#).as_deref(), Some("-32603 x"));
    for other in ["", "no", "{}", r#"{"error":"invalid_token"}"#, r#"{"error":{"message":"not ours"}}"#, "[]"] {
        assert_eq!(text(other), None, "{other}");
    }
}

#[test]
fn an_answer_that_cannot_be_read_fails_its_request() {
    let deep = |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
    for (result, why) in [
        (deep(200), "cannot be read"),
        (deep(100_000), "cannot be read"),
        (format!("[{}0]", "0,".repeat(VALUES + 1)), "more than"),
        (format!("[{}{{}}]", "{},".repeat(VALUES + 1)), "more than"),
    ] {
        let mut pending = open(&[5, 6]);
        let line = format!(r#"{{"jsonrpc":"2.0","result":{result},"id":6}}"#);
        let [answer] = &read(&mut pending, &line)[..] else { panic!() };
        assert!(answer.starts_with("6 ! -32603") && answer.contains(why), "{answer}");
        // Nothing else is guessed to be one.
        assert_eq!(read(&mut pending, &format!(r#"{{"method":"x","params":{result}}}"#)), ["noise"]);
    }
    let text = format!(r#"{{"jsonrpc":"2.0","id":5,"result":"{}"}}"#, r#"[,{\",\\"#.repeat(VALUES));
    assert!(read(&mut open(&[5]), &text)[0].starts_with("5 = "), "what stands in texts does not count");
}
