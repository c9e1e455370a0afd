//! Sample weather. It says that it is.

use super::{failure, text};
use serde_json::{Map, Value, json};

const NOTE: &str = "Sample data of a demonstration, not a real forecast.";

/// Degrees Celsius and sky for today, tomorrow and the day after.
type Days = [(i32, &'static str); 3];

/// Places with a forecast of their own: name, latitude, longitude, days.
const PLACES: [(&str, f64, f64, Days); 4] = [
    ("New York", 40.71, -74.01, [(22, "partly cloudy"), (24, "clear"), (19, "showers")]),
    ("London", 51.51, -0.13, [(15, "drizzle"), (16, "overcast"), (18, "partly cloudy")]),
    ("Beijing", 39.90, 116.41, [(27, "clear"), (28, "clear"), (25, "thunderstorms")]),
    ("Shanghai", 31.23, 121.47, [(26, "rain"), (27, "overcast"), (29, "clear")]),
];
/// How near a place must be, degrees.
const NEAR: f64 = 1.5;
const DAYS: [&str; 3] = ["Today", "Tomorrow", "The day after tomorrow"];
const SKIES: [&str; 4] = ["clear", "partly cloudy", "overcast", "showers"];

/// The structure of [`forecast`]'s result.
pub(super) fn forecast_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "sample": { "type": "boolean", "description": "Always true: none of this is real" },
            "place": { "type": "string" },
            "days": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "day": { "type": "string" },
                        "celsius": { "type": "integer" },
                        "sky": { "type": "string" }
                    },
                    "required": ["day", "celsius", "sky"]
                }
            }
        },
        "required": ["sample", "place", "days"]
    })
}

/// The forecast of a place.
pub(super) fn forecast(arguments: &Map<String, Value>) -> Value {
    let degrees = |name: &str, limit: f64| {
        let number = arguments.get(name).and_then(Value::as_f64);
        number.filter(|number| number.abs() <= limit)
    };
    let (Some(latitude), Some(longitude)) = (degrees("latitude", 90.0), degrees("longitude", 180.0)) else {
        return failure("latitude must be a number from -90 to 90, longitude one from -180 to 180.");
    };
    let known =
        PLACES.iter().find(|(_, north, east, _)| (latitude - north).abs() < NEAR && (longitude - east).abs() < NEAR);
    let (place, days) = match known {
        Some((name, _, _, days)) => ((*name).to_owned(), *days),
        None => (format!("{latitude:.2}, {longitude:.2}"), invented(latitude, longitude)),
    };
    let lines: Vec<String> =
        DAYS.iter().zip(days).map(|(day, (celsius, sky))| format!("{day}: {celsius} °C, {sky}")).collect();
    let days: Vec<Value> = DAYS
        .iter()
        .zip(days)
        .map(|(day, (celsius, sky))| json!({ "day": day, "celsius": celsius, "sky": sky }))
        .collect();
    let mut result = text(format!("{place}\n{}\n({NOTE})", lines.join("\n")));
    result["structuredContent"] = json!({ "sample": true, "place": place, "days": days });
    result
}

/// Colder towards the poles, and the same each time.
fn invented(latitude: f64, longitude: f64) -> Days {
    let base = (30.0 - latitude.abs() / 2.0).round() as i32;
    let seed = (latitude * 10.0 + longitude * 7.0).abs() as usize;
    [0, 1, 2].map(|day| {
        let swing = i32::try_from((seed + day * 5) % 5).unwrap_or_default() - 2;
        (base + swing, SKIES[(seed + day) % SKIES.len()])
    })
}

/// The alerts of a US state.
pub(super) fn alerts(arguments: &Map<String, Value>) -> Value {
    let state = arguments.get("state").and_then(Value::as_str).unwrap_or_default().to_ascii_uppercase();
    if state.len() != 2 || !state.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return failure("state must be the two-letter code of a US state, such as NY.");
    }
    let alert = match state.as_str() {
        "CA" => "Red flag warning: dry and windy in the hills until Thursday evening.",
        "FL" => "Tropical storm watch: gusts of up to 90 km/h on the coast from Friday.",
        "CO" => "Winter weather advisory: 10 to 20 cm of snow above 2,500 m.",
        _ => "There are no alerts.",
    };
    text(format!("{state}: {alert}\n({})", NOTE.replace("a real forecast", "real alerts")))
}
