//! Moves: the first byte chooses the variant, the first line is a FEN or empty, every other line a move in
//! UCI or SAN. What is accepted is written as UCI and read again.

#![no_main]

mod sessions;

use anabranch_core::with_session;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, text)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let (fen, moves) = text.split_once('\n').unwrap_or((text, ""));
    let moves: Vec<String> = moves.split('\n').map(str::to_owned).collect();
    sessions::with(choice, |any| {
        with_session!(any, session => {
            if session.set_position((!fen.is_empty()).then_some(fen), &[]).is_err() {
                return;
            }
            for one in &moves {
                let legal = session.legal_moves();
                if session.play(one).is_err() {
                    continue;
                }
                let (start, played) = session.game();
                assert!(played.last().is_some_and(|last| legal.contains(last)));
                let fen = session.fen();
                session.set_position(Some(&start), &played).expect("a written game is read");
                assert_eq!(session.fen(), fen);
            }
            session.forget();
        })
    });
});
