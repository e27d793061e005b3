"""Numbers, dates and units by value."""

from __future__ import annotations

import pytest

from ragnostic.judges.plain_text import plain
from ragnostic.judges.values import number_facts

SAME = [
    [
        "1,000元",
        "1000元",
        "１０００元",
        "一千元",
        "1千元",
        "¥1,000",
        "1000.00元",
        "1000 rmb",
        "壹仟元",
    ],
    ["15000元", "1.5万元", "一万五千元", "1万5千元", "一点五万元"],
    ["120000000元", "1.2亿元", "1亿2000万元", "一亿两千万元"],
    ["5%", "５％", "百分之五", "5 percent", "5.0%", "5 per cent"],
    ["3‰", "千分之三"],
    ["1/3", "三分之一", "３分之１"],
    ["100%", "百分之百", "百分之一百"],
    ["5天", "５天", "五天", "5 days", "five days"],
    ["24个月", "二十四个月", "24 months", "24-month", "twenty-four months", "24個月"],
    ["3-5天", "三到五天", "3至5天", "3~5天", "３－５天", "3–5 days"],
    ["2小时", "两小时", "2个小时", "2 hours", "two hours"],
    [
        "2024年1月5日",
        "2024-01-05",
        "2024/1/5",
        "2024.01.05",
        "二〇二四年一月五日",
        "二零二四年1月5号",
    ],
    ["January 5, 2024", "5 January 2024", "Jan. 5th, 2024", "5th of January, 2024", "2024-1-5"],
    ["2021年1月", "January 2021", "Jan 2021", "二〇二一年一月"],
    ["3月5日", "三月五日", "March 5", "5 March"],
    ["$1,000", "1000 dollars", "1000美元", "one thousand dollars", "USD".lower() and "1,000 usd"],
    ["$1.5 million", "1500000美元", "150万美元"],
    ["第15条", "第十五条", "第１５条"],
    ["-5℃", "−5°C", "-5摄氏度"],
    ["3公里", "3km", "三千米", "3 kilometers"],
]


@pytest.mark.parametrize("forms", SAME, ids=lambda forms: forms[0])
def test_forms_of_one_value_are_equal(forms: list[str]):
    """The same figure in Chinese, full-width and Arabic forms has one plain form."""
    assert {text.strip(" ,") for text in plain(forms)} == {plain(forms[:1])[0].strip(" ,")}


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("15天", "10天"),
        ("15天", "15小时"),
        ("1,000元", "1,001元"),
        ("一千元", "一千零一元"),
        ("1.5万元", "1.5亿元"),
        ("5%", "5‰"),
        ("5元", "5美元"),
        ("2024年1月5日", "2024年5月1日"),
        ("2024年1月5日", "2024年1月"),
        ("3天", "3-5天"),
        ("零下5℃是-5℃", "零下5℃是5℃"),
        ("5千克", "5000千克"),
        ("3.10", "3.1"),
        ("007", "7"),
    ],
)
def test_other_values_differ(left: str, right: str):
    """A near number, another unit or another date is another value."""
    first, second = plain([left, right])
    assert first != second


@pytest.mark.parametrize(
    "text",
    [
        "一般",
        "一起",
        "万一",
        "三星",
        "千万不要",
        "七七八八",
        "三四天",
        "一定",
        "统一",
        "几百人",
        "数万",
        "唯一",
    ],
)
def test_idioms_stay_as_they_are(text: str):
    """Characters that are no number where they stand are not read as one."""
    assert plain([text]) == [text]


@pytest.mark.parametrize("text", ["13月1日", "2024-13-45", "1月32日", "dan 5", "you one two"])
def test_what_is_no_date_is_not_made_one(text: str):
    """A month or day that does not exist is left as digits."""
    assert not any("-" in part for part in plain([text])[0].split())


def test_facts_are_dates_and_numbers_with_units():
    """Bare numbers and small counts are no facts; dates, money, times and shares are."""
    text = plain(
        ["2024年1月5日起，3个步骤，共12项，保修24个月，费用$5，占5%，版本3.10，第2章，-5℃"]
    )[0]
    assert number_facts(text) == [" 2024-01-05 ", " 12 项", " 24 个月", " 5 美元", " 5 %", " -5 ℃"]


def test_a_range_is_a_fact_of_its_own():
    """3-5 days is not found where 5 days is looked for."""
    assert number_facts(plain(["3-5天"])[0]) == [" 3~5 天"]
