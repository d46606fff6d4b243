//! Diffie and Hellman's exchange of a key, in the groups of RFC 7919.
//!
//! The modulus of each is a safe prime, and its generator 2. An exponent has 384 bits, more than
//! twice the strength of the largest group here (RFC 7919, 5.2).

use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, Odd, Resize};

pub const EXPONENT_BYTES: usize = 48;

/// As the protocol numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// No key is exchanged.
    Null = 0,
    Ffdhe2048 = 1,
    Ffdhe3072 = 2,
    Ffdhe4096 = 3,
}

impl Group {
    /// The one that is taken first. A secret is a random key of 256 bits or more, which nobody
    /// guesses from what he overheard: the exchange adds little to it, and a larger group nothing.
    pub const PREFERRED: [Self; 4] =
        [Self::Ffdhe3072, Self::Ffdhe4096, Self::Ffdhe2048, Self::Null];

    #[must_use]
    pub fn number(self) -> u8 {
        self as u8
    }

    #[must_use]
    pub fn of(number: u8) -> Option<Self> {
        Self::PREFERRED.into_iter().find(|group| group.number() == number)
    }

    /// What each side sends.
    #[must_use]
    pub fn value_bytes(self) -> usize {
        self.prime().map_or(0, |prime| prime.len() / 2)
    }

    fn prime(self) -> Option<&'static str> {
        match self {
            Self::Null => None,
            Self::Ffdhe2048 => Some(FFDHE2048),
            Self::Ffdhe3072 => Some(FFDHE3072),
            Self::Ffdhe4096 => Some(FFDHE4096),
        }
    }

    /// What is sent for this exponent; nothing in the null group.
    #[must_use]
    pub fn value(self, exponent: &[u8; EXPONENT_BYTES]) -> Vec<u8> {
        let Some(modulus) = self.modulus() else { return Vec::new() };
        let two = BoxedUint::from(2_u8).resize(modulus.bits_precision());
        power(two, exponent, modulus)
    }

    /// The key that both sides share: the peer's value to the power of the exponent. None of a
    /// value that no honest peer sends; 0, 1 and -1 would make the key known to all.
    #[must_use]
    pub fn shared(self, value: &[u8], exponent: &[u8; EXPONENT_BYTES]) -> Option<Vec<u8>> {
        let modulus = self.modulus()?;
        if value.len() != self.value_bytes() {
            return None;
        }
        let value = BoxedUint::from_be_slice(value, modulus.bits_precision()).ok()?;
        let one = BoxedUint::one_with_precision(modulus.bits_precision());
        let minus_one = modulus.as_ref().wrapping_sub(&one);
        if value <= one || value >= minus_one {
            return None;
        }
        Some(power(value, exponent, modulus))
    }

    fn modulus(self) -> Option<Odd<BoxedUint>> {
        let prime = self.prime()?;
        let bits = u32::try_from(prime.len() * 4).expect("a few thousand bits");
        let prime = BoxedUint::from_be_hex(prime, bits).into_option()?;
        Odd::new(prime).into_option()
    }
}

/// Takes the same time for every exponent.
fn power(base: BoxedUint, exponent: &[u8; EXPONENT_BYTES], modulus: Odd<BoxedUint>) -> Vec<u8> {
    let params = BoxedMontyParams::new_vartime(modulus);
    let bits = u32::try_from(EXPONENT_BYTES * 8).expect("a few hundred bits");
    let exponent = BoxedUint::from_be_slice(exponent, bits).expect("it has so many bits");
    BoxedMontyForm::new(base, &params).pow(&exponent).retrieve().to_be_bytes().into_vec()
}

const FFDHE2048: &str = "\
    FFFFFFFFFFFFFFFFADF85458A2BB4A9AAFDC5620273D3CF1D8B9C583CE2D3695A9E13641146433FB\
    CC939DCE249B3EF97D2FE363630C75D8F681B202AEC4617AD3DF1ED5D5FD65612433F51F5F066ED0\
    856365553DED1AF3B557135E7F57C935984F0C70E0E68B77E2A689DAF3EFE8721DF158A136ADE735\
    30ACCA4F483A797ABC0AB182B324FB61D108A94BB2C8E3FBB96ADAB760D7F4681D4F42A3DE394DF4\
    AE56EDE76372BB190B07A7C8EE0A6D709E02FCE1CDF7E2ECC03404CD28342F619172FE9CE98583FF\
    8E4F1232EEF28183C3FE3B1B4C6FAD733BB5FCBC2EC22005C58EF1837D1683B2C6F34A26C1B2EFFA\
    886B423861285C97FFFFFFFFFFFFFFFF";
const FFDHE3072: &str = "\
    FFFFFFFFFFFFFFFFADF85458A2BB4A9AAFDC5620273D3CF1D8B9C583CE2D3695A9E13641146433FB\
    CC939DCE249B3EF97D2FE363630C75D8F681B202AEC4617AD3DF1ED5D5FD65612433F51F5F066ED0\
    856365553DED1AF3B557135E7F57C935984F0C70E0E68B77E2A689DAF3EFE8721DF158A136ADE735\
    30ACCA4F483A797ABC0AB182B324FB61D108A94BB2C8E3FBB96ADAB760D7F4681D4F42A3DE394DF4\
    AE56EDE76372BB190B07A7C8EE0A6D709E02FCE1CDF7E2ECC03404CD28342F619172FE9CE98583FF\
    8E4F1232EEF28183C3FE3B1B4C6FAD733BB5FCBC2EC22005C58EF1837D1683B2C6F34A26C1B2EFFA\
    886B4238611FCFDCDE355B3B6519035BBC34F4DEF99C023861B46FC9D6E6C9077AD91D2691F7F7EE\
    598CB0FAC186D91CAEFE130985139270B4130C93BC437944F4FD4452E2D74DD364F2E21E71F54BFF\
    5CAE82AB9C9DF69EE86D2BC522363A0DABC521979B0DEADA1DBF9A42D5C4484E0ABCD06BFA53DDEF\
    3C1B20EE3FD59D7C25E41D2B66C62E37FFFFFFFFFFFFFFFF";
const FFDHE4096: &str = "\
    FFFFFFFFFFFFFFFFADF85458A2BB4A9AAFDC5620273D3CF1D8B9C583CE2D3695A9E13641146433FB\
    CC939DCE249B3EF97D2FE363630C75D8F681B202AEC4617AD3DF1ED5D5FD65612433F51F5F066ED0\
    856365553DED1AF3B557135E7F57C935984F0C70E0E68B77E2A689DAF3EFE8721DF158A136ADE735\
    30ACCA4F483A797ABC0AB182B324FB61D108A94BB2C8E3FBB96ADAB760D7F4681D4F42A3DE394DF4\
    AE56EDE76372BB190B07A7C8EE0A6D709E02FCE1CDF7E2ECC03404CD28342F619172FE9CE98583FF\
    8E4F1232EEF28183C3FE3B1B4C6FAD733BB5FCBC2EC22005C58EF1837D1683B2C6F34A26C1B2EFFA\
    886B4238611FCFDCDE355B3B6519035BBC34F4DEF99C023861B46FC9D6E6C9077AD91D2691F7F7EE\
    598CB0FAC186D91CAEFE130985139270B4130C93BC437944F4FD4452E2D74DD364F2E21E71F54BFF\
    5CAE82AB9C9DF69EE86D2BC522363A0DABC521979B0DEADA1DBF9A42D5C4484E0ABCD06BFA53DDEF\
    3C1B20EE3FD59D7C25E41D2B669E1EF16E6F52C3164DF4FB7930E9E4E58857B6AC7D5F42D69F6D18\
    7763CF1D5503400487F55BA57E31CC7A7135C886EFB4318AED6A1E012D9E6832A907600A918130C4\
    6DC778F971AD0038092999A333CB8B7A1A1DB93D7140003C2A4ECEA9F98D0ACC0A8291CDCEC97DCF\
    8EC9B55A7F88A46B4DB5A851F44182E1C68A007E5E655F6AFFFFFFFFFFFFFFFF";
