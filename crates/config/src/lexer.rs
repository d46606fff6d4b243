//! From bytes to words, strings and punctuation.
//!
//! A word is letters, digits and `/ . _ -`; everything else goes into quotes. `#` begins a comment
//! that ends with the line. Whether a word is a keyword, a number or an address is for the parser
//! to say, so that `on`, `disk` or `yes` may also be names.

use std::borrow::Cow;

use crate::diagnostic::{Problem, Report, Sentence, Span};
use crate::limits::{STRING_BYTES_MAX, WORD_BYTES_MAX};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Word,
    /// A quoted string, its escapes undone.
    Text,
    Open,
    Close,
    Semicolon,
    BracketOpen,
    BracketClose,
    Colon,
    /// The end of the text, as often as it is asked for.
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct Token<'s> {
    pub(crate) kind: TokenKind,
    pub(crate) text: Cow<'s, str>,
    pub(crate) span: Span,
}

impl Token<'_> {
    /// How to call it in an error.
    pub(crate) fn shown(&self) -> String {
        match self.kind {
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Text => format!("\"{}\"", self.text.escape_debug()),
            TokenKind::Word
            | TokenKind::Open
            | TokenKind::Close
            | TokenKind::Semicolon
            | TokenKind::BracketOpen
            | TokenKind::BracketClose
            | TokenKind::Colon => format!("`{}`", self.text),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Lexer<'s> {
    source: usize,
    text: &'s str,
    position: usize,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(source: usize, text: &'s str) -> Self {
        Self { source, text, position: 0 }
    }

    /// The next token. Characters that begin none are reported and passed over.
    pub(crate) fn next(&mut self, report: &mut Report) -> Token<'s> {
        loop {
            self.skip_blank();
            let start = self.position;
            let Some(first) = self.text[start..].chars().next() else {
                return self.token(TokenKind::End, start);
            };
            if report.is_full() {
                self.position = self.text.len();
                return self.token(TokenKind::End, self.position);
            }
            if let Some(kind) = punctuation(first) {
                self.position += 1;
                return self.token(kind, start);
            }
            if is_word_char(first) {
                return self.word(report);
            }
            if first == '"' {
                return self.string(report);
            }
            self.position += first.len_utf8();
            report.problem(bad_character(first, self.span(start)));
        }
    }

    fn skip_blank(&mut self) {
        let mut in_comment = false;
        for byte in self.text.as_bytes()[self.position..].iter().copied() {
            match byte {
                b'\n' => in_comment = false,
                b'#' => in_comment = true,
                b' ' | b'\t' | b'\r' => {}
                _ if in_comment => {}
                _ => break,
            }
            self.position += 1;
        }
    }

    fn word(&mut self, report: &mut Report) -> Token<'s> {
        let start = self.position;
        let rest = &self.text[start..];
        self.position += rest.find(|c| !is_word_char(c)).unwrap_or(rest.len());
        if self.position - start > WORD_BYTES_MAX {
            report.problem(
                Problem::new(self.span(start), Sentence::LongWord)
                    .hint(format!("put it in quotes: up to {STRING_BYTES_MAX} bytes fit there")),
            );
        }
        self.token(TokenKind::Word, start)
    }

    fn string(&mut self, report: &mut Report) -> Token<'s> {
        let start = self.position;
        let mut value = String::new();
        let mut is_closed = false;
        let mut is_escaped = false;
        self.position += 1;
        for c in self.text[start + 1..].chars() {
            if c == '\n' {
                break;
            }
            self.position += c.len_utf8();
            if is_escaped {
                value.push(unescaped(c));
                is_escaped = false;
            } else if c == '\\' {
                is_escaped = true;
            } else if c == '"' {
                is_closed = true;
                break;
            } else {
                value.push(c);
            }
        }
        let span = self.span(start);
        if !is_closed {
            report.problem(
                Problem::new(span, Sentence::OpenString)
                    .hint("a string ends on the line that it begins on"),
            );
        } else if value.len() > STRING_BYTES_MAX {
            report.problem(Problem::new(span, Sentence::LongString));
        }
        Token { kind: TokenKind::Text, text: Cow::Owned(value), span }
    }

    fn token(&self, kind: TokenKind, start: usize) -> Token<'s> {
        let text = Cow::Borrowed(&self.text[start..self.position]);
        Token { kind, text, span: self.span(start) }
    }

    fn span(&self, start: usize) -> Span {
        Span { source: self.source, start, length: self.position - start }
    }
}

/// May stand in a word without quotes.
pub(crate) fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-')
}

fn punctuation(c: char) -> Option<TokenKind> {
    match c {
        '{' => Some(TokenKind::Open),
        '}' => Some(TokenKind::Close),
        ';' => Some(TokenKind::Semicolon),
        '[' => Some(TokenKind::BracketOpen),
        ']' => Some(TokenKind::BracketClose),
        ':' => Some(TokenKind::Colon),
        _ => None,
    }
}

fn unescaped(c: char) -> char {
    match c {
        'n' => '\n',
        't' => '\t',
        other => other,
    }
}

fn bad_character(c: char, span: Span) -> Problem {
    let hint = match c {
        '%' => "addresses with an interface are not supported: give one that is routed",
        '=' => "an option and its value are separated by a space, not by `=`",
        _ => "words are made of letters, digits and / . _ -; put anything else in quotes",
    };
    Problem::new(span, Sentence::Character(c)).hint(hint)
}
