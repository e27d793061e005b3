"""Answers that decline to answer: "I don't know", 我无法回答 (METRICS 12).

An answer is cut into clauses. It declines if a clause declines and no other says anything: a
clause that declines inside an answer that says something does not make it a refusal. A sentence
behind the refusal that tells what the sources are about instead says nothing either, and what is
announced there as the reasoning is that of the refusal.
"""

from __future__ import annotations

import re

from ragnostic.judges.word_lists import either, listed

_HAN_SOURCE = either(
    "资料 資料 文档 文檔 文件 材料 内容 內容 上下文 知识库 知識庫 信息 資訊 片段 数据库"
    " 搜索结果 检索结果"
)
_HAN_GIVEN = (
    r"(?:根据|根據|从|在|由于|因为|基于|鉴于|依据)?[^,没沒未无無不]{0,10}?"
    rf"{_HAN_SOURCE}[中里裡内]?"
)
_HAN_OPENING = either(
    "但是? 不过 因此 所以 那么 同时 对此 而且 并且? 也 仍 还 尚 暂时? 目前 当前 现在 实在 确实"
    " 恐怕 我们? 本?助手 本?系统 本?机器人 作为.{0,12} 你好 您好 非常 很 十分 抱歉 对不起 對不起"
    f" 不好意思 遗憾 {_HAN_GIVEN}"
)
_HAN_UNABLE = r"(?:无法|無法|不能|没法|沒法|没办法|沒辦法|难以)[^,]{0,20}?" + either(
    "回答 解答 答复 回复 回覆 作答 回应 回應 确定 確定 得知 得出 知道 判断 判斷 确认 確認 推断"
    " 找到 查到 获取 给出 提供(?:相关|准确|具体|答案|信息|更多|任何|有效|帮助) 帮助您? 协助您?"
)
_HAN_UNKNOWN = either(
    "不知道 不清楚 不太清楚 不了解 不太了解 不确定 不確定 不太确定 无从得知 無從得知 不得而知"
    " 答不上来"
)
_HAN_MISSING = either("没有? 沒有? 未能? 未曾 缺乏 缺少 暂无 查无 找不到 查不到 不包含 不包括 不含")
_HAN_NOT_THERE = rf"[并並均都也还仍暂尚]*{_HAN_MISSING}" + either(
    "提及 提到 涉及 找到 查到 查询到 检索到 搜索到 检索 搜索 包含 记载 說明 说明 列出 给出 显示"
    " 明确 披露 提供(?:相关|具体|任何|足够|有关|关于|该) 任何 关于 與 与 足够 足夠 相关 相關"
    " 具体 有关"
)
_HAN_NO_RESULT = (
    rf".{{0,40}}?(?:{_HAN_MISSING}|无|無)[^,]{{0,24}}?(?:相关|相關|有关|足够|足夠|对应|具体)的?"
    rf"(?:{_HAN_SOURCE}|资讯|记录|說明|说明|答案|结果|数据)了?$"
)
_REFUSES_HAN = re.compile(
    rf"我(?:无法|無法|不能|没办法)"
    rf"|(?>{_HAN_OPENING})*+(?:{_HAN_UNABLE}|{_HAN_UNKNOWN}|{_HAN_NOT_THERE})|{_HAN_NO_RESULT}"
)

_SOURCE = either(
    "contexts? documents? passages? texts? information sources? materials? excerpts? data question"
    " search_results? knowledge_base articles? files?"
)
_GIVEN = rf"(?:based on|according to|from|given|in) [\w\s']{{0,40}}?{_SOURCE}"
_OPENING = either(
    "but so and however unfortunately well at_this_time currently i'?m_sorry i_am_sorry i'?m_afraid"
    r" i_am_afraid i'?m_(?:very|so|really)_sorry sorry i_apologi[sz]e that it_seems it_appears"
    r" as_an?_[\w\s-]{1,40}"
)
_NOT = either(
    "do_not does_not did_not don'?t doesn'?t didn'?t cannot can'?t can_not could_not couldn'?t"
    " is_not are_not was_not were_not isn'?t aren'?t wasn'?t am_not i'm_not am_unable lacks?"
)
_TELL = either(
    "contain mention provide include specify cover say state give address discuss describe disclose"
    " list indicate"
)
_TOLD = either(
    "contained mentioned provided included specified covered stated given discussed found available"
    " answered"
)
_KNOW = either("able sure certain aware know find answer determine help assist tell locate confirm")
_KNOWLEDGE = either("information access data details knowledge idea answers?")
_CANNOT = either("cannot can'?t can_not am_unable was_unable am_not_able could_not couldn't")
_WAS = "(?:is|are|was|were)"
_REFUSALS_LATIN = (
    rf"(?:i|we) (?:\w+ )?{_NOT} (?:\w+ )?{_KNOW}",
    rf"(?:i|we) (?:\w+ )?(?:{_NOT}|have no|lack) (?:have )?(?:\w+ ){{0,2}}{_KNOWLEDGE}",
    rf"i {_CANNOT}(?! (?:stress|emphasi|wait|recommend))",  # "I can't stress enough" says something
    rf"it {_WAS} (?:not possible|impossible) to {_KNOW}",
    "i'?m (?:not sure|not certain|not able|unable)",
    "(?:i was )?unable to (?:answer|determine|find|provide|help|assist)",
    (
        r"(?:the |this |these |those |your |any )?(?:\w+ ){0,3}?"
        rf"{_SOURCE}(?: \w+){{0,3}}? {_NOT} (?:\w+ )?"
        rf"(?:{_TELL}|{_TOLD}|have|enough|sufficient|be answered)"
    ),
    (
        rf"(?:it|this|that|the \w+)(?: \w+){{0,3}} {_WAS} not (?:\w+ )?{_TOLD} "
        rf"(?:in|by|from|based on) [\w\s]{{0,30}}{_SOURCE}"
    ),
    (
        rf"there {_WAS} (?:no|not enough|insufficient|not any) "
        rf"(?:\w+ )?(?:{_SOURCE}|mention|details?|answers?|evidence)"
    ),
    (
        rf"no (?:\w+ )?(?:{_SOURCE}|answers?|results?|mention|details)"
        rf"(?: (?:{_WAS}|could be|has been))? ?(?:{_TOLD}|about|on|regarding|$)"
    ),
    r"not (?:mentioned|specified|stated|found)\b",
    (
        rf"(?:none|neither)(?: of (?:them|these|the \w+|those))? (?:\w+ )?"
        rf"(?:{_TELL}|specif(?:y|ies))s?\b"
    ),
    rf"(?:and |but )?(?:they|it)? ?(?:do|does) not (?:\w+ )?{_TELL}\b",
    either("unknown no_answer unanswerable idk insufficient_information not_available") + "$",
)
_REFUSES_LATIN = re.compile(rf"(?:(?>{_OPENING}|{_GIVEN})[\s,]*+)*+(?:{'|'.join(_REFUSALS_LATIN)})")

_COURTESY = either(
    "非常抱歉 很抱歉 抱歉 对不起 對不起 不好意思 您好 你好 谢谢.* 感谢.* 感謝.* 很遗憾 遗憾的是"
    " 因此 所以 故 于是 那么 so therefore thus hello unfortunately thank.* sorry i'?m_sorry.*"
    " i_am_sorry.* i_apologi[sz]e.* as_an_ai.*"
)
_TOPIC = either(
    "作为 作為 关于 關於 对于 對於 有关 针对 就 至于 由于 因为 regarding about concerning as_for"
)
_ADVICE = either(
    ".{0,12}?(?:请|請|建议|建議|欢迎|歡迎|如果?您|如果?你|如有|如需|若您|若需|您可以|你可以)"
    " .{0,12}?(?:可以联系|以便) 或者?(?:提供|咨询|联系|查阅)"
    " please if_you you_(?:may|can|could|might|should) feel_free let_me_know would_you could_you"
    " can_you try consider i_(?:can|would|will|recommend|suggest) i'd for_(?:more|further)"
)
_OTHER_TOPIC = either(
    ".{0,20}?(?:仅|只|主要)是?在?(?:提到|提及|涉及|介绍|讨论|包含|包括|说明|描述|提供|讲述)"
    r" (?:it|they|the|these|this)_?(?:\w+_){0,4}?(?:only|mainly|primarily|mostly|instead)_\w+"
)
_ABBREVIATED = r"(?<!\bltd)(?<!\binc)(?<!\bco)(?<!\bcorp)"
_DESCRIBES = either(
    "details? outlines? describes? discuss(?:es)? highlights? covers? focus(?:es)? concerns?"
    r" (?:provides?|contains?|gives?|includes?)_(?:\w+_){0,2}(?:information|details|insights)"
    r" mentions?_(?:various|several|many|other|some|different)"
)
_OTHER_SUBJECT = re.compile(
    rf"(?:(?:the|these|those|this|all) (?:\w+ ){{0,2}}?{_SOURCE}(?: provided| given)?|they|it) "
    rf"(?:only |mainly |primarily |instead |solely |do )?{_DESCRIBES}\b"
    rf"|(?:这些|這些|该|所|上述|提供的|给出的|给定的|现有)*{_HAN_SOURCE}[中里]?[^,]{{0,4}}?"
    r"(?:主要|仅|只|更多|侧重|重点)?[^,]{0,4}?(?:介绍|描述|讨论|涉及|围绕|讲述|关注|详述|列举|涵盖|阐述)"
)
"""A sentence about what the sources hold instead; only behind a refusal."""
_REASONS = re.compile(
    r"(?:here (?:is|are)|below (?:is|are)|the following (?:is|are)|to summari[sz]e|intermediate"
    r"|以下[是为]|下面[是为])?.{0,24}?(?:reasoning (?:process|steps?)|推理过程|推理步骤|分析过程)"
)
"""Behind a refusal this announces its reasons."""
_SENTENCE = re.compile(rf"{_ABBREVIATED}[.!?](?=\s|$)|[。！？\n]+")
_SAYS_NOTHING = re.compile(f"{_COURTESY}$|{_TOPIC}|{_HAN_GIVEN}|{_GIVEN}|{_ADVICE}|{_OTHER_TOPIC}")

_CLAUSE = re.compile(
    rf"(?:[,;:!?，。；：！？、…\n]|{_ABBREVIATED}\.)+(?=\s|[^a-z0-9]|$)|(?:但是?|不过|然而)(?=.)"
    r"|\b(?:but|however|although|though)\b"
)
_SIGNS = (
    *listed(
        "无法 無法 不能 没 沒 未 不知 不清楚 不了解 不太 不确定 不確定 难以 无从 無從 不得而知"
    ),
    *listed("不包 不含 查无 找不到 查不到 暂无 缺乏 缺少 无相关 答不上 n't n’t dont nable lack"),
    *listed("nknown idk nanswerable nsufficient not_ no_ No_ Not_"),
)
_AROUND = " \t\r\n\"'“”‘’()（）-—*"
_LEAST_HAN, _LEAST_LATIN = 4, 12  # characters of a clause that says something


def declines(answer: str) -> bool:
    """Whether an answer (without Markdown and citation marks) declines to answer.

    >>> declines("抱歉，我无法回答这个问题。"), declines("I don't know.")
    (True, True)
    >>> declines("具体日期我不清楚，但保修期为24个月。")
    False
    >>> declines("客服无法回答的问题由主管处理。")
    False
    """
    if not may_decline(answer):
        return False
    refused = False
    for sentence in _SENTENCE.split(answer.replace("’", "'").lower()):
        elsewhere = refused and _OTHER_SUBJECT.match(sentence.strip(_AROUND)) is not None
        for clause in _CLAUSE.split(sentence):
            said = clause.strip(_AROUND)
            if refused and _REASONS.match(said):
                return True
            if _refuses(said):
                refused = True
            elif not elsewhere and _says_something(said):
                return False
    return refused


def may_decline(text: str) -> bool:
    """Whether a text has any sign of a refusal; a quick look before a long one."""
    return any(sign in text for sign in _SIGNS)


def _refuses(clause: str) -> bool:
    pattern = _REFUSES_LATIN if clause.isascii() else _REFUSES_HAN
    return pattern.match(clause) is not None


def _says_something(clause: str) -> bool:
    """Whether a clause has words beyond courtesy, preambles and advice where to ask.

    >>> _says_something("请联系人工客服"), _says_something("保修期为24个月")
    (False, True)
    """
    if _SAYS_NOTHING.match(clause):
        return False
    return len(clause) >= (_LEAST_LATIN if clause.isascii() else _LEAST_HAN)
