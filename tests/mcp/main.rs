//! The MCP client against real server processes: the fixture server with its faults always, pinned public servers when `MCPANE_LIVE=1`
//! (see `live.rs` for what has to be installed).
//!
//! What is known to go wrong with rmcp 3.11 over standard streams, and the test that holds it:
//!
//! | trap | test |
//! |---|---|
//! | `initialize` has no time limit | `lifecycle::every_failure_…` (never, half) |
//! | lines beyond 16 MiB are dropped and their call hangs | `calls::results_…` (20 MiB), `faults::a_line_without_end_…` (31 and 33 MiB) |
//! | non-integer code, no message, no `jsonrpc`, batches, id-less errors hang | `faults::malformed_…`, `faults::any_way_…`, `faults::an_error_that_names_no_call_…` |
//! | notifications are reordered, late ones lost | `calls::progress_…` |
//! | one malformed tool spoils the list | `tools::one_malformed_tool_…` |
//! | untypable elicitation schemas, and the order of fields | `asks::a_form_arrives_raw_…`, `demo::register_…` |
//! | 2026-07-28 offered in `initialize`; any version accepted | `lifecycle::a_server_without_catalogue_…`, `lifecycle::every_failure_…` (ancient, modern) |
//! | transport death unseen, exit status not told | `calls::a_server_that_dies_…`, `lifecycle::a_server_that_ends_by_itself_…` |
//! | waits five seconds for handlers when the connection is gone | `asks::questions_are_withdrawn_…` |
//! | no guard against cursor loops | `tools::pages_…` |
//! | requests are not cancelled when nobody waits | `calls::a_call_that_nobody_waits_for_…` |
//! | standard error inherited | `calls::environment_…`, `faults::a_flood_…`, `processes::every_server_leads_…` |
//! | JSON that is not JSON-RPC is answered | `faults::banners_…` |
//! | only the direct child is killed, some time | `processes::*`, `live::npx_leaves_nothing` |
//!
//! And over HTTP, where our own transport stands in for rmcp's:
//!
//! | trap | test |
//! |---|---|
//! | statuses with an id-less error, 202 to a request, wrong ids hang | `http::every_way_…` |
//! | a cut stream is taken up again for ever | `http::a_cut_stream_…`, `http::a_server_that_dies_…` |
//! | a list that changed before the stream opened is lost | `http::changes_are_heard_…` |
//! | the session is renewed silently | `http::a_forgotten_session_…` |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod asks;
mod calls;
mod demo;
mod faults;
mod http;
mod lifecycle;
mod live;
mod live_http;
mod matrix;
mod processes;
mod rig;
mod sse;
mod surroundings;
mod tools;
