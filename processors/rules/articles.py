"""The regulation as an index: each article, in its words and ours, and the function that holds play to it.

The articles are those of Macau's Despacho SEF 55/2004; ``SJM`` are SJM's two house rules, ``wiki`` what the
Chinese Wikipedia's page adds. Names are ``module:function``.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class Article(NamedTuple):
    """One line of the regulation: its number, its gist in English, its words, and where it is enforced."""

    number: str
    en: str
    zh: str
    enforced_by: tuple[str, ...]


def _article(number: str, en: str, zh: str, *enforced_by: str) -> Article:
    ours = (name if "." in name else f"processors.rules.{name}" for name in enforced_by)
    return Article(number, en, zh, tuple(ours))


_ARTICLES: Final = (
    _article(
        "1", "Six to twelve decks of 52; a shoe, cut cards, shufflers; a table with seven or more seats.",
        "六副牌至十二副牌，每副五十二張；派牌盒；自動洗派牌機；洗牌機；博彩台設七個或多於七個座位",
        "procedure:shoe_decks", "schemas.configuration:TableConfiguration",
    ),
    _article(
        "2(1)", "Shuffle, cut, white card some twelve cards or more from the end; burn by decks or by the first card.",
        "將白咭插入尾端最少約十二張牌之上；按用牌多少副，銷去同數目之牌張，亦可選擇由第一張牌的牌面點數決定",
        "procedure:cut_depth", "procedure:burn_count", "processors.reconstruct.shoe_steps:round_opened",
    ),
    _article(
        "2(2)", "At most three demonstration rounds when a shoe is begun.",
        "最多只能開出示範三局",
        "procedure:demonstrations", "procedure:demonstration_time", "processors.reconstruct.bet_steps:bet_placed",
    ),
    _article(
        "2(3)", "A continuous shuffler deals without the procedure of 2(1).",
        "如使用自動洗派牌機則直接發牌而無須經過第一款規定之程式",
        "processors.reconstruct.shoe_steps:round_opened",
    ),
    _article(
        "3(1)", "At the white card the round in play is the last, or one more.",
        "牌派至白咭牌時，乃最後一局或只可多進行一局",
        "procedure:round_after_cut_card",
    ),
    _article(
        "3(2)", "The house may change the shoe after any round.",
        "場方保留在任何一局完結後更換派牌盒",
        "procedure:shoe_change",
    ),
    _article(
        "4", "A card found face up stays valid, and so do the bets.",
        "陽反之牌及該局之投注仍然有效，牌局繼續進行",
        "procedure:void_grounds",
    ),
    _article(
        "5", "Court cards, tens and totals of ten count nothing, the others their pips; nine is the highest.",
        "人形紙牌，10及合計十點者，俱作零點；其餘的則照牌面點數計算",
        "schemas.cards:total", "hands:view",
    ),
    _article(
        "6", "Two hands only: banker and player.",
        "只限兩家參與博彩：莊家、閒家",
        "hands:view",
    ),
    _article(
        "7(1)", "Player first, by turns, two cards each; the player opens first.",
        "從閒家起以交替形式一次一張地派，每家派發兩張紙牌，閒家先開牌",
        "tableau:next_card", "processors.reconstruct.dealing:judge_draw",
    ),
    _article(
        "7(2)", "With a continuous shuffler the cards go back after each round.",
        "每局結束後，牌張必須放回洗派牌機內",
        "odds:remaining",
    ),
    _article(
        "8", "The house may burn cards before any round.",
        "場方保留於每局開始時是否銷去牌靴上的紙牌的權利",
        "procedure:burn_before_round",
    ),
    _article(
        "9", "One third card a hand at most, the player first.",
        "每家只限增牌一張，先派閒家",
        "tableau:judge",
    ),
    _article(
        "9(1)", "The player draws to 0–5.",
        "閒家在下列情況下必須增牌",
        "tableau:player_draws",
    ),
    _article(
        "9(2)", "The player stands on 6–9, and against a banker natural.",
        "閒家在下列情況下不得增牌",
        "tableau:player_draws",
    ),
    _article(
        "9(3)", "The banker draws, by its total and the player's third card.",
        "莊家在下列情況下必須增牌",
        "tableau:banker_draws",
    ),
    _article(
        "9(4)", "The banker stands, by its total and the player's third card.",
        "莊家在下列情況下不得增牌",
        "tableau:banker_draws",
    ),
    _article(
        "10", "An error is corrected at once; where it can't be, the round is void.",
        "派牌如有錯誤，或增牌不依規例，應實時更正，至無法更正時，該局取消作廢",
        "processors.reconstruct.dealing:review", "procedure:void_grounds", "processors.reconstruct.closing:finish",
    ),
    _article(
        "11", "The higher total wins.",
        "牌局結束時持最高點數者勝",
        "hands:winner", "procedure:called_result", "settlement:due",
    ),
    _article(
        "12", "A tie leaves the stakes on the sides standing, and they may be changed.",
        "兩家點數相同作和計，應進行新牌局決勝負",
        "hands:winner", "limits:change_after_tie", "settlement:due",
    ),
    _article(
        "12(1)", "Cancelled.",
        "取消",
        "limits:change_after_tie",
    ),
    _article(
        "12(2)", "Kept.",
        "維持",
        "limits:change_after_tie",
    ),
    _article(
        "12(3)(1)", "Raised or lowered.",
        "在減注或不減注的情況下更改投注",
        "limits:change_after_tie",
    ),
    _article(
        "12(3)(2)", "Moved between player and banker.",
        "從投注閒家改為投注莊家，或從投注莊家改為投注閒家",
        "limits:change_after_tie",
    ),
    _article(
        "13", "Bets on player, banker, tie and pairs; a pair is two cards of one rank.",
        "投注於閒家、莊家、和局；莊對子和/或閒對子，兩張紙牌點數相同湊成一對",
        "schemas.catalogue:definition", "hands:view", "bets:rule",
    ),
    _article(
        "14", "Unequal sides are taken up to the differential.",
        "兩家注額不均等時，場方接受限紅至規定數額",
        "limits:differential",
    ),
    _article(
        "15", "Standing patrons don't bet on seats' places.",
        "企位博彩者不得在劃給坐位博彩者專用位置上下注",
        "procedure:reserved_place",
    ),
    _article(
        "16(1)", "The house may let patrons hold the cards.",
        "場方保留是否容許博彩者持牌之權利",
        "procedure:holder",
    ),
    _article(
        "16(2)", "Then the highest seated bettor holds them.",
        "由投注最大而坐位者持牌",
        "procedure:holder",
    ),
    _article(
        "17(1)", "Player and banker pay 1 to 1.",
        "閒、莊投注中彩彩金賠率為一賠一",
        "settlement:due",
    ),
    _article(
        "17(2)", "A tie pays 8 to 1.",
        "和局投注中彩彩金賠率為一賠八",
        "settlement:due",
    ),
    _article(
        "17(3)", "Pairs pay 11 to 1.",
        "莊對子和閒對子投注中彩彩金賠率為一賠十一",
        "settlement:due",
    ),
    _article(
        "18", "Five per cent commission on each banker win.",
        "場方在每局莊家贏得款項中抽取5%佣金",
        "settlement:commission_on", "settlement:due",
    ),
    _article(
        "19", "Options of arts. 2, 3, 7 and 12 need permission, asked for three working days ahead.",
        "採用第二條、第三條、第七條及第十二條規定的選項時，須先獲得許可，且應於預定採用日期前三個工作天提交申請書",
        "procedure:option_use", "procedure:latest_application",
    ),
    _article(
        "SJM(1)", "Banker stakes are the minimum or a multiple of it, player stakes any amount from the minimum.",
        "賭客只能以最低投注額或其倍數在莊上下注，在閒下注時以高於最低投注額的金額便可",
        "limits:stake_limits",
    ),
    _article(
        "SJM(2)", "After a tie stakes may only be added to.",
        "在打和的情況下，除了加註外，不能移動賭注",
        "limits:change_after_tie",
    ),
    _article(
        "wiki(1)", "The lucky six is bet together with one side.",
        "下注莊/閒的同時亦可下注莊/閒是否能以6點取勝",
        "limits:companion",
    ),
    _article(
        "wiki(2)", "A patron doesn't bet on both sides.",
        "玩家不能同時下注莊和閒",
        "limits:one_side",
    ),
    _article(
        "wiki(3)", "Commission-free: 1 to 1, and 1 to 2 when the banker wins with 6.",
        "贏1賠1，但若莊家以6點勝出賠率為1賠0.5",
        "settlement:due",
    ),
    _article(
        "wiki(4)", "Lucky six: 12 to 1 on two cards, 20 to 1 on three.",
        "兩張牌的6點取勝為贏1賠12，三張牌的6點取勝為贏1賠20",
        "settlement:due",
    ),
)  # fmt: skip

ARTICLES: Final[Mapping[str, Article]] = MappingProxyType({article.number: article for article in _ARTICLES})
