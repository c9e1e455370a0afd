//! The Tour: the embedded model and server, from the first frame to the written file.

use crate::rig::{Place, ms};

#[test]
fn the_tour_is_one_key_away_and_does_what_it_says() {
    let place = Place::new();
    let mut tour = place.launch(&[]).start();
    tour.wait_for("Tour").wait_quiet(ms(500));
    tour.key("enter").wait_for("demo:tour").wait_for("1 ready");
    tour.submit("What is the weather in New York tomorrow? Write it to result.md");
    tour.open("demo:get_forecast waits", "y once");
    tour.answer("y", "new file").wait_for("write_to_file");
    assert!(!place.path("work/result.md").exists(), "written before anybody agreed");
    tour.open("write_to_file waits", "y once").wait_for("+ Tomorrow: 24 °C, clear");
    tour.answer("y", "It is written to").wait_for("result.md");
    assert!(place.read("work/result.md").contains("24 °C, clear"));
    tour.quit();
    place.assert_nothing_left();
}

#[test]
fn the_tour_in_chinese() {
    let place = Place::new();
    let mut tour = place.launch(&["-m", "demo", "--lang", "zh"]).start();
    tour.wait_for("就绪").submit("纽约明天的天气怎么样？把结果写入 result.md");
    tour.open("demo:get_forecast", "y 仅此一次").answer("y", "write_to_file 等待批准");
    tour.open("write_to_file", "y 仅此一次").key("y");
    place.file_with("work/result.md", "24 °C");
    tour.wait_for("result.md");
    tour.key("c-d");
    tour.assert_exit(0);
}

#[test]
fn the_tour_in_the_text_dialects() {
    let marks = [
        ("xml", ["<attempt_completion>", "<thinking>"]),
        ("react", ["Action Input", "Final Answer"]),
        ("json", ["\"thought\"", "\"answer\""]),
    ];
    for (dialect, marks) in marks {
        in_dialect(dialect, marks);
    }
}

#[test]
fn what_the_model_is_told_is_one_command_away_in_every_dialect() {
    let place = Place::new();
    let mut tour = place.launch(&["-m", "demo", "--dialect", "react"]).start();
    tour.wait_for("react").wait_for("1 ready");
    tour.submit("/prompt").wait_for("What the model is told").wait_for("react.format.md").wait_for("about");
    tour.key("esc").submit("/dialect json").wait_for("json");
    tour.submit("/prompt").wait_for("json.format.md");
    tour.key("esc");
    tour.quit();
}

fn in_dialect(dialect: &str, marks: [&str; 2]) {
    let place = Place::new();
    let mut tour = place.launch(&["-m", "demo", "--dialect", dialect]).start();
    tour.wait_for(dialect).wait_for("1 ready");
    tour.submit("What is the weather in New York tomorrow? Write it to result.md");
    tour.open("demo:get_forecast waits", "y once").answer("y", "new file");
    tour.open("write_to_file waits", "y once").answer("y", "It is written to");
    assert!(place.read("work/result.md").contains("24 °C, clear"));
    assert!(marks.iter().all(|mark| !tour.shows(mark)), "{}", tour.screen());
    tour.quit();
}
