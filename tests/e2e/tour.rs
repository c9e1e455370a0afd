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
fn the_tour_in_xml() {
    let place = Place::new();
    let mut tour = place.launch(&["-m", "demo", "--dialect", "xml"]).start();
    tour.wait_for("xml").wait_for("1 ready");
    tour.submit("What is the weather in New York tomorrow? Write it to result.md");
    tour.open("demo:get_forecast waits", "y once").answer("y", "new file");
    tour.open("write_to_file waits", "y once").answer("y", "It is written to");
    assert!(place.read("work/result.md").contains("24 °C, clear"));
    assert!(!tour.shows("<attempt_completion>") && !tour.shows("<thinking>"), "{}", tour.screen());
    tour.quit();
}
