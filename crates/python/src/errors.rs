//! The errors of the core as the exceptions of `anabranch.errors`.

use anabranch_core::games::chess::planes::UnknownVersion;
use anabranch_core::games::chess::{FenError, UnknownVariant};
use anabranch_core::network::{EncodeError, NetworkError};
use anabranch_core::run::errors::SessionError;
use anabranch_core::run::save::SaveError;
use anabranch_core::settings::SettingError;
use pyo3::PyErr;

mod python {
    #![allow(missing_docs)]
    use pyo3::import_exception;

    import_exception!(anabranch.errors, DataError);
    import_exception!(anabranch.errors, EvaluatorError);
    import_exception!(anabranch.errors, GameOverError);
    import_exception!(anabranch.errors, GraphAccessError);
    import_exception!(anabranch.errors, GraphFileError);
    import_exception!(anabranch.errors, InternalError);
    import_exception!(anabranch.errors, LimitError);
    import_exception!(anabranch.errors, MoveError);
    import_exception!(anabranch.errors, NetworkError);
    import_exception!(anabranch.errors, PositionError);
    import_exception!(anabranch.errors, SearchBusyError);
    import_exception!(anabranch.errors, SearchStateError);
    import_exception!(anabranch.errors, SettingError);
    import_exception!(anabranch.errors, VariantError);
}

/// A refusal by a session.
pub fn session(error: SessionError) -> PyErr {
    let text = error.to_string();
    match error {
        SessionError::Position(_) => python::PositionError::new_err(text),
        SessionError::Move(_) => python::MoveError::new_err(text),
        SessionError::Over(_) => python::GameOverError::new_err(text),
        SessionError::Evaluation(_) => python::EvaluatorError::new_err(text),
        SessionError::File(SaveError::System { .. }) => python::GraphAccessError::new_err(text),
        SessionError::File(_) => python::GraphFileError::new_err(text),
        SessionError::WrongNetwork { .. } => python::VariantError::new_err(text),
        SessionError::NoNetwork => python::SettingError::new_err(text),
        SessionError::State(_) => python::SearchStateError::new_err(text),
        SessionError::Fault(_) => python::InternalError::new_err(text),
    }
}

/// A refusal of a setting or a preset.
pub fn setting(error: SettingError) -> PyErr {
    python::SettingError::new_err(error.to_string())
}

/// A value that no setting takes.
pub fn setting_value(name: &str, given: &str) -> PyErr {
    python::SettingError::new_err(format!(
        "setting '{name}' takes a truth value, a number or a word, not {given}"
    ))
}

/// An unknown variant.
pub fn variant(error: UnknownVariant) -> PyErr {
    python::VariantError::new_err(error.to_string())
}

/// Planes that the variant has not.
pub fn version(error: UnknownVersion) -> PyErr {
    python::EvaluatorError::new_err(error.to_string())
}

/// A network that cannot be used.
pub fn network(error: NetworkError) -> PyErr {
    python::NetworkError::new_err(error.to_string())
}

/// A position that cannot be read.
pub fn position(error: FenError) -> PyErr {
    python::PositionError::new_err(error.to_string())
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

/// A limit out of range.
pub fn limit(text: &str) -> PyErr {
    python::LimitError::new_err(text.to_owned())
}

/// An array that does not fit.
pub fn evaluation(text: String) -> PyErr {
    python::EvaluatorError::new_err(text)
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
