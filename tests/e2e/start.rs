//! How it starts, and how it refuses to.

use crate::rig::Place;

#[test]
fn a_wrong_flag_is_told_and_ends_with_2() {
    let place = Place::new();
    let mut program = place.launch(&["--no-such-flag"]).start();
    program.assert_exit(2);
    assert!(program.shows("--no-such-flag"), "{}", program.screen());
}
