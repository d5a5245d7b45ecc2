//! The game of chess and its variants, over shakmaty.
