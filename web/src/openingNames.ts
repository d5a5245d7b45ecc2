// Names of openings, for the position on the board. Longer lines come after the shorter ones that they
// continue; a position has the name of the last line that ends in it.
export const OPENING_NAMES = `
King's Pawn: e4
Queen's Pawn: d4
English Opening: c4
Réti Opening: Nf3
Bird Opening: f4
Nimzo-Larsen Attack: b3
Polish Opening: b4
Grob Opening: g4
King's Fianchetto Opening: g3
Van Geet Opening: Nc3
Open Game: e4 e5
King's Gambit: e4 e5 f4
King's Gambit Accepted: e4 e5 f4 exf4
King's Gambit Accepted, King's Knight Gambit: e4 e5 f4 exf4 Nf3
King's Gambit Accepted, Bishop's Gambit: e4 e5 f4 exf4 Bc4
King's Gambit Declined, Classical: e4 e5 f4 Bc5
Falkbeer Countergambit: e4 e5 f4 d5
Vienna Game: e4 e5 Nc3
Vienna Game, Falkbeer: e4 e5 Nc3 Nf6
Vienna Gambit: e4 e5 Nc3 Nf6 f4
Bishop's Opening: e4 e5 Bc4
Bishop's Opening, Berlin Defence: e4 e5 Bc4 Nf6
Centre Game: e4 e5 d4 exd4
Danish Gambit: e4 e5 d4 exd4 c3
King's Knight Opening: e4 e5 Nf3
Damiano Defence: e4 e5 Nf3 f6
Latvian Gambit: e4 e5 Nf3 f5
Elephant Gambit: e4 e5 Nf3 d5
Philidor Defence: e4 e5 Nf3 d6
Petroff Defence: e4 e5 Nf3 Nf6
Petroff Defence, Classical: e4 e5 Nf3 Nf6 Nxe5 d6
Petroff Defence, Steinitz Attack: e4 e5 Nf3 Nf6 d4
Four Knights Game: e4 e5 Nf3 Nc6 Nc3 Nf6
Four Knights Game, Spanish: e4 e5 Nf3 Nc6 Nc3 Nf6 Bb5
Three Knights Opening: e4 e5 Nf3 Nc6 Nc3
Ponziani Opening: e4 e5 Nf3 Nc6 c3
Scotch Game: e4 e5 Nf3 Nc6 d4
Scotch Game: e4 e5 Nf3 Nc6 d4 exd4 Nxd4
Scotch Game, Classical: e4 e5 Nf3 Nc6 d4 exd4 Nxd4 Bc5
Scotch Game, Schmidt: e4 e5 Nf3 Nc6 d4 exd4 Nxd4 Nf6
Scotch Gambit: e4 e5 Nf3 Nc6 d4 exd4 Bc4
Göring Gambit: e4 e5 Nf3 Nc6 d4 exd4 c3
Italian Game: e4 e5 Nf3 Nc6 Bc4
Hungarian Defence: e4 e5 Nf3 Nc6 Bc4 Be7
Two Knights Defence: e4 e5 Nf3 Nc6 Bc4 Nf6
Two Knights Defence, Knight Attack: e4 e5 Nf3 Nc6 Bc4 Nf6 Ng5
Two Knights Defence, Traxler: e4 e5 Nf3 Nc6 Bc4 Nf6 Ng5 Bc5
Two Knights Defence, Polerio: e4 e5 Nf3 Nc6 Bc4 Nf6 Ng5 d5 exd5 Na5
Two Knights Defence, Fried Liver Attack: e4 e5 Nf3 Nc6 Bc4 Nf6 Ng5 d5 exd5 Nxd5 Nxf7
Giuoco Piano: e4 e5 Nf3 Nc6 Bc4 Bc5
Evans Gambit: e4 e5 Nf3 Nc6 Bc4 Bc5 b4
Giuoco Piano, main line: e4 e5 Nf3 Nc6 Bc4 Bc5 c3 Nf6
Giuoco Pianissimo: e4 e5 Nf3 Nc6 Bc4 Bc5 d3
Ruy Lopez: e4 e5 Nf3 Nc6 Bb5
Ruy Lopez, Steinitz Defence: e4 e5 Nf3 Nc6 Bb5 d6
Ruy Lopez, Cozio Defence: e4 e5 Nf3 Nc6 Bb5 Nge7
Ruy Lopez, Bird Defence: e4 e5 Nf3 Nc6 Bb5 Nd4
Ruy Lopez, Schliemann Defence: e4 e5 Nf3 Nc6 Bb5 f5
Ruy Lopez, Classical: e4 e5 Nf3 Nc6 Bb5 Bc5
Ruy Lopez, Berlin Defence: e4 e5 Nf3 Nc6 Bb5 Nf6
Ruy Lopez, Berlin Defence, Rio de Janeiro: e4 e5 Nf3 Nc6 Bb5 Nf6 O-O Nxe4 d4 Nd6
Ruy Lopez, Morphy Defence: e4 e5 Nf3 Nc6 Bb5 a6
Ruy Lopez, Exchange: e4 e5 Nf3 Nc6 Bb5 a6 Bxc6
Ruy Lopez, Morphy Defence, Columbus: e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6
Ruy Lopez, Open: e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Nxe4
Ruy Lopez, Closed: e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7
Ruy Lopez, Marshall Attack: e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 O-O c3 d5
Ruy Lopez, Closed, Breyer Defence: e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Nb8
Ruy Lopez, Closed, Chigorin Defence: e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Na5
Ruy Lopez, Closed, Zaitsev System: e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Bb7
Sicilian Defence: e4 c5
Sicilian Defence, Alapin: e4 c5 c3
Sicilian Defence, Closed: e4 c5 Nc3
Sicilian Defence, Smith-Morra Gambit: e4 c5 d4 cxd4 c3
Sicilian Defence, Wing Gambit: e4 c5 b4
Sicilian Defence, Grand Prix Attack: e4 c5 Nc3 Nc6 f4
Sicilian Defence, Rossolimo: e4 c5 Nf3 Nc6 Bb5
Sicilian Defence, Moscow: e4 c5 Nf3 d6 Bb5+
Sicilian Defence, Open: e4 c5 Nf3 d6 d4 cxd4 Nxd4
Sicilian Defence, Classical: e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 Nc6
Sicilian Defence, Najdorf: e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6
Sicilian Defence, Najdorf, English Attack: e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Be3
Sicilian Defence, Najdorf, Main Line: e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Bg5
Sicilian Defence, Najdorf, Opocensky: e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 Be2
Sicilian Defence, Dragon: e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 g6
Sicilian Defence, Dragon, Yugoslav Attack: e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 g6 Be3 Bg7 f3
Sicilian Defence, Scheveningen: e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 e6
Sicilian Defence, Keres Attack: e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 e6 g4
Sicilian Defence, Accelerated Dragon: e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 g6
Sicilian Defence, Maroczy Bind: e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 g6 c4
Sicilian Defence, Sveshnikov: e4 c5 Nf3 Nc6 d4 cxd4 Nxd4 Nf6 Nc3 e5
Sicilian Defence, Kan: e4 c5 Nf3 e6 d4 cxd4 Nxd4 a6
Sicilian Defence, Taimanov: e4 c5 Nf3 e6 d4 cxd4 Nxd4 Nc6
French Defence: e4 e6
French Defence, Advance: e4 e6 d4 d5 e5
French Defence, Exchange: e4 e6 d4 d5 exd5 exd5
French Defence, Tarrasch: e4 e6 d4 d5 Nd2
French Defence, Classical: e4 e6 d4 d5 Nc3 Nf6
French Defence, Winawer: e4 e6 d4 d5 Nc3 Bb4
French Defence, Rubinstein: e4 e6 d4 d5 Nc3 dxe4
Caro-Kann Defence: e4 c6
Caro-Kann Defence, Advance: e4 c6 d4 d5 e5
Caro-Kann Defence, Exchange: e4 c6 d4 d5 exd5 cxd5
Caro-Kann Defence, Panov Attack: e4 c6 d4 d5 exd5 cxd5 c4
Caro-Kann Defence, Fantasy: e4 c6 d4 d5 f3
Caro-Kann Defence, Classical: e4 c6 d4 d5 Nc3 dxe4 Nxe4 Bf5
Caro-Kann Defence, Karpov: e4 c6 d4 d5 Nc3 dxe4 Nxe4 Nd7
Caro-Kann Defence, Two Knights: e4 c6 Nf3 d5 Nc3
Scandinavian Defence: e4 d5
Scandinavian Defence, Mieses-Kotrč: e4 d5 exd5 Qxd5
Scandinavian Defence, Modern: e4 d5 exd5 Nf6
Alekhine Defence: e4 Nf6
Alekhine Defence, Modern: e4 Nf6 e5 Nd5 d4 d6 Nf3
Alekhine Defence, Four Pawns Attack: e4 Nf6 e5 Nd5 d4 d6 c4 Nb6 f4
Pirc Defence: e4 d6 d4 Nf6
Pirc Defence: e4 d6 d4 Nf6 Nc3 g6
Pirc Defence, Austrian Attack: e4 d6 d4 Nf6 Nc3 g6 f4
Modern Defence: e4 g6
Nimzowitsch Defence: e4 Nc6
Owen Defence: e4 b6
Queen's Pawn Game: d4 d5
London System: d4 d5 Bf4
London System: d4 d5 Nf3 Nf6 Bf4
Colle System: d4 d5 Nf3 Nf6 e3
Richter-Veresov Attack: d4 d5 Nc3 Nf6 Bg5
Blackmar-Diemer Gambit: d4 d5 e4
Queen's Gambit: d4 d5 c4
Queen's Gambit Accepted: d4 d5 c4 dxc4
Queen's Gambit Declined: d4 d5 c4 e6
Queen's Gambit Declined, Exchange: d4 d5 c4 e6 Nc3 Nf6 cxd5
Queen's Gambit Declined, Orthodox: d4 d5 c4 e6 Nc3 Nf6 Bg5 Be7
Queen's Gambit Declined, Tarrasch Defence: d4 d5 c4 e6 Nc3 c5
Queen's Gambit Declined, Ragozin: d4 d5 c4 e6 Nf3 Nf6 Nc3 Bb4
Semi-Slav Defence: d4 d5 c4 c6 Nf3 Nf6 Nc3 e6
Semi-Slav Defence, Meran: d4 d5 c4 c6 Nf3 Nf6 Nc3 e6 e3 Nbd7 Bd3 dxc4 Bxc4 b5
Slav Defence: d4 d5 c4 c6
Slav Defence, Exchange: d4 d5 c4 c6 cxd5 cxd5
Chigorin Defence: d4 d5 c4 Nc6
Albin Countergambit: d4 d5 c4 e5
Catalan Opening: d4 d5 c4 e6 g3
Catalan Opening: d4 Nf6 c4 e6 g3
Indian Defence: d4 Nf6
Trompowsky Attack: d4 Nf6 Bg5
Torre Attack: d4 Nf6 Nf3 e6 Bg5
Budapest Gambit: d4 Nf6 c4 e5
Old Indian Defence: d4 Nf6 c4 d6
Nimzo-Indian Defence: d4 Nf6 c4 e6 Nc3 Bb4
Nimzo-Indian Defence, Classical: d4 Nf6 c4 e6 Nc3 Bb4 Qc2
Nimzo-Indian Defence, Rubinstein: d4 Nf6 c4 e6 Nc3 Bb4 e3
Nimzo-Indian Defence, Sämisch: d4 Nf6 c4 e6 Nc3 Bb4 a3
Queen's Indian Defence: d4 Nf6 c4 e6 Nf3 b6
Bogo-Indian Defence: d4 Nf6 c4 e6 Nf3 Bb4+
King's Indian Defence: d4 Nf6 c4 g6 Nc3 Bg7
King's Indian Defence, Classical: d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 Nf3 O-O Be2 e5
King's Indian Defence, Sämisch: d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 f3
King's Indian Defence, Four Pawns Attack: d4 Nf6 c4 g6 Nc3 Bg7 e4 d6 f4
King's Indian Defence, Fianchetto: d4 Nf6 c4 g6 Nf3 Bg7 g3
Grünfeld Defence: d4 Nf6 c4 g6 Nc3 d5
Grünfeld Defence, Exchange: d4 Nf6 c4 g6 Nc3 d5 cxd5 Nxd5
Grünfeld Defence, Russian: d4 Nf6 c4 g6 Nc3 d5 Nf3 Bg7 Qb3
Benoni Defence: d4 Nf6 c4 c5 d5
Modern Benoni: d4 Nf6 c4 c5 d5 e6
Benko Gambit: d4 Nf6 c4 c5 d5 b5
Dutch Defence: d4 f5
Dutch Defence, Leningrad: d4 f5 g3 Nf6 Bg2 g6
Dutch Defence, Stonewall: d4 f5 c4 e6 g3 Nf6 Bg2 d5
English Defence: d4 e6 c4 b6
English Opening, King's English: c4 e5
English Opening, Symmetrical: c4 c5
English Opening, Anglo-Indian: c4 Nf6
English Opening, Four Knights: c4 e5 Nc3 Nf6 Nf3 Nc6
Réti Opening: Nf3 d5 c4
King's Indian Attack: Nf3 d5 g3
From Gambit: f4 e5
`;
