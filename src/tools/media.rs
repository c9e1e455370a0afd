//! What a piece of binary data is, from its first bytes.
//!
//! Owns: recognising formats by their signature, reading the size of a picture from its header (PNG, JPEG, GIF, WebP), and the words in
//! which data is described to a model that cannot see it.
//! Does not: decode pictures.

use crate::domain::Blob;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Width and height in pixels.
pub type Pixels = (u32, u32);

/// Base64 text that is decoded to find a header: a JPEG may carry a thumbnail and a colour profile before its size.
const HEADER_TEXT: usize = 256 * 1024;

/// The MIME type of a picture that models can read, by its signature.
pub fn picture(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// What kind of data this is that is no text, in words; `None` where the signature is not known.
pub fn signature(bytes: &[u8]) -> Option<&'static str> {
    const KNOWN: &[(&[u8], &str)] = &[
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive (or a document made of one)"),
        (b"\x1f\x8b", "gzip-compressed data"),
        (b"\x28\xb5\x2f\xfd", "zstd-compressed data"),
        (b"\xfd7zXZ\0", "xz-compressed data"),
        (b"BZh", "bzip2-compressed data"),
        (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
        (b"\x7fELF", "an ELF program"),
        (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
        (b"\xca\xfe\xba\xbe", "a Mach-O program or Java class"),
        (b"MZ", "a Windows program"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\0asm", "a WebAssembly module"),
        (b"OggS", "Ogg media"),
        (b"ID3", "MP3 audio"),
        (b"fLaC", "FLAC audio"),
        (b"BM", "a BMP picture"),
        (b"II*\0", "a TIFF picture"),
        (b"MM\0*", "a TIFF picture"),
    ];
    if let Some(mime) = picture(bytes) {
        return Some(mime);
    }
    KNOWN.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, name)| *name)
}

/// Width and height from a picture's header; `None` where it has no header we can read.
pub fn pixels(bytes: &[u8]) -> Option<Pixels> {
    let size = match picture(bytes)? {
        "image/png" => (big(bytes, 16, 4)?, big(bytes, 20, 4)?),
        "image/gif" => (little(bytes, 6, 2)?, little(bytes, 8, 2)?),
        "image/jpeg" => jpeg(bytes)?,
        _ => webp(bytes)?,
    };
    (size.0 > 0 && size.1 > 0).then_some(size)
}

/// `12 KB`, `3.4 MB`: for people and models.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") };
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value < 9.95 { format!("{value:.1} {}", UNITS[unit]) } else { format!("{value:.0} {}", UNITS[unit]) }
}

/// `image png 640×480, 12 KB`: what stands in brackets for a model that reads only text.
pub fn describe(kind: &str, mime: &str, data: &Blob) -> String {
    let name = mime.split(['/', ';', '+']).nth(1).unwrap_or(mime);
    let pixels = match pixels(&first_bytes(&data.base64)) {
        Some((width, height)) => format!(" {width}×{height}"),
        None => String::new(),
    };
    format!("{kind} {name}{pixels}, {}", size(data.bytes as u64))
}

/// The ending of a file that holds data of this type.
pub fn extension(mime: &str) -> &'static str {
    match mime.split(';').next().unwrap_or(mime).trim() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        _ => "bin",
    }
}

fn first_bytes(base64: &str) -> Vec<u8> {
    let text = base64.as_bytes();
    // Cut at a group of four, so that the piece is base64 by itself.
    let end = if text.len() > HEADER_TEXT { HEADER_TEXT / 4 * 4 } else { text.len() };
    STANDARD.decode(&text[..end]).unwrap_or_default()
}

fn big(bytes: &[u8], at: usize, len: usize) -> Option<u32> {
    Some(bytes.get(at..at + len)?.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte)))
}

fn little(bytes: &[u8], at: usize, len: usize) -> Option<u32> {
    Some(bytes.get(at..at + len)?.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)))
}

/// Source: ITU-T T.81, B.2: segments are `ff marker length`; the frame header (SOFn) holds height and width.
fn jpeg(bytes: &[u8]) -> Option<Pixels> {
    let mut at = 2;
    loop {
        while *bytes.get(at)? == 0xff && *bytes.get(at + 1)? == 0xff {
            at += 1;
        }
        let (mark, marker) = (*bytes.get(at)?, *bytes.get(at + 1)?);
        if mark != 0xff {
            return None;
        }
        match marker {
            // Markers without a segment.
            0x01 | 0xd0..=0xd8 => at += 2,
            // A frame header; c4, c8 and cc are tables that share its range.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
            }
            _ => at += 2 + big(bytes, at + 2, 2)?.max(2) as usize,
        }
    }
}

/// Source: RFC 9649, section 2: the first chunk is `VP8 `, `VP8L` or `VP8X`.
fn webp(bytes: &[u8]) -> Option<Pixels> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        b"VP8L" => {
            let bits = little(bytes, 21, 4)?;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8 " => Some((little(bytes, 26, 2)? & 0x3fff, little(bytes, 28, 2)? & 0x3fff)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes
    }

    #[test]
    fn sizes_of_pictures() {
        assert_eq!(pixels(&png(640, 480)), Some((640, 480)));
        assert_eq!(pixels(b"GIF89a\x80\x02\xe0\x01"), Some((640, 480)));
        // SOI, an APP0 of 4 bytes, a Huffman table, SOF2.
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc4\0\x03x\xff\xff\xc2\0\x0b\x08\x01\xe0\x02\x80\x03";
        assert_eq!(pixels(jpeg), Some((640, 480)));
        assert_eq!(pixels(b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0"), Some((640, 480)));
        let bits: u32 = 0x27f | 0x1df << 14;
        let mut lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f".to_vec();
        lossless.extend(bits.to_le_bytes());
        assert_eq!(pixels(&lossless), Some((640, 480)));
        assert_eq!(pixels(b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01"), Some((640, 480)));
        assert_eq!(pixels(b"\xff\xd8\xff"), None);
        assert_eq!(pixels(&png(0, 5)), None);
    }

    #[test]
    fn descriptions() {
        let data = Blob::from_base64(STANDARD.encode(png(3, 4)));
        assert_eq!(describe("image", "image/png", &data), "image png 3×4, 24 bytes");
        let data = Blob { base64: "!!".into(), bytes: 12 * 1024 };
        assert_eq!(describe("audio", "audio/wav", &data), "audio wav, 12 KB");
        assert_eq!(
            (size(1), size(1023), size(1024), size(10_200), size(1_048_575)),
            ("1 byte".into(), "1023 bytes".into(), "1.0 KB".into(), "10 KB".into(), "1.0 MB".into())
        );
        assert_eq!(signature(b"\x7fELF..."), Some("an ELF program"));
        assert_eq!(signature(b"fn main"), None);
    }

    proptest! {
        #[test]
        fn no_header_breaks_it(start in prop_oneof![
            Just(b"\xff\xd8\xff".to_vec()), Just(b"GIF89a".to_vec()), Just(b"RIFF\0\0\0\0WEBPVP8L".to_vec()), Just(png(1, 1))
        ], rest in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut bytes = start;
            bytes.extend(rest);
            let _ = pixels(&bytes);
        }
    }
}
