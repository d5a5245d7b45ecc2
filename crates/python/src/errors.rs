//! The errors of the core as the exceptions of `anabranch.errors`.

use anabranch_core::games::chess::{FenError, UnknownVariant};
use anabranch_core::games::grid::GridError;
use anabranch_core::network::{EncodeError, NetworkError, Unreadable};
use anabranch_core::run::errors::SessionError;
use anabranch_core::run::save::SaveError;
use anabranch_core::settings::SettingError;
use pyo3::PyErr;

mod python {
    #![allow(missing_docs)]
    macro_rules! exceptions {
        ($($name:ident)+) => { $( pyo3::import_exception!(anabranch.errors, $name); )+ };
    }
    exceptions!(DataError EvaluatorError GameOverError GraphAccessError GraphFileError InternalError
        LimitError MoveError NetworkError PositionError SearchBusyError SearchStateError SettingError
        VariantError);
}

/// Functions that make an exception of an error, with its sentence.
macro_rules! mapped {
    ($($(#[$meaning:meta])* $name:ident($error:ty) => $exception:ident;)+) => {
        $($(#[$meaning])* pub fn $name(error: $error) -> PyErr {
            python::$exception::new_err(error.to_string())
        })+
    };
}

mapped! {
    /// A refusal of a setting or a preset.
    setting(SettingError) => SettingError;
    /// An unknown variant.
    variant(UnknownVariant) => VariantError;
    /// A network that cannot be used.
    network(NetworkError) => NetworkError;
    /// A position that cannot be read.
    position(FenError) => PositionError;
    /// A position that a network cannot read.
    unreadable(Unreadable) => PositionError;
    /// A limit out of range.
    limit(&str) => LimitError;
    /// An array that does not fit.
    evaluation(String) => EvaluatorError;
    /// A call that does not fit the state of a search.
    state(&str) => SearchStateError;
}

/// A refusal by a session.
pub fn session(error: SessionError) -> PyErr {
    let text = error.to_string();
    match error {
        SessionError::Position(_) => python::PositionError::new_err(text),
        SessionError::Move(_) => python::MoveError::new_err(text),
        SessionError::Over(_) => python::GameOverError::new_err(text),
        SessionError::Evaluation(_) | SessionError::Planes(_) => python::EvaluatorError::new_err(text),
        SessionError::File(SaveError::System { .. }) => python::GraphAccessError::new_err(text),
        SessionError::File(_) => python::GraphFileError::new_err(text),
        SessionError::WrongNetwork { .. }
        | SessionError::UnknownGame(_)
        | SessionError::Grid(GridError::NoGame(_) | GridError::Game(_)) => {
            python::VariantError::new_err(text)
        }
        SessionError::Grid(GridError::Position(_)) => python::PositionError::new_err(text),
        SessionError::Grid(GridError::Move(_)) => python::MoveError::new_err(text),
        SessionError::NoNetwork | SessionError::NoSuchEvaluator(_) => python::SettingError::new_err(text),
        SessionError::State(_) => python::SearchStateError::new_err(text),
        SessionError::Fault(_) => python::InternalError::new_err(text),
    }
}

/// A value that no setting takes.
pub fn setting_value(name: &str, given: &str) -> PyErr {
    python::SettingError::new_err(format!(
        "setting '{name}' takes a truth value, a number or a word, not {given}"
    ))
}

/// Samples that cannot be encoded.
pub fn encode(error: EncodeError) -> PyErr {
    let text = error.to_string();
    match error {
        EncodeError::Variant(_) => python::VariantError::new_err(text),
        EncodeError::Position { .. } => python::PositionError::new_err(text),
        EncodeError::Move { .. } => python::MoveError::new_err(text),
        _ => python::DataError::new_err(text),
    }
}

/// The session is in use by another thread.
pub fn busy() -> PyErr {
    python::SearchBusyError::new_err("a search is under way on this engine; stop it or wait for it first")
}

/// The core panicked.
pub fn internal(text: &str) -> PyErr {
    python::InternalError::new_err(format!(
        "the search failed by a fault of its own, and its graph was dropped: {text}"
    ))
}
