"""What each alert means and what to do about it: beside the alert on a screen, and in docs/alerts.md."""

from typing import Final, NamedTuple


class Guidance(NamedTuple):
    """Two sentences or so for the person who answers the alert."""

    meaning: str
    action: str


GUIDE: Final[dict[str, Guidance]] = {
    "third_card_drawn": Guidance(
        "A hand got a third card where the tableau says stand; the alert names the item of art. 9.",
        "Stop the round before it is paid. Put the card right at once, or declare the round void (art. 10).",
    ),
    "third_card_missed": Guidance(
        "A hand stood where the tableau says draw; the alert names the item of art. 9.",
        "Stop the round before it is paid. Have the card drawn, or declare the round void (art. 10).",
    ),
    "natural_ignored": Guidance(
        "One hand had 8 or 9 with two cards, and still a third card was dealt.",
        "Stop the round before it is paid. Take the card back, or declare the round void (art. 10).",
    ),
    "deal_order": Guidance(
        "A card went to the wrong hand: player first, then alternately, two cards each.",
        "Put the cards right before the call, or declare the round void (art. 10).",
    ),
    "result_mismatch": Guidance(
        "The dealer called another result than the cards give.",
        "Hold all payments, read the cards again and call anew. If chips have moved, take the round back bet by bet.",
    ),
    "uncorrected_round_paid": Guidance(
        "A round with a dealing error was paid although the error was neither put right nor the round declared void.",
        "Freeze the table's chips, review the recording, and decide what each patron is owed (art. 10).",
    ),
    "excess_copies": Guidance(
        "More copies of one card came out of the shoe than its decks hold.",
        "Close the shoe and keep all its cards for inspection: a card was added, or the reader errs.",
    ),
    "overpaid": Guidance(
        "More was paid on a winning bet than its odds give.",
        "Recover the difference while the patron sits there. Several for one patron or dealer: call surveillance.",
    ),
    "underpaid": Guidance(
        "Less was paid on a winning bet than its odds give.",
        "Pay the difference, and record it as a correction.",
    ),
    "losing_bet_paid": Guidance(
        "A bet that lost was paid.",
        "Recover the payment and the stake. Review the recording: it is the plainest way a dealer helps a patron.",
    ),
    "push_paid": Guidance(
        "A stake that neither won nor lost (a tie) was paid.",
        "Recover the payment; the stake stays the patron's.",
    ),
    "winning_bet_unpaid": Guidance(
        "A bet that won got nothing before the round was closed.",
        "Pay it, and note it on the alert. The patron may have left: keep the recording. A payout that the table sends"
        " before the next round ends makes the alert a corrected one.",
    ),
    "losing_stake_not_collected": Guidance(
        "A bet that lost kept its stake on the layout, whole or in part.",
        "Collect it before the next cards. Chips moved to the winning area look like this: review the recording.",
    ),
    "stake_wrongly_collected": Guidance(
        "The stake of a bet that did not lose was taken.",
        "Give it back, and record it as a correction.",
    ),
    "commission_missing": Guidance(
        "A banker win was paid, and no commission was taken or marked for it.",
        "Take or mark the commission now. Several from one dealer: review the recording.",
    ),
    "commission_wrong": Guidance(
        "The commission taken or marked is not the table's rate of the winnings.",
        "Settle the difference, and check that the table deals under the configuration it should.",
    ),
    "commission_unsettled": Guidance(
        "A patron left, or the shoe ended, while the position still owed marked commission.",
        "Settle it with the patron, or write it off by the house's procedure.",
    ),
    "void_round_paid": Guidance(
        "Chips were paid or collected in a round that was declared void; every stake goes back (art. 10).",
        "Undo the payment or the collection.",
    ),
    "float_unexplained": Guidance(
        "The tray was counted, and payments, collections, fills, credits and buy-ins do not explain what is in it.",
        "Count again with a second person. If it stays, seal the tray and review since the last count that was right.",
    ),
    "late_bet": Guidance(
        "A bet was placed after betting closed (past posting).",
        "Refuse the bet. A late bet on long odds that wins is the known fraud: review patron and dealer together.",
    ),
    "late_increase": Guidance(
        "Chips were added to a bet after betting closed (capping).",
        "Set the stake back to what it was, and review the recording.",
    ),
    "late_decrease": Guidance(
        "Chips were taken off a bet after betting closed (pinching).",
        "Have the stake restored, and review the recording.",
    ),
    "late_move": Guidance(
        "A bet was moved to another area after betting closed.",
        "Put it back, and review the recording.",
    ),
    "below_minimum": Guidance(
        "A stake is below the table's minimum for that bet.",
        "Have it raised or taken back before the cards.",
    ),
    "above_maximum": Guidance(
        "A stake is above the table's maximum for that bet.",
        "Have the excess taken back before the cards.",
    ),
    "stake_not_multiple": Guidance(
        "A stake is no multiple of the unit this table asks for (SJM: banker stakes, in minimums).",
        "Have it made a multiple before the cards.",
    ),
    "differential_exceeded": Guidance(
        "All player stakes and all banker stakes differ by more than the table's differential (art. 14).",
        "Have the excess taken back before the cards, by the house's procedure.",
    ),
    "both_sides": Guidance(
        "One patron bets player and banker in the same round.",
        "Have one side taken back. Where it repeats, look at what the patron's turnover is paid.",
    ),
    "side_bet_alone": Guidance(
        "A side bet that belongs to a bet on a side stands without one.",
        "Have the main bet placed, or the side bet taken back.",
    ),
    "bet_not_offered": Guidance(
        "A bet was taken that this table's configuration does not offer on this day.",
        "Return the stake. If the bet is on the layout, the configuration is out of date: publish the right one.",
    ),
    "reserved_place": Guidance(
        "A standing patron bets on the place reserved for a seated one (art. 15).",
        "Have the chips moved to a shared place.",
    ),
    "tie_change_forbidden": Guidance(
        "After a tie a standing bet was changed in a way this table does not allow (SJM: only adding is).",
        "Restore the bet before the cards.",
    ),
    "holder_not_highest": Guidance(
        "The cards were given to a patron who is not the highest seated bettor (art. 16).",
        "Give them to the highest bettor in the next round.",
    ),
    "shoe_refused": Guidance(
        "The shoe holds another number of decks than the table may deal from (6 to 12).",
        "Stop before the first round, and load the right shoe.",
    ),
    "cut_depth": Guidance(
        "The white card lies too near the end of the shoe: at least about twelve cards belong behind it.",
        "Cut again before play; during play, end the shoe early.",
    ),
    "burn_count": Guidance(
        "Another number of cards was burned at the shoe's opening than the method asks for.",
        "Review the opening. A wrong burn shifts every card: with late bets in the same shoe, call surveillance.",
    ),
    "shoe_not_cut": Guidance(
        "The first round began although nobody had cut the shoe.",
        "End the shoe after the round, and prepare it anew.",
    ),
    "demonstrations_exceeded": Guidance(
        "More rounds without bets were dealt than allowed (three at most in a shoe).",
        "Have the dealer begin live play. Free rounds tell a waiting patron what is left in the shoe.",
    ),
    "demonstration_after_play": Guidance(
        "A round without bets was dealt after live rounds of the same shoe.",
        "Ask the dealer why; the cards of a shoe in play are for bets.",
    ),
    "bet_in_demonstration": Guidance(
        "A bet lay on the layout in a demonstration round, which carries no money.",
        "Return the stake, whatever the cards were.",
    ),
    "round_after_cut_card": Guidance(
        "More rounds were dealt after the white card came than the table may deal.",
        "Close the shoe now.",
    ),
    "shoe_changed_in_round": Guidance(
        "The shoe was changed while a round was in play (art. 3(2) allows it between rounds only).",
        "Declare the round void unless all its cards were out, and keep both shoes for inspection.",
    ),
    "burned_in_round": Guidance(
        "A card was burned after the round's cards had begun to come; the house may burn before a round (art. 8).",
        "Ask the dealer why, and review the recording: a card taken out of turn changes who gets the next ones.",
    ),
    "void_without_error": Guidance(
        "A round was cancelled because a card was found face up; such a card, and the bets, stay valid (art. 4).",
        "Take the cancellation back if stakes have not moved; otherwise record why it was made.",
    ),
    "option_without_approval": Guidance(
        "The table uses an option of arts. 2, 3, 7 or 12 for which no valid permission is configured (art. 19).",
        "Stop using the option until compliance has the permission, and enter it in the configuration.",
    ),
    "telemetry_gap": Guidance(
        "Events of the table are missing and did not arrive in time; rounds they belong to get no verdict.",
        "Check the controller's network. Late events still revise the rounds when they arrive.",
    ),
    "clock_skew": Guidance(
        "The controller's clock differs from the log's by more than the tolerance.",
        "Check the controller's time service; the order of events is not affected.",
    ),
    "table_silent": Guidance(
        "Nothing came from an open table for longer than its limit, not even a heartbeat.",
        "Look at the table. Until it speaks again, surveillance watches it by camera.",
    ),
    "round_incomplete": Guidance(
        "Too little of the round was seen to judge it.",
        "Nothing at once; if it repeats at one table, have its sensors checked.",
    ),
    "controller_replaced": Guidance(
        "Events that happen now carry a boot count that is no higher than one heard before, as a new controller's do."
        " Their numbers were used already, so every one of them is refused, and the table is not watched.",
        "Give the new controller a boot count above the one the alert names, and restart it. Until then, surveillance"
        " watches the table by camera; what was refused is in the dead letters.",
    ),
    "round_left_open": Guidance(
        "The table went on to the next round, or closed the shoe or itself, without closing this round, and nothing it"
        " sent was lost. What was done wrong by then is told; what was still to be paid or collected is held against"
        " nobody, and leaves the round incomplete.",
        "Have the dealer close each round before the next, and look at the recording for what was paid after it.",
    ),
    "configuration_unknown": Guidance(
        "A round says it is dealt under another configuration than the one published last; a question mark says that"
        " events were lost, and what the table has paid since does not fit the one known. Until that is cleared up,"
        " rounds are incomplete, and nobody is accused of what rests on the configuration.",
        "Publish the table's configuration again, at the table or from the house, under the name its rounds give.",
    ),
    "correction_recorded": Guidance(
        "A supervisor withdrew or replaced an earlier event.",
        "Nothing, if it was you. Otherwise read who did it, and why.",
    ),
}
"""By alert code; a test holds that it covers the whole catalogue."""
