"""Answers that decline, and answers that only look like it."""

from __future__ import annotations

import pytest

from ragnostic.judges.refusals import declines


@pytest.mark.parametrize(
    "answer",
    [
        "抱歉，我无法回答这个问题。",
        "抱歉，我无法回答这个问题。请联系人工客服。",
        "我无法回答",
        "我不知道。",
        "不知道",
        "没有找到相关信息",
        "根据提供的资料无法回答。",
        "根据提供的资料，无法确定保修期的具体时长。",
        "很抱歉，根据现有文档，没有找到关于保修期的相关信息。",
        "对不起，我没有足够的信息来回答这个问题。",
        "提供的上下文中没有提到保修期。",
        "资料中未提及该产品的价格。",
        "文档中未提供相关内容，因此我无法给出答案。",
        "您好，目前知识库中没有相关内容，建议您联系人工客服。",
        "抱歉，关于2023年保修期的具体时长，我没有找到相关信息。",
        "抱歉，我無法回答這個問題。",
        "作为一个AI助手，我无法提供医疗建议。",
        "抱歉，我不能帮助您完成这个请求。",
        "很遗憾，我暂时无法回答您的问题，请稍后再试。",
        "未找到相关结果。",
        "查无相关资料。",
        "暂无相关信息。",
        "由于资料中没有相关内容，我无法给出答案。",
        "提供的文档主要介绍了退货政策，没有提到保修期，因此无法回答。",
        "我不确定。",
        "抱歉，我不太清楚这个问题的答案。",
        "I don't know.",
        "I don’t know the answer to that question.",
        "I'm sorry, but I cannot answer this question.",
        "Sorry, I can't help with that.",
        "I'm sorry, I don't have information about that.",
        "I do not have enough information to answer this question.",
        "The provided context does not contain information about the warranty.",
        "Based on the provided documents, I cannot determine the warranty period.",
        "Unfortunately, the document does not mention the price.",
        "There is no information about this in the provided text.",
        "No relevant information was found.",
        "I am unable to answer.",
        "I'm not sure.",
        "As an AI language model, I cannot answer that.",
        "I couldn't find any information about the warranty period. Please contact support.",
        "The context doesn't specify the date. It only discusses the return policy.",
        (
            "I'm sorry, but the provided information does not include details about this."
            " If you have other questions, feel free to ask."
        ),
        "Unknown",
        "unanswerable",
        "I could not find an answer in the documents.",
        "No information available.",
        "The question cannot be answered based on the given context.",
        "Unable to answer based on the passage.",
        "It is not mentioned in the provided context.",
        "The answer is not provided in the documents.",
    ],
)
def test_answers_that_decline(answer: str):
    """Nothing is said but that there is no answer, with courtesy and advice."""
    assert declines(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "具体日期我不清楚，但保修期为24个月。",
        "客服无法回答的问题由主管处理，24小时内回复。",
        "如果您不知道密码，请点击忘记密码重置。",
        "抱歉让您久等，保修期为24个月。",
        "保修期为二十四个月，自签收之日起计算。",
        "很遗憾，该商品不支持退货。",
        "无法确定责任人的，由部门负责人承担。",
        "不能退货。",
        "没有年假。",
        "员工没有提前通知的，扣除一天工资。",
        "未成年人不能购买。",
        "不可以退货，但可以换货。",
        "I don't know the exact date, but the warranty lasts 24 months.",
        "Users who don't know their password can reset it on the login page.",
        "Employees cannot carry over annual leave.",
        "No, refunds are not available after 30 days.",
        "The deposit is not refundable.",
        "The policy does not cover water damage.",
        "Although the document does not mention the price, the plan costs 20 dollars per month.",
        "There is no fee for returns.",
        "If you cannot log in, contact the help desk at extension 5.",
        "抱歉，资料中没有提到具体价格，不过标准版每月收费二十元。",
        "系统无法启动时，请按住电源键十秒。",
        "未提供发票的，不予报销。",
        "公司没有提供住房补贴。",
        "我们不提供上门服务。",
        "营收没有增长。",
        "无法提供原始凭证的，报销上限为100元。",
        "不包含税费。",
        "未找到收件人时，快递将退回。",
        "No.",
        "Not available on weekends.",
        "The contract does not include maintenance.",
        "You can't return opened items.",
        "I can't stress enough that backups run every night at 2 am.",
        "No information is shared with third parties without consent.",
        "We do not have a dress code.",
        "We don't accept cash.",
        "",
        "。",
        "抱歉",
        "N/A",
    ],
)
def test_answers_that_say_something(answer: str):
    """Words of a refusal inside an answer, or a plain no, do not decline; neither does silence."""
    assert not declines(answer)


@pytest.mark.parametrize(
    "piece", ["信息", "目前也还仍", "so and but very ", "based on the context ", "a b ", "如果"]
)
def test_repeated_openings_are_read_once(piece: str):
    """A text of nothing but openings ends soon: no pattern tries all ways to cut it."""
    assert not declines(f"没 not {piece * 300}")


@pytest.mark.parametrize(
    "answer",
    [
        (
            "The documents do not mention a recall of the kettle. The documents detail various "
            "models, such as the K2, spare parts, and colours."
        ),
        (
            "Based on the provided documents, there is no information about the fee at Acme Ltd. "
            "in May. The documents provide information about hours, but none of them mention fees."
        ),
        (
            "The provided documents do not specify who signs.\n\nHere is the reasoning process:\n"
            "1. Doc 1 names the buyer.\n2. Doc 2 names the seller, Brown Inc. of Leeds."
        ),
        "There is no mention of a garden. It is not possible to determine its size.",
        "根据提供的资料，没有提到停车费。这些资料主要介绍了开放时间、门票和交通。",
        "文档中未提及负责人。推理过程如下：文档一讲采购，文档二讲验收。",
    ],
)
def test_what_the_sources_hold_instead_is_no_answer(answer):
    """Nor are the reasons of a refusal, however long; Ltd. and Inc. end no sentence."""
    assert declines(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "The documents detail various models, such as the K2. The K2 does not whistle.",
        "The manual does not name the model. However, the warranty is 24 months.",
        "The documents do not state the fee. We can infer that it is 5 euros.",
        "Here is the reasoning process: the fee is 5 euros, the documents do not mention more.",
        "资料没有提到停车费。门票每人50元。",
        "这些资料主要介绍了门票：每人50元，没有提到停车费。",
    ],
)
def test_an_answer_beside_a_gap_is_an_answer(answer):
    """What is said of the matter itself counts, before or behind what is missing."""
    assert not declines(answer)
