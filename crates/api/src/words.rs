//! Enums of DRBD's state words: what all of them have.

/// Defines an enum of states, each with its word: in text, and in JSON.
macro_rules! words {
    (
        $(#[$of_states:meta])*
        pub enum $States:ident {
            $($(#[$of_state:meta])* $State:ident = $word:literal,)+
        }
    ) => {
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize,
        )]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        $(#[$of_states])*
        pub enum $States {
            $(
                $(#[$of_state])*
                #[serde(rename = $word)]
                $State,
            )+
        }

        impl $States {
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$State),+];

            /// DRBD's word for it, which is also its name in JSON.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$State => $word,)+
                }
            }
        }

        impl std::fmt::Display for $States {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        #[cfg(test)]
        mod tests {
            use super::$States;

            #[test]
            fn json_name_is_the_displayed_word() {
                for state in $States::ALL {
                    assert_eq!(serde_json::to_string(&state).unwrap(), format!("\"{state}\""));
                }
            }
        }
    };
}
