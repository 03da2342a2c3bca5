//! Where an answer ends, and whether it is the right one.
//!
//! An answer is a status line, header lines and a body whose length the header `Content-Length` gives. Chunked bodies are an error.

/// The most bytes that an answer may have before its body.
const LONGEST_HEAD: usize = 64 << 10;

/// The length of the answer that `bytes` begin with; nothing if not all of it is there. An error says what is wrong with it.
pub fn parse(bytes: &[u8], expect: Option<&[u8]>) -> Result<Option<usize>, String> {
    let Some(head) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else {
        if bytes.len() > LONGEST_HEAD {
            return Err("an answer without an end of its head".to_owned());
        }
        return Ok(None);
    };
    let mut lines = bytes[..head].split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    let status = lines.next().unwrap_or_default();
    if !(status.starts_with(b"HTTP/1.") && status.get(8..12) == Some(b" 200")) {
        return Err(format!(
            "the answer is {:?}",
            String::from_utf8_lossy(status)
        ));
    }
    let mut length = None;
    for line in lines {
        let Some(colon) = line.iter().position(|b| *b == b':') else {
            continue;
        };
        if line[..colon].eq_ignore_ascii_case(b"content-length") {
            let value = std::str::from_utf8(line[colon + 1..].trim_ascii())
                .ok()
                .and_then(|v| v.parse::<usize>().ok());
            length = Some(value.ok_or("a Content-Length that is not a number")?);
        }
    }
    let length = length.ok_or("an answer without Content-Length")?;
    let body = head + 4;
    let Some(content) = bytes.get(body..body + length) else {
        return Ok(None);
    };
    match expect {
        Some(expect) if expect != content => Err(format!(
            "the body is {:?}",
            String::from_utf8_lossy(&content[..content.len().min(80)])
        )),
        _ => Ok(Some(body + length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length:  5\r\n\r\nHello";

    #[test]
    fn an_answer_ends_where_its_length_says() {
        assert_eq!(parse(ANSWER, Some(b"Hello")), Ok(Some(ANSWER.len())));
        let mut more = ANSWER.to_vec();
        more.extend_from_slice(b"HTTP");
        assert_eq!(parse(&more, None), Ok(Some(ANSWER.len())));
    }

    #[test]
    fn no_part_of_an_answer_is_one() {
        for length in 0..ANSWER.len() {
            assert_eq!(
                parse(&ANSWER[..length], Some(b"Hello")),
                Ok(None),
                "{length} bytes"
            );
        }
    }

    #[test]
    fn wrong_answers_are_errors_that_say_why() {
        let wrong = |bytes: &[u8]| parse(bytes, Some(b"Hello")).expect_err("a wrong answer");
        assert!(wrong(b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n").contains("500 Oh"));
        assert!(wrong(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").contains("hello"));
        assert!(wrong(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n").contains("not a number"));
        assert!(
            wrong(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                .contains("without Content-Length")
        );
        assert!(wrong(&vec![b'a'; LONGEST_HEAD + 1]).contains("end of its head"));
    }
}
