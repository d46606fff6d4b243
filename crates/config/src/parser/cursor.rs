//! Walks over tokens: what may come next, what to say if something else comes, where to go on.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;

use crate::ast::Spanned;
use crate::diagnostic::{Problem, Report, Sentence, Span};
use crate::lexer::{Lexer, Token, TokenKind};

/// A statement went wrong and was reported; the reader has to find the next one.
#[derive(Debug)]
pub(crate) struct Lost;

/// Whether a statement that was passed over came to an end of its own.
#[derive(Debug)]
pub(crate) enum StatementEnd {
    Found,
    /// The section or the file around it ended first.
    Missing,
}

#[derive(Debug)]
pub(crate) struct Cursor<'r, 's> {
    report: &'r mut Report,
    lexer: Lexer<'s>,
    ahead: Token<'s>,
    /// The end of the file inside a section was reported; the sections around it need not say so.
    end_reported: bool,
}

impl<'r, 's> Cursor<'r, 's> {
    pub(crate) fn new(report: &'r mut Report, source: usize, text: &'s str) -> Self {
        let mut lexer = Lexer::new(source, text);
        let ahead = lexer.next(report);
        Self { report, lexer, ahead, end_reported: false }
    }

    pub(crate) fn report(&mut self) -> &mut Report {
        self.report
    }

    pub(crate) fn peek(&self) -> &Token<'s> {
        &self.ahead
    }

    pub(crate) fn is_next(&self, kind: TokenKind) -> bool {
        self.ahead.kind == kind
    }

    pub(crate) fn is_next_word(&self, word: &str) -> bool {
        self.ahead.kind == TokenKind::Word && self.ahead.text == word
    }

    pub(crate) fn next(&mut self) -> Token<'s> {
        let following = self.lexer.next(self.report);
        std::mem::replace(&mut self.ahead, following)
    }

    /// Takes the next token if it is `word`.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.is_next_word(word);
        if is_there {
            self.next();
        }
        is_there
    }

    pub(crate) fn expect(&mut self, kind: TokenKind) -> Result<Token<'s>, Lost> {
        if self.is_next(kind) { Ok(self.next()) } else { Err(self.unexpected(kind_name(kind))) }
    }

    /// A word or a quoted string; `what` says in an error what was expected.
    pub(crate) fn name(&mut self, what: &str) -> Result<Spanned<String>, Lost> {
        if !matches!(self.ahead.kind, TokenKind::Word | TokenKind::Text) {
            return Err(self.unexpected(what));
        }
        let token = self.next();
        Ok(Spanned { value: token.text.into_owned(), span: token.span })
    }

    /// A number without a suffix and of this range; `what` says in an error what it is.
    pub(crate) fn number(
        &mut self,
        what: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Spanned<u64>, Lost> {
        let (min, max) = range.into_inner();
        let Spanned { value: text, span } = self.name(what)?;
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.fail(span, Sentence::NoNumber { text, what, min, max }));
        }
        // Digits alone fail to parse only when they overflow, and then they exceed any maximum.
        match text.parse() {
            Ok(value) if value < min => {
                Err(self.fail(span, Sentence::NumberBelow { text, what, min, max }))
            }
            Ok(value) if value <= max => Ok(Spanned { value, span }),
            Ok(_) | Err(_) => Err(self.fail(span, Sentence::NumberAbove { text, what, min, max })),
        }
    }

    /// `[FAMILY] IP:PORT`, as in `10.0.0.1:7789` or `ipv6 [fd00::1]:7789`.
    pub(crate) fn address(&mut self) -> Result<Spanned<SocketAddr>, Lost> {
        if let "ssocks" | "sci" | "sdp" = self.ahead.text.as_ref() {
            let family = self.ahead.text.to_string();
            let problem = Problem::new(self.ahead.span, Sentence::Family { family })
                .hint("give an address of the family ipv4 or ipv6");
            self.report.problem(problem);
            return Err(Lost);
        }
        let family = match self.ahead.text.as_ref() {
            "ipv4" | "ipv6" => Some(self.next().text),
            _ => None,
        };
        let Spanned { value: ip, span } = self.ip()?;
        self.expect(TokenKind::Colon)?;
        let port = self.port()?;
        let is_mismatched = match family.as_deref() {
            Some("ipv4") => !ip.is_ipv4(),
            Some("ipv6") => !ip.is_ipv6(),
            _ => false,
        };
        if is_mismatched {
            return Err(self.fail(span, Sentence::OtherFamily { ip }));
        }
        Ok(Spanned { value: SocketAddr::new(ip, port), span })
    }

    pub(crate) fn port(&mut self) -> Result<u16, Lost> {
        let port = self.number("a port", 1..=u64::from(u16::MAX))?.value;
        Ok(u16::try_from(port).expect("a port is at most 65535"))
    }

    fn ip(&mut self) -> Result<Spanned<IpAddr>, Lost> {
        if !self.is_next(TokenKind::BracketOpen) {
            let Spanned { value, span } = self.name("an IP address")?;
            return match value.parse::<Ipv4Addr>() {
                Ok(ip) => Ok(Spanned { value: IpAddr::V4(ip), span }),
                Err(_) => Err(self.bad_ip(&value, span)),
            };
        }
        let mut span = self.next().span;
        let mut text = String::new();
        while self.is_next(TokenKind::Word) || self.is_next(TokenKind::Colon) {
            text.push_str(&self.next().text);
        }
        let close = self.expect(TokenKind::BracketClose)?;
        span.length = close.span.start + close.span.length - span.start;
        match text.parse::<Ipv6Addr>() {
            Ok(ip) => Ok(Spanned { value: IpAddr::V6(ip), span }),
            Err(_) => Err(self.bad_ip(&text, span)),
        }
    }

    fn bad_ip(&mut self, text: &str, span: Span) -> Lost {
        let sentence = Sentence::NoIp { text: text.to_owned() };
        let hint = "write 10.0.0.1:7789 or ipv6 [fd00::1]:7789; names are not looked up";
        self.report.problem(Problem::new(span, sentence).hint(hint));
        Lost
    }

    /// `{ statement .. }`. Each statement begins with a word, which is taken and given to
    /// `statement`; `skip` is done here.
    pub(crate) fn block(
        &mut self,
        mut statement: impl FnMut(&mut Self, Token<'s>) -> Result<(), Lost>,
    ) -> Result<(), Lost> {
        let open = self.expect(TokenKind::Open)?;
        loop {
            if self.is_next(TokenKind::Close) {
                self.next();
                return Ok(());
            }
            if self.is_next(TokenKind::End) {
                self.end_inside(open.span);
                return Err(Lost);
            }
            self.statement(&mut statement);
        }
    }

    /// The statements of a whole file.
    pub(crate) fn statements_of_file(
        &mut self,
        mut statement: impl FnMut(&mut Self, Token<'s>) -> Result<(), Lost>,
    ) {
        while !self.is_next(TokenKind::End) {
            if self.is_next(TokenKind::Close) {
                let close = self.next();
                self.fail(close.span, Sentence::ClosingBrace);
            } else {
                self.statement(&mut statement);
            }
        }
    }

    /// One statement. Takes at least one token, unless a closing brace or the end is next.
    fn statement(&mut self, statement: &mut impl FnMut(&mut Self, Token<'s>) -> Result<(), Lost>) {
        if !self.is_next(TokenKind::Word) {
            self.unexpected("a statement");
            self.recover();
            return;
        }
        let word = self.next();
        if word.text == "skip" {
            self.skip();
        } else if statement(self, word).is_err() {
            self.recover();
        }
    }

    /// Passes over the statement after `skip`, which has to be there, to its end.
    fn skip(&mut self) {
        if self.is_next(TokenKind::Semicolon) {
            self.unexpected("a statement to skip");
        }
        if matches!(self.recover(), StatementEnd::Missing) {
            self.unexpected("a statement to skip, up to its `;` or `}`");
        }
    }

    /// Passes over the rest of a statement: through its `;` or its last brace, or up to the brace
    /// that closes the section around it.
    pub(crate) fn recover(&mut self) -> StatementEnd {
        let mut depth = 0_usize;
        let mut outermost = self.ahead.span;
        loop {
            if self.is_next(TokenKind::End) && depth > 0 {
                self.end_inside(outermost);
            }
            let is_outer_close = self.is_next(TokenKind::Close) && depth == 0;
            if is_outer_close || self.is_next(TokenKind::End) {
                return StatementEnd::Missing;
            }
            let taken = self.next();
            if taken.kind == TokenKind::Open {
                outermost = if depth == 0 { taken.span } else { outermost };
                depth += 1;
            } else if taken.kind == TokenKind::Close {
                depth -= 1;
            }
            let is_end = matches!(taken.kind, TokenKind::Close | TokenKind::Semicolon);
            if is_end && depth == 0 {
                return StatementEnd::Found;
            }
        }
    }

    pub(crate) fn fail(&mut self, span: Span, sentence: Sentence) -> Lost {
        self.report.problem(Problem::new(span, sentence));
        Lost
    }

    /// Reports that `expected` should have come next. What came instead is not taken.
    pub(crate) fn unexpected(&mut self, expected: &str) -> Lost {
        if self.is_next(TokenKind::End) && self.end_reported {
            return Lost;
        }
        self.end_reported |= self.is_next(TokenKind::End);
        let expected = expected.to_owned();
        let sentence = if self.is_next(TokenKind::End) {
            Sentence::EndsEarly { expected }
        } else {
            Sentence::Unexpected { expected, found: self.ahead.shown() }
        };
        self.fail(self.ahead.span, sentence)
    }

    pub(crate) fn unknown_word(&mut self, word: &Token<'_>, place: &str, allowed: &[&str]) -> Lost {
        let (place, unknown) = (place.to_owned(), word.text.to_string());
        let problem = Problem::new(word.span, Sentence::UnknownWord { word: unknown, place });
        self.report.problem(problem.allowed(&word.text, allowed.iter().copied()));
        Lost
    }

    /// Reports a second statement of a kind that may stand only once.
    pub(crate) fn duplicate(&mut self, what: &str, again: Span, first: Span) -> Lost {
        let problem = self.report.duplicate(what, again, first);
        self.report.problem(problem);
        Lost
    }

    fn end_inside(&mut self, open: Span) {
        if !self.end_reported {
            self.end_reported = true;
            let problem = Problem::new(open, Sentence::OpenSection);
            self.report.problem(problem.hint("a `}` is missing"));
        }
    }
}

fn kind_name(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Word => "a word",
        TokenKind::Text => "a quoted string",
        TokenKind::Open => "`{`",
        TokenKind::Close => "`}`",
        TokenKind::Semicolon => "`;`",
        TokenKind::BracketOpen => "`[`",
        TokenKind::BracketClose => "`]`",
        TokenKind::Colon => "`:`",
        TokenKind::End => "the end of the file",
    }
}
