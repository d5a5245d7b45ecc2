"""Middlegames to measure on: chess, and crazyhouse with pockets filled on both sides.

They come from games that Stockfish and Fairy-Stockfish played against themselves for this purpose, at a few
thousand nodes a move from varied openings. The signature depends on them and on their order.
"""

POSITIONS: dict[str, tuple[str, ...]] = {
    "chess": (
        "2r1kb1r/1b3ppp/pq2pn2/3p4/PnpP1B2/N3PN2/1P2BPPP/2RQ1RK1 w k - 2 14",
        "2kr2rb/1b3p1p/p1n1p3/qp2P3/5N2/1B1PQNP1/PP2K2P/R4R2 w - - 3 21",
        "r3kb1r/p2n1pp1/2p1pn2/3p1b2/P2P3P/2N2NB1/4PPBP/R1R3K1 b kq - 0 15",
        "4kbnr/p2bpppp/3p4/8/4nP2/8/PPPP2PP/RNB1K2R w KQk - 0 11",
        "r3kbnr/pp1b4/2n2p2/2p1p1p1/4P1p1/2P4P/PP3P1N/RNB1KB1R w kq - 0 13",
        "rnbq1Bk1/6pp/4Pn2/p4p2/P7/1N4P1/4PPBP/b2Q1RK1 b - - 0 17",
        "r1bqk2r/1pp1b1p1/p1n2n1p/3p1p2/P2P4/N1P3PN/1P3P1P/R1BQKB1R w KQkq - 0 11",
        "r1b1k2r/pp1nppb1/2n3p1/q1pQ2Pp/4P3/2N1B2P/PPP1NP2/2KR1B1R b kq - 3 11",
        "rnbqk2r/pppppp1p/6n1/2P5/8/2NP2PP/PP4P1/R1BQKB1R w Qkq - 3 13",
        "r2qkb1r/pp3pp1/2n1bn1p/2pNp3/3pP3/P2P1NPP/1PP2PB1/R1B1QRK1 b kq - 2 11",
        "R4rk1/1b1qbpp1/1pn1pn1p/2pp4/8/1PNPPNP1/2PB1PBP/3Q1RK1 b - - 0 13",
        "r1b1k2r/1pppqpbn/p1n5/4P2p/1P4p1/P3PNPP/2PN1P2/1RBQKB1R w Kkq - 0 11",
    ),
    "crazyhouse": (
        "r3kb1r/pp1n1ppp/4n2B/2p5/P2pp3/6P1/1PP1B1PP/RNB2RK1[NQppq] b kq - 0 16",
        "r2qk2r/1ppbbppp/p2p1n2/8/4P3/2PBNP2/PPQ2P1P/R1B1K2R[PNpn] b KQkq - 0 11",
        "rn4kr/pp1bqppp/1Np5/5P2/1P2P3/2P2P1N/P2Q1PPP/R3KB1R[PBnb] b KQ - 0 17",
        "r1b1k1rQ/1pppppPp/p3n3/8/1P6/8/1BPP1nPP/R3KB1R[PPNpnbq] b KQq - 2 18",
        "rn2kb1r/pp1bpppp/1b6/1p1p4/RP1P4/2Q1P3/2PN1PPP/4KB1R[NQpn] b Kkq - 0 13",
        "1rb1k1n1/1ppqppb1/p2p2p1/8/2PNP2r/2N5/PP1Q1PPP/1R2KB1R[PNpb] w K - 0 12",
        "r1b1kb2/p1ppp1p1/2R1n1p1/6Bp/2NQp3/8/PPP1pPPP/2KR3R[PQnnb] b q - 0 17",
        "r1bqk2r/ppp2ppp/2P1pn2/8/P2P3P/5p2/1PP2PP1/R1BQKB1R[NBnn] b KQkq - 0 10",
        "r1bq1k1r/pppp2pp/5p2/2n2NB1/2PNP3/P3p3/1P2K1PP/R2Q1B1R[PBpn] b - - 0 13",
        "2q2k1r/1pp2ppp/2nb3n/8/4B3/2p1P3/P1PP1PPP/RN1QKB1R[PRppnb] b KQ - 0 16",
        "q3kb1r/2pppppp/1pB5/1P1p4/2P1n3/5NP1/3PP1pP/BN1Q2KR[PNbrr] w k - 0 18",
        "q1b2b1r/4pkp1/n1pp1P2/p7/1p1P4/5PnP/PPP2N1p/R1BQK3[PNBRpr] w Q - 0 19",
    ),
}
